#include <math.h>
#include "base/memory.h"

#include "thin.h"

typedef struct series {
    int64_t count;
    const double *x, *low, *high;
} series;

static bool is_point(const series *of, int64_t i) {
    return isfinite(of->x[i]) && isfinite(of->low[i]) && isfinite(of->high[i]);
}

typedef struct extent {
    double lo, hi;
    int64_t points;
    bool ordered; /* only rising or only falling */
} extent;

static extent extent_of(const series *of) {
    extent out = {INFINITY, -INFINITY, 0, true};
    bool rises = true, falls = true;
    double last = NAN;
    for (int64_t i = 0; i < of->count; i++) {
        if (!is_point(of, i))
            continue;
        double x = of->x[i];
        rises = rises && !(x < last);
        falls = falls && !(x > last);
        last = x;
        out.lo = fmin(out.lo, x);
        out.hi = fmax(out.hi, x);
        out.points++;
    }
    out.ordered = rises || falls;
    return out;
}

/* Which of `cells` equal parts from lo to hi holds a value; halves, as hi - lo may overflow. */
static int64_t cell_of(double lo, double hi, int64_t cells, double value) {
    double half = hi / 2 - lo / 2;
    double fraction = half > 0 ? (value / 2 - lo / 2) / half : 0;
    int64_t cell = (int64_t)(fraction * (double)cells);
    return cell < 0 ? 0 : cell >= cells ? cells - 1 : cell;
}

enum { CHOICES = 6 };

/* What one run keeps. */
typedef struct run {
    int64_t choice[CHOICES]; /* first, last, lowest, highest, least x, greatest x */
    bool begun;
} run;

static void run_take(run *run, const series *of, int64_t i) {
    int64_t *choice = run->choice;
    for (int c = 0; !run->begun && c < CHOICES; c++)
        choice[c] = i;
    run->begun = true;
    choice[1] = i;
    if (of->low[i] < of->low[choice[2]])
        choice[2] = i;
    if (of->high[i] > of->high[choice[3]])
        choice[3] = i;
    if (of->x[i] < of->x[choice[4]])
        choice[4] = i;
    if (of->x[i] > of->x[choice[5]])
        choice[5] = i;
}

/* Appends the run's choices in order, each once. */
static void run_end(run *run, int choices, int64_t *keep, int64_t *kept) {
    if (!run->begun)
        return;
    int64_t after = -1;
    for (;;) {
        int64_t next = INT64_MAX;
        for (int c = 0; c < choices; c++)
            if (run->choice[c] > after && run->choice[c] < next)
                next = run->choice[c];
        if (next == INT64_MAX)
            break;
        keep[(*kept)++] = after = next;
    }
    run->begun = false;
}

static int64_t choose(const series *of, const extent *extent, int64_t columns, int64_t *keep) {
    int64_t kept = 0, current = -1, seen = 0;
    bool all = extent->points <= 4 * columns;
    run run = {.begun = false};
    for (int64_t i = 0; i < of->count; i++) {
        if (!is_point(of, i))
            continue;
        if (all) {
            keep[kept++] = i;
            continue;
        }
        int64_t column = extent->ordered
                             ? cell_of(extent->lo, extent->hi, columns, of->x[i])
                             : cell_of(0, (double)extent->points, columns, (double)seen);
        seen++;
        if (column != current)
            run_end(&run, extent->ordered ? 4 : CHOICES, keep, &kept);
        current = column;
        run_take(&run, of, i);
    }
    run_end(&run, extent->ordered ? 4 : CHOICES, keep, &kept);
    return kept;
}

/* Puts a point that is none between kept ones where there is one in the data. */
static int64_t add_breaks(const series *of, int64_t *keep, int64_t kept, int64_t *out) {
    int64_t all = 0;
    for (int64_t k = 0; k < kept; k++) {
        out[all++] = keep[k];
        for (int64_t i = keep[k] + 1; k + 1 < kept && i < keep[k + 1]; i++)
            if (!is_point(of, i)) {
                out[all++] = i;
                break;
            }
    }
    return all;
}

szg_status szgi_thin_line(szg_context *context, int64_t count, const double *x, const double *low,
                          const double *high, int64_t columns, int64_t **keep, int64_t *kept) {
    const series of = {count, x, low, high};
    extent extent = extent_of(&of);
    int64_t room = extent.points < CHOICES * columns ? extent.points : CHOICES * columns;
    int64_t *chosen = NULL;
    SZG_TRY(szgi_memory_alloc(context, room, &chosen));
    int64_t points = choose(&of, &extent, columns, chosen);
    szg_status status = szgi_memory_alloc(context, 2 * points, keep);
    if (status == SZG_OK)
        *kept = add_breaks(&of, chosen, points, *keep);
    szgi_memory_free(chosen);
    return status;
}

/* The first point of each cell of a grid of side * side, and the extreme points: their number, or
 * limit + 1 where there are more. */
static int64_t fill_grid(const series *of, const extent *x, const extent *y, const run *extremes,
                         int64_t side, unsigned char *taken, int64_t limit, int64_t *keep) {
    int64_t kept = 0;
    for (int64_t cell = 0; cell < side * side; cell++)
        taken[cell] = 0;
    for (int64_t i = 0; i < of->count && kept <= limit; i++) {
        if (!is_point(of, i))
            continue;
        int64_t cell =
            cell_of(x->lo, x->hi, side, of->x[i]) * side + cell_of(y->lo, y->hi, side, of->low[i]);
        bool extreme = false;
        for (int c = 2; c < CHOICES; c++)
            extreme = extreme || extremes->choice[c] == i;
        if (taken[cell] && !extreme)
            continue;
        taken[cell] = 1;
        if (kept < limit)
            keep[kept] = i;
        kept++;
    }
    return kept;
}

enum { FINEST = 256 };

static szg_status keep_all(szg_context *context, const series *of, int64_t points, int64_t **keep,
                           int64_t *kept) {
    SZG_TRY(szgi_memory_alloc(context, points, keep));
    *kept = 0;
    for (int64_t i = 0; i < of->count; i++)
        if (is_point(of, i))
            (*keep)[(*kept)++] = i;
    return SZG_OK;
}

szg_status szgi_thin_points(szg_context *context, int64_t count, const double *x, const double *y,
                            int64_t limit, int64_t **keep, int64_t *kept) {
    const series of = {count, x, y, y}, turned = {count, y, x, x};
    extent across = extent_of(&of), up = extent_of(&turned);
    run extremes = {.begun = false};
    for (int64_t i = 0; i < count; i++)
        if (is_point(&of, i))
            run_take(&extremes, &of, i);
    if (across.points <= limit)
        return keep_all(context, &of, across.points, keep, kept);
    unsigned char *taken = NULL;
    SZG_TRY(szgi_memory_alloc(context, FINEST * FINEST, &taken));
    szg_status status = szgi_memory_alloc(context, limit, keep);
    for (int64_t side = FINEST; status == SZG_OK && side > 0; side /= 2) {
        *kept = fill_grid(&of, &across, &up, &extremes, side, taken, limit, *keep);
        if (*kept <= limit)
            break;
    }
    szgi_memory_free(taken);
    return status;
}
