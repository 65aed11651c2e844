/* Gradients of the whole decoder against finite differences, in double precision.
 *
 * (L(w + h) - L(w - h)) / 2h differs from dL/dw by h^2 L'''/6 and by the rounding of L, below
 * 1e-14, divided by h. With h = 1e-5 and |L'''| below 1e2 both are below 2e-9; the bound leaves a
 * factor of
 * 10. Where a ReLU switches between w - h and w + h the quotient is wrong for this h, not for a
 * smaller one: a gradient must agree at one of three steps. The rounding grows as h falls. */
#include "plugin/backend.h"
#include "decoder_support.h"

static double quotient(subject *s, const szgi_batch *batch, int64_t at, double step) {
    double value, loss[2];
    void *arena = szgi_model_arena(s->model);
    ck_szg_ok(szgi_model_read(test_context(), s->model, arena, at, 1, &value));
    for (int side = 0; side < 2; side++) {
        double moved = value + (side ? step : -step);
        ck_szg_ok(szgi_model_write(test_context(), s->model, arena, at, 1, &moved));
        loss[side] = loss_of(s, batch);
    }
    ck_szg_ok(szgi_model_write(test_context(), s->model, arena, at, 1, &value));
    return (loss[1] - loss[0]) / (2 * step);
}

static void check_number(subject *s, const szgi_batch *batch, const variant *v,
                         const szgi_parameter *p, int64_t at, double gradient) {
    double got = 0, step = 1e-5, bound = 2e-8;
    for (int attempt = 0; attempt < 3; attempt++, step /= 8) {
        got = quotient(s, batch, at, step);
        if (fabs(got - gradient) <= bound + 1e-14 / step)
            return;
    }
    ck_abort_msg("%s: %s[%lld]: difference quotient %.12g, gradient %.12g", name_of(v), p->name,
                 (long long)(at - p->offset), got, gradient);
}

/* The largest gradient of the tensor, and drawn ones. A gradient of zeros alone would prove nothing
 * where another is expected. */
static void check_tensor(subject *s, const szgi_batch *batch, const variant *v,
                         const szgi_parameter *p, const double *gradient) {
    szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)p->offset, .purpose = 79};
    int64_t largest = p->offset;
    for (int64_t at = p->offset; at < p->offset + p->count; at++)
        if (!(fabs(gradient[at]) <= fabs(gradient[largest])))
            largest = at;
    check_number(s, batch, v, p, largest, gradient[largest]);
    for (int64_t trial = 0; trial < test_trials(6); trial++) {
        int64_t at = p->offset + szgi_random_below(&stream, (uint64_t)trial, p->count);
        check_number(s, batch, v, p, at, gradient[at]);
    }
}

/* Adding the same to every key's logit changes no softmax: the keys' bias, where it does not meet a
 * rotation, has no gradient. All others have one. */
static bool may_vanish(const szgi_parameter *p) {
    return strstr(p->name, "k_linear.bias") || strstr(p->name, "W_UK.bias") ||
           strstr(p->name, "W_KR.bias");
}

static void check_variant(const variant *v) {
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    szgi_context_set_ops(test_context(), szgi_ops_reference64());
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    subject s = open_subject(&config, true);
    double *gradient = gradients_of(&s, &batch.batch);
    for (int64_t i = 0; i < szgi_model_parameters(s.model); i++) {
        const szgi_parameter *p = szgi_model_parameter(s.model, i);
        check_tensor(&s, &batch.batch, v, p, gradient);
        ck_assert_msg(may_vanish(p) || norm_of(p->count, gradient + p->offset) > 1e-6,
                      "%s: %s has no gradient", name_of(v), p->name);
    }
    szgi_memory_free(gradient);
    close_subject(&s);
    free_batch(&batch);
    szgi_context_set_ops(test_context(), NULL);
}

/* A case for each variant, so that they run side by side and name themselves. */
START_TEST(finite_differences) {
    check_variant(&variants[_i]);
}
END_TEST

TEST_FILE("gradients") {
    test_add_loop(suite, "finite_differences", finite_differences, VARIANTS);
}
