/* Models by the names that the Hugging Face hub gives them, found in caches on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"

#define LLAMA                                                                                      \
    "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":1,\"hidden_size\":" \
    "4,\"rope_theta\":10000}"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define OTHER "89abcdef0123456789abcdef0123456789abcdef"
#define REPOSITORY "models--org--m.1"

enum { MESSAGES = 4096, PATH = 256 };

static const char *const variables[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME",
                                        "XDG_CACHE_HOME", "HOME"};

static void clear_variables(void) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

static void keep_all(void *user, szg_severity severity, const char *text) {
    size_t used = strlen(user);
    snprintf((char *)user + used, MESSAGES - used, "%s%s\n",
             severity == SZG_WARNING ? "warning: " : "", text);
}

static void ck_said(const char *said, const char *words) {
    ck_assert_msg(strstr(said, words), "'%s' lacks '%s'", said, words);
}

/* Opens, analyses nothing and closes; `said`: messages, or the error. */
static szg_status open_as(const char *path, const char *revision, char said[static MESSAGES]) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1, .message = keep_all,
                                   .user = said};
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .revision = revision};
    szg_checkpoint *checkpoint;
    szg_context *context;
    said[0] = 0;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    szg_status status = szg_checkpoint_open_chosen(context, path, &choices, &checkpoint);
    if (status == SZG_OK)
        keep_all(said, SZG_NOTE, szg_checkpoint_describe(checkpoint).source);
    else
        snprintf(said, MESSAGES, "%s", szg_context_message(context));
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&context);
    return status;
}

static szg_checkpoint_place place_of(const char *path, const char *revision) {
    szg_checkpoint_place place;
    ck_szg_ok(szg_checkpoint_locate(test_context(), path, revision, &place));
    return place;
}

/* FOLDER/PATH, whose parents are made. */
static const char *make_parents(const test_model *model, const char *path) {
    static char whole[3 * PATH];
    snprintf(whole, sizeof whole, "%s/%s", model->folder, path);
    for (char *at = whole + strlen(model->folder) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(whole, 0777);
        *at = '/';
    }
    return whole;
}

static void put(const test_model *model, const char *folder, const char *name, const char *text) {
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    make_parents(model, path);
    model_write_text(model, path, text);
}

/* Writes a model and moves it to FOLDER/NAME, with its configuration. */
static void put_model(test_model *model, const char *folder, const char *name) {
    char from[PATH], path[2 * PATH];
    model_write(model, NULL);
    snprintf(from, sizeof from, "%s/model.safetensors", model->folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(rename(from, make_parents(model, path)), 0);
    put(model, folder, "config.json", LLAMA);
}

static void open_model(test_model *model) {
    model_open(model);
    clear_variables();
    model_add(model, SZGI_DTYPE_F32, 4, 4, "model.layers.0.self_attn.q_proj.weight");
    model_add(model, SZGI_DTYPE_F32, 4, 4, "model.layers.0.self_attn.k_proj.weight");
}

static void set(const char *variable, const test_model *model, const char *below) {
    char value[PATH];
    snprintf(value, sizeof value, "%s%s", model->folder, below);
    ck_assert_int_eq(setenv(variable, value, 1), 0);
}

/* The cache that each variable names, each of them before those that follow. */
START_TEST(the_variables_name_the_cache) {
    static const char *const below[] = {"/a", "/b", "/c", "/d", "/e"},
                             *const hub[] = {"a", "b", "c/hub", "d/huggingface/hub",
                                             "e/.cache/huggingface/hub"};
    test_model model;
    char said[MESSAGES], folder[PATH];
    open_model(&model);
    for (int i = 4; i >= 0; i--) {
        set(variables[i], &model, below[i]);
        ck_assert_int_eq(place_of("org/m.1", NULL), SZG_PLACE_NOWHERE);
        ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EIO);
        snprintf(folder, sizeof folder, "its cache %s/%s has no revision main", model.folder,
                 hub[i]);
        ck_said(said, folder);
        snprintf(folder, sizeof folder, "%s/" REPOSITORY, hub[i]);
        put(&model, folder, "refs/main", COMMIT "\n");
        snprintf(folder, sizeof folder, "%s/" REPOSITORY "/snapshots/" COMMIT, hub[i]);
        put_model(&model, folder, "model.safetensors");
        ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_OK);
        ck_said(said, "org/m.1: is a model of the Hugging Face hub: revision main in its cache");
        ck_said(said, folder);
        ck_assert_int_eq(place_of("org/m.1", NULL), SZG_PLACE_HUB);
    }
    for (int i = 0; i < 4; i++) /* an empty one counts as none */
        ck_assert_int_eq(setenv(variables[i], "", 1), 0);
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_OK);
    ck_said(said, "e/.cache/huggingface/hub");
    ck_assert_int_eq(setenv("HF_HOME", "~/../c", 1), 0);
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_OK);
    ck_said(said, "e/../c/hub/" REPOSITORY);
    clear_variables();
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EIO);
    ck_said(said, "its cache (HF_HOME and HOME are not set) has no revision main");
    model_close(&model);
}
END_TEST

