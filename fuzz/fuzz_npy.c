#include "formats/npy.h"
#include "fuzz.h"

/* Both readers agree, element by element. */
static void use_array(const szgi_npy *npy) {
    szg_context *context = fuzz_context();
    int64_t count = szgi_npy_count(npy) < 256 ? szgi_npy_count(npy) : 256;
    FUZZ_PROMISE(szgi_npy_dims(npy) >= 0 && szgi_npy_dims(npy) <= SZGI_NPY_DIMS);
    for (int64_t i = 0; i < count; i++) {
        szg_c64 z;
        double x;
        int64_t at = szgi_npy_count(npy) - 1 - i;
        szg_status status = szgi_npy_read_complex(context, npy, at, 1, &z);
        FUZZ_PROMISE(status == SZG_OK || status == SZG_EDATA);
        if (szgi_npy_is_complex(npy))
            FUZZ_PROMISE(szgi_npy_read_real(context, npy, at, 1, &x) == SZG_EINVAL);
        else if (szgi_npy_read_real(context, npy, at, 1, &x) == SZG_OK)
            FUZZ_PROMISE(memcmp(&x, &z.re, sizeof x) == 0 && z.im == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_npy *npy;
    szg_status status = szgi_npy_open_bytes(fuzz_context(), "fuzz", data, (int64_t)size, &npy);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    use_array(npy);
    szgi_npy_close(&npy);
    return 0;
}
