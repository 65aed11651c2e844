/* Eigenvalues and singular values over the share of values below, beside the symbol's quantiles. */
#include <string.h>

#include "match.h"
#include "spectrum.h"

static bool is_singular(const plot_run *run, rows of, int64_t index) {
    const char *kind = szgi_rows_text(of, index, "kind");
    (void)run;
    return kind && strcmp(kind, "singular") == 0;
}

static bool is_eigenvalue(const plot_run *run, rows of, int64_t index) {
    return !is_singular(run, of, index);
}

/* x and y are rearranged by prepare: sorted values, or the complex plane. */
#define VALUES(name, kept, says, ...)                                                              \
    static const plot name = {.tables = {"spectrum_eigenvalues"},                                  \
                              .needs = {"re", "im"},                                               \
                              .keeps = kept,                                                       \
                              .figure_by = {"result", "source", "matrix"},                         \
                              .group_by = {"result", "source"},                                    \
                              .panel_by = {"layer"},                                               \
                              .series_by = {"head", "n"},                                          \
                              .outliers = true,                                                    \
                              .x = {.column = "im"},                                               \
                              .y = {.column = "re"},                                               \
                              .subject = szgi_words_source,                                        \
                              .title = says,                                                       \
                              .prepare = szgi_spectrum_prepare,                                    \
                              .caption = szgi_spectrum_say,                                        \
                              __VA_ARGS__}

VALUES(eigenvalues, is_eigenvalue, "eigenvalues", .undone = "its values are not drawn");
VALUES(singular, is_singular, "singular values", .undone = NULL);

static const plot *const plots[] = {&eigenvalues, &singular, NULL};

static groups split(plot_run *run, const char *name) {
    groups out = {0};
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(run->page), name));
    szgi_plot_keep(run, szgi_groups_split(run->context, all, szgi_spectrum_order, &out));
    return out;
}

static szg_status run(page *page, const section *section) {
    plot_run run;
    szgi_plot_begin(&run, page, section);
    spectrum_tables tables = {.samples = split(&run, "spectrum_samples"),
                              .range = split(&run, "spectrum_range"),
                              .summary = split(&run, "spectrum_summary")};
    run.own = &tables;
    szgi_plot_all(&run, section->plots);
    szgi_groups_free(&tables.samples);
    szgi_groups_free(&tables.range);
    szgi_groups_free(&tables.summary);
    return szgi_plot_end(&run);
}

const section szgi_section_spectrum = {
    .id = "spectrum",
    .title = "Eigenvalues over the symbol",
    .tables = {"spectrum_eigenvalues"},
    .intro = "Dots are eigenvalues, sorted, over the share of values below. The line has the "
             "symbol's quantiles, which large matrices follow where a limit theorem applies (see "
             "the table of ranges). Two grey rules are the certified ends. Complex eigenvalues "
             "lie in the complex plane.",
    .plots = plots,
    .figures = 12,
    .run = run};
