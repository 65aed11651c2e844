/* The least eigenvalue of a positive definite sum of cosines that no double precision sees: Arb
 * factorises the two halves of the matrix (halves.h) with as many bits as it takes. */
#include "ball/arb.h"

#include "certified_blocks.h"

/* What 4096 bits do not see is far below 2^-1074, where doubles end. */
enum { FIRST_BITS = 512, MOST_BITS = 4096, WANTED_BITS = 60 };

/* a_k = sum_t w_t cos(k theta_t), k = 0 .. n-1. */
static void fill_lags(const szgi_cosine_terms *terms, slong bits, arb_ptr lag) {
    arb_t angle, weight;
    arb_init(angle), arb_init(weight);
    for (int64_t t = 0; t < terms->count; t++) {
        arb_set_d(weight, terms->term[t].weight);
        for (int64_t k = 0; k < terms->n; k++) {
            arb_set_d(angle, terms->term[t].theta);
            arb_mul_si(angle, angle, (slong)k, bits);
            arb_cos(angle, angle, bits);
            arb_addmul(lag + k, angle, weight, bits);
        }
    }
    arb_clear(weight), arb_clear(angle);
}

/* a_{i-j} +- a_{n-1-i-j}; of an odd order the even half has the middle place last. */
static void fill_half(arb_srcptr lag, int64_t n, bool odd, slong bits, arb_mat_t a) {
    int64_t half = n / 2;
    arb_t root;
    arb_init(root);
    arb_sqrt_ui(root, 2, bits);
    for (int64_t i = 0; i < arb_mat_nrows(a); i++)
        for (int64_t j = 0; j <= i; j++) {
            arb_ptr at = arb_mat_entry(a, i, j);
            bool middle = i == half; /* of an even half alone */
            if (middle && j < half)
                arb_mul(at, lag + (half - j), root, bits);
            else if (middle)
                arb_set(at, lag);
            else if (odd)
                arb_sub(at, lag + (i - j), lag + (n - 1 - i - j), bits);
            else
                arb_add(at, lag + (i - j), lag + (n - 1 - i - j), bits);
            arb_set(arb_mat_entry(a, j, i), at);
        }
    arb_clear(root);
}

/* With B = A^-1: tr B / |B|_F^2 and 1 / |B|_F. False: A is not proved to be positive definite, or
 * the bounds are vague. */
static bool bound_half(const arb_mat_t a, slong bits, arb_t lo, arb_t hi) {
    slong n = arb_mat_nrows(a);
    arb_mat_t factor, inverse;
    arb_t trace, squares;
    arb_mat_init(factor, n, n), arb_mat_init(inverse, n, n);
    arb_init(trace), arb_init(squares);
    bool done = arb_mat_cho(factor, a, bits);
    if (done) {
        arb_mat_inv_cho_precomp(inverse, factor, bits);
        arb_mat_trace(trace, inverse, bits);
        for (slong i = 0; i < n; i++)
            for (slong j = 0; j < n; j++)
                arb_addmul(squares, arb_mat_entry(inverse, i, j), arb_mat_entry(inverse, i, j),
                           bits);
        done = arb_is_positive(squares) && arb_rel_accuracy_bits(squares) >= WANTED_BITS;
        arb_div(hi, trace, squares, bits);
        arb_rsqrt(lo, squares, bits);
    }
    arb_clear(squares), arb_clear(trace);
    arb_mat_clear(inverse), arb_mat_clear(factor);
    return done;
}

/* Lowers *out to the bounds of one half. */
static bool add_half(arb_srcptr lag, int64_t n, bool odd, slong bits, szg_interval *out) {
    slong order = (slong)(odd ? n / 2 : n - n / 2);
    arb_mat_t a;
    arb_t lo, hi;
    arf_t end;
    if (order == 0)
        return true;
    arb_mat_init(a, order, order), arb_init(lo), arb_init(hi), arf_init(end);
    fill_half(lag, n, odd, bits, a);
    bool done = bound_half(a, bits, lo, hi);
    if (done) {
        arb_get_lbound_arf(end, lo, MAG_BITS * 2);
        out->lo = fmin(out->lo, szgi_lower_double(end));
        arb_get_ubound_arf(end, hi, MAG_BITS * 2);
        out->hi = fmin(out->hi, szgi_upper_double(end));
    }
    arf_clear(end), arb_clear(hi), arb_clear(lo), arb_mat_clear(a);
    return done;
}

szg_status szgi_certify_least(szg_context *context, const szgi_cosine_terms *terms,
                              szg_interval *out) {
    *out = (szg_interval){0, INFINITY};
    for (slong bits = FIRST_BITS; bits <= MOST_BITS; bits *= 2) {
        szg_interval found = {INFINITY, INFINITY};
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_memory_require(context, terms->n, terms->n, (size_t)bits / 8,
                                    "the proof of the least eigenvalue", "leave --certify out"));
        arb_ptr lag = _arb_vec_init((slong)terms->n);
        fill_lags(terms, bits, lag);
        bool done = add_half(lag, terms->n, true, bits, &found) &&
                    add_half(lag, terms->n, false, bits, &found);
        _arb_vec_clear(lag, (slong)terms->n);
        if (done) {
            *out = (szg_interval){fmax(found.lo, 0), found.hi};
            return SZG_OK;
        }
    }
    return SZG_OK;
}
