/* From a family's layout to the rows of every head. */
#include <inttypes.h>

#include "checkpoint_private.h"

/* Ranks and parts of latent attention; without q_lora_rank queries come from the tokens. */
static szg_status resolve_latent(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const rank[] = {"q_lora_rank", NULL};
    latent_sizes *latent = &checkpoint->latent;
    const struct {
        const char *key;
        int64_t *size;
    } sizes[] = {{"kv_lora_rank", &latent->key_rank},
                 {"qk_nope_head_dim", &latent->nope},
                 {"qk_rope_head_dim", &latent->rope},
                 {"v_head_dim", &latent->value}};
    const int64_t most = 1 << 20;
    if (szgi_json_has(checkpoint->settings, rank[0]))
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, rank, 1, &latent->query_rank));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *const names[] = {sizes[i].key, NULL};
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, names, 1, sizes[i].size));
        if (*sizes[i].size > most)
            return szgi_json_fail(context, szgi_json_member(checkpoint->settings, sizes[i].key),
                                  "is %" PRId64 ", and may not exceed %" PRId64, *sizes[i].size,
                                  most);
    }
    if (latent->query_rank > most)
        return szgi_json_fail(context, szgi_json_member(checkpoint->settings, rank[0]),
                              "is %" PRId64 ", and may not exceed %" PRId64, latent->query_rank,
                              most);
    const latent_names *names = checkpoint->family->latent;
    checkpoint->query = latent->query_rank ? names->query_up : names->query;
    checkpoint->key = names->key_up;
    return SZG_OK;
}

szg_status szgi_layout_names(szg_context *context, szg_checkpoint *checkpoint) {
    checkpoint->query = checkpoint->family->query;
    checkpoint->key = checkpoint->family->key;
    return checkpoint->family->layout == LAYOUT_LATENT ? resolve_latent(context, checkpoint)
                                                       : SZG_OK;
}

/* Heads one after the other, each `step` rows from `first` on. */
static head_places in_turn(int64_t first, int64_t step) {
    return (head_places){.first = first, .group = 1, .group_step = step};
}

/* [H, 3, e]: q, k, v of each head. */
static void place_heads(szg_checkpoint *checkpoint) {
    int64_t e = checkpoint->head_size;
    checkpoint->query_at = in_turn(0, 3 * e);
    checkpoint->key_at = in_turn(e, 3 * e);
    checkpoint->query_rows = checkpoint->key_rows = 3 * checkpoint->heads * e;
}

/* [H + 2 K, e]: all q, all k, all v. */
static void place_blocks(szg_checkpoint *checkpoint) {
    int64_t e = checkpoint->head_size;
    checkpoint->query_at = in_turn(0, e);
    checkpoint->key_at = in_turn(checkpoint->heads * e, e);
    checkpoint->query_rows = (checkpoint->heads + 2 * checkpoint->key_heads) * e;
    checkpoint->key_rows = checkpoint->query_rows;
}

/* [K, H/K + 2, e]: the queries of a key head, then it and its values. */
static void place_groups(szg_checkpoint *checkpoint) {
    int64_t e = checkpoint->head_size, group = checkpoint->heads / checkpoint->key_heads;
    checkpoint->query_at = (head_places){.group = group, .group_step = (group + 2) * e, .step = e};
    checkpoint->key_at = in_turn(group * e, (group + 2) * e);
    checkpoint->query_rows = (checkpoint->heads + 2 * checkpoint->key_heads) * e;
    checkpoint->key_rows = checkpoint->query_rows;
}

/* [4, 3, H/4, e]: four parts, each with its queries, values and keys. */
static szg_status place_quarters(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t e = checkpoint->head_size, part = checkpoint->heads / 4;
    if (checkpoint->heads % 4 != 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: model_type '%s' keeps its heads in four parts, which %" PRId64
                         " heads do not make",
                         checkpoint->source, checkpoint->model_type, checkpoint->heads);
    checkpoint->query_at = (head_places){.group = part, .group_step = 3 * part * e, .step = e};
    checkpoint->key_at = checkpoint->query_at;
    checkpoint->key_at.first = 2 * part * e;
    checkpoint->query_rows = checkpoint->key_rows = 3 * checkpoint->heads * e;
    return SZG_OK;
}

static void place_latent(szg_checkpoint *checkpoint) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t key = latent->nope + (checkpoint->family->latent->split ? 0 : latent->value);
    checkpoint->query_at = in_turn(0, checkpoint->head_size);
    checkpoint->key_at = in_turn(0, key);
    checkpoint->query_rows = checkpoint->heads * checkpoint->head_size;
    checkpoint->key_rows = checkpoint->heads * key;
}

szg_status szgi_layout_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t e = checkpoint->head_size, gated = 1;
    switch (checkpoint->family->layout) {
    case LAYOUT_CONV1D:
    case LAYOUT_FUSED_BLOCKS:
        place_blocks(checkpoint);
        return SZG_OK;
    case LAYOUT_FUSED_HEADS:
        place_heads(checkpoint);
        return SZG_OK;
    case LAYOUT_FALCON:
        if (checkpoint->key_heads < checkpoint->heads)
            place_groups(checkpoint);
        else
            place_heads(checkpoint); /* one query a group is the same rows */
        return SZG_OK;
    case LAYOUT_FUSED_GROUPS:
        place_groups(checkpoint);
        return SZG_OK;
    case LAYOUT_BIGCODE:
        if (checkpoint->key_heads == 1)
            place_blocks(checkpoint);
        else
            place_heads(checkpoint);
        return SZG_OK;
    case LAYOUT_CODEGEN:
        return place_quarters(context, checkpoint);
    case LAYOUT_LATENT:
        place_latent(checkpoint);
        return SZG_OK;
    case LAYOUT_GATED:
        gated = 2;
        break;
    default: /* LAYOUT_COLUMNS is the same with columns */
        break;
    }
    checkpoint->query_at = in_turn(0, gated * e);
    checkpoint->key_at = in_turn(0, e);
    checkpoint->query_rows = gated * checkpoint->heads * e;
    checkpoint->key_rows = checkpoint->key_heads * e;
    return SZG_OK;
}
