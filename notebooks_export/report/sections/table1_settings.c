/* How the runs' settings stand to the paper's, and what has not run. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/csv.h"

#include "match.h"
#include "same_result.h"

enum { LISTED = 12, MISSING = 20, VALUE = 32, CHARACTERS = 48 };

/* ---- Sizes ---- */

static bool is_size(const char *key) {
    static const char *const sizes[] = {"model.vocabulary", "model.layers",  "model.width",
                                        "model.hidden",     "model.heads",   "model.latent_kv",
                                        "model.max_length", "data.examples", "loop.epochs"};
    for (size_t i = 0; key && i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(key, sizes[i]) == 0)
            return true;
    return false;
}

/* The least (sign 1) or greatest (-1) number of "a|b"; NaN where one is no number. */
static double extreme(const char *list, double sign) {
    char one[VALUE];
    double found = INFINITY, value;
    for (const char *at = list; at; at = strchr(at, '|')) {
        at += *at == '|';
        size_t length = strcspn(at, "|");
        if (length >= sizeof one)
            return NAN;
        memcpy(one, at, length);
        one[length] = 0;
        if (!szgi_real_parse(one, &value))
            return NAN;
        found = fmin(found, sign * value);
    }
    return sign * found;
}

static bool is_smaller(rows settings, int64_t i) {
    const char *here = szgi_rows_text(settings, i, "here"),
               *paper = szgi_rows_text(settings, i, "paper");
    return is_size(szgi_rows_text(settings, i, "key")) && here && paper &&
           extreme(here, -1) < extreme(paper, 1);
}

static bool differs(rows settings, int64_t i) {
    const char *same = szgi_rows_text(settings, i, "same");
    return !same || strcmp(same, "yes") != 0;
}

/* Table 4 repeats Table 3's settings: a setting is listed once. */
static bool is_repeated(rows settings, int64_t i) {
    for (int64_t j = 0; j < i && szgi_rows_text(settings, i, "key"); j++)
        if (szgi_match_cells(settings, i, settings, j, "key") &&
            szgi_match_cells(settings, i, settings, j, "task"))
            return true;
    return false;
}

typedef bool choose_fn(rows settings, int64_t i);

static bool other_difference(rows settings, int64_t i) {
    return differs(settings, i) && !is_smaller(settings, i);
}

static int64_t count_chosen(rows settings, choose_fn *choose) {
    int64_t count = 0;
    for (int64_t i = 0; i < settings.count; i++)
        count += choose(settings, i) && !is_repeated(settings, i);
    return count;
}

/* "layers 2 (paper 6), ..." */
static void list_chosen(FILE *stream, rows settings, choose_fn *choose) {
    int64_t listed = 0;
    for (int64_t i = 0; i < settings.count; i++) {
        if (!choose(settings, i) || is_repeated(settings, i))
            continue;
        if (listed++ == LISTED) {
            fputs(", …", stream);
            return;
        }
        fputs(listed > 1 ? ", " : " ", stream);
        szgi_html_clipped(stream, szgi_rows_text(settings, i, "setting"), CHARACTERS);
        if (szgi_rows_text(settings, i, "task")) {
            fputs(" of ", stream);
            szgi_html_clipped(stream, szgi_rows_text(settings, i, "task"), CHARACTERS);
        }
        putc(' ', stream);
        szgi_html_clipped(stream, szgi_rows_text(settings, i, "here"), CHARACTERS);
        fputs(" (paper ", stream);
        szgi_html_clipped(stream, szgi_rows_text(settings, i, "paper"), CHARACTERS);
        putc(')', stream);
    }
}

