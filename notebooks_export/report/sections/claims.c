/* The ledger of the paper's claims: a table, and for each claim what it rests on. */
#include "claims.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "same_result.h"

/* FIGURES: more than other sections have, so that every counterexample of the paper's ledger (33,
 * and the lemma's two figures) is seen. */
enum { RESULTS = 4, CLAIMS = 100, FIGURES = 48, ANCHOR = 96, CHARACTERS = 400 };

static bool is_present(const szg_collection *results) {
    const szg_table *claims = szgi_collection_find(results, "verify_claims");
    return claims && szg_table_find(claims, "id") >= 0;
}

/* ---- Verdicts: a word, a shape and a colour each (assets/page.css, .verdict) ---- */

static const struct {
    const char *name, *sign;
} verdicts[] = {{"holds", "✓"},       {"fails", "✗"},    {"vacuous", "∅"},
                {"conditional", "◐"}, {"measured", "≈"}, {"none", "?"}};

static void print_verdict(FILE *stream, const char *verdict) {
    const char *name = "none", *sign = "?";
    for (size_t i = 0; verdict && i < sizeof verdicts / sizeof *verdicts; i++)
        if (strcmp(verdict, verdicts[i].name) == 0) {
            name = verdicts[i].name;
            sign = verdicts[i].sign;
        }
    fprintf(stream, "<span class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> ", name, sign);
    szgi_html_clipped(stream, verdict ? verdict : "not given", CHARACTERS);
    fputs("</span>", stream);
}

/* ---- Anchors: claim-ID, of the first result; of others, and of an ID that comes twice, with
 * result and row behind it ---- */

static void simplify(char to[ANCHOR / 2], const char *id) {
    size_t used = 0;
    for (; *id && used < ANCHOR / 2 - 1; id++)
        to[used++] = isascii(*id) && (isalnum((unsigned char)*id) || *id == '.') ? *id : '_';
    to[used] = 0;
}

static void make_anchor(char anchor[ANCHOR], rows claims, int64_t index, int64_t result) {
    char own[ANCHOR / 2], other[ANCHOR / 2];
    const char *id = szgi_rows_text(claims, index, "id");
    bool repeated = result > 0;
    simplify(own, id ? id : "");
    for (int64_t i = 0; i < index && !repeated; i++) {
        id = szgi_rows_text(claims, i, "id");
        simplify(other, id ? id : "");
        repeated = strcmp(own, other) == 0;
    }
    if (repeated)
        snprintf(anchor, ANCHOR, "claim-%s-%" PRId64 "-%" PRId64, own, result, index);
    else
        snprintf(anchor, ANCHOR, "claim-%s", own);
}

/* ---- The ledger ---- */

/* A guaranteed lower end; empty where none applies. */
static void print_margin(FILE *stream, double margin) {
    fputs("<td class=\"number\">", stream);
    if (!isnan(margin))
        szgi_html_end(stream, margin, 6, SZGI_END_LOWER);
    fputs("</td>", stream);
}

static void print_claim(FILE *stream, rows claims, int64_t index, const char *anchor) {
    fprintf(stream, "<tr id=\"%s\"><td><a href=\"#%s-basis\">", anchor, anchor);
    szgi_html_clipped(stream, szgi_rows_text(claims, index, "id"), CHARACTERS);
    fputs("</a></td>", stream);
    szgi_html_prose_cell(stream, szgi_rows_text(claims, index, "statement"), CHARACTERS);
    fputs("<td>", stream);
    print_verdict(stream, szgi_rows_text(claims, index, "verdict"));
    fputs("</td>", stream);
    szgi_html_cell(stream, szgi_rows_text(claims, index, "basis"), CHARACTERS);
    szgi_html_number_cell(stream, szgi_rows_real(claims, index, "trials"));
    print_margin(stream, szgi_rows_real(claims, index, "worst_margin"));
    szgi_html_prose_cell(stream, szgi_rows_text(claims, index, "true_statement"), CHARACTERS);
    szgi_html_cell(stream, szgi_rows_text(claims, index, "source"), CHARACTERS);
    szgi_html_cell(stream, szgi_rows_text(claims, index, "note"), CHARACTERS);
    fputs("</tr>\n", stream);
}

