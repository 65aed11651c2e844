#include <inttypes.h>

#include "base/pool.h"
#include "rotate_private.h"

enum { ROWS_A_BLOCK = 64 };

void szgi_rotary_pair_dims(const szgi_rotary *rotary, int64_t pair, int64_t *first,
                           int64_t *second) {
    if (rotary->pairing == SZGI_PAIRING_INTERLEAVED) {
        *first = rotary->offset + 2 * pair;
        *second = *first + 1;
    } else {
        *first = rotary->offset + pair;
        *second = *first + rotary->pairs;
    }
}

typedef struct rotate_job {
    const szgi_rotary *rotary;
    int64_t first, n, ld;
    double *x;
} rotate_job;

static void rotate_row(const szgi_rotary *rotary, int64_t position, double *row) {
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t i, j;
        double cosine, sine;
        szgi_rotary_pair_dims(rotary, t, &i, &j);
        szgi_lag_phase(position, rotary->theta[t], &cosine, &sine);
        double re = row[i], im = row[j];
        row[i] = rotary->amplitude * (cosine * re - sine * im);
        row[j] = rotary->amplitude * (sine * re + cosine * im);
    }
}

static szg_status rotate_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const rotate_job *rotate = job;
    int64_t end = (block + 1) * ROWS_A_BLOCK;
    for (int64_t i = block * ROWS_A_BLOCK; i < end && i < rotate->n; i++)
        rotate_row(rotate->rotary, rotate->first + i, rotate->x + i * rotate->ld);
    return SZG_OK;
}

szg_status szgi_rotary_rotate(szg_context *context, const szgi_rotary *rotary, int64_t first,
                              int64_t n, double *x, int64_t ldx) {
    if (n < 0 || rotary->pairs < 0 || rotary->offset < 0 ||
        rotary->offset + 2 * rotary->pairs > rotary->dim || ldx < rotary->dim)
        return szgi_fail(context, SZG_EINVAL,
                         "rotation of %" PRId64 " rows, leading dimension %" PRId64 ": %" PRId64
                         " pairs from dimension %" PRId64 " on do not fit into %" PRId64,
                         n, ldx, rotary->pairs, rotary->offset, rotary->dim);
    rotate_job job = {rotary, first, n, ldx, x};
    return szgi_pool_run(context, (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, rotate_block, &job);
}
