/* Files of assets/, compiled in by tools/embed: NAME becomes asset_NAME. */
#ifndef SZG_NOTEBOOKS_EXPORT_ASSETS_H
#define SZG_NOTEBOOKS_EXPORT_ASSETS_H

#include <stddef.h>

extern const char asset_page[], asset_figure[], asset_report[];
extern const size_t asset_page_size, asset_figure_size, asset_report_size;

/* Base64 of the script's SHA-256: what the page's security policy allows to run. */
extern const char asset_report_sha256[];

#endif
