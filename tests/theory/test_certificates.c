/* Certificates: all that the checkers make are confirmed by the second path; whatever is changed in
 * one is refused, unless the changed one is true. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comma_locale.h"
#include "scratch.h"
#include "suite.h"
#include "base/table.h"
#include "formats/csv.h"
#include "formats/result.h"
#include "claims/claim.h"
#include "recheck.h"

enum { FIELDS = 12, N_FIELD = 5, LONGEST = 1024 };

static const char *const field_names[FIELDS] = {"id",      "kind",    "left",     "relation",
                                                "right",   "n",       "weights",  "phases",
                                                "left_lo", "left_hi", "right_lo", "right_hi"};

typedef struct row {
    char field[FIELDS][LONGEST];
} row;

/* The certificates of a quick run, A3.2's draws left out but for its certificate. */
static szg_table *make_certificates(void) {
    szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 4, .trials = 8};
    szg_claims_report report;
    ck_szg_ok(szg_claims_verify(test_context(), &options, 0, NULL, &report));
    szg_table *table = report.certificates;
    report.certificates = NULL;
    szg_claims_report_close(&report);
    return table;
}

static szg_table *certificates(void) {
    static szg_table *kept;
    if (!kept)
        kept = make_certificates();
    return kept;
}

static row row_of(szg_table *table, int64_t index) {
    row r;
    for (int f = 0; f < FIELDS; f++) {
        int64_t column = szg_table_find(table, field_names[f]);
        if (f == N_FIELD)
            snprintf(r.field[f], LONGEST, "%lld",
                     (long long)szg_table_get_integer(table, index, column));
        else
            snprintf(r.field[f], LONGEST, "%s", szg_table_get_text(table, index, column));
    }
    return r;
}

static row row_at(int64_t index) {
    return row_of(certificates(), index);
}

/* Seconds a check: RoPE's of order 64. The same rule has one of order 2. */
static bool is_slow(const row *r) {
    return atoll(r->field[N_FIELD]) == 64 && strcmp(r->field[0], "B3r") == 0;
}

/* One certificate as JSON; `skip` is left out (-1: none), `extra` put at the end. */
static void write_row(const row *r, int skip, const char *extra, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "{");
    for (int f = 0; f < FIELDS; f++) {
        if (f == skip)
            continue;
        const char *quote = f == N_FIELD ? "" : "\"";
        used += (size_t)snprintf(text + used, size - used, "%s\"%s\": %s%s%s", used > 1 ? ", " : "",
                                 field_names[f], quote, r->field[f], quote);
    }
    snprintf(text + used, size - used, "%s}", extra);
}

static bool confirmed_text(const char *text) {
    szg_table *results;
    int64_t refused;
    ck_szg_ok(szgi_certificates_check_text(test_context(), "test", text, (int64_t)strlen(text),
                                           &results, &refused));
    ck_assert_int_eq(szg_table_rows(results), 1);
    ck_assert(refused == 0 || szg_table_get_text(results, 0, 3)); /* a reason is given */
    szg_table_close(&results);
    return refused == 0;
}

static bool confirmed(const row *r) {
    char text[FIELDS * LONGEST];
    write_row(r, -1, "", text, sizeof text);
    return confirmed_text(text);
}

START_TEST(all_confirmed) {
    szg_table *table = certificates();
    ck_assert_int_ge(szg_table_rows(table), 30);
    for (int64_t i = 0; i < szg_table_rows(table); i++) {
        row r = row_at(i);
        ck_assert_msg(confirmed(&r), "certificate %d of %s", (int)i, r.field[0]);
    }
}
END_TEST

/* Made and checked under a decimal comma: the same texts, and all are confirmed. */
START_TEST(a_comma_in_the_locale_changes_nothing) {
    szg_table *plain = certificates();
    enter_comma_locale();
    szg_table *table = make_certificates();
    ck_assert_int_eq(szg_table_rows(table), szg_table_rows(plain));
    for (int64_t i = 0; i < szg_table_rows(table); i++) {
        row r = row_of(table, i), want = row_of(plain, i);
        for (int f = 0; f < FIELDS; f++)
            ck_assert_str_eq(r.field[f], want.field[f]);
        ck_assert_msg(confirmed(&r), "certificate %d of %s", (int)i, r.field[0]);
    }
    leave_comma_locale();
    szg_table_close(&table);
}
END_TEST

