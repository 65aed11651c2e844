#include <math.h>
#include <string.h>

#include "cpu_layers.h"
#include "linalg/cpu_level.h"
#include "linalg/cpu_vector.h"

/* Loops without sums over their index are left to the compiler's vectoriser. This says that arrays
 * are the same or apart: no number depends on one with another index. */
#define SAME_INDEX _Pragma("GCC ivdep")

static inline float total(vfloat x) {
    float sum = 0;
    for (int i = 0; i < LANES / 2; i++)
        sum += x[i] + x[i + LANES / 2];
    return sum;
}

/* ---- The normal distribution ---- */

static inline float from_bits(int32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* exp(a) for -87 <= a <= 0, relative error below 2e-7: a = n log 2 + r, |r| <= log(2) / 2, Taylor's
 * polynomial of degree 7. */
static inline float exp_negative(float a) {
    const float round = 0x1.8p23F;
    float shifted = a * 1.44269504F + round, n = shifted - round;
    float r = a - n * 0.693359375F + n * 2.12194440e-4F;
    float p = 1.0F / 5040;
    p = p * r + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1;
    p = p * r + 1;
    return p * from_bits(((int32_t)n + 127) << 23);
}

/* erfc(t) = exp(-t^2) R(u), u = 1 / (1 + 0.65 t), R the polynomial of degree 9 that is closest
 * to exp(t^2) erfc(t) in relative error on 0 <= t <= 10 (7e-8 and rounding). */
static inline void normal_at(float x, float *distribution, float *density) {
    float square = 0.5F * x * x;
    float e = exp_negative(square < 87 ? -square : -87.0F);
    e = square < 87 ? e : square == square ? 0 : square; /* NaN stays */
    float t = x < 0 ? x * -0.707106781F : x * 0.707106781F;
    float u = 1 / (1 + 0.65F * t);
    float p = 0.0899564624F;
    p = p * u - 0.506129622F;
    p = p * u + 1.14711773F;
    p = p * u - 1.22864079F;
    p = p * u + 0.474665433F;
    p = p * u - 0.0282753389F;
    p = p * u + 0.321566463F;
    p = p * u + 0.36275053F;
    p = p * u + 0.366997182F;
    p = p * u - 8.06743719e-6F;
    float tail = 0.5F * e * p;
    *distribution = x < 0 ? tail : 1 - tail;
    *density = 0.39894228F * e;
}

static void normal(int64_t count, const float *x, float *distribution, float *density) {
    SAME_INDEX
    for (int64_t i = 0; i < count; i++)
        normal_at(x[i], &distribution[i], &density[i]);
}

/* ---- Bias and activation ---- */

static void add_row(int64_t count, const float *from, float *to) {
    SAME_INDEX
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void relu_row(int64_t columns, const float *z, float *y) {
    SAME_INDEX
    for (int64_t c = 0; c < columns; c++)
        y[c] = z[c] < 0 ? 0 : z[c]; /* NaN stays */
}

static void gelu_row(int64_t columns, const float *z, float *y) {
    SAME_INDEX
    for (int64_t c = 0; c < columns; c++) {
        float distribution, density;
        normal_at(z[c], &distribution, &density);
        y[c] = z[c] * distribution;
    }
}

static void activate(int64_t rows, int64_t columns, szg_activation activation, const float *bias,
                     float *z, int64_t ldz, float *y, int64_t ldy) {
    for (int64_t r = 0; r < rows; r++, z += ldz, y += ldy) {
        if (bias)
            add_row(columns, bias, z);
        if (activation == SZG_ACTIVATION_GELU)
            gelu_row(columns, z, y);
        else if (activation == SZG_ACTIVATION_RELU)
            relu_row(columns, z, y);
        else if (y != z)
            memcpy(y, z, (size_t)columns * sizeof *y);
    }
}

static void relu_slope_row(int64_t columns, const float *y, float *dy) {
    SAME_INDEX
    for (int64_t c = 0; c < columns; c++)
        dy[c] = y[c] <= 0 ? 0 : dy[c];
}

static void gelu_slope_row(int64_t columns, const float *z, float *dy) {
    SAME_INDEX
    for (int64_t c = 0; c < columns; c++) {
        float distribution, density;
        normal_at(z[c], &distribution, &density);
        dy[c] *= distribution + z[c] * density;
    }
}

static void differentiate(int64_t rows, int64_t columns, szg_activation activation, const float *at,
                          int64_t ldat, float *dy, int64_t lddy, float *sums) {
    for (int64_t r = 0; r < rows; r++, dy += lddy) {
        if (activation == SZG_ACTIVATION_GELU)
            gelu_slope_row(columns, at + r * ldat, dy);
        else if (activation == SZG_ACTIVATION_RELU)
            relu_slope_row(columns, at + r * ldat, dy);
        if (sums)
            add_row(columns, dy, sums);
    }
}

/* ---- Sums, searches ---- */

static void add(int64_t count, int64_t parts, int64_t stride, const float *part, float *to) {
    for (int64_t g = 0; g < parts; g++)
        add_row(count, part + g * stride, to);
}

static void find_not_finite(int64_t count, const float *x, bool *found) {
    int32_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    *found = largest >= 0x7f800000;
}

/* ---- Layer normalisation ---- */

static float sum_of(int64_t n, const float *x) {
    vfloat sum[2] = {{0}};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES)
        for (int r = 0; r < 2; r++)
            sum[r] += vector_load(x + i + r * LANES);
    float result = total(sum[0] + sum[1]);
    for (; i < n; i++)
        result += x[i];
    return result;
}

static float squares_of(int64_t n, const float *x, float mean) {
    vfloat sum[2] = {{0}};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES)
        for (int r = 0; r < 2; r++) {
            vfloat d = vector_load(x + i + r * LANES) - mean;
            sum[r] += d * d;
        }
    float result = total(sum[0] + sum[1]);
    for (; i < n; i++)
        result += (x[i] - mean) * (x[i] - mean);
    return result;
}

