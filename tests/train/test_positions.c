/* What encodings add inside the decoder, against their formulas written out: rows at the input,
 * lag bias, rotation. In double precision; agreement to rounding, 1e-12. */
#include "plugin/backend.h"
#include "decoder_support.h"

static const double ROUNDING = 1e-12;
enum { WIDTH = 8, HEADS = 2, HEAD = 4, MATRIX = POSITIONS * POSITIONS };

static subject open_for(szg_profile profile, const char *encoding, const char *const *overrides) {
    szgi_context_set_ops(test_context(), szgi_ops_reference64());
    szg_train_config config = small_config(profile, encoding, overrides);
    return open_subject(&config, false);
}

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void shut(subject *s) {
    close_subject(s);
    szgi_context_set_ops(test_context(), NULL);
}

static double *parameter(const subject *s, const char *name) {
    const szgi_parameter *p = szgi_model_find(s->model, name);
    ck_assert_msg(p != NULL, "%s", name);
    double *out = new_numbers(p->count);
    ck_szg_ok(szgi_model_read(test_context(), s->model, szgi_model_arena(s->model), p->offset,
                              p->count, out));
    return out;
}

/* ---- Rows at the input ---- */

/* Vaswani et al. 2017: sin and cos of i 10000^(-2t/width), by pairs or by halves. */
static double sinusoid(int64_t i, int64_t column, bool halves) {
    int64_t t = halves ? column % (WIDTH / 2) : column / 2;
    bool cosine = halves ? column >= WIDTH / 2 : column % 2;
    double angle = (double)i * pow(10000, -2.0 * (double)t / WIDTH);
    return cosine ? cos(angle) : sin(angle);
}

typedef struct rows_case {
    const char *encoding, *sinusoid, *extra;
    bool trained, absolute; /* rows of the encoding */
} rows_case;

/* The stream that layer 0 is entered with, less the words' embeddings. */
static void check_rows(const rows_case *c, bool zeroed) {
    char added[48], extra[48];
    snprintf(added, sizeof added, "added_sinusoid=%s", c->sinusoid);
    snprintf(extra, sizeof extra, "extra_position_table=%s", c->extra);
    subject s =
        open_for(SZG_PROFILE_TEXT, c->encoding, OVERRIDES(added, extra, "position_table=trained"));
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    ck_szg_ok(szgi_decoder_embed(test_context(), s.decoder, &batch.batch, zeroed));
    ck_szg_ok(szgi_decoder_attend(test_context(), s.decoder, 0));
    double *stream = download(szgi_decoder_stream(s.decoder), SEQUENCES * POSITIONS * WIDTH);
    double *words = parameter(&s, "embedding.weight");
    const char *own_name = "position_encoding.position_embeddings.weight";
    double *own = c->trained ? parameter(&s, own_name) : new_numbers(POSITIONS * WIDTH);
    double *more = *c->extra == 't' ? parameter(&s, "pos_embed") : new_numbers(POSITIONS * WIDTH);
    for (int64_t at = 0; at < SEQUENCES * POSITIONS * WIDTH; at++) {
        int64_t column = at % WIDTH, i = at / WIDTH % POSITIONS;
        double want = words[batch.tokens[at / WIDTH] * WIDTH + column];
        if (!zeroed)
            want += own[i * WIDTH + column] + more[i * WIDTH + column] +
                    (c->absolute ? sinusoid(i, column, false) : 0) +
                    (*c->sinusoid != 'n' ? sinusoid(i, column, *c->sinusoid == 'h') : 0);
        ck_close(stream[at], want, ROUNDING);
    }
    szgi_memory_free(stream);
    szgi_memory_free(words);
    szgi_memory_free(own);
    szgi_memory_free(more);
    free_batch(&batch);
    shut(&s);
}

