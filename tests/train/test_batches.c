/* Batches that are gathered from a set in the backend's memory, and batches that are repeated. */
#include "plugin/backend.h"
#include "formats/examples.h"
#include "../../train/data/resident.h"
#include "decoder_support.h"

enum { MANY = 9 };
static const batch_limits limits = {POSITIONS, WORDS, CLASSES};

/* Examples of 1 .. POSITIONS words. */
static szg_examples draw_examples(void) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 80};
    szg_examples examples = {0};
    for (int64_t e = 0; e < MANY; e++) {
        int32_t tokens[POSITIONS];
        uint64_t at = (uint64_t)e * 16;
        int64_t length = 1 + szgi_random_below(&stream, at, POSITIONS);
        for (int64_t i = 0; i < length; i++)
            tokens[i] = (int32_t)(1 + szgi_random_below(&stream, at + 1 + (uint64_t)i, WORDS - 1));
        int32_t label = (int32_t)szgi_random_below(&stream, at + 15, CLASSES);
        ck_szg_ok(szgi_examples_add(test_context(), &examples, length, tokens, label));
    }
    return examples;
}

/* The examples order[first ..] as a batch of the host. */
static drawn_batch fill(const szg_examples *examples, const int64_t *order, int64_t count) {
    drawn_batch b = draw_batch(count, POSITIONS);
    ck_szg_ok(szgi_batch_fill(test_context(), examples, order, count, POSITIONS, WORDS, CLASSES,
                              b.tokens, b.lengths, b.labels));
    return b;
}

static void check_same(int64_t count, const double *want, double *got) {
    ck_assert(memcmp(want, got, (size_t)count * sizeof *got) == 0);
    szgi_memory_free(got);
}

/* The same pass, from the host's batch and from the set: by a place of the host and of a block. */
START_TEST(gathered_batches_are_the_hosts) {
    const variant *v = &variants[_i];
    const int64_t order[MANY] = {4, 8, 0, 2, 7, 1, 3, 6, 5};
    szg_context *context = test_context();
    szg_examples examples = draw_examples();
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    subject s = open_sized(&config, true, SEQUENCES, POSITIONS);
    resident_set set;
    ck_szg_ok(szgi_resident_open(context, &examples, &limits, true, &set));
    ck_szg_ok(szgi_resident_set_order(context, &set, order));
    for (int64_t first = 0; first < MANY; first += SEQUENCES) {
        drawn_batch host = fill(&examples, order + first, SEQUENCES);
        double *want = gradients_of(&s, &host.batch);
        szgi_tally tally = tally_of(&s), again;
        int64_t count = szgi_model_count(s.model);
        for (int which = 0; which < 2; which++) {
            const szgi_step_block block = {
                .seed = test_seed(), .step = 5, .finite = 1, .first = first};
            ck_szg_ok(szgi_device_upload(context, &s.memory->block, &block, sizeof block));
            szgi_gather gather = szgi_resident_batch(
                &set, which ? -1 : first, which ? &s.memory->block : NULL, SEQUENCES, POSITIONS);
            ck_szg_ok(szgi_decoder_gather(context, s.decoder, &gather));
            check_same(count, want, gradients_of(&s, NULL));
            again = tally_of(&s);
            ck_assert_mem_eq(&tally, &again, sizeof tally);
        }
        szgi_memory_free(want);
        free_batch(&host);
    }
    szgi_resident_close(context, &set);
    close_subject(&s);
    szg_examples_close(&examples);
}
END_TEST

static void refuse(szg_examples *examples, int32_t *place, int32_t value, const char *words) {
    resident_set set;
    int32_t kept = *place;
    *place = value;
    ck_szg_fails(SZG_EDATA, words,
                 szgi_resident_open(test_context(), examples, &limits, false, &set));
    *place = kept;
    ck_assert_ptr_null(set.start);
}

START_TEST(bad_examples_are_refused) {
    szg_examples examples = draw_examples();
    resident_set set;
    refuse(&examples, &examples.tokens[examples.start[3]], WORDS,
           "example 4 (from 1): token 0 is 11, outside the words 1 .. 10 (model.vocabulary)");
    refuse(&examples, &examples.tokens[examples.start[8]], 0, "example 9 (from 1): token 0 is 0");
    refuse(&examples, &examples.label[1], CLASSES, "label 5 is outside the classes 0 .. 4");
    const batch_limits shorter = {examples.longest - 1, WORDS, CLASSES};
    ck_szg_fails(SZG_EDATA, "more than the",
                 szgi_resident_open(test_context(), &examples, &shorter, false, &set));
    ck_survives_failed_allocations(
        3, szgi_resident_open(test_context(), &examples, &limits, true, &set));
    szgi_resident_close(test_context(), &set);
    szg_examples_close(&examples);
}
END_TEST

/* ---- Copies ---- */

