/* Linear layers and layer norm. */
#include "linalg/ops.h"
#include "network_tests.h"

/* ---- Linear ---- */

typedef struct linear_case {
    szgi_linear linear;
    szgi_linear_gradient gradient;
    int x, weight, bias, y, before, dy, dx, dweight, dbias;
} linear_case;

static szgi_linear linear_at(const linear_case *c, void **at) {
    szgi_linear linear = c->linear;
    linear.x = at[c->x];
    linear.weight = at[c->weight];
    linear.bias = at[c->bias];
    linear.y = at[c->y];
    linear.before = at[c->before];
    return linear;
}

static szg_status linear_forward(szg_context *context, const op_trial *trial, void **at) {
    szgi_linear linear = linear_at(trial->shape, at);
    return szgi_network_linear(context, &linear);
}

static szg_status linear_backward(szg_context *context, const op_trial *trial, void **at) {
    const linear_case *c = trial->shape;
    szgi_linear linear = linear_at(c, at);
    szgi_linear_gradient gradient = c->gradient;
    gradient.dy = at[c->dy];
    gradient.dx = at[c->dx];
    gradient.dweight = at[c->dweight];
    gradient.dbias = at[c->dbias];
    return szgi_network_linear_backward(context, &linear, &gradient);
}

/* GELU's tails are differences of numbers near 1: a few eps of the argument. */
static void gelu_floors(const linear_case *c, op_trial *t, double sum, double dy) {
    if (c->linear.activation != SZG_ACTIVATION_GELU)
        return;
    t->slot[c->y].floor = 4 * sum;
    t->slot[c->dx].floor = 4 * dy * largest(t, c->weight) * (1 + sum);
    t->slot[c->dweight].floor = 4 * dy * largest(t, c->x) * (1 + sum);
    t->slot[c->dbias].floor = 4 * dy * (1 + sum);
}

/* A product of n terms errs by (n + 2) eps of the sum of the moduli (Higham 2002, 3.1), or by what
 * products_error says; the activations have slopes below 1.13, and GELU's own formula a few eps of
 * its argument. */
static void linear_bounds(const linear_case *c, op_trial *t) {
    double rows = (double)c->linear.rows, in = (double)c->linear.in, out = (double)c->linear.out;
    double sum = in * largest(t, c->x) * largest(t, c->weight) + largest(t, c->bias);
    double dy = 1.2 * largest(t, c->dy);
    t->slot[c->y].bound = t->slot[c->before].bound = (products_error(in) + 10) * sum * 1.2;
    t->slot[c->dx].bound =
        (products_error(out) + 10) * (out * dy * largest(t, c->weight) + largest(t, c->dx)) * 1.2;
    t->slot[c->dweight].bound =
        (products_error(rows) + 10) * (rows * dy * largest(t, c->x) + largest(t, c->dweight)) * 1.2;
    t->slot[c->dbias].bound = (rows + 10) * (rows * dy + largest(t, c->dbias)) * 1.2;
    /* Two operands a product, and the product of what they move by. */
    t->slot[c->before].rounded = 2.1 * in * largest(t, c->x) * largest(t, c->weight);
    t->slot[c->y].rounded = 1.2 * t->slot[c->before].rounded;
    t->slot[c->dx].rounded = 2.1 * out * dy * largest(t, c->weight);
    t->slot[c->dweight].rounded = 2.1 * rows * dy * largest(t, c->x);
    gelu_floors(c, t, sum, dy);
}

