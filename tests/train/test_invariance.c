/* Invariances that a wrong encoding breaks. In double precision: what is equal in exact arithmetic
 * agrees to rounding, 1e-12 of numbers of order 1 after a few hundred operations of 2^-53. */
#include "plugin/backend.h"
#include "decoder_support.h"

static const double ROUNDING = 1e-12;

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

static double distance(int64_t count, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Full sequences of words. */
static drawn_batch full_batch(void) {
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    for (int64_t e = 0; e < SEQUENCES; e++)
        b.lengths[e] = POSITIONS;
    for (int64_t at = 0; at < SEQUENCES * POSITIONS; at++)
        b.tokens[at] = 1 + (int32_t)((at * 5 + at / POSITIONS) % (WORDS - 1));
    return b;
}

static double *class_logits(subject *s, const szgi_batch *batch) {
    ck_szg_ok(szgi_decoder_forward(test_context(), s->decoder, batch));
    return logits_of(s, batch->count);
}

/* Attention logits [SEQUENCES][heads][n][n] of a layer; positions zeroed or not. */
static double *attention_logits(subject *s, const szgi_batch *batch, int64_t layer, bool coupled,
                                bool zeroed) {
    szg_context *context = test_context();
    ck_szg_ok(szgi_decoder_embed(context, s->decoder, batch, zeroed));
    for (int64_t l = 0; l <= layer; l++) {
        if (l > 0)
            ck_szg_ok(szgi_decoder_finish(context, s->decoder, l - 1));
        ck_szg_ok(szgi_decoder_attend(context, s->decoder, l));
    }
    const szgi_attention *a = szgi_decoder_attention(s->decoder);
    int64_t count = a->batch * a->heads * a->length * a->length;
    void *logits;
    ck_szg_ok(szgi_device_alloc(context, count * 8, &logits));
    ck_szg_ok(szgi_network_attention_logits(context, a, coupled, logits));
    double *out = download(logits, count);
    szgi_device_free(context, logits);
    return out;
}

/* ---- Permutations ---- */

/* How far the class logits move when the words of every sequence are permuted. */
static double permuted_change(const char *encoding, const char *mask) {
    char override[32];
    snprintf(override, sizeof override, "mask=%s", mask);
    subject s = open_for(SZG_PROFILE_TEXT, encoding, OVERRIDES(override));
    drawn_batch straight = full_batch(), turned = full_batch();
    for (int64_t e = 0; e < SEQUENCES; e++)
        for (int64_t i = 0; i < POSITIONS; i++)
            turned.tokens[e * POSITIONS + i] =
                straight.tokens[e * POSITIONS + (3 * i + e + 1) % POSITIONS];
    double *a = class_logits(&s, &straight.batch), *b = class_logits(&s, &turned.batch);
    double change = distance(SEQUENCES * CLASSES, a, b);
    szgi_memory_free(a);
    szgi_memory_free(b);
    free_batch(&straight);
    free_batch(&turned);
    shut(&s);
    return change;
}

START_TEST(nope_without_mask_ignores_order) {
    static const char *const others[] = {"absolute",       "learned",
                                         "random",         "relative",
                                         "t5:buckets=8",   "alibi",
                                         "rope",           "mla",
                                         "rope+absolute",  "rope:bands=heads",
                                         "rope:theta=0.7", "rope-bias:scale=2"};
    ck_close(permuted_change("nope", "none"), 0, ROUNDING);
    ck_assert(permuted_change("nope", "causal") > 1e-3);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(permuted_change(others[i], "none") > 1e-4, "%s", others[i]);
}
END_TEST

/* ---- Constant content ---- */

/* Share of the norm of n x n logits that the means of their diagonals hold: 1 for Toeplitz. */
static double toeplitzness(const double *logits) {
    const int64_t n = POSITIONS;
    double toeplitz = 0;
    for (int64_t k = 1 - n; k < n; k++) {
        double sum = 0;
        int64_t length = n - llabs(k);
        for (int64_t j = k < 0 ? -k : 0; j < n && j + k < n; j++)
            sum += logits[(j + k) * n + j];
        toeplitz += sum * sum / (double)length;
    }
    return sqrt(toeplitz) / norm_of(n * n, logits);
}

/* The least toeplitzness over heads of a layer where every token is the same word. */
static double constant_toeplitzness(const char *encoding, const char *const *overrides,
                                    int64_t layer) {
    subject s = open_for(SZG_PROFILE_TEXT, encoding, overrides);
    drawn_batch batch = full_batch();
    for (int64_t at = 0; at < SEQUENCES * POSITIONS; at++)
        batch.tokens[at] = 4;
    double *logits = attention_logits(&s, &batch.batch, layer, true, false);
    double least = 1;
    for (int64_t at = 0; at < SEQUENCES * 2; at++)
        least = fmin(least, toeplitzness(logits + at * POSITIONS * POSITIONS));
    szgi_memory_free(logits);
    free_batch(&batch);
    shut(&s);
    return least;
}

/* Words that are alike leave attention's output, and so the stream, alike at every position: in all
 * layers the logits hang on i - j alone. Rows added to the input end that. */
START_TEST(constant_content_is_toeplitz) {
    static const char *const lag[] = {
        "rope",           "rope:rotate=0", "rope:pairing=half", "mla",         "mla:rope=2",
        "alibi",          "relative",      "t5:buckets=8",      "kms:rho=0.5", "rope:bands=heads",
        "rope:theta=0.7", "rope-bias"};
    static const char *const input[] = {"absolute", "learned:seed=1,std=1", "random",
                                        "rope+absolute"};
    for (int64_t layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < sizeof lag / sizeof *lag; i++)
            ck_close(constant_toeplitzness(lag[i], NULL, layer), 1, ROUNDING);
    for (size_t i = 0; i < sizeof input / sizeof *input; i++)
        ck_assert_msg(constant_toeplitzness(input[i], NULL, 0) < 0.999, "%s", input[i]);
    /* Factors of a modulus other than 1 break it. */
    ck_assert(constant_toeplitzness("mla", OVERRIDES("latent_rotation=table_halves"), 0) < 0.999);
}
END_TEST

/* ---- Shifts ---- */

/* Sequence 1 is sequence 0 moved by `by` places: its logits among the moved words against those of
 * the words where they stood. */
static double shifted_change(const char *encoding, int64_t by) {
    const int64_t n = POSITIONS;
    subject s = open_for(SZG_PROFILE_TEXT, encoding, NULL);
    drawn_batch batch = full_batch();
    for (int64_t i = by; i < n; i++)
        batch.tokens[n + i] = batch.tokens[i - by];
    double *logits = attention_logits(&s, &batch.batch, 0, true, false);
    double sum = 0;
    for (int64_t h = 0; h < 2; h++)
        for (int64_t i = by; i < n; i++)
            for (int64_t j = by; j < n; j++) {
                double moved = logits[((2 + h) * n + i) * n + j];
                double stood = logits[(h * n + i - by) * n + j - by];
                sum += (moved - stood) * (moved - stood);
            }
    szgi_memory_free(logits);
    free_batch(&batch);
    shut(&s);
    return sqrt(sum);
}

START_TEST(shifts) {
    static const char *const lag[] = {"nope",  "rope",     "rope:rotate=1", "mla",
                                      "alibi", "relative", "t5:buckets=8",  "kms:rho=0.5"};
    static const char *const input[] = {"absolute", "learned:seed=1,std=1", "random",
                                        "rope+absolute"};
    for (int64_t by = 1; by < 4; by++) {
        for (size_t i = 0; i < sizeof lag / sizeof *lag; i++)
            ck_close(shifted_change(lag[i], by), 0, ROUNDING);
        for (size_t i = 0; i < sizeof input / sizeof *input; i++)
            ck_assert_msg(shifted_change(input[i], by) > 1e-2, "%s", input[i]);
    }
}
END_TEST

/* ---- MLA's two parts ---- */

static void zero_parameter(subject *s, const char *name) {
    const szgi_parameter *p = szgi_model_find(s->model, name);
    ck_assert_ptr_nonnull(p);
    double *zeros = new_numbers(p->count);
    ck_szg_ok(szgi_model_write(test_context(), s->model, szgi_model_arena(s->model), p->offset,
                               p->count, zeros));
    szgi_memory_free(zeros);
}

/* Without a content part the logits are the rotary part's alone: sum_t Re(q_t e^{i(i-j) theta_t}
 * conj(k_t)) / sqrt(d_c + d_r), written out from the weights; without a rotary part position is
 * gone. */
START_TEST(parts_of_mla) {
    const int64_t n = POSITIONS, matrix = SEQUENCES * 2 * n * n;
    drawn_batch batch = full_batch();
    subject s = open_for(SZG_PROFILE_TEXT, "mla", NULL);
    double *whole = attention_logits(&s, &batch.batch, 0, true, false);
    double *whole_content = attention_logits(&s, &batch.batch, 0, false, false);
    ck_assert(distance(matrix, whole, whole_content) > 1e-2);
    zero_parameter(&s, "layers.0.attn.W_QR.weight");
    double *content = attention_logits(&s, &batch.batch, 0, true, false);
    double *unrotated = attention_logits(&s, &batch.batch, 0, false, false);
    ck_close(distance(matrix, content, unrotated), 0, ROUNDING);
    shut(&s);
    s = open_for(SZG_PROFILE_TEXT, "mla", NULL);
    zero_parameter(&s, "layers.0.attn.W_UQ.weight");
    double *rotary = attention_logits(&s, &batch.batch, 0, true, false);
    ck_assert(norm_of(matrix, rotary) > 1e-2);
    for (int64_t at = 0; at < matrix; at++)
        ck_close(content[at] + rotary[at], whole[at], ROUNDING);
    /* At lag 0 nothing rotates: content + unrotated rotary part. */
    for (int64_t at = 0; at < matrix; at++)
        if (at / n % n == at % n)
            ck_close(whole[at], whole_content[at], ROUNDING);
    shut(&s);
    free_batch(&batch);
    szgi_memory_free(whole);
    szgi_memory_free(whole_content);
    szgi_memory_free(content);
    szgi_memory_free(unrotated);
    szgi_memory_free(rotary);
}
END_TEST

/* ---- Partial rotation ---- */

static double *forward_with(const char *encoding, const char *rotated_layers) {
    char override[64];
    snprintf(override, sizeof override, "rotated_layers=%s", rotated_layers);
    drawn_batch batch = full_batch();
    subject s = open_for(SZG_PROFILE_TEXT, encoding, OVERRIDES(override));
    double *logits = class_logits(&s, &batch.batch);
    free_batch(&batch);
    shut(&s);
    return logits;
}

/* The parameters are those of nope and rope alike: equal bits. */
START_TEST(partial_rotation) {
    const int64_t count = SEQUENCES * CLASSES;
    double *nope = forward_with("nope", "all"), *rope = forward_with("rope", "all");
    double *none = forward_with("rope", "none"), *all = forward_with("rope:rotate=0-1", "0-1");
    double *head0 = forward_with("rope:rotate=0", "all");
    double *head1 = forward_with("rope:rotate=1", "all"), *layer1 = forward_with("rope", "1");
    ck_assert(distance(count, nope, none) == 0 && distance(count, rope, all) == 0);
    double *const partial[] = {nope, rope, head0, head1, layer1};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            ck_assert_msg(distance(count, partial[i], partial[j]) > 1e-4, "%d, %d", i, j);
    double *const all_of_them[] = {nope, rope, none, all, head0, head1, layer1};
    for (int i = 0; i < 7; i++)
        szgi_memory_free(all_of_them[i]);
}
END_TEST

/* ---- Positions zeroed ---- */

/* Zeroed rows are no rows: absolute becomes nope; rotation and bias stay. */
START_TEST(zeroed_positions) {
    const int64_t matrix = SEQUENCES * 2 * POSITIONS * POSITIONS;
    static const char *const encodings[] = {"absolute", "rope", "alibi", "nope", "rope+absolute"};
    double *logits[5][2];
    drawn_batch batch = full_batch();
    for (int i = 0; i < 5; i++) {
        subject s = open_for(SZG_PROFILE_TEXT, encodings[i], NULL);
        for (int zeroed = 0; zeroed < 2; zeroed++)
            logits[i][zeroed] = attention_logits(&s, &batch.batch, 1, true, zeroed);
        shut(&s);
    }
    ck_assert(distance(matrix, logits[0][1], logits[3][0]) == 0);
    ck_assert(distance(matrix, logits[4][1], logits[1][0]) == 0);
    ck_assert(distance(matrix, logits[0][0], logits[0][1]) > 1e-2);
    for (int i = 1; i < 4; i++)
        ck_assert(distance(matrix, logits[i][0], logits[i][1]) == 0);
    for (int i = 0; i < 10; i++)
        szgi_memory_free(logits[i / 2][i % 2]);
    subject s = open_for(SZG_PROFILE_RELEASED, "random",
                         OVERRIDES("added_sinusoid=halves", "extra_position_table=true"));
    double *trained = attention_logits(&s, &batch.batch, 0, true, true);
    shut(&s);
    s = open_for(SZG_PROFILE_RELEASED, "random",
                 OVERRIDES("added_sinusoid=halves", "extra_position_table=true"));
    zero_parameter(&s, "position_encoding.position_embeddings.weight");
    zero_parameter(&s, "pos_embed");
    double *still = attention_logits(&s, &batch.batch, 0, true, false);
    ck_assert(distance(matrix, trained, still) > 1e-2); /* the sinusoid */
    szgi_memory_free(still);
    szgi_memory_free(trained);
    shut(&s);
    free_batch(&batch);
}
END_TEST

TEST_FILE("invariance") {
    test_add(suite, "nope_without_mask_ignores_order", nope_without_mask_ignores_order);
    test_add(suite, "constant_content_is_toeplitz", constant_content_is_toeplitz);
    test_add(suite, "shifts", shifts);
    test_add(suite, "parts_of_mla", parts_of_mla);
    test_add(suite, "partial_rotation", partial_rotation);
    test_add(suite, "zeroed_positions", zeroed_positions);
}
