/* The product by a circulant around the Toeplitz matrix (FFTW-MPI). A transform leaves its numbers
 * in an order of its own, which the way back takes: that saves the exchange that would sort them.
 * The only file that knows FFTW. */
#include <fftw3-mpi.h>
#include <string.h>

#include "product.h"

/* Some process's numbers first .. first + count - 1. */
typedef struct piece {
    int64_t first, count;
} piece;

/* An exchange among all processes: numbers go from where one distribution has them to where the
 * other does. */
typedef struct exchange {
    int *sent, *sent_at, *taken, *taken_at; /* one a process, in numbers of MPI_DOUBLE */
} exchange;

struct mpi_product {
    int64_t n, length;
    int64_t width;                        /* doubles of a number of x: 1, or 2 where complex */
    piece vector, before, between, after; /* here: of x, and of the circulant's three places */
    piece *all_before, *all_after;        /* the same of every process */
    exchange there, back;
    double *packed; /* pieces of x in the circulant's distribution, `width` each */
    fftw_complex *field, *spectrum;
    fftw_plan forward, backward;
};

/* ---- Exchanges ---- */

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static piece vector_piece(int64_t n, int rank) {
    int64_t first = mpi_piece(n, rank);
    return (piece){first, mpi_piece(n, rank + 1) - first};
}

/* What two pieces share, counted from the beginning of `of`; count 0: nothing. */
static piece overlap(piece of, piece other) {
    int64_t first = larger(of.first, other.first);
    int64_t end = smaller(of.first + of.count, other.first + other.count);
    return end > first ? (piece){first - of.first, end - first} : (piece){0, 0};
}

static void set_place(piece shared, int64_t width, int *count, int *at) {
    *count = (int)(shared.count * width);
    *at = (int)(shared.first * width);
}

static bool open_exchange(szg_context *context, exchange *self) {
    int64_t count = mpi_processes.processes;
    self->sent = mpi_alloc(context, 4 * count, sizeof *self->sent);
    if (!self->sent)
        return false;
    self->sent_at = self->sent + count;
    self->taken = self->sent_at + count;
    self->taken_at = self->taken + count;
    return true;
}

/* From x to the circulant's first n numbers, and back. */
static void describe_exchanges(mpi_product *self) {
    for (int rank = 0; rank < mpi_processes.processes; rank++) {
        piece theirs = vector_piece(self->n, rank);
        set_place(overlap(self->vector, self->all_before[rank]), self->width,
                  &self->there.sent[rank], &self->there.sent_at[rank]);
        set_place(overlap(self->before, theirs), self->width, &self->there.taken[rank],
                  &self->there.taken_at[rank]);
        set_place(overlap(self->after, theirs), self->width, &self->back.sent[rank],
                  &self->back.sent_at[rank]);
        set_place(overlap(self->vector, self->all_after[rank]), self->width,
                  &self->back.taken[rank], &self->back.taken_at[rank]);
    }
}

static void run_exchange(const exchange *self, const double *from, double *to) {
    MPI_Alltoallv(from, self->sent, self->sent_at, MPI_DOUBLE, to, self->taken, self->taken_at,
                  MPI_DOUBLE, mpi_processes.comm);
}

/* ---- The circulant ---- */

static bool is_smooth(int64_t m) {
    for (int64_t prime = 2; prime <= 7; prime += prime == 2 ? 1 : 2)
        while (m % prime == 0)
            m /= prime;
    return m == 1;
}

/* A transform of one dimension is dealt as a table of two: both sides should be multiples of the
 * number of processes. */
static int64_t length_for(int64_t n) {
    int64_t processes = mpi_processes.processes, unit = processes * processes;
    if (processes > n / processes)
        unit = processes;
    int64_t count = (2 * n - 1 + unit - 1) / unit;
    while (!is_smooth(count))
        count++;
    return count * unit;
}

/* One process has nothing to exchange, and FFTW no such plan for it. */
static unsigned scrambled(unsigned flag) {
    return mpi_processes.processes > 1 ? flag : 0;
}

/* Where FFTW wants numbers, and how many it needs room for. */
static int64_t distribute(mpi_product *self) {
    ptrdiff_t in, in_first, out, out_first;
    int64_t room =
        fftw_mpi_local_size_1d(self->length, mpi_processes.comm, FFTW_FORWARD,
                               scrambled(FFTW_MPI_SCRAMBLED_OUT), &in, &in_first, &out, &out_first);
    self->before = (piece){in_first, in};
    self->between = (piece){out_first, out};
    room = larger(room, fftw_mpi_local_size_1d(self->length, mpi_processes.comm, FFTW_BACKWARD,
                                               scrambled(FFTW_MPI_SCRAMBLED_IN), &in, &in_first,
                                               &out, &out_first));
    self->after = (piece){out_first, out};
    return room;
}

/* The first column is the lag 0 .. n-1, zeros, and -(n-1) .. -1; its transform, over the length
 * that both ways multiply by, stays. */
