#include "vocabulary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "fold.h"
#include "lag_table.h"
#include "scale.h"
#include "toeplitz/toeplitz.h"

/* Is the tensor of another stack of the model? Stacks may have embeddings of their own. */
static bool is_of_other(const szg_checkpoint *checkpoint, const char *name) {
    static const char *const stacks[] = {"encoder", "decoder"};
    const char *own = checkpoint->family->stack;
    for (size_t i = 0; own && i < sizeof stacks / sizeof *stacks; i++) {
        size_t length = strlen(stacks[i]);
        if (strcmp(own, stacks[i]) != 0 && strncmp(name, stacks[i], length) == 0 &&
            name[length] == '.')
            return true;
    }
    return false;
}

/* A matrix of this stack with the model's width, or any; NULL: none. */
static const szgi_tensor *find_table(const szg_checkpoint *checkpoint, bool any, size_t names,
                                     const char *const *endings) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    size_t prefix = strlen(checkpoint->prefix);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (tensor->dims != 2 || (!any && tensor->shape[1] != checkpoint->model_size) ||
            strncmp(tensor->name, checkpoint->prefix, prefix) != 0 ||
            is_of_other(checkpoint, tensor->name + prefix))
            continue;
        for (size_t j = 0; j < names; j++)
            if (szgi_text_ends(tensor->name, endings[j]))
                return tensor;
    }
    return NULL;
}

static const szgi_tensor *find_embeddings(const szg_checkpoint *checkpoint, bool any) {
    static const char *const endings[] = {"embed_tokens.weight",    "wte.weight",
                                          "embed_in.weight",        "word_embeddings.weight",
                                          "tok_embeddings.weight",  "token_embd.weight",
                                          "token_embedding.weight", "shared.weight"};
    return find_table(checkpoint, any, sizeof endings / sizeof *endings, endings);
}

int64_t szgi_vocabulary_size(const szg_checkpoint *checkpoint, const token_counts *counts,
                             int64_t most, const char **why) {
    const szgi_tensor *table = find_embeddings(checkpoint, false);
    *why = checkpoint->family->other_tokens;
    if (*why)
        return 0;
    if (!table && find_embeddings(checkpoint, true))
        *why = "the embeddings have another width than the model, so that the mean token is not "
               "known";
    else if (!table)
        *why = "the table of embeddings is missing, so that the mean token is not known";
    else if (table->count == 0 || table->dtype == SZGI_DTYPE_OTHER ||
             table->dtype == SZGI_DTYPE_INTEGER || table->scales)
        *why = "the table of embeddings is of a type that is not read here, so that the mean token "
               "is not known";
    if (*why)
        return 0;
    return !counts->value && table->shape[0] < most ? table->shape[0] : most;
}

szg_status szgi_vocabulary_check(szg_context *context, const szg_checkpoint *checkpoint,
                                 const token_counts *counts) {
    const szgi_tensor *table = find_embeddings(checkpoint, false);
    double sum = 0;
    for (int64_t i = 0; i < counts->count; i++) {
        if (!(counts->value[i] >= 0 && isfinite(counts->value[i])))
            return szgi_fail(context, SZG_EINVAL,
                             "token counts: that of token %" PRId64
                             " is %g, and 0 or a positive number is needed",
                             i, counts->value[i]);
        sum += counts->value[i];
    }
    if (!(sum > 0 && isfinite(sum)))
        return szgi_fail(context, SZG_EINVAL,
                         "token counts: their sum is %g, and a positive number is needed", sum);
    if (table && counts->count > table->shape[0])
        return szgi_fail(context, SZG_EINVAL,
                         "token counts: %" PRId64 " are given, and %s has %" PRId64
                         " rows, one a token",
                         counts->count, SHOWN(table->name), table->shape[0]);
    return SZG_OK;
}

/* The tokens at the middles of `tokens` equal parts of the sum of counts, [tokens]. */
static void pick_counted(const token_counts *counts, int64_t tokens, int64_t *out) {
    double sum = 0, passed = counts->value[0];
    for (int64_t i = 0; i < counts->count; i++)
        sum += counts->value[i];
    for (int64_t i = 0, token = 0; i < tokens; i++) {
        double middle = ((double)i + 0.5) / (double)tokens * sum;
        while (token + 1 < counts->count && passed <= middle)
            passed += counts->value[++token];
        out[i] = token;
    }
}

