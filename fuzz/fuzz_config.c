/* config.json of a checkpoint whose tensors fit a small BERT, a GPT-2, a LLaMA, and latent
 * attention. */
#include <sys/mman.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"

#include "fuzz.h"

enum { SIZE = 8, TENSORS = 20 };

static const char *const names[TENSORS] = {
    "encoder.layer.0.attention.self.query.weight",
    "encoder.layer.0.attention.self.key.weight",
    "embeddings.position_embeddings.weight",
    "h.0.attn.c_attn.weight",
    "wpe.weight",
    "model.layers.0.self_attn.q_proj.weight",
    "model.layers.0.self_attn.k_proj.weight",
    "model.layers.1.self_attn.q_proj.weight",
    "model.layers.1.self_attn.k_proj.weight",
    "model.embed_tokens.weight",
    "model.layers.0.self_attn.q_a_proj.weight",
    "model.layers.0.self_attn.q_a_layernorm.weight",
    "model.layers.0.self_attn.q_b_proj.weight",
    "model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
    "model.layers.0.self_attn.kv_a_layernorm.weight",
    "model.layers.0.self_attn.kv_b_proj.weight",
    "model.layers.0.self_attn.q_norm.weight",
    "model.layers.0.self_attn.k_norm.weight",
    "model.layers.0.self_attn.sinks",
    "model.layers.0.self_attn.qkv_proj.weight",
};
static const int64_t shapes[TENSORS][2] = {
    {8, 8}, {8, 8}, {16, 8}, {8, 24}, {16, 8}, {8, 8}, {4, 8}, {8, 8}, {4, 8}, {16, 8},
    {4, 8}, {4, 0}, {8, 4},  {6, 8},  {4, 0},  {8, 4}, {4, 0}, {4, 0}, {2, 0}, {16, 8}};

/* The path of the model: a descriptor, so that nothing is left behind. */
static const char *model_path(void) {
    static char path[64];
    if (*path)
        return path;
    static double weights[24 * SIZE];
    szgi_tensor tensor[TENSORS];
    char folder[] = "/tmp/szego-fuzz.XXXXXX", file[64];
    for (int i = 0; i < 24 * SIZE; i++)
        weights[i] = i % 7 - 3;
    for (int i = 0; i < TENSORS; i++)
        tensor[i] = (szgi_tensor){.name = names[i],
                                  .dtype = SZGI_DTYPE_F64,
                                  .dims = shapes[i][1] ? 2 : 1,
                                  .shape = shapes[i],
                                  .data = (const unsigned char *)weights};
    FUZZ_PROMISE(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/m.safetensors", folder);
    FUZZ_PROMISE(szgi_safetensors_write(fuzz_context(), file, tensor, TENSORS, NULL, 0) == SZG_OK);
    FILE *opened = fopen(file, "rb");
    FUZZ_PROMISE(opened != NULL);
    unlink(file);
    rmdir(folder);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(opened));
    return path;
}

/* Answers and refusals are both fine; a broken invariant is not. */
static void accept(szg_status status) {
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA || status == SZG_EDOMAIN ||
                 status == SZG_ENOMEM);
}

static void use_model(const szg_checkpoint *checkpoint) {
    szg_context *context = fuzz_context();
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    static double q[4096], k[4096];
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    szg_checkpoint_tables tables;
    accept(szg_checkpoint_analyse(context, checkpoint, &dry, &tables));
    szg_checkpoint_tables_close(&tables);
    if (facts.unknown)
        return;
    FUZZ_PROMISE(facts.layers > 0 && facts.heads > 0 && facts.key_heads > 0);
    FUZZ_PROMISE(facts.head_size > 0 && facts.model_size > 0);
    int64_t count;
    if (__builtin_mul_overflow(facts.head_size, facts.model_size, &count) || count > 4096)
        return;
    szgi_rotary rotary;
    accept(szgi_checkpoint_rotary(context, checkpoint, facts.layers - 1, &rotary));
    accept(szgi_checkpoint_queries(context, checkpoint, 0, facts.heads - 1, q));
    accept(szgi_checkpoint_keys(context, checkpoint, 0, facts.key_heads - 1, k));
    accept(szgi_checkpoint_positions(context, checkpoint, 4096 / facts.model_size, q));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *model = model_path();
    int descriptor = memfd_create("config.json", 0);
    FUZZ_PROMISE(descriptor >= 0);
    FUZZ_PROMISE(write(descriptor, data, size) == (ssize_t)size);
    char config[64];
    snprintf(config, sizeof config, "/proc/self/fd/%d", descriptor);
    szg_checkpoint *checkpoint;
    szg_status status = szg_checkpoint_open(fuzz_context(), model, config, &checkpoint);
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA || status == SZG_ENOMEM);
    if (status == SZG_OK)
        use_model(checkpoint);
    szg_checkpoint_close(&checkpoint);
    close(descriptor);
    return 0;
}
