/* A model in memory gives the tables of the same model in a folder. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "families_oracle.h"

enum { MOST = 4096 };

/* The tensors of FOLDER/model.safetensors, and the text of its config.json. */
typedef struct memory_model {
    unsigned char *file; /* begins at an odd address, as numbers in memory may */
    char *config;
    szgi_safetensors *set;
    szg_tensor tensor[MOST];
    szg_tensors list;
    const unsigned char *number[MOST]; /* what `read` answers from */
    _Atomic int64_t asked;             /* bytes */
    int64_t refused;                   /* the tensor that cannot be had; -1: none */
} memory_model;

static unsigned char *read_file(const char *folder, const char *name, size_t before,
                                int64_t *size) {
    char path[768];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file && fstat(fileno(file), &info) == 0, "%s", path);
    *size = (int64_t)info.st_size;
    unsigned char *bytes = calloc((size_t)*size + before + 1, 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(fread(bytes + before, 1, (size_t)*size, file), *size);
    ck_assert_int_eq(fclose(file), 0);
    return bytes;
}

static int answer(void *user, int64_t index, int64_t offset, int64_t bytes, void *out) {
    memory_model *model = user;
    ck_assert_int_ge(offset, 0);
    ck_assert_int_le(bytes, 1 << 16);
    if (index == model->refused)
        return 1;
    memcpy(out, model->number[index] + offset, (size_t)bytes);
    atomic_fetch_add(&model->asked, bytes);
    return 0;
}

/* The last tensor first: the order is no matter. asks: the numbers are asked for. */
static void memory_open(const char *folder, bool asks, memory_model *model) {
    int64_t size;
    *model = (memory_model){.refused = -1};
    model->config = (char *)read_file(folder, "config.json", 0, &size);
    model->file = read_file(folder, "model.safetensors", 1, &size);
    ck_szg_ok(szgi_safetensors_open_bytes(test_context(), "m", model->file + 1, size, &model->set));
    int64_t count = szgi_safetensors_count(model->set);
    ck_assert_int_le(count, MOST);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *from = szgi_safetensors_tensor(model->set, count - 1 - i);
        model->number[i] = from->data;
        model->tensor[i] = (szg_tensor){.name = from->name,
                                        .dtype = from->dtype_name,
                                        .dims = from->dims,
                                        .shape = from->shape,
                                        .data = asks ? NULL : from->data};
    }
    model->list = (szg_tensors){SZG_INIT(szg_tensors),
                                .name = folder,
                                .config = model->config,
                                .tensor = model->tensor,
                                .count = count,
                                .read = asks ? answer : NULL,
                                .user = model};
}

static void memory_close(memory_model *model) {
    szgi_safetensors_close(&model->set);
    free(model->file);
    free(model->config);
}

static szg_tensor *find(memory_model *model, const char *name) {
    for (int64_t i = 0; i < model->list.count; i++)
        if (strcmp(model->tensor[i].name, name) == 0)
            return &model->tensor[i];
    ck_abort_msg("no tensor %s", name);
}

static const szg_checkpoint_options all = {SZG_INIT(szg_checkpoint_options), .kernel = 4,
                                           .samples = 4};

/* The tables of what was opened, which is closed. */
static char *printed(szg_checkpoint *checkpoint) {
    szg_checkpoint_tables tables;
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &all, &tables));
    char *text = model_print(&tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return text;
}

/* The file of a tensor is the model itself in memory. */
static char *without_file(char *text) {
    static const char file[] = "/model.safetensors";
    for (char *at; (at = strstr(text, file));)
        memmove(at, at + strlen(file), strlen(at + strlen(file)) + 1);
    return text;
}

static char *print_folder(const char *folder, const szg_checkpoint_choices *choices) {
    szg_checkpoint *checkpoint;
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, choices, &checkpoint));
    return without_file(printed(checkpoint));
}

static char *print_memory(const memory_model *model, const szg_checkpoint_choices *choices) {
    szg_checkpoint *checkpoint;
    ck_szg_ok(szg_checkpoint_open_tensors(test_context(), &model->list, choices, &checkpoint));
    return printed(checkpoint);
}

