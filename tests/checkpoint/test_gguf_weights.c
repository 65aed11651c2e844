/* Weights of GGUF files: quantised ones, bad ones, and memory that runs out. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "gguf_model.h"

enum { Q8_BLOCK = 34, Q8_SIDE = 32 };

/* A square of Q8_0 with the scale 2^-4: signed bytes of a stream, and the numbers that they are. */
static void draw_q8(uint32_t step, unsigned char *blocks, float *number) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 77, .step = step};
    for (int i = 0; i < Q8_SIDE; i++, blocks += Q8_BLOCK) {
        memcpy(blocks, "\0\x2C", 2); /* 2^-4 in half precision */
        for (int j = 0; j < Q8_SIDE; j++) {
            int8_t byte = (int8_t)szgi_random_word(&stream, (uint64_t)(i * Q8_SIDE + j));
            memcpy(blocks + 2 + j, &byte, 1);
            number[i * Q8_SIDE + j] = (float)byte / 16;
        }
    }
}

static void fill_q8(gguf_file *file, bool quantised) {
    unsigned char blocks[Q8_SIDE * Q8_BLOCK];
    float number[Q8_SIDE * Q8_SIDE];
    begin(file, "general.architecture", "qwen2");
    gguf_key_u32(file, "qwen2.block_count", 2);
    gguf_key_u32(file, "qwen2.embedding_length", Q8_SIDE);
    gguf_key_u32(file, "qwen2.attention.head_count", 2);
    gguf_key_f32(file, "qwen2.rope.freq_base", 10000);
    for (uint32_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%u.attn_%c.weight", i / 2, i % 2 ? 'k' : 'q');
        draw_q8(i, blocks, number);
        if (quantised)
            gguf_tensor(file, name, 8, 2, (int64_t[]){Q8_SIDE, Q8_SIDE}, blocks, sizeof blocks);
        else
            put_weight(file, name, Q8_SIDE, Q8_SIDE, number);
    }
}

/* Quantised weights have the answers of the numbers that they stand for, to the last bit. */
START_TEST(quantised_weights_are_their_numbers) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables[2];
    for (int i = 0; i < 2; i++) {
        gguf_file file;
        fill_q8(&file, i == 1);
        ck_szg_ok(open_file(&file, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables[i]));
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
    }
    ck_assert_str_eq(cell_text(tables[1].tensors, 0, "dtype"), "Q8_0");
    int64_t rows = szg_table_rows(tables[0].spectra);
    ck_assert_int_eq(rows, szg_table_rows(tables[1].spectra));
    ck_assert_int_gt(rows, 0);
    for (int64_t i = 0; i < rows; i++) {
        ck_assert(cell(tables[0].spectra, i, "re") == cell(tables[1].spectra, i, "re"));
        ck_assert(cell(tables[0].spectra, i, "im") == cell(tables[1].spectra, i, "im"));
    }
    szg_checkpoint_tables_close(&tables[0]);
    szg_checkpoint_tables_close(&tables[1]);
}
END_TEST

/* A layer whose type is not read, one without its key and one with an infinite scale are skipped.
 */
