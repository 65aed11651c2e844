#ifndef SZG_BENCH_PRIVATE_H
#define SZG_BENCH_PRIVATE_H

#include "bench.h"

typedef szg_status bench_fn(szg_context *context, void *job);

/* One comparison. A NULL rival leaves the ratio empty: the item then has a limit in seconds. */
typedef struct bench_case {
    const char *item, *input;
    int64_t n;
    const char *ours_name, *rival_name;
    bench_fn *prepare; /* untimed, before each run: restores what runs destroy; NULL: nothing */
    bench_fn *ours, *rival, *single; /* single: the rival on one thread */
    void *job;
    const double *measured; /* NULL: a clock around each run; else what the run leaves here */
    int64_t pairs;
    double target_ratio, target_seconds; /* 0: none */
} bench_case;

/* Times the case and appends its row; the caller may add `difference` and notes to it. Every side
 * runs once before the clock counts where that takes little. Stops early, after a whole pair, when
 * the case has lasted 60 seconds. */
SZG_CHECK_RESULT szg_status bench_measure(szg_context *context, const bench_case *what,
                                          szg_table *table);

/* The number in a column of the table's last row. */
double bench_last(const szg_table *table, const char *column);

/* Seconds of a clock that does not jump. */
double bench_now(void);

/* Largest resident set since the last reset, in MiB; NaN where the system does not tell. */
void bench_peak_reset(void);
double bench_peak(void);

/* Largest |x_i - y_i| over the largest |y_i|; NaN where a number is one. */
double bench_difference(int64_t count, const double *x, const double *y);

/* LAPACK as people call it, on `threads` threads of its own. Column-major; a is destroyed. */
SZG_CHECK_RESULT szg_status bench_lapack_symmetric(szg_context *context, int threads, int64_t count,
                                                   int64_t n, double *a, double *w);
SZG_CHECK_RESULT szg_status bench_lapack_hermitian(szg_context *context, int threads, int64_t n,
                                                   szg_c64 *a, double *w);
SZG_CHECK_RESULT szg_status bench_lapack_general(szg_context *context, int threads, int64_t count,
                                                 int64_t n, double *a, szg_c64 *w);
SZG_CHECK_RESULT szg_status bench_lapack_singular(szg_context *context, int threads, int64_t count,
                                                  int64_t n, double *a, double *s);
void bench_gemm(int threads, int64_t n, const double *a, const double *b, double *c);
void bench_gemm_single(int threads, int64_t n, const float *a, const float *b, float *c);

/* Whether the context works on a GPU. */
bool bench_on_device(szg_context *context);

/* The items, one file each. */
szg_status bench_machine(szg_context *context, const bench_options *options, szg_table *table);
szg_status bench_toeplitz(szg_context *context, const bench_options *options, szg_table *table);
szg_status bench_hermitian(szg_context *context, const bench_options *options, szg_table *table);
szg_status bench_batch_symmetric(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_batch_singular(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_batch_general(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_rotary_kernel(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_rotary_logits(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_symbol_range(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_train(szg_context *context, const bench_options *options, szg_table *table);
szg_status bench_device_batch(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_device_dense(szg_context *context, const bench_options *o, szg_table *table);
szg_status bench_device_crossover(szg_context *context, const bench_options *o, szg_table *table);

#endif
