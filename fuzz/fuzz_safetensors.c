#include "formats/safetensors.h"
#include "fuzz_tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_safetensors *set;
    szg_status status =
        szgi_safetensors_open_bytes(fuzz_context(), "fuzz", data, (int64_t)size, &set);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    for (int64_t i = 0; i < szgi_safetensors_count(set); i++)
        fuzz_tensor(set, szgi_safetensors_tensor(set, i), data, size);
    szgi_safetensors_metadata(set, "format");
    szgi_safetensors_close(&set);
    return 0;
}