/* Through a result file, as the program writes it. */
START_TEST(through_a_file) {
    szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 4, .trials = 8};
    const char *const ids[] = {"B3h", "L2", "SYM"};
    szg_claims_report report;
    szg_result *result;
    szg_table *checks;
    int64_t refused;
    char path[] = "/tmp/szego_certificates_XXXXXX.json";
    int file = mkstemps(path, 5);
    ck_assert(file >= 0);
    fclose(fdopen(file, "w"));
    ck_szg_ok(szg_claims_verify(test_context(), &options, 3, ids, &report));
    int64_t count = szg_table_rows(report.certificates);
    ck_szg_ok(szg_result_open(test_context(), "verify", &result));
    ck_szg_ok(szg_result_add(test_context(), result, &report.claims));
    ck_szg_ok(szg_result_add(test_context(), result, &report.certificates));
    ck_szg_ok(szg_result_write(test_context(), result, path, NULL));
    ck_szg_ok(szg_certificates_check(test_context(), path, &checks, &refused));
    ck_assert_int_eq(refused, 0);
    ck_assert_int_eq(szg_table_rows(checks), count);
    remove(path);
    szg_table_close(&checks);
    szg_result_close(&result);
    szg_claims_report_close(&report);
    ck_szg_fails(SZG_EIO, "", szg_certificates_check(test_context(), path, &checks, &refused));
}
END_TEST

/* The first `rows` certificates that are quick as a CSV file, with `text` in column `name` of the
 * first row; name NULL: as they are. */
static void write_csv(const char *path, int64_t rows, const char *name, const char *text) {
    szg_table *from = certificates(), *to;
    ck_szg_ok(szgi_certificate_table_open(test_context(), &to));
    for (int64_t i = 0; i < szg_table_rows(from) && szg_table_rows(to) < rows; i++) {
        row quick = row_at(i);
        if (is_slow(&quick))
            continue;
        ck_szg_ok(szg_table_add_row(test_context(), to));
        for (int f = 0; f < FIELDS; f++) {
            const char *cell = quick.field[f];
            if (szg_table_rows(to) == 1 && name && strcmp(field_names[f], name) == 0)
                cell = text;
            if (cell && f == N_FIELD)
                ck_szg_ok(szgi_table_put_integer(test_context(), to, f, atoll(cell)));
            else if (cell)
                ck_szg_ok(szgi_table_put_text(test_context(), to, f, cell));
        }
    }
    ck_szg_ok(szgi_csv_write(test_context(), to, path));
    szg_table_close(&to);
}

/* Rows of a CSV file are read without another text: all are confirmed, and one that is not a
 * certificate is refused with the file, the row and the column. */
START_TEST(through_a_csv_file) {
    static const char *const bad[][3] = {
        {"weights", "x", "weights: weight 0 is not a finite number"},
        {"phases", "1/0", "phases: phase 0 is neither radians nor p/q"},
        {"left", "foo", "left: no such quantity"},
        {"right", NULL, "right: no such quantity"},
        {"n", NULL, "n: is empty: an integer is needed"},
        {"left_hi", "q", "left_hi: \"q\" is not a number"},
        {"right_lo", "inf", "right_lo: [inf, "}};
    const char *path = scratch_path("certificates.csv");
    szg_table *checks;
    int64_t refused;
    char words[256];
    write_csv(path, INT64_MAX, NULL, NULL);
    ck_szg_ok(szg_certificates_check(test_context(), path, &checks, &refused));
    ck_assert_int_eq(refused, 0);
    ck_assert_int_ge(szg_table_rows(checks), 30);
    szg_table_close(&checks);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_csv(path, 2, bad[i][0], bad[i][1]);
        ck_szg_ok(szg_certificates_check(test_context(), path, &checks, &refused));
        ck_assert_int_eq(refused, 1);
        snprintf(words, sizeof words, "%s: row 1: %s", path, bad[i][2]);
        ck_assert_ptr_nonnull(strstr(szg_table_get_text(checks, 0, 3), words));
        ck_assert_str_eq(szg_table_get_text(checks, 0, 0), row_at(0).field[0]);
        szg_table_close(&checks);
    }
}
END_TEST

