/* Models in safetensors files: round trips, files as PyTorch writes them, and files that are wrong.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/safetensors.h"
#include "train/capture/capture.h"

#include "suite.h"
#include "tiny.h"

/* ---- Helpers ---- */

/* A file that was read, in parts that a test can change and write again. */
typedef struct parts {
    szgi_safetensors *file;
    szgi_tensor *tensor;
    int64_t count;
} parts;

static szg_model *new_model(const char *key, int64_t classes) {
    szg_train_config *config = new_tiny(key);
    szg_model *model;
    ck_szg_ok(szgi_model_open(test_context(), config, classes, &model));
    ck_szg_ok(szgi_model_initialise(test_context(), model, 11));
    szgi_memory_free(config);
    return model;
}

static parts open_parts(const char *path) {
    parts self;
    ck_szg_ok(szgi_safetensors_open(test_context(), path, &self.file));
    self.count = szgi_safetensors_count(self.file);
    ck_szg_ok(szgi_memory_alloc(test_context(), self.count + 1, &self.tensor));
    for (int64_t i = 0; i < self.count; i++)
        self.tensor[i] = *szgi_safetensors_tensor(self.file, i);
    return self;
}

static void close_parts(parts *self) {
    szgi_memory_free(self->tensor);
    szgi_safetensors_close(&self->file);
}

static szgi_tensor *part_named(parts *self, const char *name) {
    for (int64_t i = 0; i < self->count; i++)
        if (strcmp(self->tensor[i].name, name) == 0)
            return &self->tensor[i];
    ck_abort_msg("no tensor %s", name);
}

static double *numbers_of(const szg_model *model) {
    int64_t count = szgi_model_count(model);
    double *out = new_numbers(count);
    ck_szg_ok(szgi_model_read(test_context(), model, szgi_model_arena(model), 0, count, out));
    return out;
}

static void ck_same_numbers(const szg_model *model, const szg_model *other) {
    double *a = numbers_of(model), *b = numbers_of(other);
    ck_assert_int_eq(szgi_model_count(model), szgi_model_count(other));
    ck_assert_int_eq(memcmp(a, b, (size_t)szgi_model_count(model) * sizeof *a), 0);
    szgi_memory_free(b);
    szgi_memory_free(a);
}

/* A saved model of 7 classes in a folder of its own. */
typedef struct saved {
    szg_model *model;
    char *folder, path[256], changed[256]; /* the file, and where a changed one goes */
} saved;

static saved save_model(const char *key) {
    saved self = {.model = new_model(key, 7), .folder = new_folder()};
    path_in(self.folder, "model.safetensors", self.path);
    path_in(self.folder, "changed.safetensors", self.changed);
    ck_szg_ok(szgi_model_save(test_context(), self.model, self.path, 11, 42));
    return self;
}

static void close_saved(saved *self) {
    szg_model_close(test_context(), &self->model);
    remove_folder(self->folder);
}

static szg_status load(const char *path, const szg_train_config *config) {
    szg_model *model;
    szg_status status = szg_model_load(test_context(), path, config, &model);
    szg_model_close(test_context(), &model);
    return status;
}

static void write_parts(const parts *self, const char *path) {
    ck_szg_ok(szgi_safetensors_write(test_context(), path, self->tensor, self->count, NULL, 0));
}

/* ---- Round trips ---- */

START_TEST(what_is_saved_comes_back) {
    static const char *const keys[] = {
        NULL,
        "model.encoding=nope",
        "model.encoding=relative",
        "model.encoding=learned",
        "model.encoding=mla",
        "model.classes=vocabulary",
        "model.biases=none",
        "profile=released",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        saved self = save_model(keys[i]);
        szg_model *model;
        ck_szg_ok(szg_model_load(test_context(), self.path, NULL, &model));
        ck_same_numbers(self.model, model);
        ck_assert_int_eq(szgi_model_classes(model), szgi_model_classes(self.model));
        ck_assert_str_eq(szgi_model_settings(model)->model.encoding,
                         szgi_model_settings(self.model)->model.encoding);
        ck_assert_int_eq(memcmp(szgi_model_settings(model), szgi_model_settings(self.model),
                                sizeof(szg_train_config)),
                         0);
        szg_model_close(test_context(), &model);
        close_saved(&self);
    }
}
END_TEST

