/* Thinned points against a slow search of every column. */
#include <math.h>

#include "suite.h"
#include "thin.h"

enum { POINTS = 3000, COLUMNS = 50 };

static double x[POINTS], low[POINTS], high[POINTS];

typedef enum order { RISING, FALLING, NONE } order;

/* Corner-biased y; every 50th point is none in some way, in a few trials every other. */
static void draw(uint32_t trial, order order) {
    const szgi_stream stream = {test_seed(), trial, 42};
    double scale = trial % 5 == 4 ? 1e300 : 1;
    for (int64_t i = 0; i < POINTS; i++) {
        double place = (double)(i / 2) / POINTS;
        x[i] = order == RISING    ? (2 * place - 1) * scale * 1.7e8
               : order == FALLING ? -place
                                  : szgi_random_normal(&stream, (uint64_t)i);
        double a = test_real(&stream, (uint64_t)(2 * i)) * scale;
        double b = test_real(&stream, (uint64_t)(2 * i + 1)) * scale;
        low[i] = fmin(a, b);
        high[i] = fmax(a, b);
        if (i % (trial % 3 == 2 ? 2 : 50) == 1)
            *(i % 4 == 1 ? &x[i] : i % 8 == 3 ? &low[i] : &high[i]) = i % 3 ? NAN : -INFINITY;
    }
}

static bool is_point(int64_t i) {
    return isfinite(x[i]) && isfinite(low[i]) && isfinite(high[i]);
}

/* What every answer must be: ascending, and broken exactly where the data are. */
static void check_breaks(const int64_t *keep, int64_t kept) {
    int64_t last = -1;
    bool broken = false;
    for (int64_t k = 0; k < kept; k++) {
        ck_assert(keep[k] >= 0 && keep[k] < POINTS && (k == 0 || keep[k] > keep[k - 1]));
        if (!is_point(keep[k])) {
            ck_assert(!broken && last >= 0 && k + 1 < kept);
            broken = true;
            continue;
        }
        bool want = false;
        for (int64_t i = last + 1; last >= 0 && i < keep[k]; i++)
            want = want || !is_point(i);
        ck_assert(broken == want);
        broken = false;
        last = keep[k];
    }
}

static bool is_kept(const int64_t *keep, int64_t kept, int64_t index) {
    for (int64_t k = 0; k < kept; k++)
        if (keep[k] == index)
            return true;
    return false;
}

/* The column by long doubles, which hold every difference. */
static int64_t column_of(long double lo, long double hi, double at) {
    int64_t column = (int64_t)((at - lo) / (hi - lo) * COLUMNS);
    return column < COLUMNS ? column : COLUMNS - 1;
}

static void check_columns(const int64_t *keep, int64_t kept) {
    long double lo = INFINITY, hi = -INFINITY;
    int64_t first = -1, last = -1;
    for (int64_t i = 0; i < POINTS; i++)
        if (is_point(i)) {
            lo = fminl(lo, x[i]);
            hi = fmaxl(hi, x[i]);
            first = first < 0 ? i : first;
            last = i;
        }
    ck_assert(is_kept(keep, kept, first) && is_kept(keep, kept, last));
    for (int64_t column = 0; column < COLUMNS; column++) {
        int64_t least = -1, greatest = -1;
        for (int64_t i = 0; i < POINTS; i++) {
            if (!is_point(i) || column_of(lo, hi, x[i]) != column)
                continue;
            least = least < 0 || low[i] < low[least] ? i : least;
            greatest = greatest < 0 || high[i] > high[greatest] ? i : greatest;
        }
        ck_assert(least < 0 || is_kept(keep, kept, least));
        ck_assert(greatest < 0 || is_kept(keep, kept, greatest));
    }
}

START_TEST(lines_keep_the_extremes_of_every_column) {
    for (uint32_t trial = 0; trial < test_trials(12); trial++) {
        int64_t *keep = NULL, kept = 0;
        draw(trial, trial % 2 ? FALLING : RISING);
        ck_szg_ok(szgi_thin_line(test_context(), POINTS, x, low, high, COLUMNS, &keep, &kept));
        check_breaks(keep, kept);
        check_columns(keep, kept);
        ck_assert_int_le(kept, 2 * 4 * COLUMNS);
        szgi_memory_free(keep);
    }
}
END_TEST

