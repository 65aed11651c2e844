/* Files of assets/, compiled in by tools/embed: NAME becomes asset_NAME. */
#ifndef SZG_NOTEBOOKS_EXPORT_ASSETS_H
#define SZG_NOTEBOOKS_EXPORT_ASSETS_H

#include <stddef.h>

extern const char szgi_asset_page[], szgi_asset_figure[];
extern const size_t szgi_asset_page_size, szgi_asset_figure_size;

extern const char szgi_asset_frame[], szgi_asset_report[], szgi_asset_figures[];
extern const size_t szgi_asset_frame_size, szgi_asset_report_size, szgi_asset_figures_size;

/* Base64 of each script's SHA-256: what the page's security policy allows to run. */
extern const char szgi_asset_frame_sha256[], szgi_asset_report_sha256[],
    szgi_asset_figures_sha256[];

#endif
