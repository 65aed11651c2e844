#ifndef SZG_BENCH_PRIVATE_H
#define SZG_BENCH_PRIVATE_H

#include "bench.h"
#include "base/row.h"

/* The columns of the table `bench`. */
#define BENCH_COLUMNS(X)                                                                           \
    X(BENCH_ITEM, "item", SZG_TEXT, "", "item", "name of the item")                                \
    X(BENCH_BACKEND, "backend", SZG_TEXT, "", "backend",                                           \
      "backend and precision of a decoder's products")                                             \
    X(BENCH_INPUT, "input", SZG_TEXT, "", "input", "what is timed, or its matrix")                 \
    X(BENCH_N, "n", SZG_INTEGER, "1", "order n",                                                   \
      "order of the matrix, degree of the symbol, or tokens of a step")                            \
    X(BENCH_OURS, "ours", SZG_TEXT, "", "ours", "what szego does")                                 \
    X(BENCH_RIVAL, "rival", SZG_TEXT, "", "rival", "what it is compared with")                     \
    X(BENCH_PAIRS, "pairs", SZG_INTEGER, "1", "pairs of runs", "alternating pairs of runs")        \
    X(BENCH_OURS_S, "ours_s", SZG_REAL, "s", "time of ours", "median, seconds")                    \
    X(BENCH_OURS_LOW_S, "ours_low_s", SZG_REAL, "s", "fastest of ours", "fastest, seconds")        \
    X(BENCH_OURS_HIGH_S, "ours_high_s", SZG_REAL, "s", "slowest of ours", "slowest, seconds")      \
    X(BENCH_RIVAL_S, "rival_s", SZG_REAL, "s", "time of the rival", "median, seconds")             \
    X(BENCH_RIVAL_LOW_S, "rival_low_s", SZG_REAL, "s", "fastest of the rival", "fastest, seconds") \
    X(BENCH_RIVAL_HIGH_S, "rival_high_s", SZG_REAL, "s", "slowest of the rival",                   \
      "slowest, seconds")                                                                          \
    X(BENCH_RATIO, "ratio", SZG_REAL, "1", "rival over ours",                                      \
      "rival over ours: median over the pairs")                                                    \
    X(BENCH_RATIO_LOW, "ratio_low", SZG_REAL, "1", "least ratio", "least over the pairs")          \
    X(BENCH_RATIO_HIGH, "ratio_high", SZG_REAL, "1", "largest ratio", "largest over the pairs")    \
    X(BENCH_RATIO_ONE_THREAD, "ratio_one_thread", SZG_REAL, "1", "ratio on one thread",            \
      "the rival on one thread over ours: median over the pairs")                                  \
    X(BENCH_TARGET_RATIO, "target_ratio", SZG_REAL, "1", "target ratio",                           \
      "the ratio that was set as the goal")                                                        \
    X(BENCH_TARGET_S, "target_s", SZG_REAL, "s", "target time",                                    \
      "the time that was set as the goal, seconds")                                                \
    X(BENCH_MET, "met", SZG_TEXT, "", "goal met", "yes or no; empty: there is no goal")            \
    X(BENCH_DIFFERENCE, "difference", SZG_REAL, "1", "difference of the answers",                  \
      "over the norm: largest difference of the answers, or widest proved interval")               \
    X(BENCH_PEAK_MIB, "peak_mib", SZG_REAL, "MiB", "peak memory",                                  \
      "largest resident memory during ours, MiB")                                                  \
    X(BENCH_CALLS, "calls", SZG_INTEGER, "1", "calls", "calls of an operation in a step")          \
    X(BENCH_BYTES, "bytes", SZG_REAL, "bytes", "bytes read and written",                           \
      "least bytes that are read and written, by a copy or a step's calls")                        \
    X(BENCH_BYTES_PER_S, "bytes_per_s", SZG_REAL, "bytes/s", "rate of memory",                     \
      "these over the seconds")                                                                    \
    X(BENCH_COPY_SHARE, "copy_share", SZG_REAL, "1", "share of a copy's rate",                     \
      "that rate over the rate of a copy")                                                         \
    X(BENCH_VERDICT, "verdict", SZG_TEXT, "", "verdict",                                           \
      "measured; cut: at the item's limit, or interrupted; failed")                                \
    X(BENCH_NOTE, "note", SZG_TEXT, "", "note", "remarks")
