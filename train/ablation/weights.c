/* A head's rows of W_V, or its columns of the latent up-projections, set to zero and put back. */
#include <stdio.h>

#include "base/memory.h"

#include "ablation_private.h"

/* Which parameters of a layer a method cuts; those that the model does not have are passed over. */
typedef struct cut_name {
    szg_ablation_method method;
    const char *name; /* after "layers.L." */
} cut_name;

static const cut_name names[] = {
    {SZG_ABLATE_VALUES, "v_linear.weight"},
    {SZG_ABLATE_VALUES, "v_linear.bias"},
    {SZG_ABLATE_VALUES, "attn.W_UV.weight"},
    {SZG_ABLATE_LATENT_COLUMNS, "attn.W_UQ.weight"},
    {SZG_ABLATE_LATENT_COLUMNS, "attn.W_UK.weight"},
    {SZG_ABLATE_LATENT_COLUMNS, "attn.W_UV.weight"},
};
enum { NAMES = sizeof names / sizeof *names };

struct weight_cut {
    szg_model *model;
    szg_ablation_method method;
    int64_t heads;
    int64_t head_columns;               /* LATENT_COLUMNS: of a head */
    const szgi_parameter *parts[NAMES]; /* those that are cut now */
    int64_t count;
    char *kept; /* their numbers, one after the other; the backend's memory */
};

/* The parameters of a layer that the method cuts, into cut->parts. */
static int64_t find_parts(weight_cut *cut, int64_t layer) {
    int64_t numbers = 0;
    cut->count = 0;
    for (int i = 0; i < NAMES; i++) {
        char name[96];
        if (names[i].method != cut->method)
            continue;
        snprintf(name, sizeof name, "layers.%lld.%s", (long long)layer, names[i].name);
        const szgi_parameter *part = szgi_model_find(cut->model, name);
        if (!part)
            continue;
        cut->parts[cut->count++] = part;
        numbers += part->count;
    }
    return numbers;
}

static szg_status check_parts(szg_context *context, const weight_cut *cut) {
    if (cut->count > 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     cut->method == SZG_ABLATE_LATENT_COLUMNS
                         ? "ablation: the model has no latent up-projections (W_UQ, W_UK, W_UV): "
                           "latent_columns is for mla, take output or values"
                         : "ablation: the model has no value projection: take output");
}

szg_status szgi_weight_cut_open(szg_context *context, szg_model *model, szg_ablation_method method,
                                weight_cut **out) {
    const szg_model_config *settings = &szgi_model_settings(model)->model;
    weight_cut *cut;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &cut));
    cut->model = model;
    cut->method = method;
    cut->heads = settings->heads;
    int64_t numbers = find_parts(cut, 0); /* layers have the same shapes */
    szg_status status = check_parts(context, cut);
    cut->head_columns = settings->width / settings->heads;
    cut->count = 0;
    if (status == SZG_OK)
        status = szgi_device_alloc(context, numbers * szgi_network_real_size(context), &cut->kept);
    *out = cut;
    if (status != SZG_OK)
        szgi_weight_cut_close(context, out);
    return status;
}

void szgi_weight_cut_close(szg_context *context, weight_cut **cut) {
    if (!*cut)
        return;
    szgi_device_free(context, (*cut)->kept);
    szgi_memory_free(*cut);
    *cut = NULL;
}

int64_t szgi_ablation_reach(const szg_model_config *model, szg_ablation_method method) {
    if (method != SZG_ABLATE_LATENT_COLUMNS)
        return model->heads;
    int64_t columns =
        model->latent_query > model->latent_kv ? model->latent_query : model->latent_kv;
    int64_t head = model->width / model->heads, reach = (columns + head - 1) / head;
    return reach < model->heads ? reach : model->heads;
}

static char *numbers_of(szg_context *context, const weight_cut *cut, const szgi_parameter *part) {
    return (char *)szgi_model_arena(cut->model) + part->offset * szgi_network_real_size(context);
}

/* Copies the parts to where they are kept, or back. */
static szg_status copy_parts(szg_context *context, weight_cut *cut, bool keep) {
    int64_t real = szgi_network_real_size(context), at = 0;
    for (int64_t i = 0; i < cut->count; i++) {
        char *own = numbers_of(context, cut, cut->parts[i]), *kept = cut->kept + at;
        int64_t bytes = cut->parts[i]->count * real;
        SZG_TRY(szgi_device_copy(context, keep ? kept : own, keep ? own : kept, bytes));
        at += bytes;
    }
    return SZG_OK;
}

static szg_status clear_part(szg_context *context, const weight_cut *cut,
                             const szgi_parameter *part, int64_t place) {
    int64_t real = szgi_network_real_size(context);
    char *own = numbers_of(context, cut, part);
    bool all = place >= cut->heads;
    if (cut->method == SZG_ABLATE_VALUES) { /* rows, so adjacent */
        int64_t bytes = part->count / cut->heads * real;
        return all ? szgi_device_clear(context, own, part->count * real)
                   : szgi_device_clear(context, own + place * bytes, bytes);
    }
    int64_t first = all ? 0 : place * cut->head_columns;
    int64_t last = all ? cut->heads * cut->head_columns : first + cut->head_columns;
    int64_t columns = part->shape[1];
    last = last < columns ? last : columns;
    if (first >= last)
        return SZG_OK;
    return szgi_device_clear_columns(context, own + first * real, part->shape[0], columns * real,
                                     (last - first) * real);
}

szg_status szgi_weight_cut_apply(szg_context *context, weight_cut *cut, int64_t layer,
                                 int64_t place) {
    find_parts(cut, layer);
    SZG_TRY(copy_parts(context, cut, true));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < cut->count && status == SZG_OK; i++)
        status = clear_part(context, cut, cut->parts[i], place);
    if (status != SZG_OK && szgi_weight_cut_restore(context, cut) != SZG_OK)
        return szgi_fail_prefix(context, status, "ablation: the model's parameters are lost");
    return status;
}

/* A cancellation waits: the model's parameters come back first. */
szg_status szgi_weight_cut_restore(szg_context *context, weight_cut *cut) {
    szgi_context_defer_cancel(context, true);
    szg_status status = copy_parts(context, cut, false);
    szgi_context_defer_cancel(context, false);
    return status;
}
