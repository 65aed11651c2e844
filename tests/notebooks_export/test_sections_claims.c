/* The ledger's section, on what verify finds and on tables that nobody should trust. */
#include <ctype.h>
#include <math.h>
#include "theory/claims.h"

#include "sections_support.h"

/* ---- A real ledger ---- */

/* The tables that szg_claims_verify makes; they belong to the result. */
typedef struct ledger {
    szg_result *result;
    const szg_table *claims, *certificates, *lemma, *samples, *evidence;
} ledger;

static ledger verified(void) {
    szg_claims_report report;
    ledger new;
    ck_szg_ok(szg_claims_verify(
        test_context(),
        &(szg_claims_options){SZG_INIT(szg_claims_options), .terms = 6, .trials = 2}, 0, NULL,
        &report));
    new = (ledger){NULL,         report.claims,  report.certificates,
                   report.lemma, report.samples, report.evidence};
    ck_szg_ok(szg_result_open(test_context(), "verify", &new.result));
    ck_szg_ok(szg_result_add(test_context(), new.result, &report.claims));
    ck_szg_ok(szg_result_add(test_context(), new.result, &report.certificates));
    ck_szg_ok(szg_result_add(test_context(), new.result, &report.lemma));
    ck_szg_ok(szg_result_add(test_context(), new.result, &report.samples));
    ck_szg_ok(szg_result_add(test_context(), new.result, &report.evidence));
    return new;
}

