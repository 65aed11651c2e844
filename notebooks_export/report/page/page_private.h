/* What the files that print the page share. */
#ifndef SZG_NOTEBOOKS_EXPORT_PAGE_PRIVATE_H
#define SZG_NOTEBOOKS_EXPORT_PAGE_PRIVATE_H

#include "base/text.h"

#include "section.h"

/* A table that is in the page: its bytes wait for the page's end. */
typedef struct embedded {
    const szg_table *table;
    char id[64];          /* what stands behind "table-" in its element's id */
    unsigned char *bytes; /* of docs/reference/html-report.md's format, deflated */
    int64_t size;
} embedded;

struct page {
    szg_context *context;
    const szg_collection *results;
    FILE *stream;
    szg_status status;   /* the first failure of a call that returns none */
    const char *section; /* id of the section that is being drawn */
    const char *title;   /* of that section */
    int64_t figures;     /* of that section */
    int64_t headings;    /* of that section */
    int64_t numbered;    /* figures of all sections */
    szgi_text findings;  /* HTML that stands before the sections, opened with its first line */
    szgi_text contents;  /* the same: the entries of the navigation */
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

/* As page_links; `figure`: with the first rows of each, to be opened, and the figure's own files.
 */
SZG_CHECK_RESULT szg_status szgi_page_print_links(page *page, const rows *sources, int64_t count,
                                                  bool figure);

/* A call that returns none has failed: the first failure stays. */
void szgi_page_remember(page *page, szg_status status);

/* The stream of `findings` or `contents`; NULL, and the failure is remembered, where there is none.
 */
FILE *szgi_page_aside(page *page, szgi_text *text);
/* Ends both. The failure of a call that returned none comes first. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_page_end_asides(page *page);

/* Begins and ends a section's entry in the navigation; between them, an entry for a figure. */
void szgi_page_list_section(page *page);
void szgi_page_list_figure(page *page, const char *title);
void szgi_page_list_end(page *page);

/* Once the texts have ended: the findings, and the navigation. */
void szgi_page_print_findings(const page *page);
void szgi_page_print_contents(const page *page);

/* The appendix: what is embedded, column by column, and the bytes themselves. */
void szgi_page_print_data(page *page);

/* Which results could not be read; nothing where all were. */
void szgi_page_print_bad(const page *page);
/* The last section: what was run, folded by result. */
SZG_CHECK_RESULT szg_status szgi_page_print_provenance(page *page);

/* The first `most` of the rows, as an HTML table. */
SZG_CHECK_RESULT szg_status szgi_page_print_rows(page *page, rows source,
                                                 const char *const *columns, int64_t most);

#endif
