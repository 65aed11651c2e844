/* The checked functions of the transforms, and lengths that transform fast. */
#include <inttypes.h>

#include "base/memory.h"
#include "ops.h"

struct szgi_fft {
    const szgi_linalg_ops *ops; /* of the backend that made the plan */
    void *plan;
};

szg_status szgi_fft_open(szg_context *context, szgi_fft_kind kind, int64_t n, int64_t batch,
                         szgi_fft **out) {
    *out = NULL;
    if ((unsigned)kind >= SZGI_FFT_KINDS || n < 1 || batch < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "transform of kind %d: length %" PRId64 " and batch %" PRId64
                         " must be at least 1",
                         (int)kind, n, batch);
    int64_t elements;
    SZG_TRY(szgi_memory_product(context, n, batch, &elements));
    szgi_fft *fft;
    SZG_TRY(szgi_memory_alloc(context, 1, &fft));
    fft->ops = szgi_linalg_of(context);
    szg_status status = fft->ops->fft_open(context, kind, n, batch, &fft->plan);
    if (status == SZG_OK)
        *out = fft;
    else
        szgi_memory_free(fft);
    return status;
}

szg_status szgi_fft_run(szg_context *context, const szgi_fft *fft, const void *in, void *out) {
    if (in == out)
        return szgi_fail(context, SZG_EINVAL, "transform: input and output must not overlap");
    return fft->ops->fft_run(context, fft->plan, in, out);
}

void szgi_fft_close(szgi_fft **fft) {
    if (!fft || !*fft)
        return;
    (*fft)->ops->fft_close((*fft)->plan);
    szgi_memory_free(*fft);
    *fft = NULL;
}

int64_t szgi_fft_fast_length(int64_t n) {
    if (n <= 2)
        return n < 1 ? 1 : n;
    int64_t best = INT64_MAX;
    for (int64_t seven = 2; seven < best; seven *= 7)
        for (int64_t five = seven; five < best; five *= 5)
            for (int64_t three = five; three < best; three *= 3) {
                int64_t length = three;
                while (length < n)
                    length *= 2;
                best = length < best ? length : best;
            }
    return best;
}
