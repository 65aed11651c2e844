/* A GGUF file: what is accepted can be read, element by element, and no byte outside the file is.
 */
#include "formats/gguf.h"
#include "base/memory.h"
#include "fuzz_tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_safetensors *set;
    char *text;
    szg_status status = szgi_gguf_open_bytes(fuzz_context(), "fuzz", data, (int64_t)size, &set);
    if (status != SZG_OK) {
        FUZZ_PROMISE(set == NULL);
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    for (int64_t i = 0; i < szgi_safetensors_count(set); i++)
        fuzz_tensor(set, szgi_safetensors_tensor(set, i), data, size);
    FUZZ_PROMISE(szgi_json_text(fuzz_context(), szgi_gguf_metadata(set), 0, &text) == SZG_OK);
    szgi_memory_free(text);
    szgi_safetensors_close(&set);
    return 0;
}
