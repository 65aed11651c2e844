#include "fuzz_tensor.h"

void fuzz_tensor(const szgi_safetensors *set, const szgi_tensor *tensor, const uint8_t *data,
                 size_t size) {
    szg_context *context = fuzz_context();
    double value[300]; /* more than a block */
    char text[40];
    int64_t bad = 0, count = tensor->count < 300 ? tensor->count : 300;
    szg_status status;
    if (tensor->left_out) {
        FUZZ_PROMISE(!tensor->data && !tensor->source);
        status = szgi_tensor_read(context, tensor, 0, count, value);
        FUZZ_PROMISE(status == SZG_EIO || status == SZG_EDATA || count == 0);
        return;
    }
    FUZZ_PROMISE(tensor->data >= data && tensor->bytes >= 0 && tensor->count >= 0);
    FUZZ_PROMISE(tensor->bytes <= (int64_t)size - (tensor->data - data));
    FUZZ_PROMISE(szgi_safetensors_find(set, tensor->name) == tensor);
    FUZZ_PROMISE(strlen(szgi_tensor_shape_text(tensor, text, sizeof text)) < sizeof text);
    status = szgi_tensor_read(context, tensor, tensor->count - count, count, value);
    if (tensor->dtype == SZGI_DTYPE_INTEGER || tensor->dtype == SZGI_DTYPE_OTHER) {
        FUZZ_REFUSED(status, "fuzz: ");
        return;
    }
    FUZZ_PROMISE(status == SZG_OK);
    FUZZ_PROMISE(szgi_tensor_first_bad(context, tensor, &bad) == SZG_OK);
    FUZZ_PROMISE(bad >= -1 && bad < tensor->count);
    status = szgi_tensor_check(context, tensor);
    FUZZ_PROMISE(bad < 0 ? status == SZG_OK : status == SZG_EDATA);
}
