/* Runs of `szego train`: the paper's accuracy beside where encoding and task are the paper's. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/reproduce/published.h"

#include "match.h"
#include "same_result.h"

enum { ROWS = 100 };

static void print_percent(FILE *stream, double fraction) {
    fputs("<td class=\"number\">", stream);
    if (isfinite(fraction))
        fprintf(stream, "%.2f", 100 * fraction);
    fputs("</td>", stream);
}

static void print_run(FILE *stream, rows of, int64_t i, const szgi_published *paper) {
    static const char *const texts[] = {"result", "run", "encoding", "task"};
    double published = szgi_published_accuracy(paper, szgi_rows_text(of, i, "encoding"),
                                               szgi_rows_text(of, i, "task"));
    fputs("<tr>", stream);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        szgi_html_cell(stream, szgi_rows_text(of, i, texts[k]), TABLE1_NAME);
    szgi_html_number_cell(stream, szgi_rows_real(of, i, "seed"));
    print_percent(stream, szgi_rows_real(of, i, "test_accuracy"));
    print_percent(stream, szgi_rows_real(of, i, "label_ceiling"));
    print_percent(stream, published / 100);
    fputs("</tr>\n", stream);
}

static szg_status print_runs(page *page, rows of) {
    FILE *stream = szgi_page_stream(page);
    szgi_published *paper;
    SZG_TRY(szgi_published_open(szgi_page_context(page), &paper));
    szgi_page_paragraph(page,
                        "Test accuracy in percent. The paper's (Table 1 of %s) is beside it if "
                        "encoding and task have its names; sizes, data and settings of these runs "
                        "are their own, so the two numbers are of different experiments.",
                        szgi_published_source(paper));
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
    szgi_published_close(&paper);
    if (of.count > ROWS)
        szgi_page_paragraph(page, "And %" PRId64 " more runs, behind the link.", of.count - ROWS);
    return szgi_page_links(page, &of, 1);
}

/* Runs that a reproduction's own table does not hold. */
static szg_status keep_others(page *page, const groups *reproductions, int64_t **kept, rows *out) {
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(page), "train_runs"));
    int64_t count = all.count;
    SZG_TRY(szgi_memory_alloc(szgi_page_context(page), count, kept));
    *out = (rows){.table = all.table, .row = *kept};
    for (int64_t i = 0; i < count; i++) {
        rows one = {.table = all.table, .row = &i, .count = 1};
        if (!szgi_is_within(szgi_rows_text(one, 0, "result"), reproductions))
            (*kept)[out->count++] = i;
    }
    return SZG_OK;
}

szg_status szgi_table1_runs(page *page) {
    groups reproductions;
    int64_t *kept = NULL;
    rows others;
    rows all = {.table = szgi_collection_find(szgi_page_results(page), "reproduce_table1")};
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, (const char *const[]){"result", NULL},
                              &reproductions));
    szg_status status = keep_others(page, &reproductions, &kept, &others);
    if (status == SZG_OK && others.count > 0) {
        if (reproductions.count > 0)
            szgi_page_heading(page, "Other runs");
        status = print_runs(page, others);
    }
    szgi_memory_free(kept);
    szgi_groups_free(&reproductions);
    return status;
}