START_TEST(bad_layers_are_skipped) {
    gguf_file file;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    static const unsigned char zero[256 * 66];
    unsigned char blocks[Q8_SIDE * Q8_BLOCK];
    float number[Q8_SIDE * Q8_SIDE];
    draw_q8(1, blocks, number);
    begin(&file, "general.architecture", "qwen2");
    gguf_key_u32(&file, "qwen2.block_count", 4);
    gguf_key_u32(&file, "qwen2.embedding_length", 32);
    gguf_key_u32(&file, "qwen2.attention.head_count", 1);
    gguf_tensor(&file, "blk.0.attn_q.weight", 77, 2, (int64_t[]){32, 32}, zero, 1024);
    gguf_tensor(&file, "blk.1.attn_q.weight", 8, 2, (int64_t[]){32, 32}, blocks, sizeof blocks);
    gguf_tensor(&file, "blk.2.attn_q.weight", 8, 2, (int64_t[]){32, 32}, blocks, sizeof blocks);
    gguf_tensor(&file, "blk.3.attn_q.weight", 8, 2, (int64_t[]){32, 32}, blocks, sizeof blocks);
    gguf_tensor(&file, "blk.0.attn_k.weight", 8, 2, (int64_t[]){32, 32}, blocks, sizeof blocks);
    gguf_tensor(&file, "blk.3.attn_k.weight", 8, 2, (int64_t[]){32, 32}, blocks, sizeof blocks);
    blocks[2 * Q8_BLOCK + 1] = 0x7C; /* an infinite scale */
    gguf_tensor(&file, "blk.2.attn_k.weight", 8, 2, (int64_t[]){32, 32}, blocks, sizeof blocks);
    ck_szg_ok(open_file(&file, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    ck_assert_int_eq(tables.bad, 3);
    static const char *const words[] = {"has type GGML-77 where a weight belongs: szego reads F64",
                                        "tensor blk.1.attn_k.weight is missing",
                                        "tensor blk.2.attn_k.weight: the weight at [2, "};
    for (int i = 0; i < 3; i++)
        ck_noted(&tables, i, -1, "qk", words[i]);
    ck_assert(cell(tables.summary, find_row(tables.summary, 3, 0, "qk"), "sigma_max") > 0);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    gguf_free(&file);
}
END_TEST

/* Keys of a latent, [heads, rank, rows]: another shape or another type costs the layer, and the
 * message has it. */
START_TEST(latent_keys_that_do_not_fit_are_skipped) {
    static const struct {
        uint32_t type;
        int dims;
        int64_t shape[3];
        const char *words;
    } bad[] = {
        {0, 3, {2, 2, 2}, NULL},
        {0, 3, {2, 2, 3}, "has shape [2, 2, 3], the configuration wants [2, 2, 2]"},
        {0, 2, {4, 2}, "has shape [4, 2], the configuration wants [2, 2, 2]"},
        {26, 3, {2, 2, 2}, "has type I32 where a weight belongs"},
        {0, 0, {0}, "tensor blk.0.attn_k_b.weight is missing"},
    };
    static const key_value keys[] = {INT("block_count", 1),
                                     INT("embedding_length", 4),
                                     INT("attention.head_count", 2),
                                     INT("attention.key_length_mla", 4),
                                     INT("attention.value_length_mla", 2),
                                     INT("attention.kv_lora_rank", 2),
                                     INT("rope.dimension_count", 2),
                                     BASE(10000)};
    static const float number[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gguf_file file;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        int64_t count = 1;
        begin(&file, "general.architecture", "deepseek2");
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
            put_key(&file, "deepseek2", &keys[j]);
        put_weight(&file, "blk.0.attn_q.weight", 8, 4, (float[32]){1, 2, 3});
        put_weight(&file, "blk.0.attn_kv_a_mqa.weight", 4, 4, number);
        gguf_tensor(&file, "blk.0.attn_kv_a_norm.weight", 0, 1, (int64_t[]){2}, number,
                    2 * sizeof *number);
        for (int j = 0; j < bad[i].dims; j++)
            count *= bad[i].shape[j];
        if (bad[i].dims)
            gguf_tensor(&file, "blk.0.attn_k_b.weight", bad[i].type, bad[i].dims, bad[i].shape,
                        number, (size_t)count * sizeof *number);
        ck_szg_ok(open_file(&file, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_assert_int_eq(tables.bad, bad[i].words != NULL);
        if (bad[i].words)
            ck_noted(&tables, 0, -1, "qk", bad[i].words);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
    }
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    test_model model;
    gguf_file file;
    szg_checkpoint *checkpoint = NULL;
    static const float divisors[] = {1, 1.5f, 8};
    fill_small(&file, &model, "llama");
    put_divisors(&file, "rope_freqs.weight", divisors, 3);
    gguf_key_text(&file, "llama.rope.scaling.type", "yarn");
    gguf_key_f32(&file, "llama.rope.scaling.factor", 4);
    gguf_key_u32(&file, "llama.context_length", 4096);
    gguf_write(&file, scratch_path("model.gguf"));
    ck_survives_failed_allocations(
        40, szg_checkpoint_open(test_context(), scratch_path("model.gguf"), NULL, &checkpoint));
    szg_checkpoint_close(&checkpoint);
    gguf_free(&file);
    model_close(&model);
}
END_TEST

TEST_FILE("gguf_weights") {
    test_add(suite, "quantised_weights_are_their_numbers", quantised_weights_are_their_numbers);
    test_add(suite, "bad_layers_are_skipped", bad_layers_are_skipped);
    test_add(suite, "latent_keys_that_do_not_fit_are_skipped",
             latent_keys_that_do_not_fit_are_skipped);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
