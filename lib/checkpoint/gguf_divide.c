/* Rotary frequencies of a GGUF file that a tensor divides. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "formats/gguf.h"
#include "gguf.h"

szg_status szgi_gguf_read_divisors(szg_context *context, const szgi_tensor *tensor, int64_t pairs,
                                   bool spare, double *out) {
    char shape[64];
    if (tensor->dims != 1 || tensor->count < pairs || (tensor->count > pairs && !spare))
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: has shape %s, and %" PRId64 " rotary pairs need as many "
                         "divisors",
                         tensor->file, tensor->name,
                         szgi_tensor_shape_text(tensor, shape, sizeof shape), pairs);
    SZG_TRY(szgi_tensor_check(context, tensor));
    SZG_TRY(szgi_tensor_read(context, tensor, 0, pairs, out));
    for (int64_t t = 0; t < pairs; t++)
        if (!(out[t] > 0))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: divisor %" PRId64 " is %.9g, and must be positive",
                             tensor->file, tensor->name, t, out[t]);
    return SZG_OK;
}

/* rope_freqs (LLaMA 3), or the first of longrope's two lists; NULL where frequencies are as the
 * keys have them. */
static szg_status find_divisors(szg_context *context, const szg_checkpoint *checkpoint, char **note,
                                const szgi_tensor **out) {
    const szgi_safetensors *set = checkpoint->tensors;
    const szgi_tensor *longer = szgi_safetensors_find(set, "rope_factors_long.weight");
    const szgi_tensor *shorter = szgi_safetensors_find(set, "rope_factors_short.weight");
    *out = szgi_safetensors_find(set, "rope_freqs.weight");
    if (*out)
        return szgi_text_append(context, note, "frequencies are divided by the numbers of %s",
                                (*out)->name);
    if (!longer && !shorter)
        return SZG_OK;
    if (!longer || !shorter)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: is there without rope_factors_%s.weight: convert the "
                         "model again",
                         checkpoint->source, longer ? longer->name : shorter->name,
                         longer ? "short" : "long");
    *out = shorter;
    return szgi_text_append(context, note,
                            "frequencies are those of rope_factors_short.weight, up to the "
                            "original context length; rope_factors_long.weight has those beyond");
}

/* Positions for which rope_factors_short.weight holds; 0: the file does not say. */
static szg_status original_length(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t *out) {
    static const char *const keys[] = {"rope.scaling.original_context_length", "context_length"};
    szgi_json_value metadata = szgi_gguf_metadata(checkpoint->tensors);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char name[GGUF_KEY];
        snprintf(name, sizeof name, "%s.%s", checkpoint->model_type, keys[i]);
        if (szgi_json_has(metadata, name))
            return szgi_config_integer(context, metadata, (const char *const[]){name, NULL}, 1,
                                       out);
    }
    return SZG_OK;
}

/* The frequencies of one rotation, divided where there are divisors. */
static szg_status replace(szg_context *context, const szg_checkpoint *checkpoint,
                          const szgi_tensor *divisors, layer_rotation *rotation) {
    szgi_rotary rotary;
    double *divisor;
    SZG_TRY(szgi_encoding_rotary(context, rotation->encoding, 0, &rotary));
    if (!rotation->theta) { /* else the scaling has put its own there */
        SZG_TRY(szgi_memory_alloc(context, rotary.pairs, &rotation->theta));
        for (int64_t t = 0; t < rotary.pairs; t++)
            rotation->theta[t] = rotary.theta[t];
        rotation->amplitude = rotary.amplitude;
    }
    rotation->amplitude *= checkpoint->gguf.amplitude;
    if (!divisors)
        return SZG_OK;
    if (strcmp(divisors->name, "rope_freqs.weight") != 0)
        SZG_TRY(original_length(context, checkpoint, &rotation->length));
    SZG_TRY(szgi_memory_alloc(context, rotary.pairs, &divisor));
    szg_status status =
        szgi_gguf_read_divisors(context, divisors, rotary.pairs, checkpoint->family->only, divisor);
    for (int64_t t = 0; t < rotary.pairs && status == SZG_OK; t++)
        rotation->theta[t] /= divisor[t];
    szgi_memory_free(divisor);
    return status;
}

szg_status szgi_gguf_divide(szg_context *context, szg_checkpoint *checkpoint) {
    const szgi_tensor *divisors;
    layer_rotation *first = &checkpoint->rotation[0];
    double *amplitude = &checkpoint->gguf.amplitude;
    /* Sliding layers have no divisors; those of Gemma 4's others are in its configuration. */
    if (checkpoint->family->own_sizes || szgi_gguf_is_sliding(checkpoint->family))
        return SZG_OK;
    if (checkpoint->rotations == 0 || checkpoint->gguf.families == 0)
        return SZG_OK;
    *amplitude = *amplitude > 0 ? *amplitude : 1;
    if (*amplitude != 1)
        SZG_TRY(szgi_text_append(context, &first->note,
                                 "rotated queries and keys are multiplied by %.9g "
                                 "(rope.scaling.attn_factor)",
                                 *amplitude));
    SZG_TRY(find_divisors(context, checkpoint, &first->note, &divisors));
    if (divisors && checkpoint->rotations > 1)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: it is not known which of the two bases it divides",
                         divisors->file, divisors->name);
    for (int i = 0; i < checkpoint->rotations && (divisors || *amplitude != 1); i++)
        SZG_TRY(replace(context, checkpoint, divisors, &checkpoint->rotation[i]));
    return SZG_OK;
}
