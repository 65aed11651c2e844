/* The HTML report: one file that shows what a folder of results holds. */
#ifndef SZEGO_PAGE_H
#define SZEGO_PAGE_H

#include <szego/collection.h>

SZG_BEGIN_DECLS

/* Writes one self-contained HTML page, atomically: a section for each kind of result that is there,
 * plots as SVG, every table that a plot draws from embedded whole. docs/reference/html-report.md
 * describes it. SZG_EIO, SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_page_write(szg_context *context, const szg_collection *collection,
                                           const char *path);

SZG_END_DECLS

#endif