START_TEST(a_revision_is_a_branch_a_tag_or_a_commit) {
    static const char *const none[] = {"",     "..",       "a/../b", "/main", "-x", "a b",
                                       "a;ls", "refs//pr", "a'b",    "main/", "."};
    test_model model;
    char said[MESSAGES];
    open_model(&model);
    set("HF_HUB_CACHE", &model, "");
    put_model(&model, REPOSITORY "/snapshots/" COMMIT, "model.safetensors");
    put_model(&model, REPOSITORY "/snapshots/" OTHER, "model.safetensors");
    put(&model, REPOSITORY, "refs/refs/pr/1", OTHER);
    put(&model, REPOSITORY, "refs/v1", COMMIT);
    put(&model, REPOSITORY, "refs/odd", "../../elsewhere");
    ck_assert_int_eq(open_as("org/m.1", "v1", said), SZG_OK);
    ck_said(said, "revision v1");
    ck_said(said, "snapshots/" COMMIT);
    ck_assert_int_eq(open_as("org/m.1", "refs/pr/1", said), SZG_OK);
    ck_said(said, "snapshots/" OTHER);
    ck_assert_int_eq(open_as("org/m.1", OTHER, said), SZG_OK);
    ck_said(said, "snapshots/" OTHER);
    ck_assert_int_eq(open_as("org/m.1", "v2", said), SZG_EIO);
    ck_said(said, "has no revision v2 of it: hf download org/m.1 --revision v2; or python3 -m "
                  "szego.hub org/m.1 --revision v2");
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EIO);
    ck_said(said, "has no revision main of it: hf download org/m.1; or");
    ck_assert_int_eq(open_as("org/m.1", "odd", said), SZG_EDATA);
    ck_said(said, "refs/odd: holds no commit: remove the file");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_int_eq(open_as("org/m.1", none[i], said), SZG_EINVAL);
        ck_said(said, "the name of a branch or tag, or a whole commit, is needed");
    }
    ck_assert_int_eq(open_as("nothing", "main", said), SZG_EINVAL);
    ck_said(said, "nothing: a revision is of a model of the Hugging Face hub, ORG/NAME");
    model_close(&model);
}
END_TEST

START_TEST(what_a_snapshot_lacks_is_named) {
    static const char snapshot[] = REPOSITORY "/snapshots/" COMMIT;
    test_model model;
    char said[MESSAGES], link[PATH];
    open_model(&model);
    set("HF_HUB_CACHE", &model, "");
    put(&model, REPOSITORY, "refs/main", COMMIT);
    put(&model, snapshot, "config.json", LLAMA); /* as a tokenizer leaves it */
    ck_assert_int_eq(place_of("org/m.1", NULL), SZG_PLACE_NOWHERE);
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EDATA);
    ck_said(said, "org/m.1: is not whole in the Hugging Face hub's cache: ");
    ck_said(said, "lacks its weights: hf download org/m.1; or python3 -m szego.hub org/m.1");
    put(&model, snapshot, "model.safetensors.index.json",
        "{\"weight_map\":{\"a\":\"model-1.safetensors\",\"b\":\"model-2.safetensors\"}}");
    put_model(&model, snapshot, "model-1.safetensors");
    ck_assert_int_eq(place_of("org/m.1", NULL), SZG_PLACE_NOWHERE);
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EDATA);
    ck_said(said, "lacks model-2.safetensors: hf download org/m.1; or");
    snprintf(link, sizeof link, "%s/%s/model-2.safetensors", model.folder, snapshot);
    ck_assert_int_eq(symlink("../../blobs/gone", link), 0); /* its blob was removed */
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EDATA);
    ck_said(said, "lacks model-2.safetensors");
    ck_assert_int_eq(open_as("org/m.1:model-1.safetensors", NULL, said), SZG_OK);
    ck_said(said, "snapshots/" COMMIT "/model-1.safetensors");
    ck_assert_int_eq(open_as("org/m.1:sub/m.gguf", NULL, said), SZG_EDATA);
    ck_said(said, "lacks sub/m.gguf: hf download org/m.1 sub/m.gguf");
    ck_assert_ptr_null(strstr(said, "szego.hub"));
    ck_assert_int_eq(place_of("org/m.1:sub/m.gguf", NULL), SZG_PLACE_NOWHERE);
    put(&model, snapshot, "model.safetensors.index.json", "{\"weight_map\":[");
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EDATA);
    ck_said(said, "model.safetensors.index.json: ");
    model_close(&model);
}
END_TEST

