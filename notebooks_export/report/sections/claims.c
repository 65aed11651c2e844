/* The ledger of the paper's claims: one row a claim, and chips that count the verdicts. */
#include "claims.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "same_result.h"

/* LEMMA: of the section's figures these are kept for the lemma's trials. */
enum { RESULTS = 4, CLAIMS = 100, FIGURES = 8, LEMMA = 2, ANCHOR = 96, NAME = 60 };

static bool is_present(const szg_collection *results) {
    const szg_table *claims = szgi_collection_find(results, "verify_claims");
    return claims && szg_table_find(claims, "id") >= 0;
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

/* ---- The ledger of one result ---- */

enum { CERTIFICATES, SAMPLES, EVIDENCE, BESIDE };
static const char *const beside[BESIDE] = {"verify_certificates", "verify_samples",
                                           "verify_evidence"};

typedef struct ledger {
    plot_run *run;
    rows claims;
    int64_t result;      /* its place among the results */
    bool several;        /* results */
    groups verdicts;     /* the claims by verdict */
    groups said[BESIDE]; /* each table beside, by claim */
} ledger;

static bool is_same(const char *one, const char *other) {
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* The group whose rows have this text; -1: there is none. */
static int64_t find_group(const groups *all, const char *column, const char *text) {
    for (int64_t i = 0; i < all->count; i++)
        if (is_same(szgi_rows_text(all->group[i], 0, column), text))
            return i;
    return -1;
}

static szg_status split_beside(ledger *self, int table) {
    static const char *const by_id[] = {"id", NULL};
    szg_context *context = self->run->context;
    groups own;
    SZG_TRY(szgi_rows_of_result(self->run->page, beside[table],
                                szgi_rows_text(self->claims, 0, "result"), &own));
    szg_status status = own.count > 0
                            ? szgi_groups_split(context, own.group[0], by_id, &self->said[table])
                            : SZG_OK;
    szgi_groups_free(&own);
    return status;
}

static szg_status ledger_open(ledger *self) {
    static const char *const by_verdict[] = {"verdict", NULL};
    SZG_TRY(szgi_groups_split(self->run->context, self->claims, by_verdict, &self->verdicts));
    for (int i = 0; i < BESIDE; i++)
        SZG_TRY(split_beside(self, i));
    return SZG_OK;
}

static void ledger_close(ledger *self) {
    szgi_groups_free(&self->verdicts);
    for (int i = 0; i < BESIDE; i++)
        szgi_groups_free(&self->said[i]);
}

static void print_chips(const ledger *self) {
    FILE *stream = szgi_page_stream(self->run->page);
    fprintf(stream, "<p class=\"chips\">%" PRId64 " claims:", self->claims.count);
    for (int64_t i = 0; i < self->verdicts.count && i < CLAIMS; i++) {
        rows of = self->verdicts.group[i];
        fputs(" ", stream);
        szgi_claim_verdict(stream, szgi_rows_text(of, 0, "verdict"), i, of.count);
    }
    fputs("</p>\n", stream);
}

static rows find_beside(const ledger *self, int table, const char *id) {
    int64_t at = find_group(&self->said[table], "id", id);
    return at < 0 ? (rows){0} : self->said[table].group[at];
}

static void print_row(const ledger *self, int64_t index) {
    rows claims = self->claims;
    char anchor[ANCHOR];
    const char *id = szgi_rows_text(claims, index, "id"),
               *verdict = szgi_rows_text(claims, index, "verdict");
    claim one = {.run = self->run,
                 .of = {claims.table, &claims.row[index], 1},
                 .id = id ? id : "",
                 .anchor = anchor,
                 .verdict = find_group(&self->verdicts, "verdict", verdict)};
    make_anchor(anchor, claims, index, self->result);
    if (id) {
        one.certificates = find_beside(self, CERTIFICATES, id);
        one.samples = find_beside(self, SAMPLES, id);
        one.evidence = find_beside(self, EVIDENCE, id);
    }
    szgi_claim_row(&one);
}

static void print_ledger(const ledger *self) {
    plot_run *run = self->run;
    FILE *stream = szgi_page_stream(run->page);
    fprintf(stream, "<div class=\"claims\" id=\"claims-ledger-%" PRId64 "\">\n", self->result + 1);
    print_chips(self);
    fputs("<div class=\"ledger\">\n<div class=\"heads\" aria-hidden=\"true\"><span>claim</span>"
          "<span>statement</span><span>what is true instead</span><span>verdict</span></div>\n",
          stream);
    for (int64_t i = 0; i < self->claims.count && i < CLAIMS && run->status == SZG_OK; i++)
        if (szgi_plot_keep(run, szgi_context_check_cancel(run->context)))
            print_row(self, i);
    fputs("</div>\n</div>\n", stream);
    if (self->claims.count > CLAIMS)
        szgi_page_paragraph(run->page, "And %" PRId64 " more claims, behind the link.",
                            self->claims.count - CLAIMS);
    if (run->status == SZG_OK)
        szgi_plot_keep(run, szgi_page_links(run->page, &self->claims, 1));
}

/* ---- The finding ---- */

static void say_verdict(words *words, const groups *verdicts, int64_t place) {
    const char *verdict = szgi_rows_text(verdicts->group[place], 0, "verdict");
    szgi_words_clipped(words, verdict ? verdict : "not given", NAME);
    fprintf(words->stream, " %" PRId64, verdicts->group[place].count);
}

/* "11 of 24 claims fail; the others: conditional 1, holds 9" */
static void say_finding(words *words, const void *of) {
    const ledger *self = of;
    int64_t fails = find_group(&self->verdicts, "verdict", "fails");
    const char *before = fails < 0 ? ": " : "; the others: ";
    if (fails < 0)
        fputs("Verdicts on ", words->stream);
    else
        fprintf(words->stream, "%" PRId64 " of ", self->verdicts.group[fails].count);
    szgi_plot_count(words, self->claims.count, "claim", "claims");
    fputs(fails < 0 ? "" : " fail", words->stream);
    for (int64_t i = 0; i < self->verdicts.count && i < CLAIMS; i++) {
        if (i == fails)
            continue;
        fputs(before, words->stream);
        say_verdict(words, &self->verdicts, i);
        before = ", ";
    }
    if (self->several) {
        fputs(" (", words->stream);
        szgi_words_clipped(words, szgi_rows_text(self->claims, 0, "result"), NAME);
        fputs(")", words->stream);
    }
    fputs(".", words->stream);
}

static void print_finding(const ledger *self) {
    plot_run *run = self->run;
    char anchor[ANCHOR];
    const char *text = szgi_plot_text(run, say_finding, self);
    snprintf(anchor, sizeof anchor, "claims-ledger-%" PRId64, self->result + 1);
    if (run->status == SZG_OK)
        szgi_page_finding(run->page, anchor, "%s", text);
}

/* ---- The section ---- */

/* The ledger's verdict on L3, the lemma's statement on widths. */
static const char *verdict_on_widths(rows claims) {
    for (int64_t i = 0; i < claims.count; i++)
        if (is_same(szgi_rows_text(claims, i, "id"), "L3"))
            return szgi_rows_text(claims, i, "verdict");
    return NULL;
}

static void draw_lemma(plot_run *run, rows claims) {
    groups trials;
    if (run->status != SZG_OK ||
        !szgi_plot_keep(run, szgi_rows_of_result(run->page, "verify_lemma",
                                                 szgi_rows_text(claims, 0, "result"), &trials)))
        return;
    if (trials.count > 0)
        szgi_lemma_figures(run, trials.group[0], verdict_on_widths(claims));
    szgi_groups_free(&trials);
}

static void draw_result(plot_run *run, rows claims, int64_t index, bool several) {
    ledger self = {.run = run, .claims = claims, .result = index, .several = several};
    int64_t reserved = run->left < LEMMA ? run->left : LEMMA;
    if (several)
        szgi_page_heading(run->page, "Results of %s", szgi_rows_text(claims, 0, "result"));
    if (szgi_plot_keep(run, ledger_open(&self))) {
        run->left -= reserved;
        print_ledger(&self);
        print_finding(&self);
        run->left += reserved;
        draw_lemma(run, claims);
    }
    ledger_close(&self);
}

static void say_rest(const plot_run *run, int64_t results) {
    if (results > RESULTS)
        szgi_page_paragraph(run->page,
                            "The ledgers of %" PRId64 " more results are left out; their rows are "
                            "in the table verify_claims.",
                            results - RESULTS);
    if (run->left_out > 0)
        szgi_page_paragraph(run->page,
                            "%" PRId64 " more figures are left out; the links of their claims "
                            "lead to the rows.",
                            run->left_out);
}

static szg_status draw(page *page, const section *section) {
    rows all = {.table = szgi_collection_find(szgi_page_results(page), "verify_claims")};
    groups results;
    plot_run run;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, (const char *const[]){"result", NULL},
                              &results));
    szgi_plot_begin(&run, page, section);
    for (int64_t i = 0; i < results.count && i < RESULTS && run.status == SZG_OK; i++)
        draw_result(&run, results.group[i], i, results.count > 1);
    if (run.status == SZG_OK)
        say_rest(&run, results.count);
    szgi_groups_free(&results);
    return szgi_plot_end(&run);
}

const section szgi_section_claims = {
    .id = "claims",
    .title = "The ledger of claims",
    .is_present = is_present,
    .intro = "The paper's claims, our readings of them, and our corrections. Each row opens to "
             "what its verdict rests on.",
    .figures = FIGURES,
    .run = draw};
