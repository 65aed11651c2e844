/* The sections about spectra, symbols and checkpoints, on results made by hand: what the page says
 * is counted here by loops over the same numbers. */
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <szego/page.h>
#include <szego/result.h>

#define HOSTILE "<script>alert(\"1\")</script>\n&'\x01 \xff"

static char folder[64], page_path[96];
static char *page; /* the text of the last page */

/* ---- Results, columns in the words of a row: "t:source r:re i:n" ---- */

typedef struct builder {
    szg_result *result;
    szg_table *table;
} builder;

static void begin(builder *b, const char *command) {
    ck_szg_ok(szg_result_open(test_context(), command, &b->result));
}

static void table(builder *b, const char *name, const char *columns) {
    static char words[512];
    szg_column column[24];
    int64_t count = 0;
    if (b->table)
        ck_szg_ok(szg_result_add(test_context(), b->result, &b->table));
    b->table = NULL;
    if (!name)
        return;
    snprintf(words, sizeof words, "%s t:note", columns);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        szg_type type = *word == 't' ? SZG_TEXT : *word == 'i' ? SZG_INTEGER : SZG_REAL;
        column[count++] = (szg_column){word + 2, type, "of a test"};
    }
    ck_szg_ok(szg_table_open(test_context(), name, column, count, &b->table));
}

static void row(builder *b) {
    ck_szg_ok(szg_table_add_row(test_context(), b->table));
}

static void text(builder *b, const char *column, const char *value) {
    ck_szg_ok(szg_table_set_text(test_context(), b->table, column, value));
}

static void whole(builder *b, const char *column, int64_t value) {
    ck_szg_ok(szg_table_set_integer(test_context(), b->table, column, value));
}

static void real(builder *b, const char *column, double value) {
    ck_szg_ok(szg_table_set_real(test_context(), b->table, column, value));
}

static void make_folder(void) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/szegoXXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(page_path, sizeof page_path, "%s/page.html", folder);
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    free(page);
    page = NULL;
}

static szg_status write_page(void) {
    szg_collection *results;
    SZG_TRY(szg_collection_open(test_context(), folder, &results));
    szg_status status = szg_page_write(test_context(), results, page_path);
    szg_collection_close(&results);
    return status;
}