START_TEST(several_models_of_one_name_are_told_apart) {
    static const char snapshot[] = REPOSITORY "/snapshots/" COMMIT;
    test_model model;
    char said[MESSAGES];
    open_model(&model);
    set("HF_HUB_CACHE", &model, "");
    put(&model, REPOSITORY, "refs/main", COMMIT);
    put(&model, snapshot, "m.Q4_K_M.gguf", "GGUF");
    put(&model, snapshot, "m.Q8_0.gguf", "GGUF");
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_EDATA);
    ck_said(said, "holds several GGUF models, m.Q4_K_M.gguf and m.Q8_0.gguf: name the file, as "
                  "org/m.1:FILE");
    ck_assert_int_eq(open_as("org/m.1:m.Q8_0.gguf", NULL, said), SZG_EDATA);
    ck_said(said, COMMIT "/m.Q8_0.gguf: byte 4: the header reaches beyond");
    model_close(&model);
}
END_TEST

START_TEST(a_path_comes_before_a_name) {
    test_model model;
    char said[MESSAGES], before[PATH];
    open_model(&model);
    set("HF_HUB_CACHE", &model, "/cache");
    put(&model, "cache/" REPOSITORY, "refs/main", COMMIT);
    put_model(&model, "cache/" REPOSITORY "/snapshots/" COMMIT, "model.safetensors");
    put_model(&model, "org/m.1", "model.safetensors");
    put_model(&model, "org/m.2", "model.safetensors");
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(chdir(model.folder), 0);
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_OK);
    ck_said(said, "warning: org/m.1: what is called so in the current folder is read, and not the "
                  "model of the Hugging Face hub, which is ");
    ck_said(said, "\norg/m.1\n"); /* the source */
    ck_assert_int_eq(place_of("org/m.1", NULL), SZG_PLACE_PATH);
    ck_assert_int_eq(open_as("org/m.2", NULL, said), SZG_OK); /* no cache has it */
    ck_assert_str_eq(said, "org/m.2\n");
    put(&model, "cache/models--org--m.2", "refs/main", "damaged");
    ck_assert_int_eq(open_as("org/m.2", NULL, said), SZG_OK);
    ck_assert_int_eq(open_as("org/m.2", "main", said), SZG_EINVAL);
    ck_said(said, "org/m.2: is there, a file or folder, and a revision is of a model");
    ck_assert_int_eq(open_as("./org/m.1/", NULL, said), SZG_OK);
    ck_assert_ptr_null(strstr(said, "warning"));
    ck_assert_int_eq(chdir(before), 0);
    model_close(&model);
}
END_TEST

/* Names that are none are paths that are not there. */
START_TEST(names_that_are_none) {
    static const char *const none[] = {
        "org",      "org/",     "/m",         "org/m/x",           "org/.m",     "-o/m",
        "org/m--x", "org/m..x", "o g/m",      "org/m.gguf",        "org/m.json", "org/m:../x",
        "org/m:/x", "org/m:",   "org/m:a//b", "org/m.safetensors", "org/m\\x",   "./org/m"};
    test_model model;
    char said[MESSAGES];
    open_model(&model);
    set("HF_HUB_CACHE", &model, "");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(place_of(none[i], NULL) == SZG_PLACE_PATH, "%s", none[i]);
        ck_assert_int_eq(open_as(none[i], NULL, said), SZG_EIO);
        ck_assert_msg(!strstr(said, "hf download"), "%s", said);
    }
    model_close(&model);
}
END_TEST

