/* Operations of "network/network.h" on several tables: parity, bit-equality, guards, differences.
 *
 * A trial is one call of an operation: its arrays ("slots") with their contents on the host. The
 * table under test is named by SZG_TEST_BACKEND (default cpu); the oracle is reference64, given the
 * same numbers: all are representable in single precision. */
#ifndef SZG_TESTS_NETWORK_TESTS_H
#define SZG_TESTS_NETWORK_TESTS_H

#include <math.h>
#include <string.h>
#include "network/ops.h"
#include "base/random.h"

#include "suite.h"

enum { SLOTS = 20 };

typedef enum slot_kind { SLOT_REALS, SLOT_INTS, SLOT_LONGS, SLOT_BLOCK, SLOT_TALLY } slot_kind;
typedef enum slot_role {
    SLOT_INPUT,   /* never changes */
    SLOT_RESULT,  /* of the forward operation */
    SLOT_SEED,    /* gradient with respect to a result, given to the backward operation */
    SLOT_GRADIENT /* with respect to an input, of the backward operation */
} slot_role;

typedef struct op_slot {
    const char *name;
    slot_kind kind;
    slot_role role;
    bool adds;                  /* a gradient is added to what was there */
    bool destroyed;             /* the operation may change it */
    int of;                     /* SEED, GRADIENT: the slot that it belongs to */
    int64_t count, columns, ld; /* rows of `columns` numbers, ld apart */
    double *values;             /* before the call; NaN where nothing may be read */
    /* Of the error, in units of the table's eps, then of its rounding of operands. */
    double narrow, narrow_rounded; /* measured: narrow_bounds */
    double bound, rounded;         /* derived; 0: nothing is rounded */
    double floor;                  /* of both: narrow_bounds */
} op_slot;

typedef struct op_trial op_trial;
/* Calls the operation with the slots' arrays; NULL for a slot without numbers. */
typedef szg_status call_fn(szg_context *context, const op_trial *trial, void **at);

struct op_trial {
    const void *shape; /* the operation's struct with its sizes */
    call_fn *forward, *backward;
    bool aligned; /* every array; else every other one to its elements alone */
    int slots;
    op_slot slot[SLOTS];
};

/* Contexts with the table under test on 1, 2, 5 threads, the same table in single precision of the
 * plain reference, and the oracle. */
szg_context *tested(int which); /* 0, 1, 2 */
szg_context *plain(void);
szg_context *oracle(void);

/* Random sizes and numbers: one stream for each call, in the order of the calls. */
szgi_stream draw_stream(void);
int64_t draw_below(int64_t bound);
int64_t draw_of(const int64_t *sizes, int64_t count);
#define DRAW_OF(...)                                                                               \
    draw_of((const int64_t[]){__VA_ARGS__}, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))
/* Biased to zero, one, repeats and tiny; below 1000; representable in single precision. */
double draw_real(void);

/* Adds a slot and returns its index. wanted false: NULL for the operation. */
int add_slot(op_trial *trial, slot_role role, const char *name, int64_t count, bool wanted);
/* rows x columns of numbers with leading dimension ld; the gaps are NaN. */
int add_matrix(op_trial *trial, slot_role role, const char *name, int64_t rows, int64_t columns,
               int64_t ld, bool wanted);
/* A result of the operation or a gradient that is written: NaN before the call. */
void blank(op_trial *trial, int slot);
int add_ints(op_trial *trial, const char *name, int64_t count, int64_t least, int64_t bound);
/* Integers of 64 bits with the given values, or zeros (NULL). */
int add_longs(op_trial *trial, slot_role role, const char *name, int64_t count,
              const int64_t *values);
/* Numbers of a step block in `values`: seed, step, finite, rate, corrections, first. */
enum { BLOCK_NUMBERS = 7 };
/* A step block with `finite` 1 and `first` 0. */
int add_block(op_trial *trial);
/* `count` blocks, one after the other. */
int add_blocks(op_trial *trial, const char *name, int64_t count);
double largest(const op_trial *trial, int slot);
void close_trial(op_trial *trial);

/* The most that products of the table under test move an operand by, relative to it: 0 but for the
 * GPU's lower precisions. */
double operand_rounding(void);
/* What a sum of that many products on the table under test errs by at most, in units of eps times
 * the sum of their sizes. Ordinary units: each rounding is half an eps. Tensor cores cut off
 * instead (cuda/mma.cuh derives both), in the vendor's products too. */
double products_error(double terms);

/* The operation on the tables: results within their bounds of the oracle's, gaps, guard bands and
 * inputs untouched, the same bits on 1, 2 and 5 threads. Then the backward operation. */
void check_parity(op_trial *trial);

/* Gradients of sum(seed * result) on the oracle against central differences. */
void check_differences(op_trial *trial);

/* Runs an operation on a table; out[s] receives the numbers of slot s after it. */
void run_on(szg_context *context, const op_trial *trial, call_fn *call, double **out);
void free_run(const op_trial *trial, double **numbers);
/* The forward operation on `context`, results into the slots. */
void run_forward(szg_context *context, op_trial *trial);

#define ck_on(context, call)                                                                       \
    do {                                                                                           \
        szg_status ck_status_ = (call);                                                            \
        ck_assert_msg(ck_status_ == SZG_OK, "%s: %s: %s", #call, szg_status_name(ck_status_),      \
                      szg_context_message(context));                                               \
    } while (0)

#endif
