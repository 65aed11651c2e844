/* What is the cpu table's own: the accuracy of its normal distribution at every level of the
 * processor, and slices over the pool, whose seams must not show: every element against a sum in
 * double precision, and the same bits for any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/cpu_level.h"
#include "network/ops.h"

#include "../../lib/network/cpu_layers.h"
#include "../../lib/network/cpu_work.h"
#include "suite.h"

static const double UNIT = 0x1p-24; /* rounding of a float */

/* ---- The normal distribution ---- */

static const char *const LEVELS[] = {"baseline", "avx2", "avx512"};
enum { POINTS = 40001 };

/* Phi(x) = erfc(-x / sqrt 2) / 2 from libm, in double. The vector code squares x in float: a
 * relative error of x^2 / 2 roundings comes into the exponential; polynomials add below 4e-7. */
static void check_normal(const szgi_layers_kernels *kernels) {
    static float x[POINTS], distribution[POINTS], density[POINTS];
    for (int i = 0; i < POINTS; i++)
        x[i] = (float)(i - POINTS / 2) / 1500;
    kernels->normal(POINTS, x, distribution, density);
    for (int i = 0; i < POINTS; i++) {
        double at = (double)x[i], relative = 4e-7 + at * at * UNIT;
        double want = erfc(-at * sqrt(0.5)) / 2, tail = erfc(fabs(at) * sqrt(0.5)) / 2;
        double slope = exp(-at * at / 2) / sqrt(2 * acos(-1));
        ck_close((double)distribution[i], want, 0x1p-126 + relative * tail + (at < 0 ? 0 : UNIT));
        ck_close((double)density[i], slope, 0x1p-126 + relative * slope);
    }
    float odd[4] = {NAN, INFINITY, -INFINITY, 0}, value[4], at[4];
    kernels->normal(4, odd, value, at);
    ck_assert(isnan(value[0]) && isnan(at[0]));
    ck_assert(value[1] == 1 && value[2] == 0 && at[1] == 0 && at[2] == 0);
    ck_close((double)value[3], 0.5, 2 * UNIT);
}

START_TEST(normal_distribution_is_accurate) {
    for (int level = 0; level < SZGI_CPU_LEVELS; level++) {
        setenv("SZEGO_SIMD", LEVELS[level], 1);
        check_normal(szgi_layers_best());
    }
    unsetenv("SZEGO_SIMD");
}
END_TEST

/* ---- Splitting ---- */

START_TEST(slices_cover_every_item_once) {
    static const int64_t items[] = {0, 1, 511, 512, 513, 1024, 100000};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        for (int small = 0; small < 2; small++) {
            szgi_cpu_split split = szgi_cpu_split_of(items[i], 512, small ? 1e-6 : 1e6);
            int64_t next = 0;
            for (int64_t slice = 0; slice < split.slices; slice++) {
                ck_assert_int_eq(szgi_cpu_split_first(&split, slice), next);
                ck_assert_int_gt(szgi_cpu_split_count(&split, slice), 0);
                next += szgi_cpu_split_count(&split, slice);
            }
            ck_assert_int_eq(next, items[i]);
            ck_assert(!small || split.slices <= 1);
        }
}
END_TEST

/* ---- Linear layers ---- */

enum { GAP = 3 }; /* between the rows of x, y, dy, dx */

typedef struct layer {
    int64_t rows, in, out;
    szg_activation activation;
    float *x, *weight, *bias, *y, *before, *dy, *dx, *dweight, *dbias;
} layer;

static float *floats(uint32_t purpose, int64_t count) {
    float *block;
    ck_szg_ok(szgi_memory_alloc(test_context(), count, &block));
    szgi_stream stream = {.seed = test_seed(), .purpose = purpose};
    for (int64_t i = 0; i < count; i++)
        block[i] = (float)szgi_random_normal(&stream, (uint64_t)i);
    return block;
}

static layer layer_of(int64_t rows, int64_t in, int64_t out, szg_activation activation) {
    return (layer){.rows = rows,
                   .in = in,
                   .out = out,
                   .activation = activation,
                   .x = floats(1, rows * (in + GAP)),
                   .weight = floats(2, out * in),
                   .bias = floats(3, out),
                   .y = floats(4, rows * (out + GAP)),
                   .before = floats(5, rows * out),
                   .dy = floats(6, rows * (out + GAP)),
                   .dx = floats(7, rows * (in + GAP)),
                   .dweight = floats(8, out * in),
                   .dbias = floats(9, out)};
}

