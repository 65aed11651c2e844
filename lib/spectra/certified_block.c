/* One end of the spectrum of one array. Outer bound: a completed Cholesky factorisation of
 * sigma I - A (Rump, BIT 46, 2006). Inner bound: the Rayleigh quotient of a vector that the factor
 * gives by inverse iteration. */
#include "linalg/linalg.h"
#include "base/random.h"

#include "certified.h"
#include "doubled.h"

static const double U = 0x1p-53;

void szgi_array_row(const void *data, int64_t i, double *out) {
    const szgi_array_rows *rows = data;
    const double *from = rows->a + i * rows->stride;
    for (int64_t j = 0; j < (i + 1) * rows->width; j++)
        out[j] = from[j] * rows->first * rows->second;
}

/* ---- The outer bound ---- */

/* sigma I - sign A into `work`; *defect bounds what the factorisation and the diagonal's rounding
 * can hide. False: a diagonal entry is not positive, and nothing is to be factored. */
static bool shift(const szgi_block *block, int sign, double sigma, double *work, double *defect) {
    int64_t n = block->n, width = block->width;
    double sum = 0;
    *defect = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double *to = work + i * n * width;
        block->row(block->data, i, to);
        double pivot = sigma - sign * to[i * width];
        if (!(pivot > 0))
            return false;
        for (int64_t j = 0; j < i * width; j++)
            to[j] = -sign * to[j];
        to[i * width] = pivot;
        if (width == 2)
            to[i * width + 1] = 0;
        sum += (double)(i + 6) * pivot;
    }
    double order = (double)n, rounding = width == 1 ? U : 2.83 * U;
    *defect = rounding * sum + 64 * order * order * order * DBL_MIN;
    return true;
}

static szg_status factor(szg_context *context, const szgi_block *block, double *work,
                         bool *completed) {
    int64_t n = block->n;
    return block->width == 1 ? szgi_cholesky(context, n, work, n, completed)
                             : szgi_cholesky_complex(context, n, (szg_c64 *)work, n, completed);
}

szg_status szgi_block_outer(szg_context *context, const szgi_block *block,
                            const szgi_end_search *search, double *work, double *bound) {
    double margin = search->margin, defect;
    for (int i = 0; i < SZGI_CERTIFIED_TRIES; i++, margin *= 4) {
        double sigma = search->sign * search->guess + margin;
        bool completed = shift(block, search->sign, sigma, work, &defect);
        SZG_TRY(szgi_context_check_cancel(context));
        if (completed)
            SZG_TRY(factor(context, block, work, &completed));
        if (!completed)
            continue;
        /* A sum of two nonnegative numbers, then one of any signs: a step each. */
        double more = nextafter(defect + block->error, INFINITY);
        *bound = nextafter(sigma + more, INFINITY);
        return SZG_OK;
    }
    return szgi_fail(context, SZG_ENOCONV,
                     "no proof that the computed eigenvalue %g is the %s one of the spectrum: %d "
                     "factorisations up to %.2g away failed",
                     search->guess, search->sign > 0 ? "largest" : "least", SZGI_CERTIFIED_TRIES,
                     margin / 4);
}

/* ---- The vector ---- */

/* x := L^{-*} L^{-1} x */
static void solve_real(int64_t n, const double *l, double *x) {
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - szgi_dot(i, l + i * n, x)) / l[i * n + i];
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] /= l[i * n + i];
        for (int64_t j = 0; j < i; j++)
            x[j] -= l[i * n + j] * x[i];
    }
}

static void solve_complex(int64_t n, const szg_c64 *l, szg_c64 *x) {
    for (int64_t i = 0; i < n; i++) {
        const szg_c64 *row = l + i * n;
        for (int64_t j = 0; j < i; j++) {
            x[i].re -= row[j].re * x[j].re - row[j].im * x[j].im;
            x[i].im -= row[j].re * x[j].im + row[j].im * x[j].re;
        }
        x[i] = (szg_c64){x[i].re / row[i].re, x[i].im / row[i].re};
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        const szg_c64 *row = l + i * n;
        x[i] = (szg_c64){x[i].re / row[i].re, x[i].im / row[i].re};
        for (int64_t j = 0; j < i; j++) { /* conj l_ij */
            x[j].re -= row[j].re * x[i].re + row[j].im * x[i].im;
            x[j].im -= row[j].re * x[i].im - row[j].im * x[i].re;
        }
    }
}