/* The heads' outputs or the stream of the batch, behind itself once more. */
static void copy_behind(void *array, int64_t bytes, int64_t copies) {
    for (int64_t copy = 1; copy < copies; copy++)
        ck_szg_ok(szgi_device_copy(subject_context(), (char *)array + copy * bytes, array, bytes));
}

/* From layer 1 on two copies of a batch go through; both end as the batch alone does, but for the
 * rounding of products that are blocked by their number of rows. */
START_TEST(copies_are_the_batch_again) {
    const variant *v = &variants[_i];
    szg_context *context = test_context();
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    szgi_context_set_ops(context, szgi_ops_reference64());
    subject s = open_sized(&config, false, 2 * SEQUENCES, POSITIONS);
    int64_t classes = szgi_model_classes(s.model), rows = SEQUENCES * POSITIONS;
    double loss = loss_of(&s, &batch.batch), *want = logits_of(&s, SEQUENCES);
    szgi_tally *tally, host[2];
    ck_szg_ok(szgi_device_alloc(context, sizeof host, &tally));
    ck_szg_ok(szgi_decoder_embed(context, s.decoder, NULL, false));
    ck_szg_ok(szgi_decoder_attend(context, s.decoder, 0));
    ck_szg_ok(szgi_decoder_finish(context, s.decoder, 0));
    ck_szg_ok(szgi_decoder_attend(context, s.decoder, 1));
    copy_behind(szgi_decoder_heads(s.decoder), rows * config.model.width * 8, 2);
    copy_behind(szgi_decoder_stream(s.decoder), rows * config.model.width * 8, 2);
    ck_szg_ok(szgi_decoder_repeat(context, s.decoder, 2));
    ck_szg_fails(SZG_EINVAL, "forward pass comes first",
                 szgi_decoder_score(context, s.decoder, tally));
    ck_szg_ok(szgi_decoder_finish(context, s.decoder, 1));
    ck_szg_ok(szgi_decoder_classify(context, s.decoder));
    ck_szg_ok(szgi_decoder_score(context, s.decoder, tally));
    ck_szg_ok(szgi_device_download(context, host, tally, sizeof host));
    ck_assert_mem_eq(&host[0], &host[1], sizeof host[0]);
    ck_close(host[0].loss / (double)host[0].counted, loss, 1e-14 * loss);
    double *got = logits_of(&s, 2 * SEQUENCES);
    for (int64_t i = 0; i < 2 * SEQUENCES * classes; i++)
        ck_close(got[i], want[i % (SEQUENCES * classes)], 1e-13);
    ck_szg_ok(szgi_decoder_forward(context, s.decoder, NULL)); /* alone again */
    check_same(SEQUENCES * classes, want, logits_of(&s, SEQUENCES));
    szgi_memory_free(want);
    szgi_memory_free(got);
    szgi_device_free(context, tally);
    close_subject(&s);
    szgi_context_set_ops(context, NULL);
    free_batch(&batch);
}
END_TEST

START_TEST(refusals) {
    szg_context *context = test_context();
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_sized(&config, false, SEQUENCES + 1, POSITIONS);
    szgi_gather gather = {.count = SEQUENCES + 2, .length = POSITIONS, .examples = 9};
    ck_szg_fails(SZG_EINVAL, "no batch at hand", szgi_decoder_forward(context, s.decoder, NULL));
    ck_szg_fails(SZG_EINVAL, "1 copies of the 0 sequences at hand",
                 szgi_decoder_repeat(context, s.decoder, 1));
    ck_szg_ok(szgi_decoder_forward(context, s.decoder, &b.batch));
    ck_szg_fails(SZG_EINVAL, "2 copies of the 3 sequences at hand: 1 .. 1 fit",
                 szgi_decoder_repeat(context, s.decoder, 2));
    ck_szg_fails(SZG_EINVAL, "a batch of 5 sequences",
                 szgi_decoder_gather(context, s.decoder, &gather));
    ck_szg_fails(SZG_EINVAL, "no batch at hand", szgi_decoder_forward(context, s.decoder, NULL));
    close_subject(&s);
    s = open_sized(&config, true, 2 * SEQUENCES, POSITIONS);
    ck_szg_ok(szgi_decoder_forward(context, s.decoder, &b.batch));
    ck_szg_fails(SZG_EINVAL, "1 .. 1 fit", szgi_decoder_repeat(context, s.decoder, 2));
    close_subject(&s);
    free_batch(&b);
}
END_TEST

TEST_FILE("batches") {
    test_add_loop(suite, "gathered_batches_are_the_hosts", gathered_batches_are_the_hosts,
                  VARIANTS);
    test_add(suite, "bad_examples_are_refused", bad_examples_are_refused);
    test_add_loop(suite, "copies_are_the_batch_again", copies_are_the_batch_again, VARIANTS);
    test_add(suite, "refusals", refusals);
}
