/* Packed weights: a safetensors file whose metadata `config` is the configuration. */
#include "checkpoint/checkpoint_private.h"

#include "fuzz.h"

/* Whatever is read of a tensor: numbers, or a refusal that names the file. */
static void use_tensor(const szgi_tensor *tensor) {
    szg_context *context = fuzz_context();
    double value[300];
    int64_t bad, count = tensor->count < 300 ? tensor->count : 300;
    szg_status status = szgi_tensor_read(context, tensor, tensor->count - count, count, value);
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA || status == SZG_EIO);
    if (tensor->dtype != SZGI_DTYPE_CODED)
        return;
    FUZZ_PROMISE(tensor->coded && tensor->count > 0 && !tensor->refusal);
    status = szgi_tensor_first_bad(context, tensor, &bad);
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA);
    FUZZ_PROMISE(status != SZG_OK || (bad >= -1 && bad < tensor->count));
    status = szgi_tensor_check(context, tensor);
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA);
}

static void use_model(const char *folder) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    szg_status status = szg_checkpoint_open(fuzz_context(), folder, NULL, &checkpoint);
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA || status == SZG_ENOMEM);
    if (status != SZG_OK)
        return;
    for (int64_t i = 0; i < szgi_safetensors_count(checkpoint->tensors); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        FUZZ_PROMISE(szgi_safetensors_find(checkpoint->tensors, tensor->name) == tensor);
        use_tensor(tensor);
    }
    status = szg_checkpoint_analyse(fuzz_context(), checkpoint, &dry, &tables);
    FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA || status == SZG_EDOMAIN ||
                 status == SZG_ENOMEM);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_safetensors *set;
    if (szgi_safetensors_open_bytes(fuzz_context(), "fuzz", data, (int64_t)size, &set) != SZG_OK)
        return 0;
    const char *config = szgi_safetensors_metadata(set, "config");
    fuzz_file("model.safetensors", data, size);
    if (config)
        fuzz_file("config.json", config, strlen(config));
    szgi_safetensors_close(&set);
    use_model(fuzz_folder());
    fuzz_clean();
    return 0;
}
