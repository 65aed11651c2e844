#include <stdio.h>
#include <string.h>

#include "encoding/encoding.h"
#include "theory/theory.h"
#include "toeplitz/toeplitz.h"

static const char *const theorem_names[SZG_THEOREM_COUNT] = {
    [SZG_THEOREM_NONE] = "none",
    [SZG_THEOREM_SZEGO] = "szego",
    [SZG_THEOREM_SZEGO_RANK_1] = "szego+rank-one",
    [SZG_THEOREM_AVRAM_PARTER] = "avram-parter",
    [SZG_THEOREM_AVRAM_PARTER_RANK_1] = "avram-parter+rank-one",
    [SZG_THEOREM_TYRTYSHNIKOV_ZAMARASHKIN] = "tyrtyshnikov-zamarashkin",
};

static const char *const theorem_sentences[SZG_THEOREM_COUNT] = {
    [SZG_THEOREM_SZEGO] = "Szego: the symbol is real and bounded, so every eigenvalue lies in its "
                          "range and, as N grows, the eigenvalues are distributed like its values.",
    [SZG_THEOREM_SZEGO_RANK_1] =
        "Szego after one rank-one term: a real bounded symbol plus a multiple of the all-ones "
        "matrix; all eigenvalues but one interlace those of the symbol's matrices and follow its "
        "values, one outlier grows like N.",
    [SZG_THEOREM_AVRAM_PARTER] =
        "Avram-Parter: the symbol is bounded but not real, so the singular values are distributed "
        "like its modulus, and the field of values lies in the closed convex hull of its range; "
        "nothing is said about single eigenvalues.",
    [SZG_THEOREM_AVRAM_PARTER_RANK_1] =
        "Avram-Parter after one rank-one term: a bounded symbol that is not real plus a multiple "
        "of the all-ones matrix; the singular values are distributed like the symbol's modulus, "
        "the largest grows like N, and the symbol's range bounds neither it nor the field of "
        "values.",
    [SZG_THEOREM_TYRTYSHNIKOV_ZAMARASHKIN] =
        "Tyrtyshnikov-Zamarashkin: the symbol is integrable but not known to be bounded, so the "
        "singular values (for a real symbol the eigenvalues too) are distributed like its values, "
        "without a bound on the largest.",
};

static szg_theorem strongest(const szg_hypotheses *h) {
    if (!h->toeplitz || h->zero || !h->integrable)
        return SZG_THEOREM_NONE;
    if (!h->bounded)
        return SZG_THEOREM_TYRTYSHNIKOV_ZAMARASHKIN;
    if (!h->hermitian)
        return h->rank_one ? SZG_THEOREM_AVRAM_PARTER_RANK_1 : SZG_THEOREM_AVRAM_PARTER;
    return h->rank_one ? SZG_THEOREM_SZEGO_RANK_1 : SZG_THEOREM_SZEGO;
}

static const char *reason_for_none(const szg_hypotheses *h) {
    if (!h->toeplitz)
        return "No limit theorem applies: nothing makes the matrix Toeplitz at every N.";
    if (h->zero)
        return "No limit theorem is needed: the kernel is 0, so are all eigenvalues, and ratios to "
               "it do not exist.";
    return "No limit theorem applies: the kernel is not known to have an integrable symbol.";
}

szg_status szg_theorem_select(szg_context *context, const szg_hypotheses *hypotheses,
                              szg_theorem_answer *answer) {
    SZGI_ENTER(context);
    if (!hypotheses || !answer)
        return szgi_fail(context, SZG_EINVAL, "theorem: NULL argument");
    const szg_hypotheses *h = hypotheses;
    bool contradictory = (h->finite_degree && !h->summable) || (h->summable && !h->bounded) ||
                         (h->bounded && !h->integrable) || (h->integrable && !h->toeplitz);
    if (contradictory)
        return szgi_fail(
            context, SZG_EINVAL,
            "theorem: contradictory hypotheses: finite degree implies summable, summable "
            "implies bounded, bounded implies integrable, integrable implies Toeplitz");
    memset(answer, 0, sizeof *answer);
    answer->theorem = strongest(h);
    answer->name = theorem_names[answer->theorem];
    answer->hypotheses = *h;
    const char *sentence = theorem_sentences[answer->theorem];
    snprintf(answer->sentence, sizeof answer->sentence, "%s",
             sentence ? sentence : reason_for_none(h));
    return SZG_OK;
}