static void layer_free(layer *l) {
    float *all[] = {l->x, l->weight, l->bias, l->y, l->before, l->dy, l->dx, l->dweight, l->dbias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        szgi_memory_free(all[i]);
}

static szg_status layer_run(szg_context *context, layer *l) {
    bool gelu = l->activation == SZG_ACTIVATION_GELU;
    szgi_linear linear = {.rows = l->rows,
                          .in = l->in,
                          .out = l->out,
                          .x = l->x,
                          .ldx = l->in + GAP,
                          .weight = l->weight,
                          .bias = l->bias,
                          .activation = l->activation,
                          .y = l->y,
                          .ldy = l->out + GAP,
                          .before = gelu ? l->before : NULL};
    szgi_linear_gradient gradient = {.dy = l->dy,
                                     .lddy = l->out + GAP,
                                     .dx = l->dx,
                                     .lddx = l->in + GAP,
                                     .add_dx = true,
                                     .dweight = l->dweight,
                                     .dbias = l->dbias};
    SZG_TRY(szgi_network_linear(context, &linear));
    return szgi_network_linear_backward(context, &linear, &gradient);
}

/* A sum of products in double, with the sum of moduli for the bound. */
typedef struct sum {
    double value, moduli;
} sum;

static void add(sum *to, double term) {
    to->value += term;
    to->moduli += fabs(term);
}

/* |error| of a sum of n terms in float <= n roundings of the sum of moduli. */
static void check_sum(float got, sum want, int64_t n) {
    ck_close((double)got, want.value, (double)(n + 2) * UNIT * want.moduli);
}

static sum preactivation(const layer *l, int64_t row, int64_t o) {
    sum z = {0, 0};
    for (int64_t i = 0; i < l->in; i++)
        add(&z, (double)l->x[row * (l->in + GAP) + i] * (double)l->weight[o * l->in + i]);
    add(&z, (double)l->bias[o]);
    return z;
}

static void check_forward(const layer *l, int64_t row, int64_t o) {
    sum z = preactivation(l, row, o);
    float got = l->y[row * (l->out + GAP) + o];
    if (l->activation == SZG_ACTIVATION_RELU && z.value < 0)
        z.value = 0;
    if (l->activation != SZG_ACTIVATION_GELU)
        check_sum(got, z, l->in);
    else /* gelu's slope is below 1.13, its own error that of Phi */
        ck_close((double)got, z.value * erfc(-z.value * sqrt(0.5)) / 2,
                 1.13 * (double)(l->in + 2) * UNIT * z.moduli + 1e-6 * fabs(z.value));
}

/* dz = dy act'(z): the slope of gelu changes by less than 0.8 of what z does. */
static void check_slope(const layer *was, const layer *l, int64_t row, int64_t o) {
    sum z = preactivation(l, row, o);
    double error = (double)(l->in + 2) * UNIT * z.moduli, slope = 1;
    int64_t at = row * (l->out + GAP) + o;
    if (l->activation == SZG_ACTIVATION_RELU) {
        slope = l->y[at] > 0;
        ck_assert(!(fabs(z.value) > error) || slope == (z.value > 0));
        error = 0;
    } else if (l->activation == SZG_ACTIVATION_GELU) {
        slope = erfc(-z.value * sqrt(0.5)) / 2 +
                z.value * exp(-z.value * z.value / 2) / sqrt(2 * acos(-1));
        error = 0.8 * error + 2e-6;
    } else {
        error = 0;
    }
    double dy = (double)was->dy[at];
    ck_close((double)l->dy[at], slope * dy, error * fabs(dy));
}

static void check_dx(const layer *was, const layer *l, int64_t row, int64_t i) {
    sum want = {0, 0};
    for (int64_t o = 0; o < l->out; o++)
        add(&want, (double)l->dy[row * (l->out + GAP) + o] * (double)l->weight[o * l->in + i]);
    add(&want, (double)was->dx[row * (l->in + GAP) + i]);
    check_sum(l->dx[row * (l->in + GAP) + i], want, l->out);
}

/* i = -1: the bias. */
static void check_parameter(const layer *was, const layer *l, int64_t o, int64_t i) {
    sum want = {0, 0};
    for (int64_t row = 0; row < l->rows; row++)
        add(&want, (double)l->dy[row * (l->out + GAP) + o] *
                       (i < 0 ? 1 : (double)l->x[row * (l->in + GAP) + i]));
    add(&want, (double)(i < 0 ? was->dbias[o] : was->dweight[o * l->in + i]));
    check_sum(i < 0 ? l->dbias[o] : l->dweight[o * l->in + i], want, l->rows);
}

static void check_gaps(const layer *was, const layer *l) {
    for (int64_t row = 0; row < l->rows; row++)
        for (int64_t g = 0; g < GAP; g++) {
            int64_t wide = row * (l->out + GAP) + l->out + g;
            int64_t narrow = row * (l->in + GAP) + l->in + g;
            ck_assert(l->y[wide] == was->y[wide] && l->dy[wide] == was->dy[wide]);
            ck_assert(l->dx[narrow] == was->dx[narrow]);
        }
}

static void check_layer(const layer *was, const layer *l) {
    for (int64_t row = 0; row < l->rows; row += row % 512 < 2 || row % 512 > 509 ? 1 : 97) {
        for (int64_t o = 0; o < l->out; o += 7) {
            check_forward(l, row, o);
            check_slope(was, l, row, o);
        }
        for (int64_t i = 0; i < l->in; i += 5)
            check_dx(was, l, row, i);
    }
    for (int64_t o = 0; o < l->out; o += 11)
        for (int64_t i = -1; i < l->in; i += 13)
            check_parameter(was, l, o, i);
    check_gaps(was, l);
}

static void check_same(const layer *a, const layer *b) {
    ck_assert_mem_eq(a->y, b->y, (size_t)(a->rows * (a->out + GAP)) * sizeof(float));
    ck_assert_mem_eq(a->dx, b->dx, (size_t)(a->rows * (a->in + GAP)) * sizeof(float));
    ck_assert_mem_eq(a->dweight, b->dweight, (size_t)(a->out * a->in) * sizeof(float));
    ck_assert_mem_eq(a->dbias, b->dbias, (size_t)a->out * sizeof(float));
}

static void check_linear(int64_t rows, int64_t in, int64_t out, szg_activation activation) {
    layer was = layer_of(rows, in, out, activation), first = layer_of(rows, in, out, activation);
    ck_szg_ok(layer_run(test_context(), &first));
    check_layer(&was, &first);
    for (int threads = 1; threads <= 5; threads += 2) {
        szg_context *context;
        ck_assert_int_eq(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options),
                                                                 .threads = threads},
                                          &context),
                         SZG_OK);
        layer again = layer_of(rows, in, out, activation);
        ck_assert_int_eq(layer_run(context, &again), SZG_OK);
        check_same(&first, &again);
        layer_free(&again);
        szg_context_close(&context);
    }
    layer_free(&was);
    layer_free(&first);
}

