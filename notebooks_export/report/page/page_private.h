/* What the files that print the page share. */
#ifndef SZG_NOTEBOOKS_EXPORT_PAGE_PRIVATE_H
#define SZG_NOTEBOOKS_EXPORT_PAGE_PRIVATE_H

#include "section.h"

/* A table that is in the page: its bytes wait for the page's end. */
typedef struct embedded {
    const szg_table *table;
    char id[64];          /* what stands behind "table-" in its element's id */
    unsigned char *bytes; /* of docs/html-report.md's format, deflated */
    int64_t size;
} embedded;

struct page {
    szg_context *context;
    const szg_collection *results;
    FILE *stream;
    const char *section; /* id of the section that is being drawn */
    int64_t figures;     /* of that section */
    embedded *embedded;
    int64_t count, capacity; /* of embedded */
};

/* The table's place in the page, NULL where it is not in it. */
const embedded *szgi_page_find(const page *page, const szg_table *table);

/* Puts a table into the page, once. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_page_embed(page *page, const szg_table *table,
                                            const embedded **out);

/* The same for a table that may stay outside where its bytes are more than `most`: *out is NULL
 * then, and *size what they are in any case. */
SZG_CHECK_RESULT szg_status szgi_page_embed_small(page *page, const szg_table *table, int64_t most,
                                                  int64_t *size, const embedded **out);

/* As page_links; `preview`: with the first rows of each, to be opened. */
SZG_CHECK_RESULT szg_status szgi_page_print_links(page *page, const rows *sources, int64_t count,
                                                  bool preview);

/* The appendix: what is embedded, column by column, and the bytes themselves. */
void szgi_page_print_data(page *page);

/* Which results were read, and which could not be. */
SZG_CHECK_RESULT szg_status szgi_page_print_provenance(page *page);

/* The first `most` of the rows, as an HTML table. */
SZG_CHECK_RESULT szg_status szgi_page_print_rows(page *page, rows source,
                                                 const char *const *columns, int64_t most);

#endif