START_TEST(the_file_is_what_pytorch_reads) {
    saved self = save_model(NULL);
    parts file = open_parts(self.path);
    ck_assert_str_eq(szgi_safetensors_metadata(file.file, "step"), "42");
    ck_assert_str_eq(szgi_safetensors_metadata(file.file, "seed"), "11");
    ck_assert_str_eq(szgi_safetensors_metadata(file.file, "classes"), "7");
    ck_assert_str_eq(szgi_safetensors_metadata(file.file, "format"), "pt");
    const szgi_tensor *weight = part_named(&file, "layers.1.ffn.0.weight");
    ck_assert_int_eq(weight->dtype, SZGI_DTYPE_F32);
    ck_assert_int_eq(weight->dims, 2);
    ck_assert_int_eq(part_named(&file, "fc_out.weight")->shape[0], 7);
    ck_assert_int_eq(file.count, szgi_model_parameters(self.model));
    close_parts(&file);
    close_saved(&self);
}
END_TEST

/* Doubles and bfloat16 without metadata, as torch.save's users have them. */
START_TEST(files_without_our_metadata_need_a_configuration) {
    saved self = save_model(NULL);
    szg_train_config *config = new_tiny(NULL);
    parts file = open_parts(self.path);
    szg_model *model;
    szgi_tensor *bias = part_named(&file, "fc_out.bias"),
                *norm = part_named(&file, "layers.0.norm1.weight");
    double wide[7];
    uint16_t narrow[8];
    ck_assert_int_eq(norm->count, 8);
    ck_szg_ok(szgi_tensor_read(test_context(), bias, 0, 7, wide));
    bias->dtype = SZGI_DTYPE_F64;
    bias->data = (const unsigned char *)wide;
    for (int i = 0; i < 8; i++)
        narrow[i] = 0x3f80; /* 1: where a norm begins */
    norm->dtype = SZGI_DTYPE_BF16;
    norm->data = (const unsigned char *)narrow;
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "--config", load(self.changed, NULL));
    ck_szg_ok(szg_model_load(test_context(), self.changed, config, &model));
    ck_assert_int_eq(szgi_model_classes(model), 7);
    ck_same_numbers(self.model, model);
    szg_model_close(test_context(), &model);
    close_parts(&file);
    szgi_memory_free(config);
    close_saved(&self);
}
END_TEST

START_TEST(a_folder_stands_for_its_checkpoint) {
    saved self = save_model(NULL);
    char path[256];
    szg_model *model;
    ck_szg_fails(SZG_EIO, "checkpoint.safetensors", load(self.folder, NULL));
    ck_szg_ok(szgi_model_save(test_context(), self.model,
                              path_in(self.folder, "checkpoint.safetensors", path), 11, 42));
    ck_szg_ok(szg_model_load(test_context(), self.folder, NULL, &model));
    ck_same_numbers(self.model, model);
    szg_model_close(test_context(), &model);
    ck_survives_failed_allocations(1, load(self.folder, NULL));
    int64_t step;
    ck_szg_ok(szgi_capture_step_of(test_context(), self.folder, &step));
    ck_assert_int_eq(step, 42);
    close_saved(&self);
}
END_TEST

/* ---- Wrong files ---- */

START_TEST(a_missing_tensor_is_named) {
    saved self = save_model(NULL);
    szg_train_config *config = new_tiny(NULL);
    parts file = open_parts(self.path);
    *part_named(&file, "layers.1.ffn.2.bias") = file.tensor[--file.count];
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "layers.1.ffn.2.bias is missing", load(self.changed, config));
    *part_named(&file, "fc_out.weight") = file.tensor[--file.count];
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "fc_out.weight is missing", load(self.changed, config));
    close_parts(&file);
    szgi_memory_free(config);
    close_saved(&self);
}
END_TEST

START_TEST(an_extra_tensor_is_named) {
    saved self = save_model(NULL);
    szg_train_config *config = new_tiny(NULL);
    parts file = open_parts(self.path);
    file.tensor[file.count] = *part_named(&file, "fc_out.bias");
    file.tensor[file.count++].name = "layers.9.q_linear.bias";
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "layers.9.q_linear.bias does not belong", load(self.changed, config));
    close_parts(&file);
    szgi_memory_free(config);
    close_saved(&self);
}
END_TEST

static void keep_note(void *user, szg_severity severity, const char *text) {
    if (severity == SZG_NOTE)
        snprintf(user, 512, "%s", text);
}