START_TEST(names_changed) {
    szg_table *table = certificates();
    for (int64_t i = 0; i < szg_table_rows(table); i++)
        for (int f = 0; f < N_FIELD; f++) {
            row r = row_at(i);
            char kept[LONGEST];
            memcpy(kept, r.field[f], LONGEST);
            /* every other value that any certificate has there, and nonsense */
            for (int64_t k = -1; k < szg_table_rows(table); k++) {
                if (k < 0)
                    strcpy(r.field[f], "nonsense");
                else
                    memcpy(r.field[f], row_at(k).field[f], LONGEST);
                if (strcmp(r.field[f], kept) == 0)
                    continue;
                ck_assert_msg(!confirmed(&r), "%s: %s = %s for %s", r.field[0], field_names[f],
                              r.field[f], kept);
            }
        }
}
END_TEST

START_TEST(fields_missing_or_extra) {
    char text[FIELDS * LONGEST];
    for (int64_t i = 0; i < szg_table_rows(certificates()); i += 3) {
        row r = row_at(i);
        for (int f = 0; f < FIELDS; f++) {
            write_row(&r, f, "", text, sizeof text);
            if (f == 0) { /* without id it is no certificate at all */
                szg_table *results;
                int64_t refused;
                ck_szg_fails(SZG_EDATA, "certificates",
                             szgi_certificates_check_text(test_context(), "test", text,
                                                          (int64_t)strlen(text), &results,
                                                          &refused));
                continue;
            }
            ck_assert_msg(!confirmed_text(text), "%s without %s", r.field[0], field_names[f]);
        }
        write_row(&r, -1, ", \"extra\": 1", text, sizeof text);
        ck_assert(!confirmed_text(text));
        write_row(&r, -1, ", \"note\": \"a remark\"", text, sizeof text);
        ck_assert(confirmed_text(text));
    }
}
END_TEST

/* What the producing path says of changed inputs. */
static bool still_true(const row *r, const double *w, int64_t weights, const szgi_phase *theta,
                       int64_t phases) {
    const instance at = {
        .n = atoll(r->field[5]), .weights = weights, .phases = phases, .w = w, .theta = theta};
    const refutation *rule =
        szgi_refutation_find(r->field[0], r->field[1], szgi_quantity_find(r->field[2]), r->field[3],
                             szgi_quantity_find(r->field[4]));
    bool hold, equal = true;
    szg_interval left, right;
    if (!szgi_refutation_accepts(rule, &at))
        return false;
    if (szgi_refutation_hold(test_context(), rule, &at, &hold) != SZG_OK || !hold)
        return false;
    if (rule->equal && (rule->equal->decide(test_context(), &at, &equal) != SZG_OK || !equal))
        return false;
    ck_szg_ok(szgi_quantity_enclose(test_context(), rule->left, &at, &left));
    ck_szg_ok(szgi_quantity_enclose(test_context(), rule->right, &at, &right));
    return strtod(r->field[8], NULL) <= left.lo && left.hi <= strtod(r->field[9], NULL) &&
           strtod(r->field[10], NULL) <= right.lo && right.hi <= strtod(r->field[11], NULL);
}

static int64_t read_weights(const char *text, double *w) {
    int64_t count = 0;
    char *end;
    for (const char *at = text; *at; at = *end ? end + 1 : end)
        w[count++] = strtod(at, &end);
    return count;
}

static int64_t read_phases(const char *text, szgi_phase *theta) {
    int64_t count = 0;
    char copy[LONGEST], *save = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *slash = strchr(word, '/');
        theta[count++] = slash ? szgi_phase_ratio(atoll(word), atoll(slash + 1))
                               : szgi_phase_radians(strtod(word, NULL));
    }
    return count;
}

static void put_inputs(row *r, const double *w, int64_t weights, const szgi_phase *theta,
                       int64_t phases) {
    char *text;
    ck_szg_ok(szgi_certificate_weights_text(test_context(), weights, w, &text));
    snprintf(r->field[6], LONGEST, "%s", text);
    szgi_memory_free(text);
    ck_szg_ok(szgi_certificate_phases_text(test_context(), phases, theta, &text));
    snprintf(r->field[7], LONGEST, "%s", text);
    szgi_memory_free(text);
}

