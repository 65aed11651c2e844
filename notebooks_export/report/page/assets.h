/* Files of assets/, compiled in by tools/embed: NAME becomes asset_NAME. */
#ifndef SZG_NOTEBOOKS_EXPORT_ASSETS_H
#define SZG_NOTEBOOKS_EXPORT_ASSETS_H

#include <stddef.h>

extern const char szgi_asset_page[], szgi_asset_figure[], szgi_asset_report[];
extern const size_t szgi_asset_page_size, szgi_asset_figure_size, szgi_asset_report_size;

/* Base64 of the script's SHA-256: what the page's security policy allows to run. */
extern const char szgi_asset_report_sha256[];

#endif