/* What the released modules keep besides parameters is no other model. */
START_TEST(buffers_of_the_released_code_are_skipped) {
    static const char *const names[] = {"layers.0.rope.inv_freq", "layers.1.rope.cos",
                                        "layers.0.rope.sin"};
    const int64_t shape[] = {2};
    const float numbers[] = {1, .01F};
    char said[512] = "";
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = said};
    szg_context *context;
    saved self = save_model(NULL);
    parts file = open_parts(self.path);
    szg_train_config *config = new_tiny(NULL), *still = new_tiny("model.encoding=nope");
    szgi_tensor *tensors;
    szg_model *model;
    ck_szg_ok(szgi_memory_alloc(test_context(), file.count + 3, &tensors));
    memcpy(tensors, file.tensor, (size_t)file.count * sizeof *tensors);
    for (int i = 0; i < 3; i++)
        tensors[file.count + i] = (szgi_tensor){.name = names[i],
                                                .dtype = SZGI_DTYPE_F32,
                                                .dims = 1,
                                                .shape = shape,
                                                .data = (const unsigned char *)numbers};
    ck_szg_ok(
        szgi_safetensors_write(test_context(), self.changed, tensors, file.count + 3, NULL, 0));
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_model_load(context, self.changed, config, &model), SZG_OK);
    ck_same_numbers(self.model, model);
    ck_assert_msg(strstr(said, "3 tensors") && strstr(said, "rope"), "%s", said);
    szg_model_close(context, &model);
    szg_context_close(&context);
    ck_szg_fails(SZG_EDATA, "rope.inv_freq does not belong", load(self.changed, still));
    tensors[file.count].name = "layers.9.rope.inv_freq"; /* a layer that the model does not have */
    ck_szg_ok(
        szgi_safetensors_write(test_context(), self.changed, tensors, file.count + 3, NULL, 0));
    ck_szg_fails(SZG_EDATA, "layers.9.rope.inv_freq does not belong", load(self.changed, config));
    szgi_memory_free(tensors);
    szgi_memory_free(config);
    szgi_memory_free(still);
    close_parts(&file);
    close_saved(&self);
}
END_TEST

START_TEST(position_rows_may_lead_with_a_one) {
    saved self = save_model("model.extra_position_table=true");
    szg_train_config *config = new_tiny("model.extra_position_table=true");
    parts file = open_parts(self.path);
    szgi_tensor *rows = part_named(&file, "pos_embed"),
                *weight = part_named(&file, "layers.0.q_linear.weight");
    const int64_t led[] = {1, rows->shape[0], rows->shape[1]}, twice[] = {2, led[1] / 2, led[2]};
    const int64_t other[] = {1, weight->shape[0], weight->shape[1]}, *own = weight->shape;
    szg_model *model;
    rows->dims = 3;
    rows->shape = led;
    write_parts(&file, self.changed);
    ck_szg_ok(szg_model_load(test_context(), self.changed, config, &model));
    ck_same_numbers(self.model, model);
    szg_model_close(test_context(), &model);
    rows->shape = twice;
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "pos_embed has shape [2,", load(self.changed, config));
    rows->shape = led;
    weight->dims = 3; /* of no other tensor */
    weight->shape = other;
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "q_linear.weight has shape [1,", load(self.changed, config));
    weight->shape = own;
    szgi_memory_free(config);
    close_parts(&file);
    close_saved(&self);
}
END_TEST

START_TEST(a_wrong_shape_is_told) {
    saved self = save_model(NULL);
    szg_train_config *config = new_tiny(NULL), *wide = new_tiny("model.hidden=16");
    ck_szg_fails(SZG_EDATA, "[8, 8], but the model that the configuration describes needs [16, 8]",
                 load(self.path, wide));
    parts file = open_parts(self.path);
    const int64_t flat[] = {64};
    szgi_tensor *weight = part_named(&file, "layers.0.q_linear.weight");
    weight->dims = 1;
    weight->shape = flat;
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "layers.0.q_linear.weight has shape [64]", load(self.changed, config));
    close_parts(&file);
    file = open_parts(self.path);
    part_named(&file, "fc_out.weight")->dims = 1;
    part_named(&file, "fc_out.weight")->shape = (const int64_t[]){56};
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "fc_out.weight has shape [56], not [classes, width]",
                 load(self.changed, config));
    close_parts(&file);
    szgi_memory_free(wide);
    szgi_memory_free(config);
    close_saved(&self);
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_refused) {
    saved self = save_model(NULL);
    szg_train_config *config = new_tiny(NULL);
    parts file = open_parts(self.path);
    float bad[7] = {0, 1, 2, 3, 4, INFINITY, 6};
    part_named(&file, "fc_out.bias")->data = (const unsigned char *)bad;
    write_parts(&file, self.changed);
    ck_szg_fails(SZG_EDATA, "fc_out.bias", load(self.changed, config));
    close_parts(&file);
    szgi_memory_free(config);
    close_saved(&self);
}
END_TEST

