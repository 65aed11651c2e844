/* The paper's Table 1 with the reproduction's accuracies beside. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>

#include "train/reproduce/published.h"

enum { RESULTS = 4, ROWS = 100 };

static const char *const tables[] = {"reproduce_table1", NULL};

static bool is_present(const szg_collection *results) {
    return szgi_collection_find(results, tables[0]) || szgi_table1_has_runs(results);
}

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
                szgi_table1_task(task), task + 1);
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

static szg_status draw_experiments(page *page, rows of, budget *budget) {
    groups experiments;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), of,
                              (const char *const[]){"experiment", NULL}, &experiments));
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < experiments.count && status == SZG_OK; i++)
        status = szgi_table1_figures(page, experiments.group[i], budget);
    szgi_page_grid_end(page);
    szgi_groups_free(&experiments);
    return status;
}

static szg_status draw_result(page *page, rows of, bool several, budget *budget) {
    const char *result = szgi_rows_text(of, 0, "result");
    if (several)
        szgi_page_heading(page, "Results of %s", result);
    SZG_TRY(szgi_table1_caveat(page, result));
    SZG_TRY(say_source(page));
    SZG_TRY(print_table(page, of));
    say_seeds(page, of);
    SZG_TRY(draw_experiments(page, of, budget));
    return szgi_table1_beside(page, result);
}

static szg_status draw_results(page *page, rows all) {
    budget budget = {.left = MOST_FIGURES};
    groups results;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, (const char *const[]){"result", NULL},
                              &results));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < results.count && i < RESULTS && status == SZG_OK; i++)
        status = draw_result(page, results.group[i], results.count > 1, &budget);
    if (status == SZG_OK && results.count > RESULTS)
        szgi_page_paragraph(page,
                            "%" PRId64
                            " more reproductions are left out; their rows are in the table "
                            "reproduce_table1.",
                            results.count - RESULTS);
    szgi_groups_free(&results);
    SZG_TRY(status);
    return szgi_budget_end(page, &budget, "figures", tables);
}

static szg_status draw(page *page) {
    rows all = {.table = szgi_collection_find(szgi_page_results(page), tables[0])};
    SZG_TRY(draw_results(page, all));
    return szgi_table1_has_runs(szgi_page_results(page)) ? szgi_table1_runs(page) : SZG_OK;
}

const section szgi_section_table1 = {.id = "table1",
                                     .title = "Table 1: accuracies beside the paper's",
                                     .is_present = is_present,
                                     .draw = draw};
