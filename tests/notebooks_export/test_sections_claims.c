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

/* A claim's row, with what it opens to; free. */
static char *row_of(const char *section, const char *id) {
    char begin[96];
    snprintf(begin, sizeof begin, "<details class=\"claim\" id=\"claim-%s\"", id);
    const char *at = strstr(section, begin);
    ck_assert_msg(at && !strstr(at + 1, begin), "%s: not one row", id);
    const char *end = strstr(at, "</div>\n</details>\n");
    ck_assert_msg(end, "%s: the row does not end", id);
    return strndup(at, (size_t)(end - at));
}

/* What is seen of a row that is closed; free. */
static char *summary_of(const char *row) {
    const char *begin = strstr(row, "<summary>"), *end = strstr(row, "</summary>");
    ck_assert(begin && end);
    return strndup(begin, (size_t)(end - begin));
}

static void check_claim(const char *section, const ledger *report, int64_t index) {
    const char *id = text_at(report->claims, index, "id");
    const char *verdict = text_at(report->claims, index, "verdict");
    char badge[96], *row = row_of(section, id), *summary = summary_of(row);
    int64_t certificates = rows_with(report->certificates, "id", id);
    bool differs =
        strcmp(verdict, "holds") != 0 && *text_at(report->claims, index, "true_statement");
    snprintf(badge, sizeof badge, "<span class=\"verdict %s\"", verdict);
    ck_has(summary, badge);
    ck_assert_int_eq(occurrences(summary, "<span class=\"instead\">"), differs);
    /* One figure, with a panel a curve. */
    ck_assert_int_eq(occurrences(row, "<figure id="), curves_of(report->samples, id) > 0);
    ck_assert_int_eq(occurrences(row, "<svg"), curves_of(report->samples, id));
    /* A row a certificate, which two enclosures make. */
    ck_assert_int_eq(occurrences(row, " in <span title=\""), 2 * certificates);
    ck_assert_int_eq(occurrences(row, "<code>szego verify --check "), certificates > 0);
    ck_assert_int_eq(occurrences(row, "<h3>Evidence</h3>"),
                     rows_with(report->evidence, "id", id) > 0);
    ck_lacks(row, "do not show");
    ck_lacks(summary, "<figure");
    free(summary);
    free(row);
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

/* max|f| on a grid, from the certificate's own weights and phases. */
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

/* L1s attains its maximum on the grid (at t = 0 and pi): four digits of it are in the caption. */
static void check_caption(const char *section, const szg_table *certificates) {
    for (int64_t at = 0; at < szg_table_rows(certificates); at++) {
        if (strcmp(text_at(certificates, at, "id"), "L1s") != 0)
            continue;
        char words[96], *row = row_of(section, "L1s");
        snprintf(words, sizeof words, "max|f| &gt; max|g|: %.4g against 12.25, one of 2 ",
                 largest(certificates, at, false));
        ck_has(row, words);
        free(row);
        return; /* the first is told */
    }
    ck_abort_msg("no certificate of L1s");
}

/* Trials with equality touch the diagonal, the others lie below it; widths lie on both sides. */
static void check_lemma(const char *section, const szg_table *lemma) {
    int64_t rows = szg_table_rows(lemma), equal = rows_with(lemma, "equality", "yes");
    int64_t above = 0;
    char words[160];
    snprintf(words, sizeof words,
             "0 of %d trials have max|f| above max|g|, as the lemma says; %d have equality.",
             (int)rows, (int)equal);
    ck_has(section, words);
    for (int64_t row = 0; row < rows; row++) /* enclosures are 1e-15 wide */
        above += real_at(lemma, row, "width_f_lo") - real_at(lemma, row, "width_g_lo") >
                 1e-9 * real_at(lemma, row, "width_g_hi");
    snprintf(words, sizeof words, "%d of %d trials have the width of f above that of g%s",
             (int)above, (int)rows,
             above ? ", which contradicts L3 (verdict: fails)." : " (verdict on L3: fails).");
    ck_has(section, words);
}

/* The chips count each verdict, and their counts are those of the rows. */
static void check_chips(const char *section, const szg_table *claims) {
    const char *chips = strstr(section, "<p class=\"chips\">"),
               *end = chips ? strstr(chips, "</p>") : NULL;
    char *own = end ? strndup(chips, (size_t)(end - chips)) : NULL, words[96];
    ck_assert_ptr_nonnull(own);
    snprintf(words, sizeof words, ">%d claims:", (int)szg_table_rows(claims));
    ck_has(own, words);
    for (int64_t row = 0; row < szg_table_rows(claims); row++) {
        const char *verdict = text_at(claims, row, "verdict");
        snprintf(words, sizeof words, "</span> %s %d</span>", verdict,
                 (int)rows_with(claims, "verdict", verdict));
        ck_assert_int_eq(occurrences(own, words), 1);
    }
    /* The script finds the rows of a chip by its place: a chip, then a row and its word each. */
    ck_assert_int_eq(occurrences(section, "data-verdict=\"0\""),
                     1 + 2 * rows_with(claims, "verdict", text_at(claims, 0, "verdict")));
    free(own);
}

/* The finding, before all sections. */
static void check_finding(const char *folder, const szg_table *claims) {
    char words[160], *page = page_of(folder);
    snprintf(words, sizeof words,
             "<li>%d of %d claims fail; the others: ", (int)rows_with(claims, "verdict", "fails"),
             (int)szg_table_rows(claims));
    ck_has(page, words);
    snprintf(words, sizeof words, "holds %d", (int)rows_with(claims, "verdict", "holds"));
    ck_has(strstr(page, "<li>"), words);
    ck_has(page, "<a href=\"#claims-ledger-1\">");
    ck_has(page, "id=\"claims-ledger-1\"");
    free(page);
}

/* Words of each caption in the section, remarks and figure's number apart. */
static void check_lengths(const char *section) {
    for (const char *at = section; (at = strstr(at, "<figcaption>")); at++) {
        const char *begin = strstr(at, "</a> ") + 5, *end = strpbrk(begin, "<");
        int64_t words = 1;
        for (const char *byte = begin; byte < end - 1; byte++)
            words += *byte == ' ';
        ck_assert_msg(words <= 25, "%d words: %.200s", (int)words, begin);
    }
}

START_TEST(real_ledger_is_drawn) {
    char *folder = new_results(), path[512];
    ledger all = verified();
    snprintf(path, sizeof path, "%s/verify/", folder);
    ck_szg_ok(szg_result_write(test_context(), all.result, path, NULL));
    char *section = section_of(folder, "claims");
    ck_assert_int_eq(szg_table_rows(all.claims), szg_claim_count());
    for (int64_t row = 0; row < szg_table_rows(all.claims); row++)
        check_claim(section, &all, row);
    ck_assert_int_le(occurrences(section, "<figure id="), 8);
    check_chips(section, all.claims);
    check_finding(folder, all.claims);
    check_caption(section, all.certificates);
    check_lengths(section);
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
    static const char no[] = ": the enclosures do not show this</td>";
    static const struct {
        const char *cells, *said;
    } cases[] = {
        {"a\t<\tb\t1\t\t\t0x1p+0\t0x1p+0\t0x1p+1\t0x1p+1", "[2, 2]</span></td>"},
        {"a\t>\tb\t1\t\t\t0x1p+0\t0x1p+0\t0x1p+1\t0x1p+1", no},
        {"a\t<\tb\t1\t\t\t0x1p+0\t0x1p+1\t0x1p+1\t0x1p+2", no},
        {"a\t=\tb\t1\t\t\t0x1p+0\t0x1p+1\t0x1p+1\t0x1p+2",
         "[2, 4]</span>: equality is decided exactly</td>"},
        {"a\t=\tb\t1\t\t\t0\t1\t2\t3", no},
        {"a\t!=\tb\t1\t\t\t2\t3\t0\t1", "[0, 1]</span></td>"},
        {"a\tis\tb\t1\t\t\t2\t3\t0\t1", no},
        {"a\t<\tb\t1\t\t\t2\t1\t3\t4", no},
        {"a\t<\tb\t1\t\t\tnan\t1\t3\t4", no},
        {"a\t<\tb\t1\t\t\t0\t1\t3\tinf", no},
        {"a\t<\tb\t1\t\t\t0\t1\tthree\t4", no},
        {"a\t<\tb\t1\t\t\t0\t1\t\t4", no},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char certificates[512];
        snprintf(certificates, sizeof certificates, CERTIFICATES "X\texact\t%s\tn", cases[i].cells);
        char *section = section_with(CLAIMS "X\ts\tfails\tc\t1\t0\tt\tp\t", certificates),
             *row = row_of(section, "X");
        ck_has(row, cases[i].said);
        ck_assert_int_eq(occurrences(row, "do not show"), cases[i].said == no);
        ck_lacks(section, "<figure");
        free(row);
        free(section);
    }
}
END_TEST

/* Ends of more digits than are shown. To the nearest, both ends of
 * an interval would read the same number. */
START_TEST(ends_are_rounded_outwards) {
    static const char certificates[] =
        CERTIFICATES "X\texact\ta\t<\tb\t1\t\t\t-0.53849182044\t-0.53849182036\t"
                     "1.00000000151\t1.00000000249\tn";
    char *section = section_with(CLAIMS "X\ts\tfails\tc\t1\t0.53849182\tt\tp\t", certificates);
    ck_has(section, "\">[-0.5384918205, -0.5384918203]</span>");
    ck_has(section, "\">[1.000000001, 1.000000003]</span>");
    ck_has(section, "<dd>at least 0.5384</dd>");
    free(section);
}
END_TEST

START_TEST(refuted_claims_without_certificates_say_so) {
    char *section =
        section_with(CLAIMS "X\ts\tfails\tc\t1\t0\tt\tp\t\nY\ts\tconditional\nZ\ts\tholds", NULL);
    ck_assert_int_eq(occurrences(section, "These results hold no certificate of it."), 2);
    free(section);
}
END_TEST

/* The command is one that a shell takes as it stands, wherever the results are. */
START_TEST(commands_name_the_file) {
    char *folder = new_results(), words[512];
    const char *const tables[] = {"claims", CLAIMS "X\ts\tfails", "certificates",
                                  CERTIFICATES "X\texact\ta\t<\tb\t1\t\t\t0\t1\t2\t3\tn", NULL};
    write_tables(folder, "plain", "verify", tables);
    write_tables(folder, "it's & one", "verify", tables);
    char *section = section_of(folder, "claims");
    snprintf(words, sizeof words, "<code>szego verify --check %s/plain/certificates.csv</code>",
             folder);
    ck_has(section, words);
    snprintf(
        words, sizeof words,
        "<code>szego verify --check &#39;%s/it&#39;\\&#39;&#39;s &amp; one/certificates.csv&#39;"
        "</code>",
        folder);
    ck_has(section, words);
    free(section);
    remove_results(folder);
}
END_TEST

/* What is true instead is seen in the closed row; what explains a claim that holds is below. */
START_TEST(true_statements_stand_where_they_differ) {
    char *section = section_with(CLAIMS "X\ts\tfails\tc\t1\t0\t`x_1`\tp\t\n"
                                        "Y\t`y_2`\tholds\tc\t1\t0\t`z_3`\tp\t\n"
                                        "Z\ts\tfails",
                                 NULL);
    char *x = row_of(section, "X"), *y = row_of(section, "Y"), *of_y = summary_of(y);
    ck_has(x, "<span class=\"instead\"><math");
    ck_has(of_y, "<span class=\"statement\"><math");
    ck_lacks(of_y, "instead");
    ck_has(y, "<dt>precisely</dt><dd><math");
    ck_assert_int_eq(occurrences(section, "class=\"instead\""), 1);
    free(x);
    free(y);
    free(of_y);
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
    ck_has(section, "max|f| &lt; b: 1 against 2, one of 2 certificates. ");
    const char *first = strstr(section, "<title>width f &gt; width g"),
               *second = strstr(section, "<title>max|f| &lt; b");
    ck_assert(first && second && first < second);
    char *of_g = strndup(first, (size_t)(second - first));
    ck_lacks(of_g, ">f<title>");
    ck_has(of_g, ">g<title>");
    ck_has(second, ">f<title>");
    ck_has(second, ">b<title>"); /* the bound */
    ck_has(section, "2 samples are of no certificate here.");
    ck_assert_int_eq(occurrences(section, "<figure id="), 1);
    free(of_g);
    free(section);
    remove_results(folder);
}
END_TEST

/* Widths of f above, below and across those of g; the verdict is the ledger's. */
START_TEST(widths_contradict_the_ledgers_claim) {
    static const char lemma[] =
        "r:width_f_lo\tr:width_f_hi\tr:width_g_lo\tr:width_g_hi\tt:equality\n"
        "3\t3\t1\t2\tno\n5\t6\t3\t4\tno\n1\t1\t2\t2\tyes\n1\t3\t2\t4\tno\n"
        "2\t1\t0\t0\tno";
    char *folder = new_results();
    write_tables(folder, "one", "verify",
                 (const char *const[]){"claims", CLAIMS "L3\ts\tdoubtful", "lemma", lemma, NULL});
    char *section = section_of(folder, "claims");
    ck_has(section, "2 of 4 trials have the width of f above that of g, which contradicts L3 "
                    "(verdict: doubtful).");
    ck_has(section, "Lemma B.1: max|f| against max|g|: the table has no enclosures to draw.");
    ck_assert_int_eq(occurrences(section, "<figure id="), 1);
    free(section);
    remove_results(folder);
}
END_TEST

START_TEST(hostile_texts_are_text) {
#define EVIL "<script>alert(1)</script>\x1b[2J\"'&\xe2\x80\xae"
    char *folder = new_results();
    static const char claims[] =
        CLAIMS EVIL "\t" EVIL "\t" EVIL "\t" EVIL "\t-1\tnan\t" EVIL "\t" EVIL "\t" EVIL "\n" EVIL
                    "\tagain\n\tno id\n"
                    "claim\tx `<script>alert(2)</script>`\tholds\n<\t\tfails";
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
    ck_has(section, "1 of 2 trials have max|f| above max|g|, which contradicts the lemma; 1 have "
                    "equality.");
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
    ck_assert_int_eq(occurrences(section, "<details class=\"claim\""), 12);
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
    enum { MANY = 60, FOR_CLAIMS = 6 };
    char claims[8192] = CLAIMS, certificates[8192] = CERTIFICATES,
         samples[8192] = "t:id\tr:theta\tr:f\tr:g\ti:certificate\n", row[160];
    for (int i = 0; i < MANY; i++) {
        snprintf(row, sizeof row, "X%d\ts\tfails\n", i);
        strcat(claims, row);
        snprintf(row, sizeof row, "X%d\texact\ta\t<\tb\t1\t1\t1\t0\t1\t2\t3\tn\n", i);
        strcat(certificates, row);
        snprintf(row, sizeof row, "X%d\t0\t1\t2\t0\nX%d\t1\t1\t2\t0\n", i, i);
        strcat(samples, row);
    }
    char *folder = new_results();
    write_tables(folder, "one", "verify",
                 (const char *const[]){"claims", claims, "certificates", certificates, "samples",
                                       samples, NULL});
    char *section = section_of(folder, "claims");
    ck_assert_int_eq(occurrences(section, "<figure id="), FOR_CLAIMS);
    ck_has(section, "54 more figures are left out; the links of their claims lead to the rows.");
    ck_assert_int_eq(occurrences(section, "rows of verify_samples"), MANY);
    free(section);
    certificates[0] = 0;
    strcat(certificates, CERTIFICATES);
    for (int i = 0; i < MANY; i++)
        strcat(certificates, "X\texact\ta\t<\tb\t1\t1\t\t0\t1\t2\t3\tn\n");
    remove_results(folder);
    section = section_with(CLAIMS "X\ts\tfails", certificates);
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
                     "samples",
                     "t:id\tr:theta\tr:f\tr:g\ti:certificate\nY\t0\t1\t2\t0\nY\t1\t1\t2\t0",
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
    test_add(suite, "commands_name_the_file", commands_name_the_file);
    test_add(suite, "true_statements_stand_where_they_differ",
             true_statements_stand_where_they_differ);
    test_add(suite, "curves_name_their_certificates", curves_name_their_certificates);
    test_add(suite, "widths_contradict_the_ledgers_claim", widths_contradict_the_ledgers_claim);
    test_add(suite, "hostile_texts_are_text", hostile_texts_are_text);
    test_add(suite, "anchors_are_unique", anchors_are_unique);
    test_add(suite, "foreign_tables_are_survived", foreign_tables_are_survived);
    test_add(suite, "plots_are_bounded", plots_are_bounded);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
