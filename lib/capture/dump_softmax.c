/* What a file's metadata says of the softmax: its mask, and the cap of its logits. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dump_private.h"

/* The mask of a layer: of "causal", or of "0: causal; 1: causal, window 4". NULL: none is said. */
static const char *mask_of_layer(const char *mask, int64_t layer, size_t *length) {
    while (mask && *mask) {
        char *end;
        long long number = strtoll(mask, &end, 10);
        bool by_layer = end != mask && *end == ':';
        const char *kind = by_layer ? end + 1 + strspn(end + 1, " ") : mask;
        *length = by_layer ? strcspn(kind, ";") : strlen(kind);
        if (!by_layer || number == layer)
            return kind;
        mask = kind + *length;
        mask += strspn(mask, "; ");
    }
    return NULL;
}

static bool begins(const char **text, const char *word) {
    size_t length = strlen(word);
    bool is = strncmp(*text, word, length) == 0;
    *text += is ? length : 0;
    return is;
}

/* Whether a mask hides nothing more than the future, or nothing at all, from `n` tokens: a window
 * or chunks that are as long as the sequence hide nothing. */
static bool is_plain(const char *kind, size_t length, int64_t n, bool *causal) {
    const char *text = kind;
    *causal = begins(&text, "causal");
    if ((size_t)(text - kind) == length || (!*causal && begins(&text, "all")))
        return (size_t)(text - kind) == length;
    if (*causal && !begins(&text, ", "))
        return false;
    if (!begins(&text, "window ") && !begins(&text, "chunks of "))
        return false;
    char *end;
    long long reach = strtoll(text, &end, 10);
    return end != text && end == kind + length && reach >= n;
}

szg_status szgi_dump_mask_said(szg_context *context, const dump_matrix *matrix, bool *causal) {
    const dump_file *file = matrix->file;
    const szg_contraction_labels *labels = &matrix->pair.labels;
    int64_t n =
        matrix->pair.coupled.rows > 0 ? matrix->pair.coupled.rows : matrix->pair.content.rows;
    size_t length = 0;
    const char *kind = mask_of_layer(file->mask, labels->layer, &length);
    if (!kind)
        return szgi_fail(context, SZG_EDATA,
                         "%s: its metadata has a mask for each layer (%.80s), and none for layer "
                         "%" PRId64 ": give --mask none or --mask causal",
                         file->path, file->mask, labels->layer);
    if (is_plain(kind, length, n, causal))
        return SZG_OK;
    return szgi_fail(
        context, SZG_EDATA,
        "%s: its metadata says mask=%.*s, which --statistics cannot compute for %" PRId64
        " tokens: --mask none or --mask causal takes another softmax than the model's",
        file->path, (int)(length < 80 ? length : 80), kind, n);
}

szg_status szgi_dump_cap_said(szg_context *context, const dump_file *file, double *cap) {
    char *end;
    double said = strtod(file->logit_cap, &end);
    if (*end || !(said > 0 && said < INFINITY))
        return szgi_fail(context, SZG_EDATA,
                         "%s: metadata: logit_cap '%.40s' is no positive number: give --soft-cap",
                         file->path, file->logit_cap);
    *cap = said;
    return SZG_OK;
}