START_TEST(inputs_changed) {
    int64_t refused = 0, kept = 0;
    for (int64_t i = 0; i < szg_table_rows(certificates()); i++) {
        double w[64];
        szgi_phase theta[64];
        row original = row_at(i);
        if (is_slow(&original))
            continue;
        int64_t weights = read_weights(original.field[6], w);
        int64_t phases = read_phases(original.field[7], theta);
        for (int64_t change = 0; change < weights + phases + 3; change++) {
            row r = original;
            double x[64];
            szgi_phase phi[64];
            int64_t nw = weights, np = phases;
            memcpy(x, w, sizeof x);
            memcpy(phi, theta, sizeof phi);
            if (change < weights)
                x[change] += 0x1p-20;
            else if (change < weights + phases && phi[change - weights].rational)
                phi[change - weights].p += 1;
            else if (change < weights + phases)
                phi[change - weights].radians += 0x1p-20;
            else if (change == weights + phases)
                nw = nw > 0 ? nw - 1 : 0;
            else if (change == weights + phases + 1)
                np = np > 0 ? np - 1 : 0;
            else
                snprintf(r.field[N_FIELD], LONGEST, "%lld", atoll(original.field[N_FIELD]) + 1);
            if (nw == weights && np == phases &&
                change == weights + phases + (weights == 0 ? 0 : 1))
                continue; /* nothing was there to drop */
            put_inputs(&r, x, nw, phi, np);
            bool same = strcmp(r.field[5], original.field[5]) == 0 && nw == weights &&
                        np == phases && change >= weights + phases;
            if (same)
                continue;
            bool got = confirmed(&r);
            ck_assert_msg(got == still_true(&r, x, nw, phi, np),
                          "%s %s %s %s: change %d: confirmed %d", r.field[0], r.field[2],
                          r.field[3], r.field[4], (int)change, got);
            refused += !got;
            kept += got;
        }
    }
    /* most changes matter; theta_0 and entries that a quantity does not read do not */
    ck_assert_msg(refused > 2 * kept, "%d refused, %d kept", (int)refused, (int)kept);
}
END_TEST

/* a_0 = i: no Hermitian matrix, so that its symbol refutes nothing. cos and sin of pi/2 leave both
 * values as they are, -2 and 0: the hypothesis alone speaks. */
START_TEST(a_diagonal_that_is_not_real) {
    static const struct {
        double w0;
        szgi_phase theta0;
        bool confirmed;
    } cases[] = {{0, {.rational = true, .p = 0, .q = 1}, true},
                 {1, {.rational = true, .p = 1, .q = 2}, false},
                 {0, {.rational = true, .p = 1, .q = 2}, true},
                 {-2, {.rational = true, .p = -7, .q = 2}, false}};
    int tried = 0;
    for (int64_t i = 0; i < szg_table_rows(certificates()); i++) {
        row r = row_at(i);
        if (strcmp(r.field[0], "SYM") != 0 || atoll(r.field[N_FIELD]) != 2)
            continue;
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            const double w[] = {cases[j].w0, 1};
            const szgi_phase theta[] = {cases[j].theta0, {.rational = true, .p = 1, .q = 2}};
            put_inputs(&r, w, 2, theta, 2);
            ck_assert_int_eq(confirmed(&r), cases[j].confirmed);
            tried++;
        }
    }
    ck_assert_int_eq(tried, sizeof cases / sizeof *cases);
}
END_TEST

static bool with_end(const row *original, int field, double value) {
    row r = *original;
    snprintf(r.field[field], LONGEST, "%a", value);
    return confirmed(&r);
}

START_TEST(enclosures_changed) {
    for (int64_t i = 0; i < szg_table_rows(certificates()); i++) {
        row r = row_at(i);
        if (is_slow(&r))
            continue;
        for (int side = 8; side <= 10; side += 2) {
            double lo = strtod(r.field[side], NULL), hi = strtod(r.field[side + 1], NULL);
            double width = hi - lo;
            ck_assert(!with_end(&r, side, hi)); /* excludes the value */
            ck_assert(!with_end(&r, side, hi - 0.4 * width));
            ck_assert(!with_end(&r, side + 1, lo));
            ck_assert(!with_end(&r, side + 1, lo + 0.4 * width));
            ck_assert(!with_end(&r, side, hi + width)); /* empty */
            ck_assert(!with_end(&r, side, NAN));
            ck_assert(!with_end(&r, side + 1, INFINITY));
            ck_assert(with_end(&r, side, lo - 0.5 * width)); /* wider, and true */
        }
        /* True of anything: no certificate, whatever the relation. */
        for (int end = 8; end <= 11; end++)
            ck_assert(!with_end(&r, end, end % 2 ? 0x1p62 : -0x1p62));
    }
}
END_TEST

