/* Certified ends of sums of cosines, a_k = sum_t w_t cos(k theta_t). Entries are enclosed by Arb
 * and rounded to doubles; how far the rounded array is from the matrix counts as its error. If
 * zeros are eigenvalues by structure, the arrays are the Gram matrices of atoms.c, and 0 is the
 * least eigenvalue; else the order is small, and they are the halves of the matrix itself. */
#include "ball/arb.h"

#include "certified_blocks.h"

/* Angles up to 2^60 times orders up to 2^62, and sines as small as 2^-120, leave 140 bits. */
enum { BITS = 384 };

/* Terms of one angle are one atom, as in atoms.c, so that the Gram matrices have the eigenvalues
 * that are listed and no others. */
typedef struct cosine_job {
    int64_t n, terms, count; /* of atoms */
    szgi_cosine_term *term;  /* [terms], descending: an angle of 0 is the last */
    double *theta;           /* [count] */
    bool gram;
    /* Gram matrices: roots of the weights, and sines and cosines of theta/2 and n theta/2. */
    arb_ptr root, sine, cosine, far_sine, far_cosine;
    arb_ptr lag; /* halves: lags 0 .. n-1 */
} cosine_job;

/* ---- Entries ---- */

/* sin(n x) / sin(x) from both sines, or n where x = 0. */
static void quotient(arb_t out, const arb_t far, const arb_t near, bool zero, int64_t n) {
    if (zero)
        arb_set_si(out, (slong)n);
    else
        arb_div(out, far, near, BITS);
}

/* sin(x_i -+ x_j), x = theta/2 times 1 or n: sign 1 for the difference. */
static void sine_of(arb_t out, const arb_ptr sine, const arb_ptr cosine, int64_t i, int64_t j,
                    int sign) {
    arb_t other;
    arb_init(other);
    arb_mul(out, sine + i, cosine + j, BITS);
    arb_mul(other, cosine + i, sine + j, BITS);
    if (sign > 0)
        arb_sub(out, out, other, BITS);
    else
        arb_add(out, out, other, BITS);
    arb_clear(other);
}

/* sqrt(w_i w_j) (D(theta_i - theta_j) +- D(theta_i + theta_j)) / 2; minus for the odd block. */
static void gram_entry(const cosine_job *job, int64_t odd, int64_t i, int64_t j, arb_t out) {
    double a = job->theta[i], b = job->theta[j];
    arb_t far, near, plus;
    arb_init(far), arb_init(near), arb_init(plus);
    sine_of(far, job->far_sine, job->far_cosine, i, j, 1);
    sine_of(near, job->sine, job->cosine, i, j, 1);
    quotient(out, far, near, a == b, job->n);
    sine_of(far, job->far_sine, job->far_cosine, i, j, -1);
    sine_of(near, job->sine, job->cosine, i, j, -1);
    quotient(plus, far, near, a == 0 && b == 0, job->n);
    if (odd)
        arb_sub(out, out, plus, BITS);
    else
        arb_add(out, out, plus, BITS);
    arb_mul(out, out, job->root + i, BITS);
    arb_mul(out, out, job->root + j, BITS);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(plus), arb_clear(near), arb_clear(far);
}

/* Of the halves that halves.c describes; the middle place of an odd order is the even block's last.
 */
static void half_entry(const cosine_job *job, int64_t odd, int64_t i, int64_t j, arb_t out) {
    int64_t n = job->n, half = n / 2;
    arb_t factor;
    if (i == half && !odd) {
        arb_init(factor);
        arb_sqrt_ui(factor, 2, BITS);
        arb_set(out, job->lag + (half - j));
        if (j < half)
            arb_mul(out, out, factor, BITS);
        arb_clear(factor);
        return;
    }
    if (odd)
        arb_sub(out, job->lag + (i - j), job->lag + (n - 1 - i - j), BITS);
    else
        arb_add(out, job->lag + (i - j), job->lag + (n - 1 - i - j), BITS);
}

/* ---- Arrays ---- */

/* value = *rounded and at most the number returned. */
static double round_entry(arb_t value, double *rounded) {
    arb_t nearest;
    arf_t far;
    arb_init(nearest), arf_init(far);
    *rounded = arf_get_d(arb_midref(value), ARF_RND_NEAR);
    arb_set_d(nearest, *rounded);
    arb_sub(value, value, nearest, BITS);
    arb_get_abs_ubound_arf(far, value, MAG_BITS);
    double error = szgi_upper_double(far);
    arf_clear(far), arb_clear(nearest);
    return error;
}