static szg_status print_ledger(page *page, rows claims, int64_t result) {
    static const char *const headings[] = {"claim",   "statement", "verdict",
                                           "basis",   "trials",    "worst margin",
                                           "true is", "source",    "note"};
    FILE *stream = szgi_page_stream(page);
    char anchor[ANCHOR];
    fputs("<div class=\"scroll ledger\"><table><thead><tr>", stream);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        fprintf(stream, "<th scope=\"col\">%s</th>", headings[i]);
    fputs("</tr></thead><tbody>\n", stream);
    for (int64_t i = 0; i < claims.count && i < CLAIMS; i++) {
        make_anchor(anchor, claims, i, result);
        print_claim(stream, claims, i, anchor);
    }
    fputs("</tbody></table></div>\n", stream);
    if (claims.count > CLAIMS)
        szgi_page_paragraph(page, "And %" PRId64 " more claims, behind the link.",
                            claims.count - CLAIMS);
    return szgi_page_links(page, &claims, 1);
}

static szg_status print_counts(page *page, rows claims) {
    groups by_verdict;
    FILE *stream = szgi_page_stream(page);
    SZG_TRY(szgi_groups_split(szgi_page_context(page), claims,
                              (const char *const[]){"verdict", NULL}, &by_verdict));
    fprintf(stream, "<p>%" PRId64 " claims, the paper's and corrected ones:", claims.count);
    for (int64_t i = 0; i < by_verdict.count && i < CLAIMS; i++) {
        fprintf(stream, " %" PRId64 " ", by_verdict.group[i].count);
        print_verdict(stream, szgi_rows_text(by_verdict.group[i], 0, "verdict"));
    }
    fputs("</p>\n", stream);
    szgi_groups_free(&by_verdict);
    return SZG_OK;
}

/* ---- One claim ---- */

static bool is_refuted(const char *verdict) {
    return verdict && (strcmp(verdict, "fails") == 0 || strcmp(verdict, "conditional") == 0);
}

static szg_status print_basis(const claim *claim) {
    page *page = claim->page;
    SZG_TRY(szgi_claim_certificates(claim));
    if (claim->samples.count > 0)
        SZG_TRY(szgi_claim_samples(claim));
    else if (claim->certificates.count > 0)
        SZG_TRY(szgi_claim_enclosures(claim));
    else if (is_refuted(szgi_rows_text(claim->of, 0, "verdict")))
        szgi_page_paragraph(page, "No certificate of it stands in these results, so there is no "
                                  "counterexample to plot.");
    if (claim->evidence.count > 0) {
        szgi_page_paragraph(page, "Numbers that the verdict quotes:");
        return szgi_page_rows(page, claim->evidence,
                              (const char *const[]){"quantity", "lo", "hi", "note", NULL});
    }
    if (claim->certificates.count == 0 && claim->samples.count == 0)
        szgi_page_paragraph(page, "The table above says all that these results hold of it.");
    return SZG_OK;
}

static szg_status draw_claim(const claim *claim, const char *anchor) {
    FILE *stream = szgi_page_stream(claim->page);
    const char *statement = szgi_rows_text(claim->of, 0, "statement");
    fprintf(stream, "<h3 id=\"%s-basis\"><a href=\"#%s\">", anchor, anchor);
    szgi_html_clipped(stream, claim->id, CHARACTERS);
    fputs("</a> ", stream);
    print_verdict(stream, szgi_rows_text(claim->of, 0, "verdict"));
    fputs("</h3>\n", stream);
    fputs("<p>", stream);
    szgi_html_prose(stream, statement ? statement : "(no statement)", CHARACTERS);
    fputs("</p>\n", stream);
    return print_basis(claim);
}

enum { BESIDE = 3 };
static const char *const beside[BESIDE] = {"verify_certificates", "verify_samples",
                                           "verify_evidence"};

