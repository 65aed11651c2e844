#include "base/memory.h"
#include "latent.h"

/* GGUF files have keys as [heads, rank, rows]: each head's are transposed. */
static szg_status read_transposed(szg_context *context, const szgi_tensor *tensor, int64_t first,
                                  int64_t rows, int64_t rank, double *out) {
    double *columns;
    SZG_TRY(szgi_memory_alloc(context, rows * rank, &columns));
    szg_status status = szgi_tensor_read(context, tensor, first * rank, rows * rank, columns);
    for (int64_t i = 0; i < rows && status == SZG_OK; i++)
        for (int64_t j = 0; j < rank; j++)
            out[i * rank + j] = columns[j * rows + i];
    szgi_memory_free(columns);
    return status;
}

szg_status szgi_latent_read_up(szg_context *context, const side_weights *side, int64_t first,
                               int64_t rows, int64_t rank, double *out) {
    SZG_TRY(side->weight->dims == 3
                ? read_transposed(context, side->weight, first, rows, rank, out)
                : szgi_tensor_read(context, side->weight, first * rank, rows * rank, out));
    for (int64_t i = 0; i < rows * rank && side->factor != 1; i++)
        out[i] *= side->factor;
    return SZG_OK;
}
