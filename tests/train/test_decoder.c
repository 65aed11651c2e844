/* The decoder as a whole: one table of operations against another, evaluation against training, and
 * what must not matter: the company of a sequence, its padding, threads. */
#include "plugin/backend.h"
#include "decoder_support.h"

enum { MANY = 6, LONG = 37 };

/* Large enough for the vector kernels' main loops and their remainders. */
static szg_train_config medium_config(const variant *v) {
    static const char *const sizes[][2] = {{"model.width", "40"},     {"model.hidden", "52"},
                                           {"model.heads", "4"},      {"model.latent_query", "20"},
                                           {"model.latent_kv", "24"}, {"model.max_length", "40"},
                                           {"data.longest", "40"}};
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_szg_ok(szg_train_config_set(test_context(), &config, sizes[i][0], sizes[i][1]));
    return config;
}

/* What one table makes of a variant. */
typedef struct outcome {
    double loss, *logits, *gradient;
    szgi_tally tally;
    int64_t classes, count, parameters;
    szgi_parameter *parameter;
} outcome;

static outcome outcome_of(const szgi_ops *ops, const variant *v) {
    drawn_batch batch = draw_batch(MANY, LONG);
    szgi_context_set_ops(subject_context(), ops);
    szg_train_config config = medium_config(v);
    subject s = open_sized(&config, true, MANY, LONG);
    outcome o = {.classes = szgi_model_classes(s.model),
                 .count = szgi_model_count(s.model),
                 .parameters = szgi_model_parameters(s.model)};
    o.gradient = gradients_of(&s, &batch.batch);
    o.tally = tally_of(&s);
    o.logits = logits_of(&s, MANY);
    o.loss = o.tally.loss;
    ck_szg_ok(szgi_memory_alloc(test_context(), o.parameters, &o.parameter));
    memcpy(o.parameter, szgi_model_parameter(s.model, 0),
           (size_t)o.parameters * sizeof *o.parameter);
    close_subject(&s);
    free_batch(&batch);
    szgi_context_set_ops(subject_context(), NULL);
    return o;
}

static void free_outcome(outcome *o) {
    szgi_memory_free(o->logits);
    szgi_memory_free(o->gradient);
    szgi_memory_free(o->parameter);
}