START_TEST(linear_slices_have_no_seams) {
    check_linear(1, 3, 2, SZG_ACTIVATION_NONE);
    check_linear(700, 33, 17, SZG_ACTIVATION_RELU);   /* one slice: small */
    check_linear(1300, 96, 80, SZG_ACTIVATION_GELU);  /* three slices, three groups */
    check_linear(5200, 40, 70, SZG_ACTIVATION_RELU);  /* eleven slices, two a group */
    check_linear(4096, 64, 192, SZG_ACTIVATION_NONE); /* eight whole slices */
}
END_TEST

/* Every allocation that the work memory grows by may be refused. */
START_TEST(linear_survives_refused_memory) {
    layer l = layer_of(4000, 128, 200, SZG_ACTIVATION_NONE);
    ck_survives_failed_allocations(0, layer_run(test_context(), &l));
    layer_free(&l);
}
END_TEST

/* Levels up to the processor's are taken, those above and other words are refused. */
START_TEST(unknown_levels_are_refused) {
    unsetenv("SZEGO_SIMD");
    int best = (int)szgi_cpu_level_best();
    ck_szg_ok(szgi_backend_check_simd(test_context()));
    for (int level = 0; level < SZGI_CPU_LEVELS; level++) {
        setenv("SZEGO_SIMD", LEVELS[level], 1);
        if (level <= best)
            ck_szg_ok(szgi_backend_check_simd(test_context()));
        else
            ck_szg_fails(SZG_EINVAL, LEVELS[best], szgi_backend_check_simd(test_context()));
        ck_assert_int_eq((int)szgi_cpu_level_best(), level <= best ? level : best);
    }
    static const char *const words[] = {"AVX2", "avx2 ", "base", "baselines", "0"};
    for (int i = 0; i < 5; i++) {
        setenv("SZEGO_SIMD", words[i], 1);
        ck_szg_fails(SZG_EINVAL, LEVELS[best], szgi_backend_check_simd(test_context()));
        ck_szg_fails(SZG_EINVAL, words[i], szg_backend_select(test_context(), "cpu"));
        ck_szg_ok(szg_backend_select(test_context(), "reference"));
    }
    setenv("SZEGO_SIMD", "", 1);
    ck_szg_ok(szgi_backend_check_simd(test_context()));
    unsetenv("SZEGO_SIMD");
}
END_TEST

TEST_FILE("cpu_layers") {
    test_add(suite, "levels", unknown_levels_are_refused);
    test_add(suite, "normal distribution", normal_distribution_is_accurate);
    test_add(suite, "slices", slices_cover_every_item_once);
    test_add(suite, "linear slices", linear_slices_have_no_seams);
    test_add(suite, "linear memory", linear_survives_refused_memory);
}
