/* Times of the certified range: meson test --benchmark -C BUILD --suite ball -v. Columns: kind of
 * coefficients, degree, median seconds of three, width of both intervals over max |f|. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ball/ball.h"
#include "base/memory.h"
#include "base/random.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static szg_c64 coefficient(int kind, int64_t k, int64_t degree) {
    const szgi_stream stream = {20250513, 0, 1};
    const double x = (double)k, n = (double)degree;
    switch (kind) {
    case 0:
        return (szg_c64){szgi_random_normal(&stream, (uint64_t)(2 * k)),
                         k ? szgi_random_normal(&stream, (uint64_t)(2 * k + 1)) : 0};
    case 1:
        return (szg_c64){1 / (1 + x * x), 0};
    case 2:
        return (szg_c64){-x, 0};
    case 3:
        return (szg_c64){1 - x / (n + 1), 0};
    default:
        return (szg_c64){k == degree ? 1 : k == 1 ? 1e-13 : 0, 0};
    }
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static szg_status measure(szg_context *context, int kind, int64_t degree) {
    static const char *const names[] = {"random", "smooth", "alibi", "fejer", "equal"};
    szg_c64 *a;
    SZG_TRY(szgi_memory_alloc(context, degree + 1, &a));
    for (int64_t k = 0; k <= degree; k++)
        a[k] = coefficient(kind, k, degree);
    double seconds[3];
    szg_range r = {0};
    szg_status status = SZG_OK;
    for (int i = 0; i < 3 && status == SZG_OK; i++) {
        const double start = now();
        status =
            szgi_ball_symbol_range(context, degree + 1, a, SZGI_TAPER_NONE, 0, SZGI_BALL_BITS, &r);
        seconds[i] = now() - start;
    }
    szgi_memory_free(a);
    qsort(seconds, 3, sizeof *seconds, compare);
    const double size = szgi_range_modulus(&r).hi;
    printf("%-8s %7lld %9.4f %9.2g %9.2g\n", names[kind], (long long)degree, seconds[1],
           (r.min.hi - r.min.lo) / size, (r.max.hi - r.max.lo) / size);
    return status;
}

int main(void) {
    static const int64_t degrees[] = {511, 4095, 16383, 100000};
    szg_context *context;
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = SZG_OK;
    for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
        for (int kind = 0; kind < 5 && status == SZG_OK; kind++)
            status = measure(context, kind, degrees[d]);
    if (status != SZG_OK)
        fprintf(stderr, "%s\n", szg_context_message(context));
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
