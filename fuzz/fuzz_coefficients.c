#include <math.h>
#include "formats/coefficients.h"

#include "fuzz.h"

static void use(const szgi_coefficients *c, szgi_lags lags) {
    int64_t total = c->heads * c->count;
    FUZZ_PROMISE(c->lags == lags && c->heads > 0 && c->count > 0);
    FUZZ_PROMISE((c->re == NULL) != (c->z == NULL));
    FUZZ_PROMISE(lags == SZGI_LAGS_HERMITIAN || c->count % 2 == 1);
    for (int64_t i = 0; i < total; i++) {
        szg_c64 value = c->z ? c->z[i] : (szg_c64){c->re[i], 0};
        FUZZ_PROMISE(isfinite(value.re) && isfinite(value.im));
        if (lags == SZGI_LAGS_HERMITIAN && i % c->count == 0)
            FUZZ_PROMISE(value.im == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int lags = SZGI_LAGS_HERMITIAN; lags <= SZGI_LAGS_FULL; lags++) {
        szgi_coefficients c;
        szg_status status = szgi_coefficients_parse(fuzz_context(), "fuzz", (const char *)data,
                                                    (int64_t)size, (szgi_lags)lags, &c);
        if (status == SZG_OK)
            use(&c, (szgi_lags)lags);
        else
            FUZZ_REFUSED(status, "fuzz: ");
        szgi_coefficients_close(&c);
    }
    return 0;
}