static void open_linear(linear_case *c, op_trial *t, int64_t rows, int64_t in, int64_t out,
                        szg_activation activation) {
    bool wants_x = draw_below(4) > 0, wants_weight = draw_below(4) > 0;
    *t = (op_trial){.shape = c, .forward = linear_forward, .backward = linear_backward};
    *c = (linear_case){.linear = {.rows = rows, .in = in, .out = out, .activation = activation}};
    c->linear.ldx = in + DRAW_OF(0, 0, 1, 5);
    c->linear.ldy = out + DRAW_OF(0, 0, 1, 7);
    c->gradient = (szgi_linear_gradient){
        .lddy = out + DRAW_OF(0, 0, 3), .lddx = in + DRAW_OF(0, 0, 2), .add_dx = draw_below(2)};
    c->x = add_matrix(t, SLOT_INPUT, "x", rows, in, c->linear.ldx, true);
    c->weight = add_slot(t, SLOT_INPUT, "weight", out * in, true);
    c->bias = add_slot(t, SLOT_INPUT, "bias", out, draw_below(3) > 0);
    c->y = add_matrix(t, SLOT_RESULT, "y", rows, out, c->linear.ldy, true);
    c->before = add_slot(t, SLOT_RESULT, "before", rows * out, activation == SZG_ACTIVATION_GELU);
    c->dy = add_matrix(t, SLOT_SEED, "dy", rows, out, c->gradient.lddy, true);
    c->dx = add_matrix(t, SLOT_GRADIENT, "dx", rows, in, c->gradient.lddx, wants_x);
    c->dweight = add_slot(t, SLOT_GRADIENT, "dweight", out * in, wants_weight);
    c->dbias = add_slot(t, SLOT_GRADIENT, "dbias", out, draw_below(3) > 0);
    t->slot[c->dy].of = c->y;
    t->slot[c->dx].of = c->x;
    t->slot[c->dweight].of = c->weight;
    t->slot[c->dbias].of = t->slot[c->bias].count > 0 ? c->bias : -1;
    t->slot[c->dy].destroyed = activation != SZG_ACTIVATION_NONE;
    t->slot[c->dx].adds = c->gradient.add_dx;
    t->slot[c->dweight].adds = t->slot[c->dbias].adds = true;
    linear_bounds(c, t);
    blank(t, c->y);
    blank(t, c->before);
    if (!c->gradient.add_dx)
        blank(t, c->dx);
}