static void normalise(int64_t rows, int64_t width, const float *x, const float *gamma,
                      const float *beta, float eps, float *y, float *mean, float *inverse) {
    for (int64_t r = 0; r < rows; r++, x += width, y += width) {
        float m = sum_of(width, x) / (float)width;
        float s = 1 / sqrtf(squares_of(width, x, m) / (float)width + eps);
        SAME_INDEX
        for (int64_t c = 0; c < width; c++)
            y[c] = (x[c] - m) * s * gamma[c] + beta[c];
        if (mean)
            mean[r] = m;
        if (inverse)
            inverse[r] = s;
    }
}

/* sums[0] = sum of g, sums[1] = sum of g xhat, with g = dy gamma, xhat = (x - mean) inverse. */
static void norm_sums(int64_t n, const float *x, const float *gamma, const float *dy, float mean,
                      float inverse, float sums[2]) {
    vfloat plain = {0}, weighted = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vfloat g = vector_load(dy + i) * vector_load(gamma + i);
        plain += g;
        weighted += g * ((vector_load(x + i) - mean) * inverse);
    }
    sums[0] = total(plain);
    sums[1] = total(weighted);
    for (; i < n; i++) {
        float g = dy[i] * gamma[i];
        sums[0] += g;
        sums[1] += g * ((x[i] - mean) * inverse);
    }
}

static void norm_row_parameters(int64_t n, const float *x, const float *dy, float mean,
                                float inverse, float *dgamma, float *dbeta) {
    SAME_INDEX
    for (int64_t c = 0; c < n; c++) {
        dgamma[c] += dy[c] * ((x[c] - mean) * inverse);
        dbeta[c] += dy[c];
    }
}