static void print_caveat(FILE *stream, rows settings) {
    int64_t smaller = count_chosen(settings, is_smaller);
    int64_t other = count_chosen(settings, other_difference);
    if (smaller + other == 0) {
        fputs("<p>The settings that the paper states are those of these runs.</p>\n", stream);
        return;
    }
    fputs("<p class=\"warning\">", stream);
    if (smaller > 0) {
        fputs("The numbers here are of a smaller experiment than the paper's:", stream);
        list_chosen(stream, settings, is_smaller);
        fputs(". They say nothing on whether its numbers reproduce.", stream);
    }
    if (other > 0) {
        fputs(smaller ? " Different besides:" : "The settings are not the paper's:", stream);
        list_chosen(stream, settings, other_difference);
        putc('.', stream);
    }
    fputs("</p>\n", stream);
}

szg_status szgi_table1_caveat(page *page, const char *result) {
    groups settings;
    SZG_TRY(szgi_rows_of_result(page, "reproduce_settings", result, &settings));
    if (settings.count > 0)
        print_caveat(szgi_page_stream(page), settings.group[0]);
    else
        fputs("<p class=\"warning\">The table of settings is not there: whether these runs had the "
              "paper's sizes is not known.</p>\n",
              szgi_page_stream(page));
    szgi_groups_free(&settings);
    return SZG_OK;
}

/* ---- The tables beside ---- */

static szg_status show_settings(page *page, rows of) {
    szgi_page_heading(page, "Settings: the paper's Tables 3 and 4, and these runs");
    return szgi_page_rows(
        page, of,
        (const char *const[]){"item", "setting", "task", "paper", "here", "same", "note", NULL});
}

static szg_status show_items(page *page, rows of) {
    int64_t whole = 0;
    for (int64_t i = 0; i < of.count; i++) {
        double runs = szgi_rows_real(of, i, "runs");
        whole += runs > 0 && szgi_rows_real(of, i, "finished") >= runs;
    }
    szgi_page_heading(page, "Which of the paper's tables and figures have run");
    szgi_page_paragraph(page, "%" PRId64 " of %" PRId64 " rows have all their runs.", whole,
                        of.count);
    return szgi_page_rows(
        page, of,
        (const char *const[]){"item", "about", "experiment", "runs", "finished", "note", NULL});
}

/* Folders of earlier versions do not say the state. */
static int64_t count_failed(rows of) {
    int64_t count = 0;
    for (int64_t i = 0; i < of.count; i++) {
        const char *state = szgi_rows_text(of, i, "state");
        count += state && strcmp(state, "failed") == 0;
    }
    return count;
}

static szg_status show_missing(page *page, rows of) {
    rows first = of;
    int64_t failed = count_failed(of);
    szgi_page_heading(page, "Runs that are missing");
    szgi_page_paragraph(page, "%" PRId64 " runs of the preset are not finished.", of.count);
    if (failed > 0)
        szgi_page_paragraph(page,
                            "%" PRId64
                            " of them failed: their numbers stopped being finite, or those of the "
                            "run that they need did. Hypotheses count them as failed.",
                            failed);
    if (of.count > MISSING) {
        first.count = MISSING;
        szgi_page_paragraph(page, "The first %d of them; all are in the table reproduce_missing.",
                            (int)MISSING);
    }
    return szgi_page_rows(page, first,
                          (const char *const[]){"run", "encoding", "task", "seed", "state",
                                                "failed_step", "note", NULL});
}

static szg_status show_needs(page *page, rows of) {
    szgi_page_heading(page, "What the runs need");
    return szgi_page_rows(page, of,
                          (const char *const[]){"preset", "experiment", "task", "runs", "finished",
                                                "operations", "hours", "rate", "note", NULL});
}

szg_status szgi_table1_beside(page *page, const char *result) {
    static const struct {
        const char *table;
        szg_status (*show)(struct page *page, rows of);
    } parts[] = {{"reproduce_settings", show_settings},
                 {"reproduce_items", show_items},
                 {"reproduce_missing", show_missing},
                 {"reproduce_needs", show_needs}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        groups of;
        szg_status status = szgi_rows_of_result(page, parts[i].table, result, &of);
        if (status == SZG_OK && of.count > 0)
            status = parts[i].show(page, of.group[0]);
        szgi_groups_free(&of);
        SZG_TRY(status);
    }
    return SZG_OK;
}