/* Writes the result and reads the page of its folder. */
static void finish(builder *b) {
    char path[96];
    size_t length = 0;
    table(b, NULL, NULL);
    make_folder();
    snprintf(path, sizeof path, "%s/one/", folder);
    ck_szg_ok(szg_result_write(test_context(), b->result, path, NULL));
    szg_result_close(&b->result);
    ck_szg_ok(write_page());
    FILE *stream = fopen(page_path, "rb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(getdelim(&page, &length, '\0', stream), 0);
    fclose(stream);
}

static int64_t occurrences(const char *words) {
    int64_t count = 0;
    for (const char *at = page; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

#define SAYS(...)                                                                                  \
    do {                                                                                           \
        char ck_words_[512];                                                                       \
        snprintf(ck_words_, sizeof ck_words_, __VA_ARGS__);                                        \
        ck_assert_msg(strstr(page, ck_words_) != NULL, "the page lacks: %s", ck_words_);           \
    } while (0)

/* Points count one by one, lines, bands and rules as one each. */
#define MARKS(id, marks) SAYS("<figure id=\"%s\" data-marks=\"%d\"", id, marks)

/* ---- Spectra ---- */

#define KEY "t:source i:head t:matrix "

static void key(builder *b, const char *source) {
    row(b);
    text(b, "source", source);
    whole(b, "head", 0);
    text(b, "matrix", "coefficients");
}

static void add_values(builder *b, const char *source, int64_t n, int64_t count, const double *re,
                       const double *im, const char *kind) {
    for (int64_t i = 0; i < count; i++) {
        key(b, source);
        text(b, "kind", kind);
        real(b, "re", re[i]);
        real(b, "im", im ? im[i] : 0);
        whole(b, "n", n);
    }
}

static void add_samples(builder *b, const char *source, int64_t n, int64_t count, const double *re,
                        const double *im) {
    for (int64_t i = 0; i < count; i++) {
        key(b, source);
        real(b, "theta", 6.283185307179586 * (double)i / (double)count);
        real(b, "re", re[i]);
        real(b, "im", im ? im[i] : 0);
        whole(b, "n", n);
        text(b, "convention", "truncated");
    }
}

static void add_range(builder *b, const char *source, int64_t n, double lo, double hi,
                      const char *note) {
    key(b, source);
    whole(b, "n", n);
    real(b, "min_lo", lo);
    real(b, "min_hi", lo + 1e-9);
    real(b, "max_lo", hi - 1e-9);
    real(b, "max_hi", hi);
    real(b, "theta_min", 3);
    real(b, "theta_max", 0);
    text(b, "convention", "truncated");
    text(b, "note", note);
}

#define VALUES KEY "t:kind r:re r:im i:n"
#define SAMPLES KEY "r:theta r:re r:im i:n t:convention"
#define RANGE KEY "i:n r:min_lo r:min_hi r:max_lo r:max_hi r:theta_min r:theta_max t:convention"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

START_TEST(eigenvalues_over_a_symbol) {
    /* Twice as many samples as values: value k stands beside the samples 2k and 2k + 1. */
    const double value[] = {5, 1, 2.25, 8.5, 3, -0.5, 4, 7}; /* two outside [0, 8] */
    double sorted[8], sample[16], distance = 0;
    for (int i = 0; i < 16; i++)
        sample[i] = 4 + 4 * cos(0.3 + i);
    double way = fabs(sample[0] - sample[15]); /* round the samples, before they are sorted */
    for (int i = 1; i < 16; i++)
        way += fabs(sample[i] - sample[i - 1]);
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, HOSTILE, 8, 8, value, NULL, "eigenvalue");
    table(&b, "samples", SAMPLES);
    add_samples(&b, HOSTILE, 8, 16, sample, NULL);
    add_samples(&b, "another", 8, 3, value, NULL);
    table(&b, "range", RANGE);
    add_range(&b, HOSTILE, 9, 0, 100, "of another n");
    add_range(&b, HOSTILE, 8, 0, 8, "bounds every eigenvalue of the matrix");
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max t:theorem t:method r:residual");
    key(&b, HOSTILE);
    whole(&b, "n", 8);
    text(&b, "theorem", "szego");
    finish(&b);
    memcpy(sorted, value, sizeof sorted);
    qsort(sorted, 8, sizeof *sorted, compare);
    qsort(sample, 16, sizeof *sample, compare);
    for (int i = 0; i < 16; i++)
        distance += fabs(sample[i] - sorted[i / 2]) / 16;
    SAYS("6 of 8 eigenvalues (the farthest stands 0.5 outside) lie in the certified range [0, 8]");
    SAYS("On average they stand %.6g from the quantiles of the symbol", distance);
    SAYS("the finite number of samples makes up to about %.6g).", way / (4 * 16));
    SAYS("theorem applies: as n grows the eigenvalues are distributed");
    SAYS("&lt;script&gt;alert(&quot;1&quot;)");
    ck_assert_int_eq(occurrences("<script>alert"), 0);
    ck_assert_int_eq(occurrences("<figure id=\"spectrum-"), 1);
    MARKS("spectrum-1", 8 + 2); /* range and symbol */
    remove_folder();
}
END_TEST

/* Of 101 values the 91 whose places (k + 1/2)/101 are within 0.05 to 0.95, k = 5 to 95. */
START_TEST(the_middle_of_a_spectrum_with_an_outlier) {
    double value[101];
    for (int i = 0; i < 100; i++)
        value[i] = 0.01 * i;
    value[100] = 1000;
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "outlier", 101, 101, value, NULL, "eigenvalue");
    value[100] = 2;
    add_values(&b, "none", 101, 101, value, NULL, "eigenvalue");
    finish(&b);
    SAYS("The 101 eigenvalues reach from 0 to 1000, and no certified range bounds them (n = 101).");
    SAYS("The same eigenvalues without the least and the greatest 5 %%");
    MARKS("spectrum-1", 101);
    MARKS("spectrum-2", 91);
    MARKS("spectrum-3", 101);
    ck_assert_int_eq(occurrences("<figure id=\"spectrum-"), 3);
    remove_folder();
}
END_TEST

START_TEST(zeros_that_are_not_listed) {
    const double value[] = {1, -1, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "whole", 10, 3, value, NULL, "eigenvalue");
    text(&b, "note", "of a part; 7 further values are exactly 0 and not listed");
    add_values(&b, "partial", 10, 3, value, NULL, "eigenvalue");
    table(&b, "range", RANGE);
    add_range(&b, "whole", 10, -1, 1.5, "bounds every eigenvalue of the matrix");
    add_range(&b, "partial", 10, -1, 2, "bounds every eigenvalue of the matrix");
    finish(&b);
    SAYS("9 of 10 eigenvalues (the farthest stands 0.5 outside)");
    SAYS("Exactly 0 are 7 of 10. No symbol stands beside these values.");
    SAYS("partial, head 0, coefficients: 3 values are listed and 0 are said to be 0");
    ck_assert_int_eq(occurrences("<figure id=\"spectrum-"), 1);
    MARKS("spectrum-1", 10 + 1);
    ck_assert_int_eq(occurrences("theorem"), 0); /* no summary names one */
    remove_folder();
}
END_TEST

START_TEST(complex_eigenvalues_and_singular_values) {
    const double re[] = {3, 0, -1, NAN}, im[] = {4, 2, 0, 1}, singular[] = {6, 2, 1};
    const double sample_re[] = {3, 0, 1}, sample_im[] = {4, -2, 0};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "t5", 4, 4, re, im, "eigenvalue");
    add_values(&b, "other", 3, 3, singular, NULL, "singular");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "other", 3, 3, sample_re, sample_im);
    table(&b, "range", RANGE);
    add_range(&b, "t5", 4, 0, 4.5, "modulus of a complex symbol: its maximum bounds");
    add_range(&b, "other", 3, 1.5, 5, "modulus of a complex symbol: its maximum bounds");
    finish(&b);
    SAYS("2 of 4 eigenvalues (the farthest stands 0.5 outside) lie in the circle |z| = 4.5");
    SAYS(
        "2 of 3 singular values (the farthest stands 1 outside) lie in the certified range [0, 5]");
    /* |a| = 5, 2, 1 beside 6, 2, 1 */
    SAYS("On average they stand %.6g from", 1.0 / 3);
    MARKS("spectrum-1", 3 + 1); /* without the NaN, with the circle */
    MARKS("spectrum-2", 3 + 2);
    remove_folder();
}
END_TEST