/* The block's error is the largest row sum; the sum's own rounding is below 2^-20 of it. */
static szg_status fill_block(szg_context *context, const cosine_job *job, szgi_block_set *set,
                             int64_t odd, double *array, double *sums) {
    int64_t n = set->block[odd].n;
    double largest = 0;
    arb_t value;
    arb_init(value);
    memset(sums, 0, (size_t)n * sizeof *sums);
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < n && status == SZG_OK; i++) {
        status = szgi_context_check_cancel(context);
        for (int64_t j = 0; j <= i; j++) {
            (job->gram ? gram_entry : half_entry)(job, odd, i, j, value);
            arb_mul_2exp_si(value, value, -set->exponent);
            double error = round_entry(value, &array[i * n + j]);
            sums[i] += error;
            sums[j] += i == j ? 0 : error;
        }
    }
    for (int64_t i = 0; i < n; i++)
        largest = szgi_larger(largest, sums[i]);
    arb_clear(value);
    set->block[odd].error = largest * (1 + 0x1p-20);
    if (status == SZG_OK && !isfinite(largest))
        return szgi_fail(context, SZG_ENOCONV,
                         "balls of %d bits do not enclose the kernel's entries: its frequencies "
                         "are too near to multiples of 2 pi; leave --certify out",
                         BITS);
    return status;
}

/* ---- Tables ---- */

/* The roots of the atoms' weights, which are sums. */
static void fill_roots(cosine_job *job) {
    arb_t weight;
    arb_init(weight);
    for (int64_t t = 0, atom = 0; t < job->terms; t++) {
        atom += t > 0 && job->term[t].theta != job->term[t - 1].theta;
        arb_set_d(weight, job->term[t].weight);
        arb_add(job->root + atom, job->root + atom, weight, BITS);
    }
    for (int64_t t = 0; t < job->count; t++)
        arb_sqrt(job->root + t, job->root + t, BITS);
    arb_clear(weight);
}

static void fill_gram_tables(cosine_job *job) {
    arb_t half;
    arb_init(half);
    fill_roots(job);
    for (int64_t t = 0; t < job->count; t++) {
        arb_set_d(half, job->theta[t]);
        arb_mul_2exp_si(half, half, -1);
        arb_sin_cos(job->sine + t, job->cosine + t, half, BITS);
        arb_mul_si(half, half, (slong)job->n, BITS);
        arb_sin_cos(job->far_sine + t, job->far_cosine + t, half, BITS);
    }
    arb_clear(half);
}

static void fill_lags(cosine_job *job) {
    arb_t angle, weight;
    arb_init(angle), arb_init(weight);
    for (int64_t k = 0; k < job->n; k++) {
        arb_zero(job->lag + k);
        for (int64_t t = 0; t < job->terms; t++) {
            arb_set_d(angle, job->term[t].theta);
            arb_mul_si(angle, angle, (slong)k, BITS);
            arb_cos(angle, angle, BITS);
            arb_set_d(weight, job->term[t].weight);
            arb_addmul(job->lag + k, angle, weight, BITS);
        }
    }
    arb_clear(weight), arb_clear(angle);
}

static szg_status open_tables(szg_context *context, cosine_job *job) {
    int64_t balls = job->gram ? 5 * job->count : job->n;
    SZG_TRY(szgi_memory_require(context, balls, 1, sizeof(arb_struct) + BITS / 4,
                                "the enclosed sines of the frequencies", "leave --certify out"));
    arb_ptr all = _arb_vec_init((slong)balls);
    if (!job->gram) {
        job->lag = all;
        fill_lags(job);
        return SZG_OK;
    }
    job->root = all;
    job->sine = all + job->count;
    job->cosine = all + 2 * job->count;
    job->far_sine = all + 3 * job->count;
    job->far_cosine = all + 4 * job->count;
    fill_gram_tables(job);
    return SZG_OK;
}

static void close_tables(cosine_job *job) {
    if (job->root)
        _arb_vec_clear(job->root, (slong)(5 * job->count));
    if (job->lag)
        _arb_vec_clear(job->lag, (slong)job->n);
}

static int descending(const void *left, const void *right) {
    double a = ((const szgi_cosine_term *)left)->theta,
           b = ((const szgi_cosine_term *)right)->theta;
    return (a < b) - (a > b);
}

static void gather_atoms(cosine_job *job) {
    qsort(job->term, (size_t)job->terms, sizeof *job->term, descending);
    for (int64_t t = 0; t < job->terms; t++)
        if (t == 0 || job->term[t].theta != job->term[t - 1].theta)
            job->theta[job->count++] = job->term[t].theta;
}

