/* Every family has the logits that transformers computed. */
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

START_TEST(configurations_of_version_4) {
    ck_assert_int_ge(check_all("config-4.json", check_layer), 40);
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
    } each[] = {{"deepseek_v3", NULL},  {"gpt_oss", NULL},    {"phi3-longrope", NULL},
                {"gemma3n_text", NULL}, {"t5", "cross"},      {"electra", NULL},
                {"codegen", NULL},      {"llama4_text", NULL}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), each[i].family);
        ck_survives_failed_allocations(1, open_changed(folder, each[i].stack));
    }
}
END_TEST

TEST_FILE("families") {
    test_add(suite, "logits_of_every_family", logits_of_every_family);
    test_add(suite, "configurations_of_version_4", configurations_of_version_4);
    test_add(suite, "families_survive_refused_allocations", families_survive_refused_allocations);
}
