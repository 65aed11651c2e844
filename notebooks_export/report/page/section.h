/* A section of the report, and what it may put on the page. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTION_H
#define SZG_NOTEBOOKS_EXPORT_SECTION_H

#include "notebooks_export/collection/collection.h"

#include "figure.h"
#include "groups.h"
#include "html.h"

typedef struct page page;

typedef struct section section;

/* What the page has on one kind of result. */
struct section {
    const char *id; /* of the element, in links */
    const char *title;
    bool (*is_present)(const szg_collection *results); /* NULL: any of the tables has rows, or any
                                                        * table is there where none is listed */
    const char *tables[8];
    const char *intro;               /* the first paragraph: its formulas are set */
    const struct plot *const *plots; /* what szgi_plot_section draws (plot.h); NULL at the end */
    int64_t figures;                 /* at most; 0: PLOT_FIGURES */
    SZG_CHECK_RESULT szg_status (*run)(page *page, const section *section);
};

/* Every section, in the order of the page, NULL at the end; one file each in sections/. */
extern const section *const szgi_section_table[];

szg_context *szgi_page_context(const page *page);
const szg_collection *szgi_page_results(const page *page);
/* For what the calls below cannot say; write errors are found at the end. */
FILE *szgi_page_stream(const page *page);

/* A paragraph and a heading within the section; what is formatted is escaped. */
SZG_PRINTF(2, 3) void szgi_page_paragraph(page *page, const char *format, ...);
SZG_PRINTF(2, 3) void szgi_page_heading(page *page, const char *format, ...);

/* A paragraph in the house's own words, whose formulas are set: never for what a file holds. */
void szgi_page_prose(page *page, const char *text);

/* Adds one sentence to the findings, which stand before all sections, in the order of the calls. It
 * links to the element with the id `anchor`; NULL: to the section's latest figure, or to the
 * section before its first figure. What is formatted is escaped. A failure is remembered: the page
 * reports the first one when the section ends. */
SZG_PRINTF(3, 4)
void szgi_page_finding(page *page, const char *anchor, const char *format, ...);

/* Figures between the two stand side by side where there is room. */
void szgi_page_grid_begin(page *page);
void szgi_page_grid_end(page *page);

/* What stands around panels. */
typedef struct panel_words {
    const char *title; /* above all of them; NULL: each has its own */
    const char *caption;
    const char *remark; /* behind the caption, in the house's own words, whose formulas are set;
                         * NULL: none */
} panel_words;

/* Prints a figure, or several that share their words and their rows (small multiples), with their
 * caption, one sentence that says what to see, and links to the rows that they were drawn from,
 * whose tables are embedded in the page. */
SZG_CHECK_RESULT szg_status szgi_page_panels(page *page, figure *const *panels, int64_t count,
                                             const panel_words *words, const rows *sources,
                                             int64_t source_count);

/* A table for readers: the listed columns (ends with NULL) of these rows, and a link to the rows.
 */
SZG_CHECK_RESULT szg_status szgi_page_rows(page *page, rows source, const char *const *columns);

/* A link to rows without anything drawn, for sections that print a table of their own. */
SZG_CHECK_RESULT szg_status szgi_page_links(page *page, const rows *sources, int64_t count);

#endif