START_TEST(lines_without_order_keep_their_extremes) {
    for (uint32_t trial = 0; trial < test_trials(6); trial++) {
        int64_t *keep = NULL, kept = 0, far[4] = {-1, -1, -1, -1};
        draw(trial, NONE);
        ck_szg_ok(szgi_thin_line(test_context(), POINTS, x, low, high, COLUMNS, &keep, &kept));
        check_breaks(keep, kept);
        for (int64_t i = 0; i < POINTS; i++) {
            if (!is_point(i))
                continue;
            far[0] = far[0] < 0 || x[i] < x[far[0]] ? i : far[0];
            far[1] = far[1] < 0 || x[i] > x[far[1]] ? i : far[1];
            far[2] = far[2] < 0 || low[i] < low[far[2]] ? i : far[2];
            far[3] = far[3] < 0 || high[i] > high[far[3]] ? i : far[3];
        }
        for (int f = 0; f < 4; f++)
            ck_assert(is_kept(keep, kept, far[f]));
        ck_assert_int_le(kept, 2 * 6 * COLUMNS);
        szgi_memory_free(keep);
    }
}
END_TEST

START_TEST(few_points_are_all_kept) {
    int64_t *keep = NULL, kept = 0;
    draw(0, NONE);
    ck_szg_ok(szgi_thin_line(test_context(), 4 * COLUMNS, x, low, high, COLUMNS, &keep, &kept));
    for (int64_t i = 0; i < 4 * COLUMNS; i++)
        ck_assert(!is_point(i) || is_kept(keep, kept, i));
    szgi_memory_free(keep);
    ck_szg_ok(szgi_thin_line(test_context(), 0, x, low, high, COLUMNS, &keep, &kept));
    ck_assert_int_eq(kept, 0);
    szgi_memory_free(keep);
    ck_szg_ok(szgi_thin_points(test_context(), 1, x, low, 16, &keep, &kept));
    ck_assert_int_eq(kept, 1);
    szgi_memory_free(keep);
}
END_TEST

START_TEST(clouds_keep_their_shape) {
    for (uint32_t trial = 0; trial < test_trials(6); trial++) {
        int64_t *keep = NULL, kept = 0, limit = trial % 2 ? 16 : 400;
        draw(trial, NONE);
        ck_szg_ok(szgi_thin_points(test_context(), POINTS, x, low, limit, &keep, &kept));
        ck_assert(kept >= 4 && kept <= limit);
        double ends[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY}, got[4];
        for (int f = 0; f < 4; f++)
            got[f] = ends[f];
        for (int64_t i = 0; i < POINTS; i++) {
            if (!isfinite(x[i]) || !isfinite(low[i]))
                continue;
            double *to[] = {ends, got};
            for (int t = 0; t < (is_kept(keep, kept, i) ? 2 : 1); t++) {
                to[t][0] = fmin(to[t][0], x[i]);
                to[t][1] = fmax(to[t][1], x[i]);
                to[t][2] = fmin(to[t][2], low[i]);
                to[t][3] = fmax(to[t][3], low[i]);
            }
        }
        for (int f = 0; f < 4; f++)
            ck_assert(got[f] == ends[f]);
        for (int64_t k = 0; k < kept; k++)
            ck_assert(isfinite(x[keep[k]]) && isfinite(low[keep[k]]));
        szgi_memory_free(keep);
    }
}
END_TEST

static szg_status thin_both(void) {
    int64_t *keep = NULL, kept;
    szg_status status = szgi_thin_line(test_context(), POINTS, x, low, high, COLUMNS, &keep, &kept);
    szgi_memory_free(keep);
    keep = NULL;
    if (status == SZG_OK)
        status = szgi_thin_points(test_context(), POINTS, x, low, 16, &keep, &kept);
    szgi_memory_free(keep);
    return status;
}

START_TEST(failed_allocations_are_survived) {
    draw(0, RISING);
    ck_survives_failed_allocations(3, thin_both());
}
END_TEST

TEST_FILE("thin") {
    test_add(suite, "lines keep the extremes of every column",
             lines_keep_the_extremes_of_every_column);
    test_add(suite, "lines without order keep their extremes",
             lines_without_order_keep_their_extremes);
    test_add(suite, "few points are all kept", few_points_are_all_kept);
    test_add(suite, "clouds keep their shape", clouds_keep_their_shape);
    test_add(suite, "failed allocations are survived", failed_allocations_are_survived);
}
