/* Every family has the logits that transformers computed. */
#include <math.h>
#include <stdlib.h>

#include "families_oracle.h"

/* So many models at least; tools/families --count tries one at a time. */
static int least(int models) {
    const char *text = getenv("SZG_FAMILIES_LEAST");
    return text ? atoi(text) : models;
}

START_TEST(logits_of_every_family) {
    ck_assert_int_ge(check_all("config.json", check_layer), least(70));
}
END_TEST

/* The mask leaves later keys where szego says that queries see them, and nowhere else. */
static void check_direction(const family_case *own, int64_t layer) {
    const szgi_tensor *logits = oracle_tensor(own, layer, "logits");
    bool later = false;
    if (!logits || strcmp(own->stack, "cross.") == 0)
        return;
    double *value = read_all(logits);
    for (int64_t i = 0, n = logits->shape[2]; i < logits->shape[1]; i++)
        for (int64_t j = i + 1; j < n; j++)
            later = later || !isnan(value[i * n + j]);
    free(value);
    ck_assert_msg(later == szgi_sees_later(own->checkpoint),
                  "%s: %slayer %lld: transformers %s later keys", own->folder, own->stack,
                  (long long)layer, later ? "does not mask" : "masks");
}

START_TEST(masks_of_every_family) {
    ck_assert_int_ge(check_all("config.json", check_direction), least(70));
}
END_TEST

START_TEST(configurations_of_version_4) {
    ck_assert_int_ge(check_all("config-4.json", check_layer), 40);
}
END_TEST

/* Sinusoids that no file has: the table in the model's memory, in single precision, where the
 * position's row is the first in use. Its angles are rounded before sine and cosine. */
START_TEST(sinusoids_of_translators) {
    static const struct {
        const char *family, *table;
        int64_t first;
    } each[] = {{"marian", "sinusoids.model.decoder.embed_positions", 0},
                {"m2m_100", "sinusoids.model.decoder.embed_positions", 1},
                {"xglm", "sinusoids.model.embed_positions", 2},
                {"nllb-moe", "sinusoids.model.encoder.embed_positions", 1},
                {"ctrl", "sinusoids.transformer", 0}};
    enum { POSITIONS = 40 };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char folder[512], file[640];
        szg_checkpoint *checkpoint;
        szgi_safetensors *oracle;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), each[i].family);
        snprintf(file, sizeof file, "%s/oracle.safetensors", folder);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
        ck_szg_ok(szgi_safetensors_open(test_context(), file, &oracle));
        int64_t d = checkpoint->model_size;
        double *got = calloc((size_t)(POSITIONS * d), sizeof *got);
        const szgi_tensor *tensor = szgi_safetensors_find(oracle, each[i].table);
        ck_assert_msg(tensor, "%s has no %s", file, each[i].table);
        double *want = read_all(tensor) + each[i].first * d;
        ck_szg_ok(szgi_checkpoint_positions(test_context(), checkpoint, POSITIONS, got));
        for (int64_t k = 0; k < POSITIONS * d; k++)
            ck_assert_msg(fabs(got[k] - want[k]) <= gamma32(4) * (double)(POSITIONS + 2),
                          "%s: position %lld, column %lld: %.9g, transformers has %.9g",
                          each[i].family, (long long)(k / d), (long long)(k % d), got[k], want[k]);
        free(want - each[i].first * d);
        free(got);
        szgi_safetensors_close(&oracle);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

static szg_status open_changed(const char *folder, const char *stack) {
    static const char *const set[] = {"quantization_config.weight_block_size=null",
                                      "text_config=text"};
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .stack = stack,
                                            .set = set, .sets = 2};
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    SZG_TRY(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    int64_t size = checkpoint->head_size * checkpoint->model_size;
    double *rows = calloc((size_t)size, sizeof *rows);
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables);
    if (status == SZG_OK)
        status = szgi_checkpoint_queries(test_context(), checkpoint, 1, 0, rows);
    if (status == SZG_OK)
        status = szgi_checkpoint_keys(test_context(), checkpoint, 1, 0, rows);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    free(rows);
    return status;
}

/* Of each kind of layout, note and rotation: no refused allocation is overlooked. */
START_TEST(families_survive_refused_allocations) {
    static const struct {
        const char *family, *stack;
    } each[] = {{"deepseek_v3", NULL},     {"gpt_oss", NULL},     {"phi3-longrope", NULL},
                {"gemma3n_text", NULL},    {"t5", "cross"},       {"electra", NULL},
                {"codegen", NULL},         {"llama4_text", NULL}, {"marian", "cross"},
                {"esm-absolute", NULL},    {"bamba", NULL},       {"opt-after", NULL},
                {"xlnet", NULL},           {"granite_swa", NULL}, {"deberta", NULL},
                {"mimo_v2_flash", "full"}, {"cohere2_moe", NULL}, {"beit", NULL}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), each[i].family);
        ck_survives_failed_allocations(1, open_changed(folder, each[i].stack));
    }
}
END_TEST

TEST_FILE("families") {
    test_add(suite, "logits_of_every_family", logits_of_every_family);
    test_add(suite, "masks_of_every_family", masks_of_every_family);
    test_add(suite, "configurations_of_version_4", configurations_of_version_4);
    test_add(suite, "sinusoids_of_translators", sinusoids_of_translators);
    test_add(suite, "families_survive_refused_allocations", families_survive_refused_allocations);
}