enum { BENCH_COLUMNS(SZGI_COLUMN_INDEX) BENCH_COLUMN_COUNT };

typedef szg_status bench_fn(szg_context *context, void *job);

/* One comparison. A NULL rival leaves the ratio empty: the item then has a limit in seconds. */
typedef struct bench_case {
    const char *input;
    int64_t n;
    const char *ours_name, *rival_name;
    bench_fn *prepare; /* untimed, before each run: restores what runs destroy; NULL: nothing */
    bench_fn *ours, *rival, *single; /* single: the rival on one thread */
    void *job;
    const double *measured; /* NULL: a clock around each run; else what the run leaves here */
    int64_t pairs;
    double target_ratio, target_seconds; /* 0: none */
} bench_case;

/* Hands over the latest row: nothing is added to it any more. Before anything that takes long. */
SZG_CHECK_RESULT szg_status bench_complete(szg_context *context, bench_run *run);

/* Begins a row of the item at work: the one before it is complete. */
SZG_CHECK_RESULT szg_status bench_row(szg_context *context, bench_run *run, const char *input);
/* The latest row, to go on with. */
szgi_row bench_latest(szg_context *context, const bench_run *run);

/* Says in the latest row that its item ended early, and counts that. */
SZG_CHECK_RESULT szg_status bench_stop(szg_context *context, bench_run *run, szg_status failure,
                                       const char *why);

/* Completes the row before, times the case and appends its row; the caller may add `difference` and
 * notes to it. Every side runs once before the clock counts where that takes little. Stops early,
 * after a whole pair, when the case has lasted 60 seconds. Where a run fails or is cut, the row
 * holds the pairs before it.
 */
SZG_CHECK_RESULT szg_status bench_measure(szg_context *context, bench_run *run,
                                          const bench_case *what);

/* The number in a column of the table's last row. */
double bench_last(const bench_run *run, int64_t column);

/* Puts `ratio` into a row that has no clocks of its own, and whether it meets its goal. */
void bench_put_ratio(szgi_row *row, double ratio, double target);

/* Seconds of a clock that does not jump. */
double bench_now(void);
/* The same by the processor, of all threads of this process. */
double bench_processor_now(void);

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

/* The same for `ours_s`. */
void bench_put_seconds(szgi_row *row, double seconds, double target);

/* Bytes of the latest row, which is of a copy, and the rate that follows. */
SZG_CHECK_RESULT szg_status bench_set_copy(szg_context *context, bench_run *run, double bytes);

/* The item of that name, which exists. */
const bench_item *bench_find(const char *name);

/* Calls `measure` in the name of another item, without a rival: it finds what the one at work
 * needs.
 */
SZG_CHECK_RESULT szg_status bench_as(szg_context *context, bench_run *run, const char *item);

/* The items, one file each. */
typedef szg_status bench_item_fn(szg_context *context, bench_run *run);
bench_item_fn bench_machine_product, bench_machine_copy, bench_machine_transfer;
bench_item_fn bench_toeplitz, bench_random_lags, bench_hermitian, bench_certified;
bench_item_fn bench_batch_symmetric, bench_batch_singular, bench_batch_general;
bench_item_fn bench_batch_small;
bench_item_fn bench_rotary_kernel, bench_rotary_logits, bench_softmax;
bench_item_fn bench_symbol_range;
bench_item_fn bench_extremes, bench_density;
bench_item_fn bench_checkpoint_heads, bench_checkpoint_positional;
bench_item_fn bench_checkpoint_stages, bench_checkpoint_large;
bench_item_fn bench_train_product, bench_train_first, bench_train_step, bench_train_operations;
bench_item_fn bench_train_evaluation, bench_train_attention;
bench_item_fn bench_train_capture, bench_train_epoch, bench_train_ablation, bench_train_table1;
bench_item_fn bench_device_batch, bench_device_batch_checked, bench_device_dense;
bench_item_fn bench_device_crossover;

/* SZG_EINVAL: crossovers need SZEGO_CUDA_CROSSOVER=0. */
SZG_CHECK_RESULT szg_status bench_crossover_check(szg_context *context);

#endif
