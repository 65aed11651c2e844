/* Runs of `szego train`: the paper's accuracy beside where encoding and task are the paper's. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <szego/memory.h>
#include <szego/published.h>

#include "same_result.h"

enum { ROWS = 100 };

bool table1_has_runs(const szg_collection *results) {
    const szg_table *runs = szg_collection_find(results, "train_runs");
    return runs && szg_table_rows(runs) > 0;
}

static void print_percent(FILE *stream, double fraction) {
    fputs("<td class=\"number\">", stream);
    if (isfinite(fraction))
        fprintf(stream, "%.2f", 100 * fraction);
    fputs("</td>", stream);
}

static void print_run(FILE *stream, rows of, int64_t i, const szg_published *paper) {
    static const char *const texts[] = {"result", "run", "encoding", "task"};
    double published =
        szg_published_accuracy(paper, rows_text(of, i, "encoding"), rows_text(of, i, "task"));
    fputs("<tr>", stream);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        html_cell(stream, rows_text(of, i, texts[k]), TABLE1_NAME);
    html_number_cell(stream, rows_real(of, i, "seed"));
    print_percent(stream, rows_real(of, i, "test_accuracy"));
    print_percent(stream, rows_real(of, i, "label_ceiling"));
    print_percent(stream, published / 100);
    fputs("</tr>\n", stream);
}

static szg_status print_runs(page *page, rows of) {
    FILE *stream = page_stream(page);
    szg_published *paper;
    SZG_TRY(szg_published_open(page_context(page), &paper));
    page_paragraph(page,
                   "Test accuracy in percent. The paper's (Table 1 of %s) stands beside where "
                   "encoding and task have its names; sizes, data and settings of these runs are "
                   "their own, so the two numbers are of different experiments.",
                   szg_published_source(paper));
    fputs("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">result</th><th "
          "scope=\"col\">run</th><th scope=\"col\">encoding</th><th scope=\"col\">task</th>"
          "<th scope=\"col\" class=\"number\">seed</th><th scope=\"col\" class=\"number\">test "
          "accuracy</th><th scope=\"col\" class=\"number\" title=\"best accuracy that any "
          "classifier can have\">label ceiling</th><th scope=\"col\" class=\"number\">paper</th>"
          "</tr></thead><tbody>\n",
          stream);
    for (int64_t i = 0; i < of.count && i < ROWS; i++)
        print_run(stream, of, i, paper);
    fputs("</tbody></table></div>\n", stream);
    szg_published_close(&paper);
    if (of.count > ROWS)
        page_paragraph(page, "And %" PRId64 " more runs, behind the link.", of.count - ROWS);
    return page_links(page, &of, 1);
}

/* Runs that a reproduction's own table does not hold. */
static szg_status keep_others(page *page, const groups *reproductions, int64_t **kept, rows *out) {
    rows all = {.table = szg_collection_find(page_results(page), "train_runs")};
    int64_t count = szg_table_rows(all.table);
    SZG_TRY(szg_memory_alloc(page_context(page), count, sizeof **kept, kept));
    *out = (rows){.table = all.table, .row = *kept};
    for (int64_t i = 0; i < count; i++) {
        rows one = {.table = all.table, .row = &i, .count = 1};
        if (!is_within(rows_text(one, 0, "result"), reproductions))
            (*kept)[out->count++] = i;
    }
    return SZG_OK;
}

szg_status table1_runs(page *page) {
    groups reproductions;
    int64_t *kept = NULL;
    rows others;
    rows all = {.table = szg_collection_find(page_results(page), "reproduce_table1")};
    SZG_TRY(groups_split(page_context(page), all, (const char *const[]){"result", NULL},
                         &reproductions));
    szg_status status = keep_others(page, &reproductions, &kept, &others);
    if (status == SZG_OK && others.count > 0) {
        if (reproductions.count > 0)
            page_heading(page, "Other runs");
        status = print_runs(page, others);
    }
    szg_memory_free(kept);
    groups_free(&reproductions);
    return status;
}