/* Whether a_{-k} = conj(a_k) bit for bit, and whether any coefficient is nonzero. */
static bool coefficients_hermitian(const szg_toeplitz *t, bool *zero) {
    bool hermitian = szg_toeplitz_at(t, 0).im == 0.0;
    *zero = true;
    for (int64_t k = 0; k <= szgi_toeplitz_degree(t); k++) {
        szg_c64 plus = szg_toeplitz_at(t, k), minus = szg_toeplitz_at(t, -k);
        if (plus.re != minus.re || plus.im != -minus.im)
            hermitian = false;
        if (plus.re != 0.0 || plus.im != 0.0 || minus.re != 0.0 || minus.im != 0.0)
            *zero = false;
    }
    return hermitian;
}

szg_status szg_theorem_of_toeplitz(szg_context *context, const szg_toeplitz *toeplitz,
                                   szg_theorem_answer *answer) {
    SZGI_ENTER(context);
    if (!toeplitz)
        return szgi_fail(context, SZG_EINVAL, "theorem: NULL matrix");
    szg_hypotheses h = {.toeplitz = true,
                        .finite_degree = true,
                        .summable = true,
                        .bounded = true,
                        .integrable = true};
    h.hermitian = coefficients_hermitian(toeplitz, &h.zero);
    return szg_theorem_select(context, &h, answer);
}

/* What an encoding's facts establish about its family of matrices. */
static szg_hypotheses hypotheses_of_facts(const szg_kernel_facts *f) {
    szg_hypotheses h = {.toeplitz = f->form != SZG_FORM_NOT_TOEPLITZ,
                        .zero = f->form == SZG_FORM_ZERO,
                        .hermitian =
                            f->kind == SZG_TOEPLITZ_SYMMETRIC || f->kind == SZG_TOEPLITZ_HERMITIAN};
    bool bounded = false;
    switch (f->form) {
    case SZG_FORM_ZERO:
    case SZG_FORM_POLYNOMIAL:
        h.finite_degree = bounded = true;
        break;
    case SZG_FORM_CLOSED:
        bounded = f->summable;
        break;
    case SZG_FORM_POLYNOMIAL_TAILS:
        /* Equal tails b: a polynomial plus b J. Zero tails: a polynomial. Else no symbol in L1: its
         * coefficients do not tend to 0 (Riemann-Lebesgue). */
        bounded = f->tail_plus == f->tail_minus;
        h.finite_degree = bounded;
        h.rank_one = bounded && f->tail_plus != 0.0;
        break;
    case SZG_FORM_ATOMS:
    case SZG_FORM_UNBOUNDED:
    case SZG_FORM_NOT_TOEPLITZ:
        break;
    }
    h.summable = h.bounded = h.integrable = bounded;
    return h;
}

szg_status szg_theorem_of_encoding(szg_context *context, const szg_kernel_facts *facts,
                                   szg_theorem_answer *answer) {
    SZGI_ENTER(context);
    if (!facts)
        return szgi_fail(context, SZG_EINVAL, "theorem: NULL facts");
    szg_hypotheses h = hypotheses_of_facts(facts);
    SZG_TRY(szg_theorem_select(context, &h, answer));
    if (answer->theorem == SZG_THEOREM_NONE && facts->line) {
        char own[sizeof answer->sentence];
        snprintf(own, sizeof own, "%s", answer->sentence);
        snprintf(answer->sentence, sizeof answer->sentence, "%.160s %.340s", own, facts->line);
    }
    return SZG_OK;
}