/* Brings the largest modulus to [1/2, 1). Any vector but 0 serves the proof: where numbers are
 * lost, the first unit vector. */
static void normalise(int64_t count, double *x) {
    double largest = 0, lost = 0;
    int exponent;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(x[i]));
        lost += x[i] - x[i];
    }
    if (!(largest > 0) || lost != 0) {
        memset(x, 0, (size_t)count * sizeof *x);
        x[0] = largest = 0.5;
    }
    frexp(largest, &exponent);
    double factor = ldexp(1, -exponent); /* solutions of systems with pivots of 2^-600 at least */
    for (int64_t i = 0; i < count; i++)
        x[i] *= factor;
}

/* Two steps: where the gap to the next eigenvalue is g and the shift is e away, the quotient misses
 * the end by about n e^4 / g^3, and by g at most. */
void szgi_block_vector(const szgi_block *block, const double *factor, double *x) {
    enum { STEPS = 2 };
    const szgi_stream stream = {.seed = 1, .purpose = 17};
    int64_t count = block->n * block->width;
    szgi_random_fill_uniform(&stream, 0, count, x);
    for (int64_t i = 0; i < count; i++)
        x[i] -= 0.5;
    for (int i = 0; i < STEPS; i++) {
        normalise(count, x);
        if (block->width == 1)
            solve_real(block->n, factor, x);
        else
            solve_complex(block->n, (const szg_c64 *)factor, (szg_c64 *)x);
    }
    normalise(count, x);
}

/* ---- The inner bound ---- */

/* Half of x^* A x, from y_i = sum_{j < i} a_ij x_j + a_ii x_i / 2: a part of y_i is the product of
 * row i with x turned: (re, -im) and (im, re) in turn where entries are complex. */
static double half_form(const szgi_block *block, const double *x, double *work) {
    int64_t n = block->n, width = block->width, count = n * width;
    double *turned = work, *head = work + 2 * count, *tail = head + count, *row = tail + count;
    for (int64_t i = 0; i < n && width == 2; i++) {
        turned[2 * i] = x[2 * i];
        turned[2 * i + 1] = -x[2 * i + 1];
        turned[count + 2 * i] = x[2 * i + 1];
        turned[count + 2 * i + 1] = x[2 * i];
    }
    for (int64_t i = 0; i < n; i++) {
        block->row(block->data, i, row);
        for (int64_t part = 0; part < width; part++) {
            const double *other = width == 2 ? turned : x;
            szgi_doubled y = szgi_doubled_dot(i * width, row, other + part * count);
            y = szgi_doubled_add(y, szgi_doubled_product(row[i * width] / 2, x[i * width + part]));
            head[i * width + part] = y.head;
            tail[i * width + part] = y.tail;
        }
    }
    szgi_doubled q =
        szgi_doubled_add(szgi_doubled_dot(count, x, head), szgi_doubled_dot(count, x, tail));
    return q.head + q.tail;
}

/* Not above the largest eigenvalue of sign A. */
static double inner_bound(const szgi_block *block, int sign, const double *x, double *work) {
    int64_t count = block->n * block->width;
    szgi_doubled square = szgi_doubled_dot(count, x, x);
    double form = half_form(block, x, work);
    double quotient = sign * 2 * form / (square.head + square.tail);
    double order = (double)(count + 16) * U;
    double defect = 8 * U * fabs(quotient) + 300 * (double)block->n * (order * order) + 0x1p-900;
    double less = nextafter(defect + block->error, INFINITY);
    return nextafter(quotient - less, -INFINITY);
}

szg_status szgi_block_end(szg_context *context, const szgi_block *block,
                          const szgi_end_search *search, double *work, szg_interval *out) {
    int64_t count = block->n * block->width;
    double *vectors, outer = INFINITY;
    SZG_TRY(szgi_memory_alloc(context, 6 * count, &vectors));
    szg_status status = szgi_block_outer(context, block, search, work, &outer);
    if (status == SZG_OK) {
        szgi_block_vector(block, work, vectors);
        double inner = inner_bound(block, search->sign, vectors, vectors + count);
        *out = search->sign > 0 ? (szg_interval){inner, outer} : (szg_interval){-outer, -inner};
    }
    szgi_memory_free(vectors);
    if (status == SZG_OK && !(out->lo <= out->hi))
        return szgi_fail(context, SZG_EINTERNAL,
                         "the proven bounds %.17g and %.17g of an eigenvalue exclude each other",
                         out->lo, out->hi);
    return status;
}