/* The solver has checked them. Returns the sum of the weights, or an upper bound. */
static double take_atoms(const szg_matrix *matrix, cosine_job *job) {
    int64_t count = matrix->of.cosines.count;
    const double *weight = matrix->of.cosines.weight;
    double sum = 0;
    for (int64_t t = 0; t <= count; t++) {
        bool constant = t == count;
        double w = constant ? matrix->of.cosines.constant
                   : weight ? weight[t]
                            : matrix->of.cosines.equal;
        if (!(w > 0))
            continue;
        job->term[job->terms++] =
            (szgi_cosine_term){constant ? 0 : fabs(matrix->of.cosines.theta[t]), w};
        sum += w;
    }
    gather_atoms(job);
    return sum;
}

/* ---- The proof ---- */

/* Fills both arrays, `memory`, and proves. */
static szg_status fill_and_prove(szg_context *context, const cosine_job *job, szgi_block_set *set,
                                 double *memory, szg_spectrum *spectrum) {
    szgi_array_rows rows[SZGI_BLOCKS];
    int64_t even = set->block[0].n;
    double *array[SZGI_BLOCKS] = {memory + even, memory + even + even * even};
    for (int64_t i = 0; i < set->count; i++) {
        int64_t n = set->block[i].n;
        rows[i] = (szgi_array_rows){array[i], n, 1, 1, 1};
        set->block[i].row = szgi_array_row;
        set->block[i].data = &rows[i];
        SZG_TRY(fill_block(context, job, set, i, array[i], memory));
    }
    return szgi_blocks_prove(context, set, spectrum);
}

static szg_status prove_blocks(szg_context *context, cosine_job *job, bool values, double weights,
                               szg_spectrum *spectrum) {
    int64_t n = job->n, half = n / 2, even = job->gram ? job->count : n - half;
    bool constant = job->theta[job->count - 1] == 0; /* its sine vanishes */
    int64_t odd = job->gram ? job->count - constant : half;
    szgi_block_set set = {.count = odd > 0 ? 2 : 1,
                          .values = values,
                          .semidefinite = true, /* V V^T */
                          .singular = job->gram,
                          .block = {{.n = even, .width = 1}, {.n = odd, .width = 1}}};
    double *memory;
    SZG_TRY(szgi_memory_alloc(context, even + even * even + odd * odd, &memory));
    /* Every lag is at most the sum of the weights, every Gram entry n times that. */
    szg_status status =
        szgi_blocks_open(context, job->gram ? (double)n * weights : 2 * weights, &set);
    if (status == SZG_OK)
        status = fill_and_prove(context, job, &set, memory, spectrum);
    szgi_blocks_close(&set);
    szgi_memory_free(memory);
    return status;
}

/* Where the blocks, in doubles, leave 0 as the lower bound of a matrix of full rank. */
static szg_status sharpen_least(szg_context *context, const cosine_job *job,
                                szg_spectrum *spectrum) {
    const szgi_cosine_terms terms = {job->n, job->terms, job->term};
    szg_interval least, *min = &spectrum->min;
    if (job->gram || !(min->lo <= 0) || job->n > SZGI_LEAST_ORDER)
        return SZG_OK;
    SZG_TRY(szgi_certify_least(context, &terms, &least));
    *min = (szg_interval){fmax(min->lo, least.lo), fmin(min->hi, least.hi)};
    for (int64_t i = 0; spectrum->lo && i < spectrum->count; i++)
        spectrum->lo[i] = fmax(spectrum->lo[i], min->lo);
    if (spectrum->hi)
        spectrum->hi[0] = fmin(spectrum->hi[0], min->hi);
    return SZG_OK;
}

static szg_status certify_terms(szg_context *context, const szg_matrix *matrix, bool values,
                                cosine_job *job, szg_spectrum *spectrum) {
    double weights = take_atoms(matrix, job);
    szg_status status = open_tables(context, job);
    if (status == SZG_OK)
        status = prove_blocks(context, job, values, weights, spectrum);
    if (status == SZG_OK)
        status = sharpen_least(context, job, spectrum);
    close_tables(job);
    return status;
}

szg_status szgi_certify_cosines(szg_context *context, const szg_matrix *matrix, bool values,
                                szg_spectrum *spectrum) {
    int64_t terms = matrix->of.cosines.count + 1;
    cosine_job job = {.n = matrix->rows, .gram = spectrum->zeros > 0};
    if (spectrum->zeros == spectrum->n) {
        szgi_certify_point(0, spectrum);
        return SZG_OK;
    }
    SZG_TRY(szgi_memory_alloc(context, terms, &job.term));
    szg_status status = szgi_memory_alloc(context, terms, &job.theta);
    if (status == SZG_OK)
        status = certify_terms(context, matrix, values, &job, spectrum);
    szgi_memory_free(job.theta);
    szgi_memory_free(job.term);
    return status;
}
