/* Spectra of logits computed on the host: what a device's numbers are compared with, and a backend
 * that has them for tests where there is no device. */
#ifndef SZG_TESTS_HOST_SPECTRA_H
#define SZG_TESTS_HOST_SPECTRA_H

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "network/ops.h"

/* Room for one matrix's numbers: n, n, 2n - 1. */
static inline int64_t host_numbers_room(int64_t n) {
    return 4 * n - 1;
}

static inline void host_norms(int64_t n, const double *a, szgi_logit_numbers *out) {
    double square = 0, part = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double x = a[i * n + j], y = a[j * n + i];
            if (!isfinite(x) && out->infinite < 0)
                out->infinite = i * n + j;
            square += x * x;
            part += (x / 2 + y / 2) * (x / 2 + y / 2);
            out->trace += i == j ? x : 0;
            out->largest = fmax(out->largest, fabs(x));
            out->skew = fmax(out->skew, fabs(x - y));
        }
    out->frobenius = sqrt(square);
    out->part_frobenius = sqrt(part);
}

static inline void host_means(int64_t n, const double *a, double *means) {
    for (int64_t lag = 1 - n; lag < n; lag++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += i - lag >= 0 && i - lag < n ? a[i * n + i - lag] : 0;
        means[lag + n - 1] = (double)(sum / (long double)(n - (lag < 0 ? -lag : lag)));
    }
}

static inline void host_rest(int64_t n, const double *a, szgi_logit_numbers *out) {
    long double square = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            long double rest = (long double)a[i * n + j] - out->means[i - j + n - 1];
            square += rest * rest;
        }
    out->rest_frobenius = (double)sqrtl(square);
}

/* `room`: host_numbers_room(n) numbers, which the result points to. */
static inline szg_status host_numbers(szg_context *context, int64_t n, const double *a,
                                      double *room, szgi_logit_numbers *out) {
    double *part, *gram, square = 0;
    *out = (szgi_logit_numbers){.eigenvalues = room,
                                .squares = room + n,
                                .means = room + 2 * n,
                                .infinite = -1,
                                .converged = true};
    memset(room, 0, (size_t)host_numbers_room(n) * sizeof *room);
    host_norms(n, a, out);
    if (out->infinite >= 0)
        return SZG_OK;
    host_means(n, a, room + 2 * n);
    host_rest(n, a, out);
    SZG_TRY(szgi_memory_alloc(context, 2 * n * n, &part));
    gram = part + n * n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            part[i * n + j] = a[i * n + j] / 2 + a[j * n + i] / 2;
            for (int64_t k = 0; k < n; k++)
                gram[i * n + j] += a[k * n + i] * a[k * n + j];
            square += gram[i * n + j] * gram[i * n + j];
        }
    out->gram_frobenius = sqrt(square);
    szg_status status = szgi_eigen_symmetric(context, n, part, n, room, false);
    if (status == SZG_OK)
        status = szgi_eigen_symmetric(context, n, gram, n, room + n, false);
    szgi_memory_free(part);
    return status;
}

/* ---- A backend's job ---- */

typedef struct host_job {
    szgi_spectra_job job;
    double *matrix, *sums, *room;
} host_job;

static inline void host_spectra_close(szg_context *context, szgi_spectra_job *job) {
    (void)context;
    host_job *self = (host_job *)job;
    szgi_memory_free(self->matrix);
    szgi_memory_free(self->sums);
    szgi_memory_free(self->room);
    szgi_memory_free(self);
}

static inline szg_status host_spectra_open(szg_context *context, int64_t count, int64_t n,
                                           int64_t sums, szgi_spectra_job **out) {
    host_job *self;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->job = (szgi_spectra_job){.count = count, .n = n, .sums = sums};
    szg_status status = szgi_memory_alloc(context, count * n * n, &self->matrix);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, sums, &self->sums);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, count * host_numbers_room(n), &self->room);
    *out = status == SZG_OK ? &self->job : NULL;
    if (status != SZG_OK)
        host_spectra_close(context, &self->job);
    return status;
}

static inline double host_real(szg_context *context, const void *array, int64_t at) {
    return szgi_network_real_size(context) == 4 ? (double)((const float *)array)[at]
                                                : ((const double *)array)[at];
}

static inline szg_status host_spectra_take(szg_context *context, szgi_spectra_job *job,
                                           int64_t first, int64_t count, int64_t length,
                                           const void *logits) {
    int64_t n = job->n;
    for (int64_t m = 0; m < count; m++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                ((host_job *)job)->matrix[((first + m) * n + i) * n + j] =
                    host_real(context, logits, (m * length + i) * length + j);
    return SZG_OK;
}

static inline szg_status host_spectra_squares(szg_context *context, szgi_spectra_job *job,
                                              int64_t first, int64_t heads, int64_t count,
                                              const szgi_head_part *parts) {
    double *sums = ((host_job *)job)->sums + first;
    memset(sums, 0, (size_t)heads * sizeof *sums);
    for (int64_t p = 0; p < count; p++)
        for (int64_t i = 0; i < parts[p].rows; i++)
            for (int64_t j = 0; j < parts[p].columns; j++) {
                int64_t shared = parts[p].by_columns ? parts[p].columns : parts[p].rows;
                double x = host_real(context, parts[p].array, i * parts[p].columns + j);
                sums[(parts[p].by_columns ? j : i) / (shared / heads)] += x * x;
            }
    return SZG_OK;
}

/* The work is done where it is collected, as late as it may be. */
static inline szg_status host_spectra_begin(szg_context *context, szgi_spectra_job *job,
                                            int64_t count) {
    (void)context, (void)job, (void)count;
    return SZG_OK;
}

static inline szg_status host_spectra_collect(szg_context *context, szgi_spectra_job *job,
                                              szgi_logit_numbers *numbers, double *sums) {
    host_job *self = (host_job *)job;
    int64_t n = job->n;
    for (int64_t m = 0; m < job->begun; m++)
        SZG_TRY(host_numbers(context, n, self->matrix + m * n * n,
                             self->room + m * host_numbers_room(n), &numbers[m]));
    if (sums)
        memcpy(sums, self->sums, (size_t)job->sums * sizeof *sums);
    return SZG_OK;
}

static inline void host_spectra_fill(szgi_network_ops *network) {
    network->spectra_open = host_spectra_open;
    network->spectra_close = host_spectra_close;
    network->spectra_take = host_spectra_take;
    network->spectra_squares = host_spectra_squares;
    network->spectra_begin = host_spectra_begin;
    network->spectra_collect = host_spectra_collect;
}

#endif