/* Line by line; a line with the words `but` in `want` says in memory why itself. Frees both. */
static void check_lines(char *got, char *want, const char *but) {
    char *g = got, *w = want;
    while (*g || *w) {
        size_t own = strcspn(g, "\n"), other = strcspn(w, "\n");
        char *told = but ? memmem(w, other, but, strlen(but)) : NULL;
        ck_assert_msg(told || (own == other && memcmp(g, w, own) == 0), "got %.*s, want %.*s",
                      (int)(own < 900 ? own : 900), g, (int)(other < 900 ? other : 900), w);
        g += own + (g[own] != 0);
        w += other + (w[other] != 0);
    }
    free(got), free(want);
}

static void check_same(const char *folder, bool asks, const szg_checkpoint_choices *choices) {
    memory_model model;
    memory_open(folder, asks, &model);
    char *want = print_folder(folder, choices), *got = print_memory(&model, choices);
    check_lines(got, want, NULL);
    ck_assert_int_eq(model.asked > 0, asks);
    memory_close(&model);
}

START_TEST(every_family_is_read_as_from_its_folder) {
    DIR *families = opendir(data_folder());
    int count = 0;
    ck_assert_ptr_nonnull(families);
    for (struct dirent *entry; (entry = readdir(families));) {
        char folder[700];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), entry->d_name);
        check_same(folder, count++ % 2, NULL);
    }
    closedir(families);
    ck_assert_int_ge(count, 100);
}
END_TEST

START_TEST(choices_act_as_on_a_folder) {
    char folder[700];
    const char *const set[] = {"rope_parameters.rope_theta=1e6"};
    snprintf(folder, sizeof folder, "%s/t5", data_folder());
    check_same(folder, true,
               &(szg_checkpoint_choices){SZG_INIT(szg_checkpoint_choices), .stack = "cross"});
    snprintf(folder, sizeof folder, "%s/llama", data_folder());
    check_same(folder, false,
               &(szg_checkpoint_choices){SZG_INIT(szg_checkpoint_choices), .set = set, .sets = 1});
}
END_TEST

/* A small BERT with one tensor of each type, and one that is no float. */
static void add_types(test_model *model) {
    static const szgi_dtype types[] = {SZGI_DTYPE_F64, SZGI_DTYPE_F16, SZGI_DTYPE_BF16,
                                       SZGI_DTYPE_F32};
    model_add_bert(model);
    for (int i = 0; i < 4; i++)
        model->tensor[i].dtype = types[i];
    model_add(model, SZGI_DTYPE_INTEGER, 3, -1, "position_ids");
}

static szg_status open_memory(const memory_model *model) {
    szg_checkpoint *checkpoint = NULL;
    szg_status status =
        szg_checkpoint_open_tensors(test_context(), &model->list, NULL, &checkpoint);
    ck_assert_int_eq(status == SZG_OK, checkpoint != NULL);
    szg_checkpoint_close(&checkpoint);
    return status;
}

START_TEST(without_a_configuration_each_matrix_is_read_alone) {
    test_model files;
    memory_model model;
    model_open(&files);
    add_types(&files);
    model_write(&files, model_bert);
    memory_open(files.folder, true, &model);
    model.list.config = NULL;
    const szg_checkpoint_choices none = {SZG_INIT(szg_checkpoint_choices), .config = ""};
    char *want = print_folder(files.folder, &none), *got = print_memory(&model, NULL);
    check_lines(got, want, "config.json is not used");
    memory_close(&model);
    model_close(&files);
}
END_TEST

static const char key[] = "encoder.layer.1.attention.self.key.weight";