/* Of a model that no analysis may take for a whole one. */
START_TEST(parts_are_read_and_nothing_else) {
    static const char snapshot[] = "szego/hub/" REPOSITORY "/snapshots/" COMMIT;
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    char said[MESSAGES], header[512];
    open_model(&model);
    set("XDG_CACHE_HOME", &model, "");
    put(&model, "szego/hub/" REPOSITORY, "refs/main", COMMIT);
    put_model(&model, snapshot, "part-1.safetensors");
    ck_assert_int_eq(place_of("org/m.1", NULL), SZG_PLACE_FETCHED);
    ck_assert_int_eq(open_as("org/m.1", NULL, said), SZG_OK);
    ck_said(said, "revision main in szego's cache is read");
    static const char left[] =
        "{\"__metadata__\":{\"szego.left_out\":\"{\\\"model.layers.0.input_layernorm.weight\\\":{"
        "\\\"dtype\\\":\\\"F32\\\",\\\"shape\\\":[4],\\\"data_offsets\\\":[0,16]}}\"}}";
    const uint64_t length = sizeof left - 1;
    memcpy(header, &length, 8);
    memcpy(header + 8, left, sizeof left - 1);
    FILE *file = fopen(
        make_parents(&model, "szego/hub/" REPOSITORY "/snapshots/" COMMIT "/headers.safetensors"),
        "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fwrite(header, 1, 8 + length, file), 8 + length);
    ck_assert_int_eq(fclose(file), 0);
    ck_szg_ok(szg_checkpoint_open(test_context(), "org/m.1", NULL, &checkpoint));
    ck_szg_fails(SZG_EDATA,
                 "of the tensors that are needed 1 were not fetched, "
                 "model.layers.0.input_layernorm.weight the first: szego.checkpoint in Python "
                 "fetches them, or python3 -m szego.hub ORG/NAME",
                 szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables));
    ck_assert_int_eq(szg_table_rows(tables.tensors), 3);
    ck_assert_str_eq(cell_text(tables.tensors, 0, "used"), "norm");
    ck_assert_str_eq(cell_text(tables.tensors, 0, "file"), "");
    ck_assert_str_eq(cell_text(tables.tensors, 1, "used"), "key");
    ck_assert_ptr_nonnull(strstr(cell_text(tables.tensors, 1, "file"), "part-1.safetensors"));
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    ck_szg_ok(szg_checkpoint_open(test_context(), "org/m.1", "", &checkpoint));
    ck_szg_fails(SZG_EDATA, "so that every weight is needed, and some were not fetched",
                 szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

static szg_status try_name(const char *name) {
    szg_checkpoint *checkpoint;
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true,
                                        .circuits = true};
    szg_checkpoint_tables tables;
    SZG_TRY(szg_checkpoint_open(test_context(), name, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

START_TEST(refused_allocations_are_survived) {
    test_model model;
    open_model(&model);
    set("HF_HUB_CACHE", &model, "");
    put(&model, REPOSITORY, "refs/main", COMMIT);
    put_model(&model, REPOSITORY "/snapshots/" COMMIT, "model-1.safetensors");
    put(&model, REPOSITORY "/snapshots/" COMMIT, "model.safetensors.index.json",
        "{\"weight_map\":{\"model.layers.0.self_attn.q_proj.weight\":\"model-1.safetensors\","
        "\"model.layers.0.self_attn.k_proj.weight\":\"model-1.safetensors\"}}");
    ck_survives_failed_allocations(1, try_name("org/m.1"));
    clear_variables();
    set("XDG_CACHE_HOME", &model, "/x");
    put(&model, "x/szego/hub/" REPOSITORY, "refs/main", COMMIT);
    put_model(&model, "x/szego/hub/" REPOSITORY "/snapshots/" COMMIT, "part-1.safetensors");
    ck_survives_failed_allocations(1, try_name("org/m.1"));
    model_close(&model);
}
END_TEST

TEST_FILE("hub") {
    test_add(suite, "the_variables_name_the_cache", the_variables_name_the_cache);
    test_add(suite, "a_revision_is_a_branch_a_tag_or_a_commit",
             a_revision_is_a_branch_a_tag_or_a_commit);
    test_add(suite, "what_a_snapshot_lacks_is_named", what_a_snapshot_lacks_is_named);
    test_add(suite, "several_models_of_one_name_are_told_apart",
             several_models_of_one_name_are_told_apart);
    test_add(suite, "a_path_comes_before_a_name", a_path_comes_before_a_name);
    test_add(suite, "names_that_are_none", names_that_are_none);
    test_add(suite, "parts_are_read_and_nothing_else", parts_are_read_and_nothing_else);
    test_add(suite, "refused_allocations_are_survived", refused_allocations_are_survived);
}