START_TEST(columns_that_are_missing) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", "t:source t:re r:im");
    row(&b);
    table(&b, "summary", "t:source i:n r:lambda_min");
    row(&b);
    finish(&b);
    SAYS("The table spectrum_eigenvalues has no column of numbers re");
    SAYS("The table spectrum_summary has no column of numbers lambda_max");
    remove_folder();
    begin(&b, "symbol");
    table(&b, "samples", "r:theta r:re");
    row(&b);
    table(&b, "atoms", "r:theta t:mass");
    row(&b);
    finish(&b);
    SAYS("The table symbol_samples has no column of numbers im");
    SAYS("The table symbol_atoms has no column of numbers mass");
    remove_folder();
    begin(&b, "checkpoint");
    table(&b, "summary", "t:layer i:head");
    row(&b);
    table(&b, "spectra", "t:re");
    row(&b);
    table(&b, "frequencies", "r:theta");
    row(&b);
    finish(&b);
    SAYS("The table checkpoint_summary has no column of numbers layer");
    SAYS("The table checkpoint_spectra has no column of numbers re");
    SAYS("The table checkpoint_frequencies has no column of numbers energy");
    remove_folder();
}
END_TEST

START_TEST(many_spectra_are_bounded) {
    const double value[] = {1, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    for (int i = 0; i < 30; i++) {
        char source[16];
        snprintf(source, sizeof source, "source %d", i);
        add_values(&b, source, 2, 2, value, NULL, "eigenvalue");
    }
    finish(&b);
    ck_assert_int_eq(occurrences("<figure id=\"spectrum-"), 24);
    SAYS("6 more figures are left out; their rows are in spectrum_eigenvalues.");
    remove_folder();
}
END_TEST

static void add_ends(builder *b, double lo, double hi, double symbol_lo, double symbol_hi,
                     const char *note) {
    key(b, "alibi");
    whole(b, "n", 4);
    real(b, "lambda_min", lo);
    real(b, "lambda_max", hi);
    real(b, "sigma_min", 0.5);
    real(b, "sigma_max", 3);
    real(b, "symbol_min_lo", symbol_lo);
    real(b, "symbol_max_hi", symbol_hi);
    text(b, "note", note);
}

START_TEST(ranges_without_values) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary",
          KEY "i:n r:lambda_min r:lambda_max r:sigma_min r:sigma_max "
              "r:symbol_min_lo r:symbol_max_hi");
    add_ends(&b, -1, 1, -2, 2, NULL);
    add_ends(&b, -1, 3, -2, 2, NULL);
    add_ends(&b, -1, 9, 1, 4, "complex; symbol columns bound |a|, a the symbol of the matrix");
    add_ends(&b, -1, 1, -2, 2, "of the Toeplitz part");
    add_ends(&b, NAN, INFINITY, NAN, NAN, NULL);
    finish(&b);
    SAYS("2 of 3 spectra with such a range lie in it.");
    SAYS("singular values are drawn");
    MARKS("spectrum-1", 3 * (3 + 3 + 1)); /* a line and two points: range, eigenvalues, singular */
    ck_assert_int_eq(occurrences("<figure id=\"spectrum-"), 1);
    remove_folder();
}
END_TEST