START_TEST(numbers_that_are_not_there_are_refused_by_name) {
    test_model files;
    memory_model model;
    model_open(&files);
    add_types(&files);
    model_write(&files, model_bert);
    memory_open(files.folder, false, &model);
    find(&model, key)->refusal = "is on the device \"meta\"";
    ck_szg_fails(SZG_EDATA, "encoder.layer.1.attention.self.key.weight: is on the device \"meta\"",
                 open_memory(&model));
    find(&model, key)->refusal = NULL;
    find(&model, "position_ids")->refusal = "is packed"; /* no query and no key */
    ck_szg_ok(open_memory(&model));
    find(&model, key)->data = NULL;
    ck_szg_fails(SZG_EINVAL, "key.weight: has no data, and `read` is NULL", open_memory(&model));
    memory_close(&model);
    model_close(&files);
}
END_TEST

START_TEST(a_caller_that_fails_ends_the_call) {
    test_model files;
    memory_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&files);
    add_types(&files);
    model_write(&files, model_bert);
    memory_open(files.folder, true, &model);
    model.refused = find(&model, key) - model.tensor;
    ck_szg_ok(szg_checkpoint_open_tensors(test_context(), &model.list, NULL, &checkpoint));
    ck_szg_fails(SZG_EIO, "key.weight: bytes 0 to 143 could not be had",
                 szg_checkpoint_analyse(test_context(), checkpoint, &all, &tables));
    szg_checkpoint_options journal = all;
    journal.journal = "never-made";
    ck_szg_fails(SZG_EINVAL, "a model in memory has no journal",
                 szg_checkpoint_analyse(test_context(), checkpoint, &journal, &tables));
    ck_assert_int_ne(access("never-made", F_OK), 0);
    szg_checkpoint_close(&checkpoint);
    memory_close(&model);
    model_close(&files);
}
END_TEST

START_TEST(what_is_wrong_with_the_arguments_is_said) {
    test_model files;
    memory_model model;
    szg_checkpoint *checkpoint;
    model_open(&files);
    add_types(&files);
    model_write(&files, model_bert);
    memory_open(files.folder, false, &model);
    const szg_checkpoint_choices file = {SZG_INIT(szg_checkpoint_choices), .config = "a.json"};
    ck_szg_fails(SZG_EINVAL, "the choices name a file: a.json",
                 szg_checkpoint_open_tensors(test_context(), &model.list, &file, &checkpoint));
    model.list.config = "{\"model_type\":";
    ck_szg_fails(SZG_EDATA, "config: ", open_memory(&model));
    model.list.config = "{\"model_type\":\"bert\",\"hidden_size\":6}";
    ck_szg_fails(SZG_EDATA, "config: num_attention_heads: 12 heads do not divide",
                 open_memory(&model));
    model.list.name = "";
    ck_szg_fails(SZG_EINVAL, "the model needs a name", open_memory(&model));
    model.list.size = 0;
    ck_szg_fails(SZG_EINVAL, "szg_tensors", open_memory(&model));
    memory_close(&model);
    model_close(&files);
}
END_TEST

static szg_status analyse_memory(const memory_model *model) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    SZG_TRY(szg_checkpoint_open_tensors(test_context(), &model->list, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, &all, &tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

START_TEST(refused_allocations) {
    test_model files;
    memory_model model;
    model_open(&files);
    add_types(&files);
    model_write(&files, model_bert);
    memory_open(files.folder, true, &model);
    ck_survives_failed_allocations(100, analyse_memory(&model));
    memory_close(&model);
    model_close(&files);
}
END_TEST

TEST_FILE("memory") {
    test_add(suite, "every_family_is_read_as_from_its_folder",
             every_family_is_read_as_from_its_folder);
    test_add(suite, "choices_act_as_on_a_folder", choices_act_as_on_a_folder);
    test_add(suite, "without_a_configuration_each_matrix_is_read_alone",
             without_a_configuration_each_matrix_is_read_alone);
    test_add(suite, "numbers_that_are_not_there_are_refused_by_name",
             numbers_that_are_not_there_are_refused_by_name);
    test_add(suite, "a_caller_that_fails_ends_the_call", a_caller_that_fails_ends_the_call);
    test_add(suite, "what_is_wrong_with_the_arguments_is_said",
             what_is_wrong_with_the_arguments_is_said);
    test_add(suite, "refused_allocations", refused_allocations);
}
