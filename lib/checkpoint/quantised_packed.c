/* Finds packed weights by the names of their tensors. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "quantised.h"

/* One kind: its codes are NAMEcodes, of this type (NULL: any), beside NAMEbeside (NULL: nothing
 * has to be). The weight is called NAMEweight. */
typedef struct packing {
    const char *codes, *type, *beside, *weight;
    const char *method; /* quant_method that must say it; NULL: the tensors do */
    const char *label;
    unpack *fill;
    bool any_shape; /* codes need be no matrix */
} packing;

static const packing packings[] = {
    {"qweight", NULL, NULL, "weight", "gptq", "GPTQ", szgi_unpack_gptq, false},
    {"qweight", NULL, NULL, "weight", "awq", "AWQ", szgi_unpack_awq, false},
    {"weight_packed", "I32", NULL, "weight", "compressed-tensors", "compressed-tensors",
     szgi_unpack_words, false},
    {"weight_packed", "U8", NULL, "weight", "compressed-tensors", "compressed-tensors",
     szgi_unpack_floats, false},
    {"weight", "I8", "weight_scale", "weight", "compressed-tensors", "compressed-tensors",
     szgi_unpack_integers, false},
    {"weight", NULL, "weight.absmax", "weight", NULL, "bitsandbytes", szgi_unpack_four, true},
    {"weight", "I8", "SCB", "weight", NULL, "bitsandbytes", szgi_unpack_eight, false},
    {"weight", "U32", "scales", "weight", NULL, "MLX", szgi_unpack_mlx, false},
    {"_blocks", "U8", "_scales", "", "mxfp4", "MXFP4", szgi_unpack_mxfp4, true},
};
enum { PACKINGS = sizeof packings / sizeof *packings };

/* Has the tensor the name and type of such codes, and what must be beside it? Sets job->stem. */
static bool has_form(unpack_job *job, const packing *kind) {
    const char *name = job->codes->name;
    size_t length = strlen(name), ending = strlen(kind->codes);
    if (length < ending || length - ending >= sizeof job->stem ||
        strcmp(name + length - ending, kind->codes) != 0)
        return false;
    if (*kind->codes != '_' && length > ending && name[length - ending - 1] != '.')
        return false;
    memcpy(job->stem, name, length - ending);
    job->stem[length - ending] = 0;
    return (!kind->type || strcmp(kind->type, job->codes->dtype_name) == 0) &&
           (!kind->beside || szgi_part_find(job, kind->beside));
}

/* The kinds whose tensors have such names; of two, quant_method chooses. *one: the first. */
static const packing *find_kind(unpack_job *job, const char *method, const packing **one) {
    *one = NULL;
    for (int i = 0; i < PACKINGS; i++) {
        const packing *kind = &packings[i];
        if (!has_form(job, kind))
            continue;
        *one = *one ? *one : kind;
        if (!kind->method || (method && strcmp(kind->method, method) == 0))
            return kind;
    }
    return NULL;
}

/* Nobody says which kind it is. */
static void ask(unpack_job *job, const packing *kind, const char *method) {
    bool two = strcmp(kind->codes, "qweight") == 0;
    if (method)
        szgi_part_problem(
            job,
            "the weights are quantised by %s (" QUANTISED_CONFIG
            " of config.json), whose tensors szego does not know: read the "
            "checkpoint that it was made from%s",
            SHOWN(method),
            two ? ", or, where it is packed as GPTQ or AWQ pack, --set " QUANTISED_CONFIG
                  ".quant_method=gptq (or awq) says so"
                : "");
    else
        szgi_part_problem(job,
                          QUANTISED_CONFIG
                          ".quant_method is missing, and %s: --set " QUANTISED_CONFIG
                          ".quant_method=%s says so%s",
                          two ? "GPTQ and AWQ call their tensors so" : "its name is that of codes",
                          kind->method, two ? ", or awq" : "");
}

/* The name that the weight gets, and a tensor that has it already. Which of both counts is not
 * known: that one is refused, and the codes stay as they are. */
static szg_status refuse_both(unpack_job *job, const szgi_tensor *other) {
    return szgi_safetensors_decode_refused(
        job->context, job->tensors, other - szgi_safetensors_tensor(job->tensors, 0), other->name,
        other->dtype_name,
        "codes of the same weight are in the file too, and nothing says which of them counts: "
        "remove one");
}

static szg_status unpack_one(unpack_job *job, const packing *kind, const char *method) {
    char name[640], shape[64];
    snprintf(job->label, sizeof job->label, "%s", kind->label);
    snprintf(name, sizeof name, "%s%s", job->stem, kind->weight);
    const szgi_tensor *other = szgi_safetensors_find(job->tensors, name);
    if (other && other != job->codes)
        return refuse_both(job, other);
    if (kind->method && (!method || strcmp(method, kind->method) != 0))
        ask(job, kind, method);
    else if (job->codes->count == 0 || (job->codes->dims != 2 && !kind->any_shape))
        szgi_part_problem(job, "it has shape %s, and that of a matrix is needed",
                          szgi_tensor_shape_text(job->codes, shape, sizeof shape));
    else
        SZG_TRY(kind->fill(job));
    if (*job->problem)
        return szgi_safetensors_decode_refused(job->context, job->tensors, job->index, name,
                                               job->codes->dtype_name, job->problem);
    job->packed.name = name;
    job->packed.label = job->label;
    return szgi_safetensors_decode(job->context, job->tensors, job->index, &job->packed);
}

szg_status szgi_quantised_unpack(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value settings = szgi_quantised_settings(checkpoint, QUANTISED_CONFIG);
    szgi_json_value mlx = szgi_quantised_settings(checkpoint, QUANTISED_MLX);
    const char *method = szgi_quantised_text(settings, "quant_method");
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++) {
        unpack_job job = {.context = context,
                          .tensors = checkpoint->tensors,
                          .codes = szgi_safetensors_tensor(checkpoint->tensors, i),
                          .settings = settings,
                          .index = i};
        const packing *any, *kind;
        if (job.codes->refusal)
            continue;
        kind = find_kind(&job, method, &any);
        if (any && job.codes->left_out)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: packed weights were not fetched, and szego.hub "
                             "fetches others alone: hf download ORG/NAME",
                             checkpoint->source, SHOWN(job.codes->name));
        if (kind && kind->fill == szgi_unpack_mlx && szgi_json_kind_of(mlx) == SZGI_JSON_OBJECT)
            job.settings = mlx;
        if (kind || any)
            SZG_TRY(unpack_one(&job, kind ? kind : any, method));
    }
    return szgi_safetensors_rename(context, checkpoint->tensors);
}
