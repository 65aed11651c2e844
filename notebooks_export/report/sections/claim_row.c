/* One row of the ledger, and what it opens to. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "claims.h"

/* ---- Verdicts: a word, a sign and a colour each (assets/page.css, .verdict) ---- */

static const struct {
    const char *name, *sign;
} verdicts[] = {{"holds", "✓"},       {"fails", "✗"},    {"vacuous", "∅"},
                {"conditional", "◐"}, {"measured", "≈"}, {"none", "?"}};

void szgi_claim_verdict(FILE *stream, const char *verdict, int64_t place, int64_t count) {
    const char *name = "none", *sign = "?";
    for (size_t i = 0; verdict && i < sizeof verdicts / sizeof *verdicts; i++)
        if (strcmp(verdict, verdicts[i].name) == 0) {
            name = verdicts[i].name;
            sign = verdicts[i].sign;
        }
    fprintf(stream,
            "<span class=\"verdict %s\" data-verdict=\"%" PRId64
            "\"><span aria-hidden=\"true\">%s</span> ",
            name, place, sign);
    szgi_html_clipped(stream, verdict ? verdict : "not given", CLAIM_CHARACTERS);
    if (count >= 0)
        fprintf(stream, " %" PRId64, count);
    fputs("</span>", stream);
}

/* ---- What is always seen ---- */

static const char *text_of(const claim *claim, const char *column) {
    const char *text = szgi_rows_text(claim->of, 0, column);
    return text && *text ? text : NULL;
}

static bool has_verdict(const claim *claim, const char *name) {
    const char *verdict = text_of(claim, "verdict");
    return verdict && strcmp(verdict, name) == 0;
}

/* What is true of a claim that holds does not differ from it: it explains it, below. */
static const char *difference(const claim *claim) {
    return has_verdict(claim, "holds") ? NULL : text_of(claim, "true_statement");
}

static void print_summary(const claim *claim) {
    FILE *stream = szgi_page_stream(claim->run->page);
    const char *statement = text_of(claim, "statement"), *instead = difference(claim);
    fputs("<summary><span class=\"id\">", stream);
    szgi_html_clipped(stream, claim->id, CLAIM_CHARACTERS);
    fputs("</span> <span class=\"statement\">", stream);
    szgi_html_prose(stream, statement ? statement : "(no statement)", CLAIM_CHARACTERS);
    fputs("</span> ", stream);
    if (instead) {
        fputs("<span class=\"instead\">", stream);
        szgi_html_prose(stream, instead, CLAIM_CHARACTERS);
        fputs("</span> ", stream);
    }
    szgi_claim_verdict(stream, text_of(claim, "verdict"), claim->verdict, -1);
    fputs("</summary>\n", stream);
}

/* ---- What it opens to ---- */

static void print_term(FILE *stream, const char *name, const char *text, bool prose) {
    if (!text)
        return;
    fprintf(stream, "<dt>%s</dt><dd>", name);
    (prose ? szgi_html_prose : szgi_html_clipped)(stream, text, CLAIM_CHARACTERS);
    fputs("</dd>\n", stream);
}

static void print_terms(const claim *claim) {
    FILE *stream = szgi_page_stream(claim->run->page);
    double trials = szgi_rows_real(claim->of, 0, "trials"),
           margin = szgi_rows_real(claim->of, 0, "worst_margin");
    fputs("<dl>\n", stream);
    if (has_verdict(claim, "holds"))
        print_term(stream, "precisely", text_of(claim, "true_statement"), true);
    print_term(stream, "kind", text_of(claim, "kind"), false);
    print_term(stream, "source", text_of(claim, "source"), false);
    print_term(stream, "basis", text_of(claim, "basis"), false);
    if (trials > 0)
        fprintf(stream, "<dt>trials</dt><dd>%.0f</dd>\n", trials);
    if (!isnan(margin)) {
        fputs("<dt>worst margin</dt><dd>at least ", stream); /* a guaranteed lower end */
        szgi_html_end(stream, margin, 4, SZGI_END_LOWER);
        fputs("</dd>\n", stream);
    }
    print_term(stream, "note", text_of(claim, "note"), false);
    fputs("</dl>\n", stream);
}

static void print_evidence(const claim *claim) {
    plot_run *run = claim->run;
    static const char *const columns[] = {"quantity", "lo", "hi", "note", NULL};
    if (claim->evidence.count == 0 || run->status != SZG_OK)
        return;
    fputs("<h3>Evidence</h3>\n", szgi_page_stream(run->page));
    szgi_plot_keep(run, szgi_page_rows(run->page, claim->evidence, columns));
}

static bool is_refuted(const claim *claim) {
    return has_verdict(claim, "fails") || has_verdict(claim, "conditional");
}

void szgi_claim_row(const claim *claim) {
    FILE *stream = szgi_page_stream(claim->run->page);
    fprintf(stream, "<details class=\"claim\" id=\"%s\" data-verdict=\"%" PRId64 "\">",
            claim->anchor, claim->verdict);
    print_summary(claim);
    fputs("<div class=\"basis\">\n", stream);
    print_terms(claim);
    if (claim->certificates.count > 0)
        szgi_claim_certificates(claim);
    else if (is_refuted(claim))
        szgi_page_paragraph(claim->run->page, "These results hold no certificate of it.");
    szgi_claim_samples(claim);
    print_evidence(claim);
    fputs("</div>\n</details>\n", stream);
}