/* Phases beside quantities without phases are not part of the instance. */
START_TEST(unused_phases) {
    row r = {{"L3", "disjoint", "width g", "<", "4 sum w", "1", "0x1p+0", "", "-0x1p-30", "0x1p-30",
              "0x1.fffffff8p+1", "0x1.00000004p+2"}};
    ck_assert(confirmed(&r));
    strcpy(r.field[7], "0/1");
    ck_assert(!confirmed(&r));
}
END_TEST

/* Right enclosures in a wrong relation: |Re e^{i pi/3}| = 1/2 is below |1|, and with a second
 * weight of -1 at angle pi |Re| = 1/2 + 1 is above |1 - 1|. */
START_TEST(false_relation) {
    row r = {{"B1", "disjoint", "|Re sum w e^{i n theta}|", ">", "|sum w|", "1", "0x1p+0", "1/3",
              "0x1.fffffff8p-2", "0x1.00000004p-1", "0x1.fffffff8p-1", "0x1.00000004p+0"}};
    ck_assert(!confirmed(&r));
    row truth = {{"B1", "disjoint", "|Re sum w e^{i n theta}|", ">", "|sum w|", "1",
                  "0x1p+0 -0x1p+0", "1/3 1/1", "0x1.7ffffffcp+0", "0x1.80000004p+0", "-0x1p-30",
                  "0x1p-30"}};
    ck_assert(confirmed(&truth));
}
END_TEST

/* ALiBi's lags refute T3.1h by growing along a line: a line of slope 0 does not grow, though both
 * quantities are 0 and equal. */
START_TEST(vanishing_slope) {
    double slope = 0;
    certificate c = {
        .id = "T3.1h",
        .rule = szgi_refutation_find("T3.1h", "structural", Q_ALIBI_LAG, "=", Q_ALIBI_LINE),
        .at = {.n = 16, .weights = 1, .w = &slope}};
    bool hold, good;
    char reason[256];
    ck_szg_ok(szgi_refutation_hold(test_context(), c.rule, &c.at, &hold));
    ck_assert(!hold);
    ck_szg_ok(szgi_certificate_recheck(test_context(), &c, &good, reason));
    ck_assert(!good && strstr(reason, "hypothesis"));
    slope = 0.5;
    ck_szg_ok(szgi_refutation_hold(test_context(), c.rule, &c.at, &hold));
    ck_assert(hold);
    ck_szg_ok(szgi_certificate_recheck(test_context(), &c, &good, reason));
    ck_assert(!good && !strstr(reason, "hypothesis")); /* the enclosures [0, 0] are wrong now */
}
END_TEST

START_TEST(hostile_files) {
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"certificates\": 1}",
        "{\"certificates\": [",
        "null",
        "\"x\"",
        "{\"certificates\": {}}",
    };
    szg_table *results;
    int64_t refused;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_szg_fails(SZG_EDATA, "test",
                     szgi_certificates_check_text(test_context(), "test", texts[i],
                                                  (int64_t)strlen(texts[i]), &results, &refused));
    const char *rows = "{\"certificates\": [1, {}, {\"id\": 3}, {\"id\": \"L2\"}, null]}";
    ck_szg_ok(szgi_certificates_check_text(test_context(), "test", rows, (int64_t)strlen(rows),
                                           &results, &refused));
    ck_assert_int_eq(refused, 5);
    szg_table_close(&results);
}
END_TEST