/* ---- Symbols ---- */

START_TEST(symbols_and_their_ends) {
    const double re[] = {3, 1, -1, 1}, im[] = {0, 1, 0, -1};
    builder b = {0};
    begin(&b, "symbol");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "kms", 2, 4, re, NULL);
    add_samples(&b, "kms", 3, 4, re, NULL);
    add_samples(&b, "t5", 3, 4, re, im);
    table(&b, "range", RANGE);
    add_range(&b, "kms", 2, -1, 3, "bounds");
    add_range(&b, "kms", 3, -1.5, 3.25, "bounds");
    add_range(&b, "t5", 3, 1, 3, "modulus");
    table(&b, "atoms", KEY "r:theta r:mass");
    key(&b, "rope");
    real(&b, "theta", 1);
    real(&b, "mass", 0.25);
    key(&b, "rope");
    real(&b, "theta", 0.001);
    real(&b, "mass", 0.5);
    key(&b, "rope");
    real(&b, "theta", 0);
    real(&b, "mass", 0.125);
    finish(&b);
    SAYS("The certified ranges of 2 symbols, all within -1.5 to 3.25");
    SAYS("Certified range of |a| 1 to 3;");
    SAYS("fewer points than the symbol has oscillations"); /* n = 3: 2 waves in 4 samples */
    SAYS("3 point masses, 0.875 in sum");
    SAYS("the mass 0.125 at theta = 0 has no place");
    ck_assert_int_eq(occurrences("<figure id=\"symbol-"), 3);
    MARKS("symbol-1", 2 * (1 + 2));
    MARKS("symbol-2", 3 + 2 * 2); /* three lines; at each end a point and a line */
    MARKS("symbol-3", 1 + 2);     /* a logarithm leaves 0 out */
    remove_folder();
}
END_TEST

/* ---- Checkpoints ---- */

enum { LAYERS = 2, HEADS = 10 };

static double share_of(int64_t layer, int64_t head) {
    return 0.5 + 0.4 * sin((double)(3 * layer + head));
}

static void add_heads(builder *b) {
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            row(b);
            text(b, "source", HOSTILE);
            whole(b, "layer", layer);
            whole(b, "head", head);
            text(b, "matrix", "position");
            real(b, "toeplitzness", share_of(layer, head));
        }
    row(b); /* a key that no array may be indexed by */
    whole(b, "layer", INT64_MAX);
    whole(b, "head", INT64_MIN);
}

static void add_spectra(builder *b, const char *value, const char *by) {
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            for (int i = 0; i < 3; i++) {
                row(b);
                text(b, "source", HOSTILE);
                whole(b, "layer", layer);
                whole(b, "head", head);
                real(b, value, (double)(1 + i) * share_of(layer, head));
                if (by)
                    real(b, by, pow(10, -i));
                else
                    text(b, "kind", "singular");
                if (by)
                    whole(b, "pair", i);
            }
}