static const char *text_at(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

static double real_at(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

static int64_t rows_with(const szg_table *table, const char *column, const char *text) {
    int64_t count = 0;
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        count += strcmp(text_at(table, row, column), text) == 0;
    return count;
}

/* Curves of a claim: samples begin anew at theta = 0. */
static int64_t curves_of(const szg_table *samples, const char *id) {
    int64_t count = 0;
    for (int64_t row = 0; row < szg_table_rows(samples); row++)
        count +=
            strcmp(text_at(samples, row, "id"), id) == 0 && real_at(samples, row, "theta") == 0;
    return count;
}

/* What stands under a claim's heading; free. */
static char *basis_of(const char *section, const char *id) {
    char anchor[96];
    snprintf(anchor, sizeof anchor, "<h3 id=\"claim-%s-basis\"", id);
    const char *at = strstr(section, anchor);
    ck_assert_msg(at && !strstr(at + 1, anchor), "%s: not one heading", id);
    const char *end = strstr(at + 1, "<h3");
    return end ? strndup(at, (size_t)(end - at)) : strdup(at);
}

static void check_claim(const char *section, const ledger *report, int64_t row) {
    const char *id = text_at(report->claims, row, "id");
    const char *verdict = text_at(report->claims, row, "verdict");
    char anchor[96], badge[96], *basis = basis_of(section, id);
    int64_t curves = curves_of(report->samples, id);
    int64_t certificates = rows_with(report->certificates, "id", id);
    snprintf(anchor, sizeof anchor, "<tr id=\"claim-%s\">", id);
    ck_assert_int_eq(occurrences(section, anchor), 1);
    snprintf(badge, sizeof badge, "<span class=\"verdict %s\">", verdict);
    ck_has(basis, badge);
    ck_assert_int_eq(occurrences(basis, "<figure id="), curves ? curves : certificates);
    if (strcmp(verdict, "fails") == 0 || strcmp(verdict, "conditional") == 0)
        ck_has(basis, "<figure id=");
    ck_assert_int_eq(occurrences(basis, "title=\"") > 0,
                     certificates > 0 || curves > 0 || strstr(basis, "quotes") != NULL);
    ck_lacks(basis, "do not show");
    free(basis);
}

/* "0x1p+0", "1/2" (of pi), the k-th of a list. */
static double listed(const char *list, int64_t k) {
    for (; k > 0; k--)
        list = strchr(list, ' ') + 1;
    char *end;
    double value = strtod(list, &end);
    return *end == '/' ? M_PI * value / strtod(end + 1, NULL) : value;
}

static int64_t entries(const char *list) {
    return *list ? 1 + (int64_t)occurrences(list, " ") : 0;
}

/* max|f| on the samples' grid, from the certificate's own weights and phases. */
static double largest(const szg_table *certificates, int64_t row, bool plain) {
    const char *weights = text_at(certificates, row, "weights");
    const char *phases = text_at(certificates, row, "phases");
    double most = 0;
    for (int j = 0; j < 129; j++) {
        double f = 0, t = 2 * M_PI * j / 128;
        for (int64_t i = 0; i < entries(weights); i++) {
            double phase = i < entries(phases) ? listed(phases, i) : 0;
            f += 2 * listed(weights, i) * cos((plain ? 1 : (double)i) * phase + (double)i * t);
        }
        most = fmax(most, fabs(f));
    }
    return most;
}

/* The numbers of the captions of L1s and L2p, computed from the certificates. */
static void check_captions(const char *section, const szg_table *certificates) {
    for (int64_t row = 0; row < szg_table_rows(certificates); row++) {
        const char *id = text_at(certificates, row, "id");
        bool plain = strcmp(id, "L2p") == 0;
        if (!plain && strcmp(id, "L1s") != 0)
            continue;
        char words[64], *basis = basis_of(section, id);
        snprintf(words, sizeof words, "abs(f) reaches %.6g and", largest(certificates, row, plain));
        ck_has(basis, words);
        free(basis);
    }
}

/* Trials with equality touch the diagonal, the others lie below it. */
static void check_lemma(const char *section, const szg_table *lemma) {
    int64_t rows = szg_table_rows(lemma), equal = rows_with(lemma, "equality", "yes");
    int64_t below = 0, above = 0;
    char words[160];
    snprintf(words, sizeof words,
             "%d trials: max|f| lies below max|g| in %d, above it in 0, and their enclosures touch "
             "in %d (equality of the maxima holds in %d)",
             (int)rows, (int)(rows - equal), (int)equal, (int)equal);
    ck_has(section, words);
    for (int64_t row = 0; row < rows; row++) {
        double difference = real_at(lemma, row, "width_f_lo") - real_at(lemma, row, "width_g_lo");
        double scale = 1e-9 * real_at(lemma, row, "width_g_hi");
        below += difference < -scale;
        above += difference > scale;
    }
    snprintf(words, sizeof words,
             "%d trials: width of f lies below width of g in %d, above it in %d", (int)rows,
             (int)below, (int)above);
    ck_has(section, words);
    ck_has(section, "(L3, which the ledger says: fails)");
}

START_TEST(real_ledger_is_drawn) {
    char *folder = new_results(), path[512], badge[96];
    ledger all = verified();
    snprintf(path, sizeof path, "%s/verify/", folder);
    ck_szg_ok(szg_result_write(test_context(), all.result, path, NULL));
    char *section = section_of(folder, "claims");
    ck_assert_int_eq(szg_table_rows(all.claims), szg_claim_count());
    for (int64_t row = 0; row < szg_table_rows(all.claims); row++)
        check_claim(section, &all, row);
    snprintf(badge, sizeof badge, " %d <span class=\"verdict fails\">",
             (int)rows_with(all.claims, "verdict", "fails"));
    ck_has(section, badge);
    check_captions(section, all.certificates);
    check_lemma(section, all.lemma);
    ck_has(section, "<code>0/1 0/1 0/1 1/3</code>");
    ck_has(section, "1/3 π");
    ck_has(section, "title=\"5, 1, 1, -1\"><code>0x1.4p+2 0x1p+0 0x1p+0 -0x1p+0</code>");
    szg_result_close(&all.result);
    free(section);
    remove_results(folder);
}
END_TEST

/* ---- Hand-made ones ---- */

#define CLAIMS                                                                                     \
    "t:id\tt:statement\tt:verdict\tt:basis\ti:trials\tr:worst_margin\tt:true_statement\t"          \
    "t:source\tt:note\n"
#define CERTIFICATES                                                                               \
    "t:id\tt:kind\tt:left\tt:relation\tt:right\ti:n\tt:weights\tt:phases\tt:left_lo\tt:left_hi\t"  \
    "t:right_lo\tt:right_hi\tt:note\n"

static char *section_with(const char *claims, const char *certificates) {
    char *folder = new_results();
    write_tables(folder, "one", "verify",
                 certificates
                     ? (const char *const[]){"claims", claims, "certificates", certificates, NULL}
                     : (const char *const[]){"claims", claims, NULL});
    char *section = section_of(folder, "claims");
    remove_results(folder);
    return section;
}

START_TEST(relations_are_judged_by_the_enclosures) {
    static const struct {
        const char *cells, *caption;
    } cases[] = {
        {"a\t<\tb\t1\t\t\t0x1p+0\t0x1p+0\t0x1p+1\t0x1p+1",
         "a &lt; b: the enclosures, at 1 and 2, do not meet"},
        {"a\t>\tb\t1\t\t\t0x1p+0\t0x1p+0\t0x1p+1\t0x1p+1",
         "a &gt; b: the enclosures in the file do not show this"},
        {"a\t<\tb\t1\t\t\t0x1p+0\t0x1p+1\t0x1p+1\t0x1p+2",
         "a &lt; b: the enclosures in the file do not show this"},
        {"a\t=\tb\t1\t\t\t0x1p+0\t0x1p+1\t0x1p+1\t0x1p+2",
         "a = b: both enclosures lie at 1.5, and equality is decided exactly"},
        {"a\t=\tb\t1\t\t\t0\t1\t2\t3", "a = b: the enclosures in the file do not show this"},
        {"a\t!=\tb\t1\t\t\t2\t3\t0\t1", "a != b: the enclosures, at 2.5 and 0.5, do not meet"},
        {"a\tis\tb\t1\t\t\t2\t3\t0\t1", "a is b: the enclosures in the file do not show this"},
        {"a\t<\tb\t1\t\t\t2\t1\t3\t4", "1 certificates are not plotted"},
        {"a\t<\tb\t1\t\t\tnan\t1\t3\t4", "1 certificates are not plotted"},
        {"a\t<\tb\t1\t\t\t0\t1\t3\tinf", "1 certificates are not plotted"},
        {"a\t<\tb\t1\t\t\t0\t1\tthree\t4", "1 certificates are not plotted"},
        {"a\t<\tb\t1\t\t\t0\t1\t\t4", "1 certificates are not plotted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char certificates[512];
        snprintf(certificates, sizeof certificates, CERTIFICATES "X\texact\t%s\tn", cases[i].cells);
        char *section = section_with(CLAIMS "X\ts\tfails\tc\t1\t0\tt\tp\t", certificates);
        ck_has(section, cases[i].caption);
        ck_assert_int_eq(occurrences(section, "<figure id="),
                         strstr(cases[i].caption, "not plotted") == NULL);
        free(section);
    }
}
END_TEST

/* Ends of more digits than are shown: in the tables and in the figure. To the nearest, both ends of
 * an interval would read the same number. */
START_TEST(ends_are_rounded_outwards) {
    static const char certificates[] =
        CERTIFICATES "X\texact\ta\t<\tb\t1\t\t\t-0.53849182044\t-0.53849182036\t"
                     "1.00000000151\t1.00000000249\tn";
    char *section = section_with(CLAIMS "X\ts\tfails\tc\t1\t0.53849182\tt\tp\t", certificates);
    ck_has(section, "\">[-0.5384918205, -0.5384918203]</span>");
    ck_has(section, "a in [-0.5384918205, -0.5384918203]");
    ck_has(section, "\">[1.000000001, 1.000000003]</span>");
    ck_has(section, "<td class=\"number\">0.538491</td>");
    ck_has(section, "b in [1.000000001, 1.000000003]");
    free(section);
}
END_TEST

START_TEST(refuted_claims_without_certificates_say_so) {
    char *section =
        section_with(CLAIMS "X\ts\tfails\tc\t1\t0\tt\tp\t\nY\ts\tconditional\nZ\ts\tholds", NULL);
    ck_assert_int_eq(occurrences(section, "there is no counterexample to plot"), 2);
    ck_assert_int_eq(occurrences(section, "The table above says all"), 3);
    free(section);
}
END_TEST

/* Which certificate a curve is of stands in a column: not in its place, nor in the notes, which are
 * the same here. The second certificate holds no phases, and says nothing of f. */
START_TEST(curves_name_their_certificates) {
    static const char certificates[] =
        CERTIFICATES "X\tdisjoint\tmax|f|\t<\tb\t1\t0x1p+0\t1/2\t1\t1\t2\t2\tn\n"
                     "Y\tdisjoint\tc\t<\td\t1\t0x1p+0\t\t3\t3\t4\t4\tn\n"
                     "X\tdisjoint\twidth f\t>\twidth g\t1\t0x1p+0\t\t6\t6\t5\t5\tn";
    static const char samples[] = "t:id\tr:theta\tr:f\tr:g\ti:certificate\tt:note\n"
                                  "X\t0\t10\t1\t1\tn\nX\t1\t20\t2\t1\tn\n"
                                  "X\t2\t30\t3\t0\tn\nX\t3\t50\t4\t0\tn\n"
                                  "X\t4\t60\t5\t\tn\nX\t5\t70\t6\t2\tn";
    char *folder = new_results();
    write_tables(folder, "one", "verify",
                 (const char *const[]){"claims", CLAIMS "X\ts\tfails\tc\t1\t0\tt\tp\t",
                                       "certificates", certificates, "samples", samples, NULL});
    char *section = section_of(folder, "claims");
    ck_has(section, "width f &gt; width g: certified at 6 and 5; on these 2 samples abs(f) reaches "
                    "20 and abs(g) 2, the width of f is 10 and that of g 1; the certificate is "
                    "about g, the phases of f are not in it (n).");
    ck_has(section, "max|f| &lt; b: certified at 1 and 2; on these 2 samples abs(f) reaches 50 and "
                    "abs(g) 4, the width of f is 20 and that of g 1 (n).");
    ck_assert_int_eq(occurrences(section, "on these 1 samples"), 2);
    /* no certificate, and no such one; a title is in its figure and above it */
    ck_assert_int_eq(occurrences(section, "X: f and g"), 2 * 2);
    free(section);
    remove_results(folder);
}
END_TEST

START_TEST(hostile_texts_are_text) {
#define EVIL "<script>alert(1)</script>\x1b[2J\"'&\xe2\x80\xae"
    char *folder = new_results();
    static const char claims[] = CLAIMS EVIL "\t" EVIL "\t" EVIL "\t" EVIL "\t-1\tnan\t" EVIL
                                             "\t" EVIL "\t" EVIL "\n" EVIL "\tagain\n\tno id\n"
                                             "claim\tx\tholds\n<\t\tfails";
    static const char certificates[] =
        CERTIFICATES EVIL "\t" EVIL "\t" EVIL "\t" EVIL "\t" EVIL "\t-9\t" EVIL "\t1/0 " EVIL
                          "\t-1e308\t1e308\t1\t2\t" EVIL;
    static const char samples[] = "t:id\tr:theta\tr:f\tr:g\tt:note\n" EVIL "\t0\tnan\tinf\t" EVIL
                                  "\n" EVIL "\t1\t1\t2\t" EVIL "\n<\t0\t1e308\t-1e308\t";
    static const char lemma[] = "i:trial\tr:max_f_lo\tr:max_f_hi\tr:max_g_lo\tr:max_g_hi\t"
                                "t:equality\n1\tnan\t1\t2\t3\t" EVIL "\n2\t1\t2\tinf\tinf\n"
                                "3\t5\t6\t1\t2\tyes\n4\t1\t3\t2\t4";
    static const char evidence[] =
        "t:id\tt:quantity\tr:lo\tr:hi\tt:note\n" EVIL "\t" EVIL "\tnan\tinf\t" EVIL;
    write_tables(folder, "evil", "verify",
                 (const char *const[]){"claims", claims, "certificates", certificates, "samples",
                                       samples, "lemma", lemma, "evidence", evidence, NULL});
    char *section = section_of(folder, "claims");
    ck_lacks(section, "<script");
    ck_lacks(section, "\x1b");
    ck_lacks(section, "\xe2\x80\xae");
    ck_has(section, "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J&quot;&#39;&amp;\\u202e");
    ck_has(section, "2 trials: max|f| lies below max|g| in 0, above it in 1, and their enclosures "
                    "touch in 1");
    ck_has(section, "and these contradict it");
    ck_has(section, "the table has no enclosures to draw"); /* widths are missing */
    free(section);
    remove_results(folder);
}
END_TEST

/* Every id of an element is its own, and every link within the page has its target. */
static void check_anchors(const char *section) {
    for (const char *at = section; (at = strstr(at, " id=\"")); at++) {
        char id[128];
        size_t length = strcspn(at + 5, "\"") + 6;
        ck_assert(length < sizeof id);
        snprintf(id, sizeof id, "%.*s", (int)(length), at);
        ck_assert_msg(occurrences(section, id) == 1, "%s is there twice", id);
    }
    for (const char *at = section; (at = strstr(at, "href=\"#claim")); at++) {
        char id[160];
        snprintf(id, sizeof id, " id=\"%.*s\"", (int)strcspn(at + 7, "\""), at + 7);
        ck_assert_msg(strstr(section, id), "%s is linked and not there", id);
    }
}

START_TEST(anchors_are_unique) {
    char *folder = new_results();
    static const char claims[] = CLAIMS "A b\ts\tholds\nA_b\ts\tholds\nA b\ts\tfails\nC\ts\tfails\n"
                                        "claim-A_b-basis\tt\tholds\nA_b-1-0\tt\tholds";
    write_tables(folder, "one", "verify", (const char *const[]){"claims", claims, NULL});
    write_tables(folder, "two", "verify", (const char *const[]){"claims", claims, NULL});
    char *section = section_of(folder, "claims");
    ck_assert_int_eq(occurrences(section, "<tr id=\"claim-"), 12);
    ck_has(section, "id=\"claim-C\"");
    ck_has(section, "Results of two");
    check_anchors(section);
    free(section);
    remove_results(folder);
}
END_TEST

START_TEST(foreign_tables_are_survived) {
    char *folder = new_results();
    write_tables(folder, "bare", "verify",
                 (const char *const[]){"claims", "t:id\tt:note\nX\t", NULL});
    write_tables(folder, "typed", "verify",
                 (const char *const[]){"claims", "i:id\tr:verdict\tt:trials\n7\t1.5\tmany",
                                       "certificates", "t:id\nX\n7", "samples", "t:id\nX", "lemma",
                                       "t:max_f_lo\nx", "evidence", "t:id\nX", NULL});
    char *section = section_of(folder, "claims");
    ck_has(section, "not given");
    ck_assert_int_eq(occurrences(section, "<figure id="), 0);
    free(section);
    remove_results(folder);
    folder = new_results();
    write_tables(folder, "none", "verify", (const char *const[]){"claims", "t:name\nX", NULL});
    char *page = page_of(folder);
    ck_lacks(page, "<section id=\"claims\"");
    free(page);
    remove_results(folder);
}
END_TEST

START_TEST(plots_are_bounded) {
    enum { MANY = 60, PLOTS = 48 };
    char certificates[8192] = CERTIFICATES;
    for (int i = 0; i < MANY; i++)
        strcat(certificates, "X\texact\ta\t<\tb\t1\t1\t\t0\t1\t2\t3\tn\n");
    char *section = section_with(CLAIMS "X\ts\tfails", certificates);
    ck_assert_int_eq(occurrences(section, "<figure id="), PLOTS);
    ck_has(section, "12 more figures are left out; their rows are in verify_certificates.");
    ck_has(section, "And 10 more certificates");
    free(section);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    char *folder = new_results();
    write_tables(folder, "one", "verify",
                 (const char *const[]){
                     "claims", CLAIMS "X\ts\tfails\nY\ts\tfails", "certificates",
                     CERTIFICATES "X\texact\ta\t<\tb\t1\t1\t\t0\t1\t2\t3\tn\n"
                                  "Y\texact\tmax|f|\t<\tb\t1\t1\t\t0\t1\t2\t3\tn",
                     "samples", "t:id\tr:theta\tr:f\tr:g\tt:note\nY\t0\t1\t2\tn\nY\t1\t1\t2\tn",
                     "lemma", "r:max_f_lo\tr:max_f_hi\tr:max_g_lo\tr:max_g_hi\n1\t1\t2\t2", NULL});
    ck_survives_failed_allocations(40, write_page(folder));
    remove_results(folder);
}
END_TEST

TEST_FILE("sections_claims") {
    test_add(suite, "real_ledger_is_drawn", real_ledger_is_drawn);
    test_add(suite, "relations_are_judged_by_the_enclosures",
             relations_are_judged_by_the_enclosures);
    test_add(suite, "ends_are_rounded_outwards", ends_are_rounded_outwards);
    test_add(suite, "refuted_claims_without_certificates_say_so",
             refuted_claims_without_certificates_say_so);
    test_add(suite, "curves_name_their_certificates", curves_name_their_certificates);
    test_add(suite, "hostile_texts_are_text", hostile_texts_are_text);
    test_add(suite, "anchors_are_unique", anchors_are_unique);
    test_add(suite, "foreign_tables_are_survived", foreign_tables_are_survived);
    test_add(suite, "plots_are_bounded", plots_are_bounded);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
