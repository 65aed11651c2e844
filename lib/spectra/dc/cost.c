#include <math.h>

#include "linalg/cpu_level.h"
#include "linalg/linalg.h"

#include "cost.h"

/* Rates of one core with AVX-512 at 2.6 GHz (docs/explanation/methods.md says how they were
 * measured). Only ratios matter: another machine changes both ways about alike. */
static const double POLE = .76e-9, ROW = .032e-9, ROOT = 573e-9; /* of a root: poles, rows, rest */
static const double LEAF = 75e-9; /* of an eigenvalue and the order of its leaf */
static const double ENTRY = .7e-9, SAMPLE = .05e-9, BASIS = 2.5e-9; /* compression */
static const double CHECK = 1e-9, PREPARE = 5e-6; /* of n^2: Durbin; of n: transforms, probes */
static const double ONE_STAGE = .08e-9, TWO_STAGE = .055e-9; /* LAPACK: order^3 of a half */

/* Without AVX-512 both ways take longer, but not alike. */
static const double NARROW_DIVIDE = 1.8, NARROW_HALVES = 1.27;

static double slower(double factor) {
    return szgi_cpu_level_latest() >= SZGI_CPU_AVX512 ? 1 : factor;
}

/* Poles that cost one evaluation each at a root: all of few ones; of many, those near and the
 * nodes' share, which the best blocks of uniform poles balance (far.c). */
static double reach(double n) {
    return fmin(n, 16 * sqrt(n));
}

static double update_seconds(double n, double rows) {
    return n * (reach(n) * (POLE + ROW * rows) + ROOT);
}

/* Each term carries those that follow and the basis. */
static double node_seconds(double n, double updates, double rank) {
    return updates * update_seconds(n, rank + (updates - 1) / 2);
}

double szgi_dc_halves_seconds(int64_t n) {
    double half = (double)n / 2, rate = half < SZGI_TWO_STAGE_ORDER ? ONE_STAGE : TWO_STAGE;
    return slower(NARROW_HALVES) * 2 * half * half * half * rate;
}

double szgi_dc_predicted_seconds(int64_t n, int64_t leaf, double rank, int64_t samples) {
    double half = (double)n / 2, size = half, seconds = 0;
    double per_entry = ENTRY + SAMPLE * (double)samples;
    for (int64_t nodes = 1; size > (double)leaf; nodes *= 2, size /= 2) {
        double doublings = log2(fmax(size / 64, 1));
        double updates = fmin(rank * (.7 + .05 * doublings), size / 2);
        double basis = nodes == 1 ? 0 : fmin(rank * (1 + .115 * doublings), size);
        seconds += (double)nodes * node_seconds(size, updates, basis);
        seconds += (double)nodes * (size * basis * basis * BASIS + size * size / 4 * per_entry);
    }
    double both = 2 * (seconds + half * half * per_entry + half * size * LEAF);
    return slower(NARROW_DIVIDE) * both + (double)n * ((double)n * CHECK + PREPARE);
}

double szgi_dc_tree_seconds(const szgi_dc_tree *tree) {
    double seconds = 0;
    for (int half = 0; half < 2; half++)
        for (int64_t i = 1; i < (int64_t)2 << tree->depth; i++) {
            const szgi_dc_node *node = &tree->node[half][i];
            double size = (double)node->size;
            seconds += i >> tree->depth
                           ? size * size * LEAF
                           : node_seconds(size, (double)node->updates, (double)node->rank);
        }
    return slower(NARROW_DIVIDE) * seconds;
}