START_TEST(rows_at_the_input) {
    static const rows_case cases[] = {
        {"nope", "none", "false", false, false},
        {"nope", "halves", "false", false, false},
        {"nope", "interleaved", "true", false, false},
        {"absolute", "none", "false", false, true},
        {"absolute", "halves", "true", false, true},
        {"rope+absolute", "none", "false", false, true},
        {"learned", "none", "false", true, false},
        {"random", "none", "true", true, false},
        {"random", "halves", "true", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int zeroed = 0; zeroed < 2; zeroed++)
            check_rows(&cases[i], zeroed);
}
END_TEST

/* ---- Logits ---- */

/* Logits of a layer, and its q and k; what the decoder hands to the attention. */
typedef struct layer_logits {
    double *coupled, *content, *q, *k;
    int64_t ldq, ldk;
    double scale;
} layer_logits;

static double *logits_with(const szgi_attention *a, bool coupled) {
    void *logits;
    ck_szg_ok(szgi_device_alloc(test_context(), SEQUENCES * HEADS * MATRIX * 8, &logits));
    ck_szg_ok(szgi_network_attention_logits(test_context(), a, coupled, logits));
    double *out = download(logits, SEQUENCES * HEADS * MATRIX);
    szgi_device_free(test_context(), logits);
    return out;
}

/* Layer 1: what is right in the first only by accident is wrong there. */
static layer_logits logits_of_layer(subject *s) {
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    ck_szg_ok(szgi_decoder_embed(test_context(), s->decoder, &batch.batch, false));
    ck_szg_ok(szgi_decoder_attend(test_context(), s->decoder, 0));
    ck_szg_ok(szgi_decoder_finish(test_context(), s->decoder, 0));
    ck_szg_ok(szgi_decoder_attend(test_context(), s->decoder, 1));
    const szgi_attention *a = szgi_decoder_attention(s->decoder);
    int64_t rows = SEQUENCES * POSITIONS - 1, columns = a->heads * a->d_qk;
    layer_logits l = {.coupled = logits_with(a, true),
                      .content = logits_with(a, false),
                      .q = download(a->q, rows * a->ldq + columns),
                      .k = download(a->k, rows * a->ldk + columns),
                      .ldq = a->ldq,
                      .ldk = a->ldk,
                      .scale = a->scale};
    free_batch(&batch);
    return l;
}

static void free_logits(layer_logits *l) {
    szgi_memory_free(l->coupled);
    szgi_memory_free(l->content);
    szgi_memory_free(l->q);
    szgi_memory_free(l->k);
}

/* bias of head h at lag i - j = k. */
typedef double bias_fn(const double *table, int64_t h, int64_t k);

static double published_alibi(const double *table, int64_t h, int64_t k) {
    (void)table;
    return -(h == 0 ? 1.0 / 16 : 1.0 / 256) * (double)llabs(k); /* 2^(-8 h / 2), h = 1, 2 */
}
static double released_alibi(const double *table, int64_t h, int64_t k) {
    (void)table;
    return -exp(-(double)h / HEADS) * (double)llabs(k);
}
static double kms(const double *table, int64_t h, int64_t k) {
    (void)table, (void)h;
    return pow(0.5, (double)llabs(k));
}
/* Two pairs, 1 and 1/100 radians a position. */
static double rotary_mean(const double *table, int64_t h, int64_t k) {
    (void)table, (void)h;
    return 2.5 * (cos((double)k) + cos(0.01 * (double)k)) / 2;
}
/* A row for each j - i, from -(max_length - 1) on. */
static double relative(const double *table, int64_t h, int64_t k) {
    return table[(-k + POSITIONS - 1) * HEADS + h];
}
/* 4 buckets, 2 a side: distance 0 and all others; the future's stand behind. */
static double buckets(const double *table, int64_t h, int64_t k) {
    return table[(k == 0 ? 0 : k > 0 ? 1 : 3) * HEADS + h];
}

static void check_bias(szg_profile profile, const char *encoding, bias_fn *want) {
    subject s = open_for(profile, encoding, NULL);
    layer_logits l = logits_of_layer(&s);
    const char *name = "layers.1.relative_bias_table";
    double *table = szgi_model_find(s.model, name) ? parameter(&s, name) : NULL;
    for (int64_t at = 0; at < SEQUENCES * HEADS * MATRIX; at++) {
        int64_t h = at / MATRIX % HEADS, k = at / POSITIONS % POSITIONS - at % POSITIONS;
        ck_close(l.coupled[at] - l.content[at], want(table, h, k), ROUNDING);
    }
    szgi_memory_free(table);
    free_logits(&l);
    shut(&s);
}

START_TEST(biases) {
    check_bias(SZG_PROFILE_TEXT, "alibi", published_alibi);
    check_bias(SZG_PROFILE_RELEASED, "alibi", released_alibi);
    check_bias(SZG_PROFILE_TEXT, "kms:rho=0.5", kms);
    check_bias(SZG_PROFILE_TEXT, "rope-bias:scale=2.5", rotary_mean);
    check_bias(SZG_PROFILE_RELEASED, "rope-bias:scale=2.5", rotary_mean);
    check_bias(SZG_PROFILE_TEXT, "relative", relative);
    check_bias(SZG_PROFILE_RELEASED, "relative", relative);
    check_bias(SZG_PROFILE_TEXT, "t5:buckets=4", buckets);
}
END_TEST

typedef struct rotation_case {
    const char *encoding, *rotation;
    int64_t dim, offset, pairs; /* of a head */
    bool half;
    int only;        /* the head that rotates; -1: all */
    const int *band; /* of each head, where they have one each; NULL: they share */
    double angle;    /* of every pair; 0: they differ */
} rotation_case;

/* The released rotation's factors, read off the table by hand: the row of a position is
 * (sin 0, .., sin n-1, cos 0, .., cos n-1), numbers for theta, n pairs, and factor t has column 2t
 * as its imaginary and column 2t + 1 as its real part. Two pairs alone could not tell this from the
 * halves of an interleaved row. */
typedef struct table_part {
    bool cosine;
    int theta;
} table_part;
static const struct {
    table_part im, re;
} stride_two[5][4] = {
    [2] = {{{false, 0}, {false, 1}}, {{true, 0}, {true, 1}}},
    [3] = {{{false, 0}, {false, 1}}, {{false, 2}, {true, 0}}, {{true, 1}, {true, 2}}},
    [4] = {{{false, 0}, {false, 1}},
           {{false, 2}, {false, 3}},
           {{true, 0}, {true, 1}},
           {{true, 2}, {true, 3}}},
};

static double table_value(table_part part, int64_t i, int64_t pairs) {
    double angle = (double)i * pow(10000, -(double)part.theta / (double)pairs);
    return part.cosine ? cos(angle) : sin(angle);
}

/* Bands: a RoPE over both heads has twice the pairs, and deals them in turn. */
static double angle_of(const rotation_case *c, int64_t h, int64_t t) {
    if (c->angle > 0)
        return c->angle;
    if (c->band)
        return pow(10000, -(double)(c->band[h] * c->pairs + t) / (double)(HEADS * c->pairs));
    return pow(10000, -(double)t / (double)c->pairs);
}

/* The factor of a pair at a position. */
static szg_c64 factor(const rotation_case *c, int64_t h, int64_t i, int64_t t) {
    if (strcmp(c->rotation, "true") == 0) {
        double angle = (double)i * angle_of(c, h, t);
        return (szg_c64){cos(angle), sin(angle)};
    }
    return (szg_c64){table_value(stride_two[c->pairs][t].re, i, c->pairs),
                     table_value(stride_two[c->pairs][t].im, i, c->pairs)};
}

/* sum over dimensions of rotated q_i times rotated k_j. */
static double rotated_product(const rotation_case *c, int64_t h, int64_t i, int64_t j,
                              const double *q, const double *k) {
    double sum = 0;
    for (int64_t at = 0; at < c->dim; at++)
        sum += q[at] * k[at];
    for (int64_t t = 0; t < c->pairs && (c->only < 0 || c->only == h); t++) {
        int64_t x = c->offset + (c->half ? t : 2 * t), y = x + (c->half ? c->pairs : 1);
        szg_c64 f = factor(c, h, i, t), g = factor(c, h, j, t);
        double qx = q[x] * f.re - q[y] * f.im, qy = q[x] * f.im + q[y] * f.re;
        double kx = k[x] * g.re - k[y] * g.im, ky = k[x] * g.im + k[y] * g.re;
        sum += qx * kx + qy * ky - q[x] * k[x] - q[y] * k[y];
    }
    return sum;
}

static void check_rotation(const rotation_case *c) {
    char override[48];
    snprintf(override, sizeof override, "latent_rotation=%s", c->rotation);
    subject s = open_for(SZG_PROFILE_TEXT, c->encoding, OVERRIDES(override));
    layer_logits l = logits_of_layer(&s);
    ck_close(l.scale, 1 / sqrt((double)c->dim), 1e-15);
    for (int64_t at = 0; at < SEQUENCES * HEADS * MATRIX; at++) {
        int64_t b = at / MATRIX / HEADS, h = at / MATRIX % HEADS;
        int64_t i = at / POSITIONS % POSITIONS, j = at % POSITIONS;
        const double *q = l.q + (b * POSITIONS + i) * l.ldq + h * c->dim;
        const double *k = l.k + (b * POSITIONS + j) * l.ldk + h * c->dim;
        double want = l.scale * rotated_product(c, h, i, j, q, k);
        ck_assert_msg(fabs(l.coupled[at] - want) <= ROUNDING, "%s, head %lld, %lld - %lld: %g %g",
                      c->encoding, (long long)h, (long long)i, (long long)j, l.coupled[at], want);
    }
    free_logits(&l);
    shut(&s);
}

START_TEST(rotations) {
    static const int in_order[] = {0, 1}, shifted[] = {1, 0};
    static const rotation_case cases[] = {
        {"nope", "true", HEAD, 0, 0, false, -1, NULL, 0},
        {"rope", "true", HEAD, 0, 2, false, -1, NULL, 0},
        {"rope:pairing=half", "true", HEAD, 0, 2, true, -1, NULL, 0},
        {"rope:rotary=2", "true", HEAD, 0, 1, false, -1, NULL, 0},
        {"rope:rotate=0", "true", HEAD, 0, 2, false, 0, NULL, 0},
        {"rope:rotate=1", "true", HEAD, 0, 2, false, 1, NULL, 0},
        {"rope+absolute", "true", HEAD, 0, 2, false, -1, NULL, 0},
        {"mla", "true", 2 * HEAD, HEAD, 2, false, -1, NULL, 0},
        {"mla:content=6,rope=2", "true", 8, 6, 1, false, -1, NULL, 0},
        {"mla", "table_halves", 2 * HEAD, HEAD, 2, false, -1, NULL, 0},
        {"mla:rope=6", "table_halves", 10, 4, 3, false, -1, NULL, 0},
        {"mla:rope=8", "table_halves", 12, 4, 4, false, -1, NULL, 0},
        {"mla:rope=12", "true", 16, 4, 6, false, -1, NULL, 0},
        {"rope:bands=heads", "true", HEAD, 0, 2, false, -1, in_order, 0},
        {"rope:bands=heads,band_shift=1", "true", HEAD, 0, 2, false, -1, shifted, 0},
        {"rope:bands=heads,rotary=2,pairing=half", "true", HEAD, 0, 1, true, -1, in_order, 0},
        {"rope:bands=heads,rotate=1", "true", HEAD, 0, 2, false, 1, in_order, 0},
        {"rope:bands=heads,band_shift=1,rotate=1", "true", HEAD, 0, 2, false, 1, shifted, 0},
        {"rope:theta=0.7", "true", HEAD, 0, 2, false, -1, NULL, 0.7},
        {"rope:theta=3,rotary=2,rotate=0", "true", HEAD, 0, 1, false, 0, NULL, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_rotation(&cases[i]);
}
END_TEST

TEST_FILE("positions") {
    test_add(suite, "rows_at_the_input", rows_at_the_input);
    test_add(suite, "biases", biases);
    test_add(suite, "rotations", rotations);
}