/* dx (+)= inverse (g - mean of g - xhat (mean of g xhat)), g = dy gamma. */
static void norm_row_backward(const szgi_layers_norm_rows *job, int64_t r) {
    int64_t n = job->width;
    const float *x = job->x + r * n, *dy = job->dy + r * n, *gamma = job->gamma;
    float *dx = job->dx + r * n, mean = job->mean[r], inverse = job->inverse[r], sums[2];
    norm_sums(n, x, gamma, dy, mean, inverse, sums);
    norm_row_parameters(n, x, dy, mean, inverse, job->dgamma, job->dbeta);
    float slope = inverse * inverse * sums[1] / (float)n;
    float shift = inverse * sums[0] / (float)n;
    if (job->add_dx) {
        SAME_INDEX
        for (int64_t c = 0; c < n; c++)
            dx[c] += inverse * (dy[c] * gamma[c]) - slope * (x[c] - mean) - shift;
    } else {
        SAME_INDEX
        for (int64_t c = 0; c < n; c++)
            dx[c] = inverse * (dy[c] * gamma[c]) - slope * (x[c] - mean) - shift;
    }
}

static void normalise_backward(const szgi_layers_norm_rows *job) {
    for (int64_t r = 0; r < job->rows; r++)
        norm_row_backward(job, r);
}

/* ---- Parts of heads ---- */

/* Some numbers: a loop of vectors, where a call of memcpy costs more than it copies. */
static inline void copy_row(int64_t count, const float *from, float *to) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        vector_store(to + i, vector_load(from + i));
    if (i < count)
        memcpy(to + i, from + i, (size_t)(count - i) * sizeof *to);
}

static void place(int64_t rows, const szgi_layers_part *part, const float *from, float *out) {
    int64_t step = part->shared ? 0 : part->width;
    for (int64_t r = 0; r < rows; r++, from += part->ld, out += part->ldwhole)
        for (int64_t h = 0; h < part->heads; h++)
            copy_row(part->width, from + h * step, out + h * part->whole);
}

static void take(int64_t rows, const szgi_layers_part *part, const float *dout, float *to) {
    int64_t step = part->shared ? 0 : part->width;
    for (int64_t r = 0; r < rows; r++, to += part->ld, dout += part->ldwhole) {
        copy_row(part->width, dout, to);
        for (int64_t h = 1; h < part->heads; h++) {
            const float *source = dout + h * part->whole;
            if (part->shared)
                add_row(part->width, source, to);
            else
                copy_row(part->width, source, to + h * step);
        }
    }
}

/* ---- Dropout, optimiser ---- */

static void drop(int64_t count, const float *factors, const float *x, const float *residual,
                 float *y) {
    if (residual) {
        SAME_INDEX
        for (int64_t i = 0; i < count; i++)
            y[i] = residual[i] + factors[i] * x[i];
    } else {
        SAME_INDEX
        for (int64_t i = 0; i < count; i++)
            y[i] = factors[i] * x[i];
    }
}

static void adamw(int64_t count, const szgi_layers_adamw_step *step, const float *gradient,
                  float *weight, float *moment1, float *moment2) {
    const szgi_layers_adamw_step s = *step;
    SAME_INDEX
    for (int64_t i = 0; i < count; i++) {
        float g = gradient[i];
        float m = s.beta1 * moment1[i] + s.rest1 * g;
        float v = s.beta2 * moment2[i] + s.rest2 * (g * g);
        moment1[i] = m;
        moment2[i] = v;
        weight[i] = s.keep * weight[i] - s.step * m / (sqrtf(v) * s.root_correction + s.eps);
    }
}

const szgi_layers_kernels SZG_KERNELS(szgi_layers_kernels) = {
    .activate = activate,
    .differentiate = differentiate,
    .add = add,
    .add_row = add_row,
    .find_not_finite = find_not_finite,
    .normalise = normalise,
    .normalise_backward = normalise_backward,
    .place = place,
    .take = take,
    .drop = drop,
    .adamw = adamw,
    .normal = normal,
};