START_TEST(linear_layers_agree) {
    for (int64_t i = 0; i < test_trials(60); i++) {
        linear_case c;
        op_trial t;
        open_linear(&c, &t, DRAW_OF(1, 2, 3, 7, 16, 33, 130), DRAW_OF(1, 2, 5, 16, 31, 64, 100),
                    DRAW_OF(1, 3, 4, 16, 17, 48, 70), (szg_activation)(i % 3));
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* What a table keeps of a shape is of the shape alone: arrays stand elsewhere each time. */
START_TEST(layers_of_one_shape_agree) {
    enum { LAYERS = 40 };
    void *held[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        linear_case c;
        op_trial t;
        ck_on(tested(0), szgi_device_alloc(tested(0), 512, &held[i]));
        open_linear(&c, &t, 3, 4, 8, (szg_activation)(i % 3));
        check_parity(&t);
        close_trial(&t);
    }
    for (int i = 0; i < LAYERS; i++)
        szgi_device_free(tested(0), held[i]);
}
END_TEST

/* Several blocks of rows, of columns and of the pool. */
START_TEST(large_linear_layers_agree) {
    const int64_t shapes[][3] = {{1030, 33, 40}, {70, 300, 520}, {600, 130, 17}};
    for (int i = 0; i < 3; i++) {
        linear_case c;
        op_trial t;
        open_linear(&c, &t, shapes[i][0], shapes[i][1], shapes[i][2], (szg_activation)i);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* RELU has no derivative at 0: biases beyond any sum here keep its arguments away. */
static void push_from_kink(op_trial *t, const linear_case *c) {
    for (int64_t i = 0; i < t->slot[c->bias].count; i++)
        t->slot[c->bias].values[i] = i % 2 ? 1000 : -1000;
}

START_TEST(linear_gradients_are_differences) {
    for (int64_t i = 0; i < test_trials(12); i++) {
        linear_case c;
        op_trial t;
        open_linear(&c, &t, 1 + draw_below(4), 1 + draw_below(5), 1 + draw_below(6),
                    (szg_activation)(i % 3));
        if (c.linear.activation == SZG_ACTIVATION_RELU)
            push_from_kink(&t, &c);
        if (c.linear.activation != SZG_ACTIVATION_RELU || t.slot[c.bias].count > 0)
            check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

/* Products of 1 with numbers of 9 and of 20 bits behind the point: exact in single precision, the
 * former in TF32 too. */
START_TEST(products_keep_the_bits_of_their_precision) {
    enum { SIZE = 16, COUNT = SIZE * SIZE };
    const char *table = szgi_backend_name(tested(1));
    bool tf32 = strcmp(table, "cuda:tf32") == 0, bf16 = strcmp(table, "cuda:bf16") == 0;
    linear_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_linear(&c, &t, SIZE, SIZE, SIZE, SZG_ACTIVATION_NONE);
    } while (t.slot[c.bias].count > 0 || c.linear.ldx > SIZE || c.linear.ldy > SIZE);
    for (int i = 0; i < COUNT; i++) {
        t.slot[c.x].values[i] = i % SIZE == i / SIZE;
        t.slot[c.weight].values[i] = 1 + (i % 2 ? 0x1p-9 : 0x1p-20);
    }
    run_forward(tested(1), &t);
    for (int i = 0; i < COUNT; i++) {
        int row = i / SIZE, column = i % SIZE;
        double bound = bf16 ? 0x1p-8 : tf32 && row % 2 == 0 ? 0x1p-10 : 0;
        ck_close(t.slot[c.y].values[i], t.slot[c.weight].values[column * SIZE + row], bound);
    }
    close_trial(&t);
}
END_TEST

/* Maxima and comparisons lose NaN. */
START_TEST(activations_keep_nan) {
    enum { ROWS = 9 };
    const double x[ROWS] = {NAN, 1, 0, -1, -0.0, INFINITY, 2, NAN, -3};
    for (int k = 0; k < 6; k++) {
        int kind = k % 3, biases = k / 3;
        linear_case c;
        op_trial t = {0};
        do {
            close_trial(&t);
            open_linear(&c, &t, ROWS, 1, 1, (szg_activation)kind);
        } while (t.slot[c.bias].count != biases || c.linear.ldx > 1 || c.linear.ldy > 1);
        for (int i = 0; i < biases; i++)
            t.slot[c.bias].values[i] = 0;
        memcpy(t.slot[c.x].values, x, sizeof x);
        t.slot[c.weight].values[0] = 1;
        run_forward(tested(1), &t);
        const double *y = t.slot[c.y].values;
        for (int i = 0; i < ROWS; i++)
            ck_assert(!isnan(y[i]) == !isnan(x[i]) && isinf(y[i]) == isinf(x[i]));
        ck_assert(kind == SZG_ACTIVATION_NONE || (y[8] <= 0 && y[8] > -0.01 && y[2] == 0));
        close_trial(&t);
    }
}
END_TEST

/* ---- Layer norm ---- */

typedef struct norm_case {
    szgi_layer_norm norm;
    bool add_dx;
    int x, gamma, beta, y, mean, inverse, dy, dx, dgamma, dbeta;
} norm_case;

static szgi_layer_norm norm_at(const norm_case *c, void **at) {
    szgi_layer_norm norm = c->norm;
    norm.x = at[c->x];
    norm.gamma = at[c->gamma];
    norm.beta = at[c->beta];
    norm.y = at[c->y];
    norm.mean = at[c->mean];
    norm.inverse = at[c->inverse];
    return norm;
}

static szg_status norm_forward(szg_context *context, const op_trial *trial, void **at) {
    szgi_layer_norm norm = norm_at(trial->shape, at);
    return szgi_network_layer_norm(context, &norm);
}

static szg_status norm_backward(szg_context *context, const op_trial *trial, void **at) {
    const norm_case *c = trial->shape;
    szgi_layer_norm norm = norm_at(c, at);
    szgi_layer_norm_gradient gradient = {at[c->dy], at[c->dx], c->add_dx, at[c->dgamma],
                                         at[c->dbeta]};
    return szgi_network_layer_norm_backward(context, &norm, &gradient);
}

/* The largest inverse deviation over the rows. */
static double largest_inverse(const op_trial *t, const norm_case *c) {
    const double *x = t->slot[c->x].values;
    int64_t n = c->norm.width;
    double top = 0;
    for (int64_t r = 0; r < c->norm.rows; r++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < n; i++)
            mean += x[r * n + i] / (double)n;
        for (int64_t i = 0; i < n; i++)
            squares += (x[r * n + i] - mean) * (x[r * n + i] - mean);
        top = fmax(top, 1 / sqrt(squares / (double)n + c->norm.eps));
    }
    return top;
}

/* With s the inverse deviation and M the largest number: x - mean errs by (n + 4) eps M, n eps of
 * it again through s; so the normalised numbers, at most sqrt n, err by e = (n + 4) eps s M (1 +
 * sqrt n) + (n + 8) eps sqrt n. A gradient is s times sums of products of two of these. */
static void norm_bounds(const norm_case *c, op_trial *t) {
    double n = (double)c->norm.width, rows = (double)c->norm.rows, root = sqrt(n);
    double s = largest_inverse(t, c), error = (n + 8) * (s * largest(t, c->x) + 1) * (1 + root);
    double scale = largest(t, c->gamma), g = scale * largest(t, c->dy);
    t->slot[c->y].bound = scale * error + 2 * scale * root + 2 * largest(t, c->beta);
    t->slot[c->mean].bound = (n + 4) * largest(t, c->x);
    t->slot[c->inverse].bound = s * error;
    t->slot[c->dx].bound = 4 * s * g * (1 + root) * (error + n + 8) + 2 * largest(t, c->dx);
    t->slot[c->dx].floor = 4 * s * g * (1 + s * largest(t, c->x)); /* a row of dx sums to 0 */
    t->slot[c->y].floor = 4 * scale * s * largest(t, c->x);        /* so does one of x - mean */
    t->slot[c->dgamma].floor = 4 * s * largest(t, c->x) * largest(t, c->dy);
    t->slot[c->dgamma].bound =
        (rows + 4) * (rows * largest(t, c->dy) * (error + root) + largest(t, c->dgamma));
    t->slot[c->dbeta].bound = (rows + 4) * (rows * largest(t, c->dy) + largest(t, c->dbeta));
}

static void open_norm(norm_case *c, op_trial *t, int64_t rows, int64_t width, bool backward) {
    int64_t count = rows * width;
    bool keeps = backward || draw_below(2);
    *t = (op_trial){
        .shape = c, .forward = norm_forward, .backward = backward ? norm_backward : NULL};
    *c = (norm_case){.norm = {.rows = rows, .width = width, .eps = 1e-5}, .add_dx = draw_below(2)};
    c->x = add_slot(t, SLOT_INPUT, "x", count, true);
    c->gamma = add_slot(t, SLOT_INPUT, "gamma", width, true);
    c->beta = add_slot(t, SLOT_INPUT, "beta", width, true);
    c->y = add_slot(t, SLOT_RESULT, "y", count, true);
    c->mean = add_slot(t, SLOT_RESULT, "mean", rows, keeps);
    c->inverse = add_slot(t, SLOT_RESULT, "inverse", rows, keeps);
    c->dy = add_slot(t, SLOT_SEED, "dy", count, true);
    c->dx = add_slot(t, SLOT_GRADIENT, "dx", count, true);
    c->dgamma = add_slot(t, SLOT_GRADIENT, "dgamma", width, true);
    c->dbeta = add_slot(t, SLOT_GRADIENT, "dbeta", width, true);
    t->slot[c->dy].of = c->y;
    t->slot[c->dx].of = c->x;
    t->slot[c->dgamma].of = c->gamma;
    t->slot[c->dbeta].of = c->beta;
    t->slot[c->dx].adds = c->add_dx;
    t->slot[c->dgamma].adds = t->slot[c->dbeta].adds = true;
    norm_bounds(c, t);
    blank(t, c->y);
    blank(t, c->mean);
    blank(t, c->inverse);
    if (!c->add_dx)
        blank(t, c->dx);
}

START_TEST(layer_norms_agree) {
    for (int64_t i = 0; i < test_trials(60); i++) {
        norm_case c;
        op_trial t;
        open_norm(&c, &t, DRAW_OF(1, 2, 5, 33, 64, 257), DRAW_OF(1, 2, 3, 8, 15, 16, 17, 64, 100),
                  i % 4 > 0);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* A GPU cuts the rows in parts of 64, and adds many parts otherwise than few. */
START_TEST(sums_of_many_rows_agree) {
    norm_case norm;
    linear_case linear;
    op_trial t;
    const int64_t rows[] = {4031, 4032, 4033, 4400};
    for (int i = 0; i < 4; i++) {
        open_norm(&norm, &t, rows[i], 10, true);
        check_parity(&t);
        close_trial(&t);
    }
    open_linear(&linear, &t, 4225, 3, 41, SZG_ACTIVATION_RELU);
    check_parity(&t);
    close_trial(&t);
}
END_TEST

START_TEST(layer_norm_gradients_are_differences) {
    for (int64_t i = 0; i < test_trials(8); i++) {
        norm_case c;
        op_trial t;
        open_norm(&c, &t, 1 + draw_below(4), 2 + draw_below(9), true);
        for (int64_t k = 0; k < t.slot[c.x].count; k++) /* rows without spread bend too much */
            t.slot[c.x].values[k] += (double)(k % 3);
        check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

/* dx over dy, as the decoder calls it. */
START_TEST(layer_norm_backward_in_place) {
    enum { ROWS = 37, WIDTH = 19, COUNT = ROWS * WIDTH };
    norm_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_norm(&c, &t, ROWS, WIDTH, true);
    } while (c.add_dx);
    double *apart[SLOTS], *together[SLOTS];
    run_forward(oracle(), &t);
    run_on(tested(1), &t, t.backward, apart);
    c.dx = c.dy;
    t.slot[c.dy].destroyed = true;
    run_on(tested(1), &t, t.backward, together);
    for (int i = 0; i < COUNT; i++)
        ck_assert(together[c.dy][i] == apart[c.dy + 1][i]);
    free_run(&t, apart), free_run(&t, together);
    close_trial(&t);
}
END_TEST

START_TEST(layer_norms_keep_nan) {
    enum { ROWS = 70, WIDTH = 33, PLACE = 41 };
    norm_case c;
    op_trial t;
    open_norm(&c, &t, ROWS, WIDTH, true);
    t.slot[c.x].values[PLACE * WIDTH + 32] = NAN;
    run_forward(tested(1), &t);
    for (int i = 0; i < ROWS * WIDTH; i++)
        ck_assert(!isnan(t.slot[c.y].values[i]) == (i / WIDTH != PLACE));
    close_trial(&t);
}
END_TEST

TEST_FILE("network_layers") {
    test_add(suite, "linear_layers_agree", linear_layers_agree);
    test_add(suite, "layers_of_one_shape_agree", layers_of_one_shape_agree);
    test_add(suite, "large_linear_layers_agree", large_linear_layers_agree);
    test_add(suite, "linear_gradients_are_differences", linear_gradients_are_differences);
    test_add(suite, "products_keep_the_bits_of_their_precision",
             products_keep_the_bits_of_their_precision);
    test_add(suite, "activations_keep_nan", activations_keep_nan);
    test_add(suite, "layer_norms_agree", layer_norms_agree);
    test_add(suite, "sums_of_many_rows_agree", sums_of_many_rows_agree);
    test_add(suite, "layer_norm_gradients_are_differences", layer_norm_gradients_are_differences);
    test_add(suite, "layer_norm_backward_in_place", layer_norm_backward_in_place);
    test_add(suite, "layer_norms_keep_nan", layer_norms_keep_nan);
}