/* Norm of the difference of two arrays. */
static double distance(int64_t count, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Some forty stages round to single precision, by 2^-24 relative to their norms each; norms and
 * softmax may carry an error on fourfold: 40 * 2^-24 * 4 = 1e-5 of a tensor's norm. Where a
 * gradient is a difference of larger ones (the keys' bias: 0) the whole gradient's norm counts. */
START_TEST(cpu_agrees_with_reference) {
    const variant *v = &variants[_i];
    const double bound = 1e-5;
    outcome cpu = outcome_of(szgi_ops_cpu(), v), want = outcome_of(szgi_ops_reference(), v);
    ck_assert_int_eq(cpu.tally.counted, want.tally.counted);
    ck_assert_int_eq(cpu.tally.correct, want.tally.correct);
    ck_close(cpu.loss, want.loss, bound * want.loss);
    double norm = norm_of(MANY * want.classes, want.logits);
    ck_close(distance(MANY * want.classes, cpu.logits, want.logits), 0, bound * norm);
    double all = norm_of(want.count, want.gradient);
    for (int64_t i = 0; i < want.parameters; i++) {
        const szgi_parameter *p = &want.parameter[i];
        double error = distance(p->count, cpu.gradient + p->offset, want.gradient + p->offset);
        double allowed = bound * (norm_of(p->count, want.gradient + p->offset) + 0.01 * all);
        ck_assert_msg(error <= allowed, "%s: %s: %.3g > %.3g", name_of(v), p->name, error, allowed);
    }
    free_outcome(&cpu);
    free_outcome(&want);
}
END_TEST

static double *evaluate(const szg_train_config *config, bool training, const szgi_batch *batch) {
    subject s = open_sized(config, training, batch->count, batch->length);
    ck_szg_ok(szgi_decoder_forward(subject_context(), s.decoder, batch));
    double *logits = logits_of(&s, batch->count);
    close_subject(&s);
    return logits;
}

static void check_equal(const variant *v, int64_t count, const double *got, const double *want) {
    for (int64_t i = 0; i < count; i++)
        ck_assert_msg(got[i] == want[i], "%s: number %lld: %.17g, not %.17g", name_of(v),
                      (long long)i, got[i], want[i]);
}

/* The same operations in the same order: equal bits. */
START_TEST(evaluation_is_training_without_dropout) {
    const variant *v = &variants[_i];
    drawn_batch batch = draw_batch(MANY, LONG);
    szg_train_config config = medium_config(v);
    config.model.dropout = 0;
    double *training = evaluate(&config, true, &batch.batch);
    double *evaluation = evaluate(&config, false, &batch.batch);
    int64_t count = MANY * (config.model.classes == SZG_CLASSES_LABELS ? CLASSES : WORDS);
    check_equal(v, count, evaluation, training);
    config.model.dropout = 0.5;
    double *dropped = evaluate(&config, true, &batch.batch);
    ck_assert(distance(count, dropped, training) > 1e-3);
    szgi_memory_free(training);
    szgi_memory_free(evaluation);
    szgi_memory_free(dropped);
    free_batch(&batch);
}
END_TEST

/* A sequence alone, and in a decoder opened for more: the same logits, but for the rounding of
 * products that are blocked by their number of rows. */
START_TEST(company_does_not_matter) {
    const variant *v = &variants[_i];
    drawn_batch batch = draw_batch(MANY, LONG);
    szg_train_config config = medium_config(v);
    double *together = evaluate(&config, false, &batch.batch);
    subject s = open_sized(&config, false, MANY + 1, LONG + 2);
    int64_t classes = szgi_model_classes(s.model);
    for (int64_t e = 0; e < MANY; e++) {
        szgi_batch one = {1, LONG, batch.tokens + e * LONG, batch.lengths + e, NULL};
        ck_szg_ok(szgi_decoder_forward(test_context(), s.decoder, &one));
        double *alone = logits_of(&s, 1);
        ck_close(distance(classes, alone, together + e * classes), 0,
                 1e-5 * norm_of(classes, alone));
        szgi_memory_free(alone);
    }
    close_subject(&s);
    szgi_memory_free(together);
    free_batch(&batch);
}
END_TEST

/* Where padding is masked (text, and mla everywhere) neither its words nor its amount matter, not
 * even for gradients of anything but the padding's words; where it is not, it does. */
START_TEST(padding) {
    static const variant masked = {SZG_PROFILE_TEXT, "relative", {"mask=none"}};
    static const variant seen = {SZG_PROFILE_RELEASED, "relative", {NULL}};
    drawn_batch batch = draw_batch(MANY, LONG), other = draw_batch(MANY, LONG);
    for (int64_t at = 0; at < MANY * LONG; at++)
        if (other.tokens[at] == 0)
            other.tokens[at] = 1 + (int32_t)(at % (WORDS - 1));
    for (int side = 0; side < 2; side++) {
        szg_train_config config = medium_config(side ? &seen : &masked);
        config.model.ignored_label = -1;
        subject s = open_sized(&config, true, MANY, LONG);
        double *first = gradients_of(&s, &batch.batch), *second = gradients_of(&s, &other.batch);
        double change = distance(szgi_model_count(s.model), first, second);
        ck_assert_msg(side ? change > 1e-3 : change == 0, "%g", change);
        szgi_memory_free(first);
        szgi_memory_free(second);
        close_subject(&s);
    }
    free_batch(&batch);
    free_batch(&other);
}
END_TEST

/* Sequences of at most 20 tokens in batches of 20 and of 37 positions. */
START_TEST(amount_of_padding) {
    for (int64_t i = 0; i < VARIANTS; i++) {
        const variant *v = &variants[i];
        szg_train_config config = medium_config(v);
        if (!config.model.mask_padding || config.model.pooling != SZG_POOL_REAL)
            continue;
        drawn_batch tight = draw_batch(MANY, 20), wide = draw_batch(MANY, LONG);
        for (int64_t at = 0; at < MANY * LONG; at++)
            wide.tokens[at] = at % LONG < 20 ? tight.tokens[at / LONG * 20 + at % LONG] : 0;
        memcpy(wide.lengths, tight.lengths, MANY * sizeof *wide.lengths);
        double *few = evaluate(&config, false, &tight.batch);
        double *many = evaluate(&config, false, &wide.batch);
        int64_t count = MANY * (config.model.classes == SZG_CLASSES_LABELS ? CLASSES : WORDS);
        ck_assert_msg(distance(count, few, many) <= 1e-5 * norm_of(count, few), "%s", name_of(v));
        szgi_memory_free(few);
        szgi_memory_free(many);
        free_batch(&tight);
        free_batch(&wide);
    }
}
END_TEST

/* Equal bits for any number of threads. */
START_TEST(threads) {
    const variant *v = &variants[_i];
    static const int counts[] = {1, 2, 5};
    outcome first = {0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = counts[i]};
        ck_assert_int_eq(szg_context_open(&options, &other_context), SZG_OK);
        outcome o = outcome_of(szgi_ops_cpu(), v);
        szg_context_close(&other_context);
        if (i == 0) {
            first = o;
            continue;
        }
        ck_assert(o.loss == first.loss);
        check_equal(v, MANY * o.classes, o.logits, first.logits);
        check_equal(v, o.count, o.gradient, first.gradient);
        free_outcome(&o);
    }
    free_outcome(&first);
}
END_TEST

/* ---- Pieces ---- */

/* Without its heads' output a layer is what a zeroed out_linear makes of it; the arrays between
 * attend and finish are what they are said to be. */
START_TEST(pieces) {
    szg_context *context = test_context();
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    szg_train_config config = small_config(SZG_PROFILE_RELEASED, "rope",
                                           (const char *const[]){"dropout=0", "biases=none", NULL});
    szgi_context_set_ops(context, szgi_ops_reference64());
    subject s = open_subject(&config, false);
    int64_t width = config.model.width, rows = SEQUENCES * POSITIONS;
    ck_szg_ok(szgi_decoder_embed(context, s.decoder, &batch.batch, false));
    for (int64_t l = 0; l < config.model.layers; l++) {
        ck_szg_ok(szgi_decoder_attend(context, s.decoder, l));
        const szgi_attention *a = szgi_decoder_attention(s.decoder);
        ck_assert(a->out == szgi_decoder_heads(s.decoder) && a->d_v == width / config.model.heads);
        ck_assert(a->heads == config.model.heads && a->length == POSITIONS);
        if (l == 1)
            ck_szg_ok(szgi_device_clear(context, szgi_decoder_heads(s.decoder), rows * width * 8));
        ck_szg_ok(szgi_decoder_finish(context, s.decoder, l));
    }
    ck_szg_ok(szgi_decoder_classify(context, s.decoder));
    double *cleared = logits_of(&s, SEQUENCES);
    const szgi_parameter *p = szgi_model_find(s.model, "layers.1.out_linear.weight");
    ck_szg_ok(szgi_device_clear(context, (char *)szgi_model_arena(s.model) + p->offset * 8,
                                p->count * 8));
    ck_szg_ok(szgi_decoder_forward(context, s.decoder, &batch.batch));
    double *zeroed = logits_of(&s, SEQUENCES);
    ck_close(distance(SEQUENCES * WORDS, cleared, zeroed), 0, 1e-14);
    szgi_memory_free(cleared);
    szgi_memory_free(zeroed);
    close_subject(&s);
    free_batch(&batch);
    szgi_context_set_ops(context, NULL);
}
END_TEST

/* ---- What can go wrong ---- */

static szg_status run_all(const szg_train_config *config, const szgi_batch *batch, bool training) {
    szg_context *context = test_context();
    szg_model *model = NULL;
    szgi_decoder *decoder = NULL;
    step_memory *memory = NULL;
    void *gradient = NULL;
    szg_status status = szgi_model_open(context, config, CLASSES, &model);
    if (status == SZG_OK)
        status = szgi_model_initialise(context, model, 1);
    if (status == SZG_OK)
        status = szgi_decoder_open(context, model, batch->count, batch->length, training, &decoder);
    if (status == SZG_OK)
        status = szgi_device_alloc(context, sizeof *memory, &memory);
    if (status == SZG_OK)
        status = szgi_device_alloc(context, szgi_model_count(model) * 4, &gradient);
    if (status == SZG_OK) {
        szgi_decoder_set_block(decoder, &memory->block);
        status = szgi_decoder_forward(context, decoder, batch);
    }
    if (status == SZG_OK && training)
        status = szgi_decoder_backward(context, decoder, gradient, &memory->tally);
    szgi_device_free(context, gradient);
    szgi_device_free(context, memory);
    szgi_decoder_close(context, &decoder);
    szg_model_close(context, &model);
    return status;
}

START_TEST(allocation_failures) {
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    const variant *v = &variants[_i];
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    ck_survives_failed_allocations(10, run_all(&config, &batch.batch, _i % 2));
    free_batch(&batch);
}
END_TEST

START_TEST(refusals) {
    szg_context *context = test_context();
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szgi_decoder *decoder;
    ck_szg_fails(SZG_EINVAL, "max_length=7",
                 szgi_decoder_open(context, s.model, 3, 8, true, &decoder));
    ck_assert_ptr_null(decoder);
    ck_szg_fails(SZG_EINVAL, "0 sequences embedded", szgi_decoder_attend(context, s.decoder, 0));
    ck_szg_fails(SZG_EINVAL, "forward pass comes first",
                 szgi_decoder_score(context, s.decoder, &s.memory->tally));
    szgi_batch wrong = b.batch;
    wrong.count = SEQUENCES + 1;
    ck_szg_fails(SZG_EINVAL, "4 sequences of 7 positions, opened for 1 .. 3",
                 szgi_decoder_forward(context, s.decoder, &wrong));
    b.tokens[9] = WORDS;
    ck_szg_fails(SZG_EINVAL, "token 11 of sequence 1, position 2",
                 szgi_decoder_forward(context, s.decoder, &b.batch));
    b.tokens[9] = 0;
    b.labels[2] = CLASSES;
    ck_szg_fails(SZG_EINVAL, "label 5 of sequence 2",
                 szgi_decoder_forward(context, s.decoder, &b.batch));
    b.labels[2] = 0;
    b.lengths[1] = 0;
    ck_szg_fails(SZG_EINVAL, "sequence 1 has length 0",
                 szgi_decoder_forward(context, s.decoder, &b.batch));
    b.lengths[1] = 2;
    wrong = b.batch;
    wrong.labels = NULL;
    ck_szg_ok(szgi_decoder_forward(context, s.decoder, &wrong));
    ck_szg_fails(SZG_EINVAL, "no labels", szgi_decoder_score(context, s.decoder, &s.memory->tally));
    ck_szg_fails(SZG_EINVAL, "layer 2 of 2", szgi_decoder_attend(context, s.decoder, 2));
    ck_szg_fails(SZG_EINVAL, "opened for evaluation",
                 szgi_decoder_backward(context, s.decoder, s.gradient, &s.memory->tally));
    close_subject(&s);
    s = open_subject(&config, true);
    szgi_decoder_set_block(s.decoder, NULL);
    ck_szg_fails(SZG_EINVAL, "block", szgi_decoder_forward(context, s.decoder, &b.batch));
    close_subject(&s);
    free_batch(&b);
}
END_TEST

TEST_FILE("decoder") {
    test_add_loop(suite, "cpu_agrees_with_reference", cpu_agrees_with_reference, VARIANTS);
    test_add_loop(suite, "evaluation_is_training_without_dropout",
                  evaluation_is_training_without_dropout, VARIANTS);
    test_add_loop(suite, "company_does_not_matter", company_does_not_matter, VARIANTS);
    test_add(suite, "padding", padding);
    test_add(suite, "amount_of_padding", amount_of_padding);
    test_add_loop(suite, "threads", threads, VARIANTS);
    test_add(suite, "pieces", pieces);
    test_add_loop(suite, "allocation_failures", allocation_failures, VARIANTS);
    test_add(suite, "refusals", refusals);
}