START_TEST(heads_of_a_checkpoint) {
    double sum = 0, most = 0, peak = 0;
    int64_t where = 0;
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source i:layer i:head t:matrix r:toeplitzness r:sigma_max");
    add_heads(&b);
    table(&b, "spectra", "t:source i:layer i:head t:matrix t:kind r:re r:im");
    add_spectra(&b, "re", NULL);
    table(&b, "frequencies", "t:source i:layer i:head i:pair r:theta r:energy");
    add_spectra(&b, "energy", "theta");
    finish(&b);
    for (int64_t i = 0; i < LAYERS * HEADS; i++) {
        double share = share_of(i / HEADS, i % HEADS);
        sum += share / (LAYERS * HEADS);
        where = share > most ? i : where;
        most = fmax(most, share);
        peak = i < HEADS / 2 ? fmax(peak, 3 * share) : peak;
    }
    SAYS("Mean %.6g, least", sum);
    SAYS("greatest %.6g at layer %d, head %d.", most, (int)(where / HEADS), (int)(where % HEADS));
    SAYS("The greatest singular value: %.6g in head", peak); /* of the first five heads */
    SAYS("The greatest energy of a pair: %.6g in head", peak);
    ck_assert_int_eq(occurrences("<script>alert"), 0);
    /* One map; of ten heads two figures a layer. */
    ck_assert_int_eq(occurrences("<figure id=\"toeplitzness-"), 1 + 2 * LAYERS);
    MARKS("toeplitzness-1", LAYERS * HEADS);
    MARKS("toeplitzness-2", HEADS / 2);
    MARKS("rotary-5", HEADS / 2);
    ck_assert_int_eq(occurrences("CSV: 15 rows of checkpoint_spectra"), 2 * LAYERS);
    ck_assert_int_eq(occurrences("<figure id=\"rotary-"), 1 + 2 * LAYERS);
    remove_folder();
}
END_TEST

START_TEST(tensors_of_no_known_architecture) {
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source i:layer i:head t:matrix r:sigma_max r:effective_rank");
    for (int i = 0; i < 500; i++) {
        row(&b);
        text(&b, "source", "odd");
        text(&b, "matrix", i == 7 ? HOSTILE : "tensor");
        real(&b, "sigma_max", i == 7 ? 12.5 : 1 + 0.01 * i);
    }
    finish(&b);
    SAYS("By largest singular value the first is &lt;script&gt;");
    SAYS(" with 12.5; the hover text");
    SAYS("The first 400 of 500 tensors are drawn.");
    MARKS("toeplitzness-1", 400);
    ck_assert_int_eq(occurrences("<script>alert"), 0);
    ck_assert_int_eq(occurrences("<figure id=\"toeplitzness-"), 1);
    remove_folder();
}
END_TEST

START_TEST(refused_memory) {
    const double value[] = {1, 2}, im[] = {0.5, -0.5};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "one", 2, 2, value, NULL, "eigenvalue");
    add_values(&b, "two", 2, 2, value, im, "eigenvalue");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "one", 2, 2, value, NULL);
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max");
    key(&b, "three");
    real(&b, "lambda_min", 1);
    real(&b, "lambda_max", 2);
    finish(&b);
    ck_survives_failed_allocations(20, write_page());
    remove_folder();
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source i:layer i:head t:matrix r:toeplitzness r:sigma_max");
    add_heads(&b);
    row(&b);
    real(&b, "sigma_max", 1);
    table(&b, "frequencies", "t:source i:layer i:head i:pair r:theta r:energy");
    row(&b);
    finish(&b);
    ck_survives_failed_allocations(20, write_page());
    remove_folder();
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "eigenvalues_over_a_symbol", eigenvalues_over_a_symbol);
    test_add(suite, "the_middle_of_a_spectrum_with_an_outlier",
             the_middle_of_a_spectrum_with_an_outlier);
    test_add(suite, "zeros_that_are_not_listed", zeros_that_are_not_listed);
    test_add(suite, "complex_eigenvalues_and_singular_values",
             complex_eigenvalues_and_singular_values);
    test_add(suite, "columns_that_are_missing", columns_that_are_missing);
    test_add(suite, "many_spectra_are_bounded", many_spectra_are_bounded);
    test_add(suite, "ranges_without_values", ranges_without_values);
    test_add(suite, "symbols_and_their_ends", symbols_and_their_ends);
    test_add(suite, "heads_of_a_checkpoint", heads_of_a_checkpoint);
    test_add(suite, "tensors_of_no_known_architecture", tensors_of_no_known_architecture);
    test_add(suite, "refused_memory", refused_memory);
}