/* of_result: the rows of the claim's result in the tables beside. */
static szg_status find_and_draw(claim *claim, const groups of_result[BESIDE], const char *anchor) {
    rows *const found[BESIDE] = {&claim->certificates, &claim->samples, &claim->evidence};
    groups of_claim[BESIDE] = {{0}};
    szg_status status = SZG_OK;
    for (int i = 0; i < BESIDE && status == SZG_OK; i++) {
        if (of_result[i].count > 0)
            status = szgi_groups_where(szgi_page_context(claim->page), of_result[i].group[0], "id",
                                       claim->id, &of_claim[i]);
        if (of_claim[i].count > 0)
            *found[i] = of_claim[i].group[0];
    }
    if (status == SZG_OK)
        status = draw_claim(claim, anchor);
    for (int i = 0; i < BESIDE; i++)
        szgi_groups_free(&of_claim[i]);
    return status;
}

/* ---- One result ---- */

static szg_status draw_each(page *page, rows claims, int64_t result, const groups of_result[BESIDE],
                            budget *budget) {
    char anchor[ANCHOR];
    for (int64_t i = 0; i < claims.count && i < CLAIMS; i++) {
        const char *id = szgi_rows_text(claims, i, "id");
        claim one = {.page = page,
                     .of = {claims.table, &claims.row[i], 1},
                     .id = id ? id : "",
                     .budget = budget};
        SZG_TRY(szgi_context_check_cancel(szgi_page_context(page)));
        make_anchor(anchor, claims, i, result);
        SZG_TRY(find_and_draw(&one, of_result, anchor));
    }
    return SZG_OK;
}

/* Claims of one result. */
static szg_status draw_claims(page *page, rows claims, int64_t result, budget *budget) {
    const char *path = szgi_rows_text(claims, 0, "result");
    groups of_result[BESIDE] = {{0}};
    szg_status status = SZG_OK;
    for (int i = 0; i < BESIDE && status == SZG_OK; i++)
        status = szgi_rows_of_result(page, beside[i], path, &of_result[i]);
    if (status == SZG_OK)
        status = draw_each(page, claims, result, of_result, budget);
    for (int i = 0; i < BESIDE; i++)
        szgi_groups_free(&of_result[i]);
    return status;
}

/* The ledger's verdict on L3, the lemma's statement on widths. */
static const char *verdict_on_widths(rows claims) {
    for (int64_t i = 0; i < claims.count; i++) {
        const char *id = szgi_rows_text(claims, i, "id");
        if (id && strcmp(id, "L3") == 0)
            return szgi_rows_text(claims, i, "verdict");
    }
    return NULL;
}

static szg_status draw_lemma(page *page, rows claims, budget *budget) {
    groups trials;
    szg_status status =
        szgi_rows_of_result(page, "verify_lemma", szgi_rows_text(claims, 0, "result"), &trials);
    if (status == SZG_OK && trials.count > 0)
        status = szgi_lemma_figures(page, trials.group[0], verdict_on_widths(claims), budget);
    szgi_groups_free(&trials);
    return status;
}

static szg_status draw_result(page *page, rows claims, int64_t index, bool several,
                              budget *budget) {
    if (several)
        szgi_page_heading(page, "Results of %s", szgi_rows_text(claims, 0, "result"));
    SZG_TRY(print_counts(page, claims));
    SZG_TRY(print_ledger(page, claims, index));
    SZG_TRY(draw_lemma(page, claims, budget));
    return draw_claims(page, claims, index, budget);
}

static szg_status draw(page *page) {
    rows all = {.table = szgi_collection_find(szgi_page_results(page), "verify_claims")};
    budget budget = {.left = FIGURES};
    groups results;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, (const char *const[]){"result", NULL},
                              &results));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < results.count && i < RESULTS && status == SZG_OK; i++)
        status = draw_result(page, results.group[i], i, results.count > 1, &budget);
    if (status == SZG_OK && results.count > RESULTS)
        szgi_page_paragraph(page,
                            "The ledgers of %" PRId64 " more results are left out; their rows are "
                            "in the table verify_claims.",
                            results.count - RESULTS);
    szgi_groups_free(&results);
    SZG_TRY(status);
    return szgi_budget_end(
        page, &budget, "figures",
        (const char *const[]){"verify_lemma", "verify_samples", "verify_certificates", NULL});
}

const section szgi_section_claims = {
    .id = "claims", .title = "The ledger of claims", .is_present = is_present, .draw = draw};
