#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_model.h"

void put_key(gguf_file *file, const char *architecture, const key_value *is) {
    char name[128];
    snprintf(name, sizeof name, "%s.%s", architecture, is->key);
    if (is->kind == WHOLE)
        gguf_key_u32(file, name, (uint32_t)is->number);
    if (is->kind == REAL)
        gguf_key_f32(file, name, (float)is->number);
    if (is->kind == FLAG) {
        const uint8_t flag = is->number != 0;
        gguf_key(file, name, GGUF_BOOL);
        gguf_add(&file->keys, &flag, 1);
    }
    if (is->kind == WORD)
        gguf_key_text(file, name, is->word);
    if (is->kind != WHOLES && is->kind != FLAGS)
        return;
    bool flags = is->kind == FLAGS;
    gguf_key(file, name, GGUF_ARRAY);
    gguf_add_u32(&file->keys, flags ? GGUF_BOOL : GGUF_I32);
    gguf_add_u64(&file->keys, strlen(is->word));
    for (const char *digit = is->word; *digit; digit++) {
        int32_t whole = *digit - '0';
        uint8_t flag = *digit == '1';
        gguf_add(&file->keys, flags ? (const void *)&flag : &whole, flags ? 1 : sizeof whole);
    }
}

void put_weight(gguf_file *file, const char *name, int64_t rows, int64_t columns,
                const float *data) {
    gguf_tensor(file, name, 0, 2, (int64_t[]){rows, columns}, data,
                (size_t)(rows * columns) * sizeof *data);
}

void put_divisors(gguf_file *file, const char *name, const float *divisors, int count) {
    gguf_tensor(file, name, 0, 1, (int64_t[]){count}, divisors, (size_t)count * sizeof *divisors);
}

void begin(gguf_file *file, const char *key, const char *value) {
    *file = (gguf_file){.version = 0};
    gguf_key_text(file, key, value);
}

szg_status open_file(const gguf_file *file, szg_checkpoint **out) {
    gguf_write(file, scratch_path("model.gguf"));
    return szg_checkpoint_open(test_context(), scratch_path("model.gguf"), NULL, out);
}

void fill_small(gguf_file *file, test_model *model, const char *architecture) {
    enum { SIDE = 6 };
    static const char *const names[] = {"blk.0.attn_q.weight", "blk.0.attn_k.weight"};
    const key_value keys[] = {INT("block_count", 1), INT("embedding_length", SIDE),
                              INT("attention.head_count", 1), INT("attention.head_count_kv", 1),
                              BASE(10000)};
    float number[SIDE * SIDE];
    model_open(model);
    begin(file, "general.architecture", architecture);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put_key(file, architecture, &keys[i]);
    for (int i = 0; i < 2; i++) {
        const double *drawn = model_add(model, SZGI_DTYPE_F32, SIDE, SIDE, "%s", names[i])->value;
        for (int j = 0; j < SIDE * SIDE; j++)
            number[j] = (float)drawn[j];
        put_weight(file, names[i], SIDE, SIDE, number);
    }
}

double size_of_rows(const szg_checkpoint *checkpoint, int64_t layer, int64_t head) {
    const szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    int64_t count = facts.head_size * facts.model_size, group = facts.heads / facts.key_heads;
    double *rows = new_numbers(count), size;
    ck_szg_ok(szgi_checkpoint_queries(test_context(), checkpoint, layer, head, rows));
    size = norm_of(count, rows);
    ck_szg_ok(szgi_checkpoint_keys(test_context(), checkpoint, layer, head / group, rows));
    size *= norm_of(count, rows);
    szgi_memory_free(rows);
    return size;
}

void check_frequencies(const szg_checkpoint *checkpoint, const szg_table *got,
                       const szg_table *want, double roundoff) {
    static const struct {
        const char *name;
        int times, power; /* errors of a product, and what they are multiplied by */
    } columns[] = {{"theta", 0, 0},         {"rotation_re", 4, 1},   {"rotation_im", 4, 1},
                   {"reflection_re", 4, 1}, {"reflection_im", 4, 1}, {"energy", 32, 2},
                   {"model_energy", 32, 2}};
    ck_assert_int_eq(got != NULL, want != NULL);
    for (int64_t i = 0; got && i < szg_table_rows(want); i++) {
        ck_assert(cell(got, i, "layer") == cell(want, i, "layer"));
        ck_assert(cell(got, i, "pair") == cell(want, i, "pair"));
        double size = size_of_rows(checkpoint, (int64_t)cell(want, i, "layer"),
                                   (int64_t)cell(want, i, "head"));
        double error = gamma_of(2.0 * (double)szg_checkpoint_describe(checkpoint).model_size + 16);
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
            double a = cell(got, i, columns[j].name), b = cell(want, i, columns[j].name);
            ck_close(a, b,
                     5 * roundoff * fabs(b) +
                         columns[j].times * error * pow(size, columns[j].power));
        }
    }
    if (got)
        ck_assert_int_eq(szg_table_rows(got), szg_table_rows(want));
}
