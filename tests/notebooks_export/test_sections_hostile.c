/* The sections, on tables of anything and of nothing. */
#include "sections_csv.h"

/* ---- Hostile results ---- */

static char *long_name(void) {
    char *name = malloc(1 << 20);
    memset(name, 'x', 1 << 20);
    memcpy(name, "<script>alert(1)</script>\xc3\xa9", 27);
    name[(1 << 20) - 1] = 0;
    return name;
}

static const char *const numbers[] = {"",       "nan",  "inf", "-inf", "1e308", "-1e308",
                                      "1e-320", "-0.0", "0.5", "2",    "1e17"};
static const char *const integers[] = {
    "", "0", "1", "-5", "9223372036854775807", "-9223372036854775808", "3"};

enum { NUMBERS = sizeof numbers / sizeof *numbers, INTEGERS = sizeof integers / sizeof *integers };

/* Rows of anything for a header, `text` in some of its cells. */
static void hostile_rows(const char *header, int64_t count, const char *text, uint32_t step,
                         csv_text *out) {
    szgi_stream stream = {.seed = test_seed(), .step = step, .purpose = 77};
    begin_csv(out, header);
    uint64_t drawn = 0;
    for (int64_t row = 0; row < count; row++) {
        for (const char *type = header; (type = strchr(type, ':')); type++) {
            if (type != strchr(header, ':'))
                fputc(',', out->stream);
            if (type[1] == 'r')
                fputs(numbers[szgi_random_below(&stream, drawn++, NUMBERS)], out->stream);
            else if (type[1] == 'i')
                fputs(integers[szgi_random_below(&stream, drawn++, INTEGERS)], out->stream);
            else
                fputs(
                    (const char *const[]){
                        "", "test", "a,b"[0] == 'a' ? "rope" : "", "same_qk",
                        row == 1 ? text
                                 : "\"<b>&\"\"\n'\""}[szgi_random_below(&stream, drawn++, 5)],
                    out->stream);
        }
        fputc('\n', out->stream);
    }
}

#define EIGENVALUES                                                                                \
    "source:t,layer:i,head:i,matrix:t,kind:t,re:r,im:r,n:i,zeros:i,values_of:t,note:t"
#define SUMMARY                                                                                    \
    "source:t,layer:i,head:i,matrix:t,n:i,lambda_min:r,lambda_max:r,sigma_min:r,sigma_max:r,"      \
    "symbol_min_lo:r,symbol_max_hi:r,theorem:t,solver:t,bound_of:t,note:t"
#define SYMBOL "theta:r,re:r,im:r,source:t,head:i,matrix:t,n:i,convention:t,note:t"
#define ATOMS "source:t,head:i,matrix:t,theta:r,mass:r,note:t"

static const struct {
    const char *command, *table, *header, *missing; /* missing: a header that lacks columns */
} kinds[] = {
    {"reproduce", "curves", CURVES, "run:t,epoch:t,accuracy:t,split:i,note:t"},
    {"train", "metrics", CURVES, "loss:r,note:t"},
    {"ablate", "ablation", ABLATION, "layer:r,accuracy:r,note:t"},
    {"reproduce", "ablation", ABLATION, "head:t,layer:t,note:t"},
    {"reproduce", "deposit", DEPOSIT, "index:t,note:t"},
    {"train", "contraction", CONTRACTION, "width_ratio:t,step:r,layer:r,head:r,note:t"},
    {"capture", "contraction", CONTRACTION, "note:t"},
    {"reproduce", "switches", SWITCHES, "experiment:t,accuracy:t,note:t"},
    {"reproduce", "hypotheses", HYPOTHESES, "hypothesis:i,primary:t,difference:t,note:t"},
    {"reproduce", "pairs", PAIRS, "hypothesis:t,primary:t,difference:r,seed:t,note:t"},
    {"reproduce", "arms", ARMS, "index:r,layer:i,note:t"},
    {"spectrum", "eigenvalues", EIGENVALUES, "re:r,im:r,note:t"},
    {"spectrum", "summary", SUMMARY, "lambda_min:i,lambda_max:i,head:t,note:t"},
    {"symbol", "samples", SYMBOL, "theta:r,re:i,im:r,note:t"},
    {"symbol", "atoms", ATOMS, "theta:i,mass:r,note:t"},
};

static void write_hostile(int64_t rows, const char *text, uint32_t step, bool missing) {
    for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char path[64];
        csv_text csv;
        hostile_rows(missing ? kinds[k].missing : kinds[k].header, rows, text, 100 * step + k,
                     &csv);
        snprintf(path, sizeof path, "r%u", k);
        write_csv(path, kinds[k].command, kinds[k].table, end_csv(&csv), NULL, NULL);
        free(csv.text);
    }
}

START_TEST(hostile_results_make_a_harmless_page) {
    char *name = long_name();
    begin_folder();
    for (uint32_t step = 0; step < 8; step++) {
        write_hostile(step == 0 ? 0 : 24, step == 1 ? name : "</script>", step, step % 3 == 2);
        char *page = page_of(folder);
        ck_assert_ptr_null(strstr(page, "<script>alert"));
        ck_assert_ptr_null(strstr(page, "<b>&"));
        free(page);
    }
    free(name);
    end_folder();
}
END_TEST

START_TEST(tables_without_rows_make_no_section) {
    static const char *const ids[] = {"<section id=\"curves\"", "<section id=\"ablation\"",
                                      "<section id=\"contraction\"", "<section id=\"switches\"",
                                      "<section id=\"mechanism\""};
    begin_folder();
    write_hostile(0, "", 0, false);
    char *page = page_of(folder);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        ck_lacks(page, ids[i]);
    free(page);
    end_folder();
}
END_TEST

START_TEST(every_refused_allocation_is_survived) {
    begin_folder();
    write_hostile(1, "name", 1, false);
    ck_survives_failed_allocations(100, write_page(folder));
    end_folder();
}
END_TEST

TEST_FILE("sections_hostile") {
    test_add(suite, "hostile results make a harmless page", hostile_results_make_a_harmless_page);
    test_add(suite, "tables without rows make no section", tables_without_rows_make_no_section);
    test_add(suite, "every refused allocation is survived", every_refused_allocation_is_survived);
}