static void open_spectrum(mpi_product *self, const szgi_distributed_search *search) {
    for (int64_t i = 0; i < self->before.count; i++) {
        int64_t place = self->before.first + i;
        int64_t lag = place < self->n ? place : place - self->length;
        szg_c64 a = {0, 0};
        if (lag > -self->n)
            a = search->lag(search->data, lag);
        self->field[i][0] = a.re;
        self->field[i][1] = a.im;
    }
    fftw_execute(self->forward);
    for (int64_t i = 0; i < self->between.count; i++) /* of a Hermitian circulant: real */
        self->spectrum[i][0] = self->field[i][0] / (double)self->length;
}

static szg_status allocate(szg_context *context, mpi_product *self, int64_t room) {
    int64_t count = mpi_processes.processes;
    self->field = fftw_alloc_complex((size_t)room);
    self->spectrum = fftw_alloc_complex((size_t)room);
    self->packed = mpi_alloc(context, larger(self->before.count, self->after.count) * self->width,
                             sizeof *self->packed);
    self->all_before = mpi_alloc(context, 2 * count, sizeof *self->all_before);
    if (!self->field || !self->spectrum)
        return mpi_fail(context, SZG_ENOMEM,
                        "%lld complex numbers are refused to one of %d processes: start more, on "
                        "more machines",
                        (long long)(2 * room), (int)count);
    if (!self->packed || !self->all_before || !open_exchange(context, &self->there) ||
        !open_exchange(context, &self->back))
        return SZG_ENOMEM;
    self->all_after = self->all_before + count;
    if (larger(self->before.count, self->vector.count) * self->width > INT32_MAX / 2)
        return mpi_fail(context, SZG_EDOMAIN,
                        "order %lld is too large for %d processes: start more of them",
                        (long long)self->n, (int)count);
    return SZG_OK;
}

static szg_status open_plans(szg_context *context, mpi_product *self) {
    self->forward =
        fftw_mpi_plan_dft_1d(self->length, self->field, self->field, mpi_processes.comm,
                             FFTW_FORWARD, FFTW_ESTIMATE | scrambled(FFTW_MPI_SCRAMBLED_OUT));
    self->backward =
        fftw_mpi_plan_dft_1d(self->length, self->field, self->field, mpi_processes.comm,
                             FFTW_BACKWARD, FFTW_ESTIMATE | scrambled(FFTW_MPI_SCRAMBLED_IN));
    if (self->forward && self->backward)
        return SZG_OK;
    return mpi_fail(context, SZG_EINTERNAL, "FFTW makes no plan for %lld numbers on %d processes",
                    (long long)self->length, mpi_processes.processes);
}

szg_status mpi_product_open(szg_context *context, const szgi_distributed_search *search,
                            mpi_product **out) {
    mpi_product *self = *out = mpi_alloc(context, 1, sizeof *self);
    szg_status status = self ? SZG_OK : SZG_ENOMEM;
    if (self) {
        self->n = search->n;
        self->width = search->is_complex ? 2 : 1;
        self->length = length_for(search->n);
        self->vector = vector_piece(search->n, mpi_processes.rank);
        status = allocate(context, self, distribute(self));
    }
    status = mpi_agree(context, SZGI_MEETING_STEP, search->n, status);
    if (status == SZG_OK)
        status = mpi_agree(context, SZGI_MEETING_STEP, search->n, open_plans(context, self));
    if (status != SZG_OK) {
        mpi_product_close(out);
        return status;
    }
    MPI_Allgather(&self->before, sizeof(piece), MPI_BYTE, self->all_before, sizeof(piece), MPI_BYTE,
                  mpi_processes.comm);
    MPI_Allgather(&self->after, sizeof(piece), MPI_BYTE, self->all_after, sizeof(piece), MPI_BYTE,
                  mpi_processes.comm);
    describe_exchanges(self);
    open_spectrum(self, search);
    return SZG_OK;
}

void mpi_product_close(mpi_product **product) {
    mpi_product *self = *product;
    *product = NULL;
    if (!self)
        return;
    if (self->forward)
        fftw_destroy_plan(self->forward);
    if (self->backward)
        fftw_destroy_plan(self->backward);
    fftw_free(self->field);
    fftw_free(self->spectrum);
    free(self->packed);
    free(self->all_before);
    free(self->there.sent);
    free(self->back.sent);
    free(self);
}

void mpi_product_apply(mpi_product *self, const double *x, double *y) {
    run_exchange(&self->there, x, self->packed);
    int64_t filled = overlap(self->before, (piece){0, self->n}).count;
    for (int64_t i = 0; i < self->before.count; i++) {
        const double *from = self->packed + i * self->width;
        self->field[i][0] = i < filled ? from[0] : 0;
        self->field[i][1] = i < filled && self->width == 2 ? from[1] : 0;
    }
    fftw_execute(self->forward);
    for (int64_t i = 0; i < self->between.count; i++) {
        self->field[i][0] *= self->spectrum[i][0];
        self->field[i][1] *= self->spectrum[i][0];
    }
    fftw_execute(self->backward);
    for (int64_t i = 0; i < self->after.count; i++)
        for (int64_t part = 0; part < self->width; part++)
            self->packed[i * self->width + part] = self->field[i][part];
    run_exchange(&self->back, self->packed, y);
}
