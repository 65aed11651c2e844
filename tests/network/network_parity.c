/* An operation's results on the tables against the oracle's. */
#include "linalg/ops.h"
#include "network_tests.h"

static bool is_same(double x, double y) {
    return x == y || (isnan(x) && isnan(y));
}

/* TF32 keeps 10 bits behind the point, bf16 7; a device may cut the rest of a TF32 operand off
 * instead of rounding. */
static double rounding_of(szg_context *context) {
    const char *table = szgi_backend_name(context);
    return strcmp(table, "cuda:tf32") == 0 ? 0x1p-10 : strcmp(table, "cuda:bf16") == 0 ? 0x1p-8 : 0;
}

double operand_rounding(void) {
    return rounding_of(tested(0));
}

double products_error(double terms) {
    if (operand_rounding() > 0)
        return 10 * ceil(terms / 8);
    bool gpu = strcmp(szgi_backend_name(tested(0)), "cuda:f32") == 0;
    return gpu ? fmax(terms, 15 + terms / 16) : terms;
}

/* What a slot's numbers move by, in units of `unit`, when all that is read moves by up to four of
 * them, with a margin. */
static void measure(op_trial *trial, call_fn *call, double **want, double unit,
                    double narrow[SLOTS]) {
    static const double STEP = 4, MULTIPLE = 32;
    double *moved[SLOTS], *kept[SLOTS];
    for (int s = 0; s < trial->slots; s++) {
        op_slot *slot = &trial->slot[s];
        szgi_stream stream = draw_stream();
        kept[s] = slot->values;
        slot->values = new_numbers(slot->count);
        for (int64_t i = 0; i < slot->count; i++) {
            double part = 2 * szgi_random_uniform(&stream, (uint64_t)i) - 1;
            slot->values[i] = kept[s][i] * (slot->kind == SLOT_REALS ? 1 + part * STEP * unit : 1);
        }
    }
    run_on(oracle(), trial, call, moved);
    for (int s = 0; s < trial->slots; s++) {
        op_slot *slot = &trial->slot[s];
        double shift = 0, top = 0;
        for (int64_t i = 0; i < slot->count; i++) {
            shift = fmax(shift, fabs(moved[s][i] - want[s][i])); /* fmax passes over NaN */
            top = fmax(top, isfinite(want[s][i]) ? fabs(want[s][i]) : 0);
        }
        narrow[s] = MULTIPLE * (shift / unit + top);
        szgi_memory_free(slot->values);
        slot->values = kept[s];
    }
    free_run(trial, moved);
}

/* The derived bounds hold for the worst roundings and are wide where sums are long. A stable
 * operation also errs by no more than a small multiple of what its results move by when every
 * number it reads is moved by up to four eps at random, but for the rounding of terms that
 * cancel whatever the numbers are: `floor`. Likewise for the rounding of operands, which is so
 * large that exponentials must be measured at its own size. */
static void narrow_bounds(op_trial *trial, call_fn *call, double **want) {
    double narrow[SLOTS], rounded[SLOTS] = {0};
    measure(trial, call, want, 0x1p-23, narrow);
    if (operand_rounding() > 0)
        measure(trial, call, want, operand_rounding(), rounded);
    for (int s = 0; s < trial->slots; s++) {
        trial->slot[s].narrow = narrow[s];
        trial->slot[s].narrow_rounded = rounded[s];
    }
}

/* A slot may change where the operation that ran writes it. */
static bool may_change(const op_slot *slot, bool backward) {
    return slot->destroyed || slot->role == (backward ? SLOT_GRADIENT : SLOT_RESULT);
}

static double bound_of(const op_slot *slot, double eps, double rounding) {
    return fmin(slot->bound, slot->narrow + slot->floor) * eps +
           fmin(slot->rounded, slot->narrow_rounded + slot->floor) * rounding;
}

static void compare(szg_context *context, const op_trial *trial, bool backward, double **want,
                    double **got) {
    double eps = szgi_network_real_size(context) == 4 ? 0x1p-23 : 0x1p-52;
    const char *table = szgi_backend_name(context);
    double rounding = rounding_of(context);
    for (int s = 0; s < trial->slots; s++) {
        const op_slot *slot = &trial->slot[s];
        bool changes = may_change(slot, backward);
        if (slot->destroyed && slot->role != SLOT_GRADIENT && slot->role != SLOT_RESULT)
            continue;
        for (int64_t i = 0; i < slot->count; i++) {
            double right = changes ? want[s][i] : slot->values[i];
            double bound = changes ? bound_of(slot, eps, rounding) : 0;
            if (!(is_same(got[s][i], right) || fabs(got[s][i] - right) <= bound))
                ck_abort_msg("%s: %s[%lld] = %.9g, want %.9g, error %.3g > %.3g", table, slot->name,
                             (long long)i, got[s][i], right, got[s][i] - right, bound);
        }
    }
}

static void check_call(op_trial *trial, bool backward, double **want) {
    call_fn *call = backward ? trial->backward : trial->forward;
    double *got[SLOTS], *again[SLOTS];
    if (!test_on_device()) { /* the cpu's run has shown it */
        run_on(plain(), trial, call, got);
        compare(plain(), trial, backward, want, got);
        free_run(trial, got);
    }
    run_on(tested(0), trial, call, got);
    compare(tested(0), trial, backward, want, got);
    for (int which = 1; which < 3; which++) {
        run_on(tested(which), trial, call, again);
        for (int s = 0; s < trial->slots; s++)
            for (int64_t i = 0; i < trial->slot[s].count; i++)
                if (!is_same(got[s][i], again[s][i])) /* one assertion a number takes minutes */
                    ck_abort_msg("%s[%lld] depends on the threads: %.17g and %.17g",
                                 trial->slot[s].name, (long long)i, got[s][i], again[s][i]);
        free_run(trial, again);
    }
    free_run(trial, got);
}

/* What the backward operation reads: the oracle's results, rounded. */
static void keep_results(op_trial *trial, double **results) {
    for (int s = 0; s < trial->slots; s++)
        for (int64_t i = 0; trial->slot[s].role == SLOT_RESULT && i < trial->slot[s].count; i++)
            trial->slot[s].values[i] = (double)(float)results[s][i];
}

void run_forward(szg_context *context, op_trial *trial) {
    double *results[SLOTS];
    run_on(context, trial, trial->forward, results);
    keep_results(trial, results);
    free_run(trial, results);
}

void check_parity(op_trial *trial) {
    static unsigned calls;
    double *want[SLOTS];
    trial->aligned = calls++ % 2;
    run_on(oracle(), trial, trial->forward, want);
    narrow_bounds(trial, trial->forward, want);
    check_call(trial, false, want);
    keep_results(trial, want);
    free_run(trial, want);
    if (!trial->backward)
        return;
    run_on(oracle(), trial, trial->backward, want);
    narrow_bounds(trial, trial->backward, want);
    check_call(trial, true, want);
    free_run(trial, want);
}
