#include "vocabulary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "fold.h"
#include "toeplitz/toeplitz.h"

/* [tokens, d] in this stack; NULL: none. */
static const szgi_tensor *find_table(const szg_checkpoint *checkpoint) {
    static const char *const endings[] = {"embed_tokens.weight",   "wte.weight",
                                          "embed_in.weight",       "word_embeddings.weight",
                                          "tok_embeddings.weight", "token_embd.weight"};
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (tensor->dims != 2 || tensor->shape[1] != checkpoint->model_size ||
            strncmp(tensor->name, checkpoint->prefix, strlen(checkpoint->prefix)) != 0)
            continue;
        for (size_t j = 0; j < sizeof endings / sizeof *endings; j++)
            if (szgi_text_ends(tensor->name, endings[j]))
                return tensor;
    }
    return NULL;
}

/* x less its mean where the norm centres, divided by its root mean square; 0 stays 0. */
static void apply_norm(int64_t d, bool centred, double *x) {
    double sum = 0;
    for (int64_t j = 0; j < d && centred; j++)
        sum += x[j];
    for (int64_t j = 0; j < d; j++)
        x[j] -= sum / (double)d;
    double root = sqrt(szgi_dot(d, x, x) / (double)d);
    for (int64_t j = 0; j < d && root > 0; j++)
        x[j] /= root;
}

static szg_status read_tokens(szg_context *context, const szgi_tensor *table, bool centred,
                              int64_t count, double *out) {
    int64_t d = table->shape[1];
    for (int64_t i = 0; i < count; i++) {
        int64_t token = (2 * i + 1) * table->shape[0] / (2 * count);
        SZG_TRY(szgi_fold_vector(context, table, "an embedding", token * d, d, out + i * d));
        apply_norm(d, centred, out + i * d);
    }
    return SZG_OK;
}

static const char *refusal(const szg_checkpoint *checkpoint, const szgi_tensor *table) {
    if (!table)
        return "the table of embeddings is missing, so that the mean token is not known";
    if (table->count == 0 || table->dtype == SZGI_DTYPE_OTHER ||
        table->dtype == SZGI_DTYPE_INTEGER || table->scales)
        return "the table of embeddings is quantised in a way that is not read here, so that the "
               "mean token is not known";
    return szgi_fold_has_first(checkpoint)
               ? "more than the embeddings enters the first norm, so that the mean token is not "
                 "known"
               : NULL;
}

szg_status szgi_vocabulary_open(szg_context *context, const szg_checkpoint *checkpoint,
                                vocabulary *out) {
    const szgi_tensor *table = find_table(checkpoint);
    *out = (vocabulary){.why = refusal(checkpoint, table)};
    if (out->why)
        return SZG_OK;
    int64_t count = table->shape[0] < VOCABULARY_TOKENS ? table->shape[0] : VOCABULARY_TOKENS;
    SZG_TRY(szgi_memory_alloc(context, count * checkpoint->model_size, &out->memory));
    szg_status status =
        read_tokens(context, table, szgi_fold_centres(checkpoint), count, out->memory);
    out->tokens = (known_tokens){count, out->memory};
    if (status != SZG_OK)
        szgi_vocabulary_close(out);
    return status;
}

void szgi_vocabulary_close(vocabulary *own) {
    szgi_memory_free(own->memory);
    own->memory = NULL;
}