START_TEST(hostile_numbers) {
    static const char *const weights[] = {
        "0x1p+1023 0x1p+1023", "1e400 1", "nan 1", "0x1p+0  0x1p+0",
        " 0x1p+0 0x1p+0",      "0x1p+0",  "x y",   "-0x1p+0 0x1p+0"};
    static const char *const phases[] = {
        "0/0 1/1",   "1/-1 0/1", "9223372036854775808/1 0/1", "0/1", "/ 0/1",
        "1/2/3 0/1", "inf 0/1",  "0/1 0/1099511627777"};
    row r = {{"L2", "exact", "max|f|", "=", "2 sum w", "2", "0x1p+0 0x1p+0", "0/1 1/2",
              "0x1.fffffff8p+1", "0x1.00000004p+2", "0x1.fffffff8p+1", "0x1.00000004p+2"}};
    ck_assert(confirmed(&r));
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        row bad = r;
        strcpy(bad.field[6], weights[i]);
        ck_assert_msg(!confirmed(&bad), "weights %s", weights[i]);
    }
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        row bad = r;
        strcpy(bad.field[7], phases[i]);
        ck_assert_msg(!confirmed(&bad), "phases %s", phases[i]);
    }
    static const char *const sizes[] = {"0",   "-2",    "3",   "9223372036854775807",
                                        "2.5", "\"2\"", "null"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        row bad = r;
        strcpy(bad.field[N_FIELD], sizes[i]);
        ck_assert_msg(!confirmed(&bad), "n %s", sizes[i]);
    }
}
END_TEST

/* So nearly equal that enclosures meet: only the exact rule tells. */
START_TEST(nearly_equal) {
    static const char *const phases[] = {"0/1 0/1 1/1048576", "0/1 0x1p+0 0x1.0000000000001p+0",
                                         "0/1 0/1 0x1p-40"};
    row equality = {{"L2", "exact", "max|f|", "=", "2 sum w", "3", "0x1p+0 0x1p+0 0x1p+0", "",
                     "0x1.7ffffffcp+2", "0x1.80000004p+2", "0x1.7ffffffcp+2", "0x1.80000004p+2"}};
    row widths = {{"L3", "exact", "width f", "=", "width g", "3", "0x1p+0 0x1p+0 0x1p+0", "",
                   "0x1.8ffffffcp+2", "0x1.90000004p+2", "0x1.8ffffffcp+2", "0x1.90000004p+2"}};
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        strcpy(equality.field[7], phases[i]);
        strcpy(widths.field[7], phases[i]);
        ck_assert_msg(!confirmed(&equality) && !confirmed(&widths), "%s", phases[i]);
    }
    strcpy(equality.field[7], "1/3 0/1 1/1");
    strcpy(widths.field[7], "1/3 0/1 1/1");
    ck_assert(confirmed(&equality) && confirmed(&widths));
}
END_TEST

START_TEST(allocation_failures) {
    row r = row_at(0);
    char text[FIELDS * LONGEST];
    write_row(&r, -1, "", text, sizeof text);
    szg_status status = SZG_ENOMEM;
    for (int64_t at = 1; status == SZG_ENOMEM; at = test_next_refusal(at)) {
        szg_table *results = NULL;
        int64_t refused;
        szgi_memory_fail_after(test_context(), at);
        status = szgi_certificates_check_text(test_context(), "test", text, (int64_t)strlen(text),
                                              &results, &refused);
        szgi_memory_fail_after(test_context(), 0);
        ck_assert(status == SZG_OK ? results != NULL : results == NULL);
        szg_table_close(&results);
    }
    ck_szg_ok(status);
}
END_TEST

TEST_FILE("certificates") {
    test_add(suite, "all_confirmed", all_confirmed);
    test_add(suite, "a_comma_in_the_locale_changes_nothing", a_comma_in_the_locale_changes_nothing);
    test_add(suite, "through_a_file", through_a_file);
    test_add(suite, "through_a_csv_file", through_a_csv_file);
    test_add(suite, "names_changed", names_changed);
    test_add(suite, "fields_missing_or_extra", fields_missing_or_extra);
    test_add(suite, "inputs_changed", inputs_changed);
    test_add(suite, "a_diagonal_that_is_not_real", a_diagonal_that_is_not_real);
    test_add(suite, "enclosures_changed", enclosures_changed);
    test_add(suite, "unused_phases", unused_phases);
    test_add(suite, "false_relation", false_relation);
    test_add(suite, "vanishing_slope", vanishing_slope);
    test_add(suite, "hostile_files", hostile_files);
    test_add(suite, "hostile_numbers", hostile_numbers);
    test_add(suite, "nearly_equal", nearly_equal);
    test_add(suite, "allocation_failures", allocation_failures);
}
