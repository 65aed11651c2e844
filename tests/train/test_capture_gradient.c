/* The gradient's norm by head. */
#include "plugin/backend.h"
#include "network/ops.h"
#include "capture_support.h"

static const double EPS = 0x1p-52;

/* A gradient that is 3 in one place and 4 in another: a head's norm is 5, 3, 4 or 0 as these places
 * belong to it. The 3 is in W_Q; the 4 in W_O, which is neither W_Q nor W_K. */
START_TEST(gradient_norms_by_place) {
    static const struct {
        const char *encoding, *query, *out;
        int64_t each, width; /* rows of W_Q that a head has; columns of W_O in all */
    } cases[] = {{"rope", "layers.1.q_linear.weight", "layers.1.out_linear.weight", 4, 8},
                 {"mla", "layers.1.attn.W_QR.weight", "layers.1.attn.out_proj.weight", 4, 8}};
    for (int e = 0; e < 2; e++) {
        szg_train_config config = small_config(SZG_PROFILE_TEXT, cases[e].encoding, NULL);
        subject s = open_subject(&config, false);
        const szgi_parameter *query = szgi_model_find(s.model, cases[e].query);
        const szgi_parameter *out = szgi_model_find(s.model, cases[e].out);
        for (int64_t a = 0; a < 2; a++)
            for (int64_t b = 0; b < 2; b++) {
                const double three = 3, four = 4, zero = 0;
                double norms[2], other[2], norms_qk[2], other_qk[2];
                int64_t row = query->offset + (a * cases[e].each + 1) * query->shape[1] + 2;
                int64_t column = out->offset + 5 * out->shape[1] + b * 4 + 3;
                ck_szg_ok(szgi_model_write(test_context(), s.model, s.gradient, row, 1, &three));
                ck_szg_ok(szgi_model_write(test_context(), s.model, s.gradient, column, 1, &four));
                ck_szg_ok(szgi_capture_gradient_norms(test_context(), s.model, s.gradient, 1, norms,
                                                      norms_qk));
                ck_szg_ok(szgi_capture_gradient_norms(test_context(), s.model, s.gradient, 0, other,
                                                      other_qk));
                for (int h = 0; h < 2; h++) {
                    ck_close(norms[h], hypot(a == h ? 3 : 0, b == h ? 4 : 0), 8 * EPS);
                    ck_close(norms_qk[h], a == h ? 3 : 0, 4 * EPS);
                    ck_assert(other[h] == 0 && other_qk[h] == 0);
                }
                ck_szg_ok(szgi_model_write(test_context(), s.model, s.gradient, row, 1, &zero));
                ck_szg_ok(szgi_model_write(test_context(), s.model, s.gradient, column, 1, &zero));
            }
        close_subject(&s);
    }
}
END_TEST

/* The heads' squares make up those of the whole weights, biases and shared parts left out. */
START_TEST(gradient_norms_add_up) {
    static const struct {
        szg_profile profile;
        const char *encoding;
        int queries_keys; /* of the weights, those that stand first */
        const char *weights[5];
    } cases[] = {
        {SZG_PROFILE_TEXT,
         "rope",
         2,
         {"q_linear.weight", "k_linear.weight", "v_linear.weight", "out_linear.weight", NULL}},
        {SZG_PROFILE_TEXT,
         "mla",
         3,
         {"attn.W_UQ.weight", "attn.W_UK.weight", "attn.W_QR.weight", "attn.W_UV.weight",
          "attn.out_proj.weight"}},
        {SZG_PROFILE_RELEASED,
         "mla",
         2,
         {"attn.W_UQ.weight", "attn.W_UK.weight", "attn.W_UV.weight", "attn.out_proj.weight",
          NULL}}};
    for (int e = 0; e < 3; e++) {
        szg_train_config config = small_config(cases[e].profile, cases[e].encoding, NULL);
        subject s = open_subject(&config, true);
        drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
        double *g = gradients_of(&s, &b.batch), sum = 0, norms[2], norms_qk[2], sum_qk = 0;
        for (int w = 0; w < 5 && cases[e].weights[w]; w++) {
            char name[64];
            snprintf(name, sizeof name, "layers.0.%s", cases[e].weights[w]);
            const szgi_parameter *p = szgi_model_find(s.model, name);
            double own = 0;
            for (int64_t i = 0; i < p->count; i++)
                own += g[p->offset + i] * g[p->offset + i];
            sum += own;
            sum_qk += w < cases[e].queries_keys ? own : 0;
        }
        ck_szg_ok(
            szgi_capture_gradient_norms(test_context(), s.model, s.gradient, 0, norms, norms_qk));
        ck_close(hypot(norms[0], norms[1]), sqrt(sum), 1e-12 * sqrt(sum));
        ck_close(hypot(norms_qk[0], norms_qk[1]), sqrt(sum_qk), 1e-12 * sqrt(sum_qk));
        ck_assert(norms[0] > 0 && norms[1] > 0 && norms_qk[0] > 0 && norms_qk[1] > 0);
        szgi_memory_free(g);
        free_batch(&b);
        close_subject(&s);
    }
}
END_TEST

/* Downloads of a context whose backend is the reference that counts them. */
static int64_t downloads;

static szg_status counting_download(szg_context *context, void *to, const void *from,
                                    int64_t bytes) {
    downloads++;
    return szgi_ops_reference()->network->download(context, to, from, bytes);
}

static int64_t downloads_with(subject *s, const szg_examples *examples, int64_t probes) {
    szg_capture_config what = everything(probes);
    szg_table *table;
    downloads = 0;
    ck_szg_ok(capture_into(test_context(), s, &what, examples, NULL, s->gradient, NULL, &table));
    szg_table_close(&table);
    return downloads;
}

/* One more probe costs the content's and the coupled logits of two layers, no further look at the
 * gradient. */
START_TEST(gradient_norms_once_a_step) {
    const szgi_ops *before = szgi_context_ops(test_context());
    szgi_network_ops network = *szgi_ops_reference()->network;
    struct szgi_ops ops = *szgi_ops_reference();
    network.download = counting_download;
    ops.network = &network;
    szgi_context_set_ops(test_context(), &ops);
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    fill_examples(&examples);
    int64_t one = downloads_with(&s, &examples, 1);
    ck_assert_int_eq(downloads_with(&s, &examples, 2) - one, 2 * 2);
    szg_examples_close(&examples);
    close_subject(&s);
    szgi_context_set_ops(test_context(), before);
}
END_TEST

TEST_FILE("capture_gradient") {
    test_add(suite, "gradient_norms_by_place", gradient_norms_by_place);
    test_add(suite, "gradient_norms_add_up", gradient_norms_add_up);
    test_add(suite, "gradient_norms_once_a_step", gradient_norms_once_a_step);
}
