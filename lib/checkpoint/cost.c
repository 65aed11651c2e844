#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "spectra/largest.h"
#include "cost.h"

/* Passes over the matrix that a usual weight takes: 10 to 50 were counted of trained and of random
 * ones. The vectors that look for missed values are 8, of up to 32 passes. */
enum { PASSES = 30, PROBES = 8 * 32 };
/* A number that passes by is read, converted, written and read twice. */
enum { NUMBER = 24 };
/* Largest order of a Gram matrix: 128 MiB. */
enum { GRAM_ORDER = 4096 };

static const szgi_rates usual = {.square = 3e10, .thin = 1.5e10, .bytes = 8e9};

static double small_of(int64_t rows, int64_t columns) {
    return (double)(rows < columns ? rows : columns);
}

static double large_of(int64_t rows, int64_t columns) {
    return (double)(rows < columns ? columns : rows);
}

/* Half of a reduction to bidiagonal form is products of the matrix with a vector, each of which
 * reads it: 4 bytes an operation (LAPACK's dgebrd; Golub, Van Loan 2013, 5.4.8). Long matrices go
 * through QR first. */
szgi_cost szgi_cost_all(int64_t rows, int64_t columns) {
    double small = small_of(rows, columns), large = large_of(rows, columns);
    bool reduced = large >= 11.0 / 6 * small;
    double qr = reduced ? 2 * large * small * small : 0;
    double reduction = 4 * (reduced ? small : large) * small * small - 4.0 / 3 * pow(small, 3);
    return (szgi_cost){.square = qr + reduction / 2, .bytes = 4 * reduction / 2};
}

static double vectors_of(int64_t n, int64_t count) {
    return PASSES * (double)szgi_largest_width(n, count) + PROBES;
}

szgi_cost szgi_cost_gram(int64_t rows, int64_t columns, int64_t count) {
    double small = small_of(rows, columns), large = large_of(rows, columns);
    double vectors = vectors_of((int64_t)small, count);
    return (szgi_cost){.square = large * small * small,
                       .thin = 2 * small * small * vectors,
                       .bytes = NUMBER * small * large};
}

szgi_cost szgi_cost_passing(int64_t rows, int64_t columns, int64_t count) {
    double numbers = (double)rows * (double)columns;
    return (szgi_cost){.thin = 4 * numbers * vectors_of(columns, count),
                       .bytes = NUMBER * numbers * (PASSES + PROBES / 8.0)};
}

bool szgi_cost_prefers_gram(int64_t rows, int64_t columns, int64_t count) {
    return small_of(rows, columns) <= GRAM_ORDER &&
           szgi_cost_seconds(szgi_cost_gram(rows, columns, count), &usual) <=
               szgi_cost_seconds(szgi_cost_passing(rows, columns, count), &usual);
}

void szgi_cost_add(szgi_cost *sum, szgi_cost more) {
    sum->square += more.square;
    sum->thin += more.thin;
    sum->bytes += more.bytes;
}

double szgi_cost_seconds(szgi_cost cost, const szgi_rates *rates) {
    return cost.square / rates->square + cost.thin / rates->thin + cost.bytes / rates->bytes;
}

/* ---- The rates of this machine ---- */

enum { ORDER = 512, VECTORS = 32, NUMBERS = 1 << 20 };

/* What happens in between took so long: `amount` a second. The first one of two counts, so that the
 * memory is there. */
static double rate_of(const szg_context *context, double start, double amount) {
    return amount / fmax(szgi_context_seconds(context) - start, 1e-9);
}

static szg_status multiply(szg_context *context, int64_t columns, const double *x, double *out) {
    return szgi_gemm(context, 'n', 'n', ORDER, columns, ORDER, 1, x, ORDER, x, columns, 0, out,
                     columns);
}

static szg_status measure(szg_context *context, double *x, szgi_rates *out) {
    enum { SQUARES = 2, THINS = 16 };
    double *product = x + ORDER * ORDER, cube = (double)ORDER * ORDER, start;
    SZG_TRY(multiply(context, ORDER, x, product));
    start = szgi_context_seconds(context);
    for (int i = 0; i < SQUARES; i++)
        SZG_TRY(multiply(context, ORDER, x, product));
    out->square = rate_of(context, start, SQUARES * 2 * cube * ORDER);
    start = szgi_context_seconds(context);
    for (int i = 0; i < THINS; i++)
        SZG_TRY(multiply(context, VECTORS, x, product));
    out->thin = rate_of(context, start, THINS * 2 * cube * VECTORS);
    start = szgi_context_seconds(context);
    x[0] = szgi_dot(NUMBERS / 2, x, x + NUMBERS / 2);
    out->bytes = rate_of(context, start, 8.0 * NUMBERS);
    return SZG_OK;
}

szg_status szgi_rates_measure(szg_context *context, szgi_rates *out) {
    double *x;
    SZG_TRY(szgi_memory_alloc(context, NUMBERS, &x));
    for (int64_t i = 0; i < NUMBERS; i++)
        x[i] = 1 / (double)(i + 1);
    szg_status status = measure(context, x, out);
    szgi_memory_free(x);
    return status;
}

const char *szgi_duration_text(double seconds, char *text, size_t size) {
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {0, "seconds"}};
    size_t i = 0;
    while (seconds < 1.5 * units[i].seconds)
        i++;
    snprintf(text, size, "%.2g %s", seconds / fmax(units[i].seconds, 1), units[i].unit);
    return text;
}
