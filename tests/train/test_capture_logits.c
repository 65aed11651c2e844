/* Captured logits: against formulas on the host, and against passes over whole batches. */
#include "capture_oracle.h"
#include "plugin/backend.h"
#include "capture_support.h"

static const double EPS = 0x1p-52;

static void check_first_layer(const char *encoding, bool zeroed, double tolerance) {
    static const char *const none[] = {NULL};
    szg_train_config config = small_config(SZG_PROFILE_TEXT, encoding, none);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(2);
    szg_table *table;
    char *folder = new_folder();
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, folder, &table));
    szgi_safetensors *set = open_dump(folder);
    for (int64_t probe = 0; probe < 2; probe++) {
        const int32_t *tokens = examples.tokens + examples.start[probe];
        int64_t n = examples.start[probe + 1] - examples.start[probe], d, d0;
        double *q[2], *k[2], want[POSITIONS * POSITIONS];
        sides_of(&s, n, tokens, true, &q[1], &k[1], &d);
        sides_of(&s, n, tokens, !zeroed, &q[0], &k[0], &d0);
        for (int64_t head = 0; head < 2; head++)
            for (int which = 0; which < 2; which++) {
                double *got = dumped(set, 0, head, probe, which ? "coupled" : "content", n);
                if (which)
                    couple_on_host(&s, head, n, d, q[1] + head * d, k[1] + head * d, want);
                else
                    plain_product(n, d, q[0] + head * d, k[0] + head * d, want);
                for (int64_t i = 0; i < n * n; i++)
                    ck_assert_msg(fabs(got[i] - want[i]) <= tolerance * (1 + norm_of(n * n, want)),
                                  "%s, head %d, %d, entry %d: %g, not %g", encoding, (int)head,
                                  which, (int)i, got[i], want[i]);
                szgi_memory_free(got);
            }
        for (int i = 0; i < 2; i++) {
            szgi_memory_free(q[i]);
            szgi_memory_free(k[i]);
        }
    }
    for (int64_t r = 0; r < szg_table_rows(table); r++)
        ck_assert_str_eq(text(table, r, "content_kind"), zeroed ? "zeroed" : "same_qk");
    szgi_safetensors_close(&set);
    szg_table_close(&table);
    szg_examples_close(&examples);
    close_subject(&s);
    remove_folder(folder);
}

/* In double precision the two ways differ by rounding alone: products of length 8 and a norm. */
START_TEST(first_layer_by_formulas) {
    static const struct {
        const char *encoding;
        bool zeroed;
    } cases[] = {{"nope", false},
                 {"rope", false},
                 {"rope:rotate=1", false},
                 {"rope:rotary=2", false},
                 {"alibi", false},
                 {"kms:rho=0.5", false},
                 {"relative", false},
                 {"mla", false},
                 {"t5:buckets=8,max_distance=6", false},
                 {"rope:bands=heads,band_shift=1", false},
                 {"rope:theta=0.7", false},
                 {"rope-bias:scale=2", false},
                 {"mla:rope=10", false},
                 {"absolute", true}};
    const szgi_ops *before = szgi_context_ops(test_context());
    for (int wide = 0; wide < 2; wide++) {
        if (wide)
            szgi_context_set_ops(test_context(), szgi_ops_reference64());
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            check_first_layer(cases[i].encoding, cases[i].zeroed, wide ? 1000 * EPS : 1e-5);
        szgi_context_set_ops(test_context(), before);
    }
}
END_TEST

/* ---- Every layer and variant, by passes over the whole padded batch ---- */

static void check_variant(const variant *v) {
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(2);
    const int64_t order[2] = {2, 1}; /* none of them is as long as the batch */
    szg_table *table;
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    char *folder = new_folder();
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, order, NULL, folder, &table));
    bool zeroed = strcmp(text(table, 0, "content_kind"), "zeroed") == 0;
    int64_t size = SEQUENCES * 2 * POSITIONS * POSITIONS;
    szgi_safetensors *set = open_dump(folder);
    void *device;
    ck_szg_ok(
        szgi_device_alloc(test_context(), size * szgi_network_real_size(test_context()), &device));
    for (int which = 0; which < 2; which++) {
        ck_szg_ok(szgi_decoder_embed(test_context(), s.decoder, &b.batch, which == 0 && zeroed));
        for (int64_t layer = 0; layer < 2; layer++) {
            ck_szg_ok(szgi_decoder_attend(test_context(), s.decoder, layer));
            ck_szg_ok(szgi_network_attention_logits(
                test_context(), szgi_decoder_attention(s.decoder), which == 1, device));
            double *want = download(device, size);
            for (int64_t at = 2; at < SEQUENCES * 2; at++) {
                int64_t n = b.lengths[at / 2];
                double *got =
                    dumped(set, layer, at % 2, 2 - at / 2, which ? "coupled" : "content", n);
                for (int64_t i = 0; i < n * n; i++)
                    ck_assert_msg(
                        fabs(got[i] - want[(at * POSITIONS + i / n) * POSITIONS + i % n]) <=
                            2e-5 * (1 + fabs(got[i])),
                        "%s: layer %d, sequence %d, head %d, %s, entry %d", name_of(v), (int)layer,
                        (int)at / 2, (int)at % 2, which ? "coupled" : "content", (int)i);
                szgi_memory_free(got);
            }
            szgi_memory_free(want);
            ck_szg_ok(szgi_decoder_finish(test_context(), s.decoder, layer));
        }
    }
    szgi_device_free(test_context(), device);
    szgi_safetensors_close(&set);
    szg_table_close(&table);
    szg_examples_close(&examples);
    free_batch(&b);
    close_subject(&s);
    remove_folder(folder);
}

START_TEST(every_variant_by_batches) {
    for (int i = 0; i < VARIANTS; i++)
        check_variant(&variants[i]);
}
END_TEST

TEST_FILE("capture_logits") {
    test_add(suite, "first_layer_by_formulas", first_layer_by_formulas);
    test_add(suite, "every_variant_by_batches", every_variant_by_batches);
}