/* The same of the vocabulary. */
static void pick_even(int64_t rows, int64_t tokens, int64_t *out) {
    for (int64_t i = 0; i < tokens; i++)
        out[i] = (2 * i + 1) * rows / (2 * tokens);
}

szg_status szgi_vocabulary_raw(szg_context *context, const szg_checkpoint *checkpoint,
                               const token_counts *counts, int64_t tokens, double *out) {
    const szgi_tensor *table = find_embeddings(checkpoint, false);
    int64_t d = checkpoint->model_size, *token;
    SZG_TRY(szgi_memory_alloc(context, tokens, &token));
    if (counts->value)
        pick_counted(counts, tokens, token);
    else
        pick_even(table->shape[0], tokens, token);
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < tokens && status == SZG_OK; i++)
        status = szgi_fold_vector(context, table, "an embedding", token[i] * d, d, out + i * d);
    szgi_memory_free(token);
    return status;
}

static const szgi_tensor *find_types(const szg_checkpoint *checkpoint) {
    static const char *const endings[] = {"token_type_embeddings.weight", "token_types.weight"};
    return find_table(checkpoint, false, sizeof endings / sizeof *endings, endings);
}

szg_status szgi_vocabulary_type(szg_context *context, const szg_checkpoint *checkpoint,
                                double *out) {
    const szgi_tensor *table = find_types(checkpoint);
    int64_t d = checkpoint->model_size;
    memset(out, 0, (size_t)d * sizeof *out);
    return table && table->count >= d
               ? szgi_fold_vector(context, table, "an embedding of a type", 0, d, out)
               : SZG_OK;
}

void szgi_vocabulary_find(const szg_checkpoint *checkpoint, const szgi_tensor *out[2]) {
    out[0] = find_embeddings(checkpoint, false);
    out[1] = find_types(checkpoint);
}

/* ---- Where a first layer rotates ---- */

/* Every head multiplies them by its queries and keys. */
enum { TOKENS = 512 };

/* Divides by the root mean square; 0 stays 0. */
static void apply_norm(int64_t d, double *x) {
    szgi_scale_take(d, x); /* squares of small and large numbers are no doubles */
    double root = sqrt(szgi_dot(d, x, x) / (double)d);
    for (int64_t j = 0; j < d && root > 0; j++)
        x[j] /= root;
}

bool szgi_vocabulary_is_read(const szg_checkpoint *checkpoint) {
    return checkpoint->rotations > 0 || szgi_lag_table_is_used(checkpoint);
}

szg_status szgi_vocabulary_open(szg_context *context, const szg_checkpoint *checkpoint,
                                const token_counts *counts, vocabulary *out) {
    int64_t d = checkpoint->model_size;
    *out = (vocabulary){0};
    int64_t count = szgi_vocabulary_size(checkpoint, counts, TOKENS, &out->why);
    if (out->why)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, (count + 2) * d, &out->memory));
    double *mean = out->memory + count * d, *type = mean + d;
    out->tokens = (known_tokens){count, out->memory, mean};
    szg_status status = szgi_vocabulary_raw(context, checkpoint, counts, count, out->memory);
    if (status == SZG_OK)
        status = szgi_vocabulary_type(context, checkpoint, type);
    if (status != SZG_OK)
        szgi_vocabulary_close(out);
    if (status == SZG_EDATA)
        out->why = VOCABULARY_NOT_FINITE;
    if (status != SZG_OK)
        return status == SZG_EDATA ? SZG_OK : status;
    for (int64_t i = 0; i < count * d; i++)
        out->memory[i] += type[i % d];
    if (szgi_fold_centres(checkpoint))
        szgi_centre_rows(count, d, out->memory);
    for (int64_t i = 0; i < count; i++)
        apply_norm(d, out->memory + i * d);
    for (int64_t i = 0; i < count * d; i++)
        mean[i % d] += out->memory[i] / (double)count;
    return SZG_OK;
}

void szgi_vocabulary_close(vocabulary *words) {
    szgi_memory_free(words->memory);
    words->memory = NULL;
}
