/* The paper's Table 1 with the reproduction's accuracies beside. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>

#include "train/reproduce/published.h"

enum { RESULTS = 4, ROWS = 100 };

/* ---- The table ---- */

/* Percent with two decimals; "–" where there is no number. */
static void print_percent(FILE *stream, const char *format, double value) {
    fputs("<td class=\"number\">", stream);
    if (isfinite(value))
        fprintf(stream, format[0] == '+' ? "%+.2f" : "%.2f", value);
    else
        fputs("–", stream);
    fputs("</td>", stream);
}

static void print_outcome(FILE *stream, const outcome *o) {
    fputs("<td class=\"number\">", stream);
    if (isfinite(o->mean))
        fprintf(stream, "%.2f", o->mean);
    else
        fputs("not run", stream);
    if (isfinite(o->mean) && o->seeds > 1 && isfinite(o->spread))
        fprintf(stream, " ± %.2f", o->spread);
    fputs("</td>", stream);
    szgi_html_number_cell(stream, isfinite(o->mean) ? o->seeds : NAN);
    print_percent(stream, "", o->paper);
    print_percent(stream, "+", o->mean - o->paper);
}

static void print_head(FILE *stream) {
    fputs("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">experiment</th>"
          "<th scope=\"col\">encoding</th>",
          stream);
    for (int task = 0; task < TABLE1_TASKS; task++)
        fprintf(stream,
                "<th scope=\"col\" class=\"number\" title=\"%s: test accuracy in percent, mean "
                "± standard deviation over seeds\">Task %d, here</th>"
                "<th scope=\"col\" class=\"number\" title=\"finished runs\">seeds</th>"
                "<th scope=\"col\" class=\"number\">paper</th>"
                "<th scope=\"col\" class=\"number\" title=\"percentage points\">here - paper</th>",
                task ? "Task 2, trigger count" : "Task 1, trigger distance", task + 1);
    fputs("</tr></thead><tbody>\n", stream);
}

static szg_status print_table(page *page, rows of) {
    FILE *stream = szgi_page_stream(page);
    print_head(stream);
    for (int64_t i = 0; i < of.count && i < ROWS; i++) {
        fputs("<tr>", stream);
        szgi_html_cell(stream, szgi_rows_text(of, i, "experiment"), TABLE1_NAME);
        szgi_html_cell(stream, szgi_rows_text(of, i, "encoding"), TABLE1_NAME);
        for (int task = 0; task < TABLE1_TASKS; task++) {
            outcome o = szgi_table1_outcome(of, i, task);
            print_outcome(stream, &o);
        }
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div>\n", stream);
    if (of.count > ROWS)
        szgi_page_paragraph(page, "And %" PRId64 " more rows, behind the link.", of.count - ROWS);
    return szgi_page_links(page, &of, 1);
}

/* What ± means here, and what cannot be said. */
static void say_seeds(page *page, rows of) {
    int64_t single = 0, several = 0;
    for (int64_t i = 0; i < of.count; i++)
        for (int task = 0; task < TABLE1_TASKS; task++) {
            outcome o = szgi_table1_outcome(of, i, task);
            single += isfinite(o.mean) && !(o.seeds > 1);
            several += isfinite(o.mean) && o.seeds > 1;
        }
    if (several == 0 && single > 0)
        szgi_page_paragraph(page,
                            "One seed each: there is no interval; what other seeds would give is "
                            "not known.");
    else if (several > 0)
        szgi_page_paragraph(page, "± is the standard deviation over seeds.%s",
                            single ? " Entries of one seed have no interval." : "");
}

static szg_status say_source(page *page) {
    szgi_published *paper;
    SZG_TRY(szgi_published_open(szgi_page_context(page), &paper));
    szgi_page_paragraph(page,
                        "Test accuracy in percent; the paper's numbers are those of Table 1 of %s, "
                        "differences are in percentage points.",
                        szgi_published_source(paper));
    szgi_published_close(&paper);
    return SZG_OK;
}

/* ---- The section ---- */

static szg_status draw_result(plot_run *run, rows of, bool several) {
    const char *result = szgi_rows_text(of, 0, "result");
    if (several)
        szgi_page_heading(run->page, "Results of %s", result);
    SZG_TRY(szgi_table1_caveat(run->page, result));
    SZG_TRY(say_source(run->page));
    SZG_TRY(print_table(run->page, of));
    say_seeds(run->page, of);
    run->own = result;
    szgi_plot_all(run, szgi_table1_plots);
    SZG_TRY(run->status);
    return szgi_table1_beside(run->page, result);
}

static szg_status draw_results(plot_run *run, const groups *results) {
    for (int64_t i = 0; i < results->count && i < RESULTS; i++)
        SZG_TRY(draw_result(run, results->group[i], results->count > 1));
    if (results->count > RESULTS)
        szgi_page_paragraph(run->page,
                            "%" PRId64
                            " more reproductions are left out; their rows are in the table "
                            "reproduce_table1.",
                            results->count - RESULTS);
    return szgi_table1_runs(run->page);
}

static szg_status run(page *page, const section *section) {
    static const char *const by[] = {"result", NULL};
    rows all = {.table = szgi_collection_find(szgi_page_results(page), section->tables[0])};
    groups results;
    plot_run run;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, by, &results));
    szgi_plot_begin(&run, page, section);
    szgi_plot_keep(&run, draw_results(&run, &results));
    szgi_groups_free(&results);
    return szgi_plot_end(&run);
}

const section szgi_section_table1 = {.id = "table1",
                                     .title = "Table 1: accuracies beside the paper's",
                                     .tables = {"reproduce_table1", "train_runs"},
                                     .figures = 12,
                                     .run = run};