START_TEST(a_truncated_file_is_refused_at_every_length) {
    saved self = save_model("model.layers=1");
    size_t size;
    char *data = file_bytes(self.folder, "model.safetensors", &size);
    for (size_t length = 0; length < size; length += length < 200 ? 1 : 97) {
        FILE *file = fopen(self.changed, "wb");
        ck_assert_uint_eq(fwrite(data, 1, length, file), length);
        fclose(file);
        ck_assert_int_eq(load(self.changed, NULL), SZG_EDATA);
    }
    free(data);
    close_saved(&self);
}
END_TEST

/* A header whose every byte is changed in turn is refused, or is that of a file like ours. */
START_TEST(a_changed_header_is_survived) {
    saved self = save_model("model.layers=1");
    size_t size;
    char *data = file_bytes(self.folder, "model.safetensors", &size);
    uint64_t header;
    memcpy(&header, data, sizeof header);
    int64_t refused = 0, trials = 0;
    for (size_t at = 0; at < header + 8; at += 3, trials++) {
        data[at] ^= 0x10;
        FILE *file = fopen(self.changed, "wb");
        ck_assert_uint_eq(fwrite(data, 1, size, file), size);
        fclose(file);
        data[at] ^= 0x10;
        szg_status status = load(self.changed, NULL);
        ck_assert(status == SZG_OK || status == SZG_EDATA || status == SZG_EINVAL);
        refused += status != SZG_OK;
    }
    ck_assert_int_gt(refused, trials / 2); /* the rest are values that may be others */
    free(data);
    close_saved(&self);
}
END_TEST

static void write_metadata(const saved *self, const char *config) {
    const char *metadata[] = {"config", config};
    parts file = open_parts(self->path);
    ck_szg_ok(szgi_safetensors_write(test_context(), self->changed, file.tensor, file.count,
                                     metadata, 1));
    close_parts(&file);
}

START_TEST(a_wrong_configuration_in_the_file_is_refused) {
    saved self = save_model(NULL);
    write_metadata(&self, "{\"model\": {\"width\": \"wide\"}}");
    ck_szg_fails(SZG_EDATA, "model.width", load(self.changed, NULL));
    write_metadata(&self, "{");
    ck_szg_fails(SZG_EDATA, "changed.safetensors", load(self.changed, NULL));
    write_metadata(&self, "{\"model\": {\"width\": 8000000000}}");
    ck_assert_int_ne(load(self.changed, NULL), SZG_OK);
    close_saved(&self);
}
END_TEST

START_TEST(refused_memory_is_survived) {
    saved self = save_model("model.layers=1");
    ck_survives_failed_allocations(10, load(self.path, NULL));
    ck_survives_failed_allocations(
        5, szgi_model_save(test_context(), self.model, self.changed, 11, 42));
    ck_same_file(self.folder, self.folder, "changed.safetensors");
    close_saved(&self);
}
END_TEST

TEST_FILE("checkpoint") {
    test_add(suite, "a_folder_stands_for_its_checkpoint", a_folder_stands_for_its_checkpoint);
    test_add(suite, "what_is_saved_comes_back", what_is_saved_comes_back);
    test_add(suite, "the_file_is_what_pytorch_reads", the_file_is_what_pytorch_reads);
    test_add(suite, "files_without_our_metadata_need_a_configuration",
             files_without_our_metadata_need_a_configuration);
    test_add(suite, "a_missing_tensor_is_named", a_missing_tensor_is_named);
    test_add(suite, "an_extra_tensor_is_named", an_extra_tensor_is_named);
    test_add(suite, "buffers_of_the_released_code_are_skipped",
             buffers_of_the_released_code_are_skipped);
    test_add(suite, "position_rows_may_lead_with_a_one", position_rows_may_lead_with_a_one);
    test_add(suite, "a_wrong_shape_is_told", a_wrong_shape_is_told);
    test_add(suite, "numbers_that_are_not_finite_are_refused",
             numbers_that_are_not_finite_are_refused);
    test_add(suite, "a_truncated_file_is_refused_at_every_length",
             a_truncated_file_is_refused_at_every_length);
    test_add(suite, "a_changed_header_is_survived", a_changed_header_is_survived);
    test_add(suite, "a_wrong_configuration_in_the_file_is_refused",
             a_wrong_configuration_in_the_file_is_refused);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
}
