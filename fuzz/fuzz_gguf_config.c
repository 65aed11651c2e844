/* A GGUF file as a checkpoint: its metadata are followed to heads and spectra, or refused. */
#include "checkpoint/checkpoint.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_checkpoint *checkpoint;
    const char *path = fuzz_file("m.gguf", data, size);
    if (size < 4 || memcmp(data, "GGUF", 4) != 0) /* safetensors have a fuzzer of their own */
        return 0;
    szg_status status = szg_checkpoint_open(fuzz_context(), path, NULL, &checkpoint);
    if (status != SZG_OK) {
        FUZZ_PROMISE(checkpoint == NULL);
        FUZZ_REFUSED(status, fuzz_folder());
        fuzz_clean();
        return 0;
    }
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    FUZZ_PROMISE(facts.unknown || (facts.layers > 0 && facts.heads % facts.key_heads == 0));
    /* What is small is computed too. */
    if (!facts.unknown && facts.layers * facts.heads * facts.model_size < 4096 &&
        facts.head_size < 64 && facts.position_rows < 64) {
        szg_checkpoint_tables tables;
        FUZZ_PROMISE(szg_checkpoint_analyse(fuzz_context(), checkpoint, NULL, &tables) == SZG_OK);
        szg_checkpoint_tables_close(&tables);
    }
    szg_checkpoint_close(&checkpoint);
    fuzz_clean();
    return 0;
}
