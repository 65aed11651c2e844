/* The parameters of a layer that are shared out to its heads. */
#include <inttypes.h>
#include <stdio.h>

#include "model_private.h"

typedef enum share_role { SHARE_QUERIES_KEYS, SHARE_PROJECTS, SHARE_OTHER } share_role;

typedef struct share_name {
    const char *name; /* after "layers.L." */
    share_role role;
    bool columns;
    bool rotary; /* of the heads where they have rotary queries of their own */
} share_name;

static const share_name names[] = {
    {"q_linear.weight", SHARE_QUERIES_KEYS, false, false},
    {"k_linear.weight", SHARE_QUERIES_KEYS, false, false},
    {"v_linear.weight", SHARE_PROJECTS, false, false},
    {"out_linear.weight", SHARE_PROJECTS, true, false},
    {"q_linear.bias", SHARE_OTHER, false, false},
    {"k_linear.bias", SHARE_OTHER, false, false},
    {"v_linear.bias", SHARE_OTHER, false, false},
    {"relative_bias_table", SHARE_OTHER, true, false},
    /* mla */
    {"attn.W_UQ.weight", SHARE_QUERIES_KEYS, false, false},
    {"attn.W_UK.weight", SHARE_QUERIES_KEYS, false, false},
    {"attn.W_UV.weight", SHARE_PROJECTS, false, false},
    {"attn.W_QR.weight", SHARE_QUERIES_KEYS, false, true},
    {"attn.out_proj.weight", SHARE_PROJECTS, true, false},
    {"attn.W_UQ.bias", SHARE_OTHER, false, false},
    {"attn.W_UK.bias", SHARE_OTHER, false, false},
    {"attn.W_UV.bias", SHARE_OTHER, false, false},
    {"attn.W_QR.bias", SHARE_OTHER, false, true},
};
enum { NAMES = sizeof names / sizeof *names };

/* Names of parameters that the model does not have are passed over. */
int64_t szgi_model_head_shares(const szg_model *model, int64_t layer,
                               szgi_head_share shares[SZGI_HEAD_SHARES]) {
    bool shared = model->config.model.rotary_queries == SZG_QUERIES_SHARED;
    int64_t count = 0;
    for (int i = 0; i < NAMES; i++) {
        char name[64];
        snprintf(name, sizeof name, "layers.%" PRId64 ".%s", layer, names[i].name);
        const szgi_parameter *parameter =
            names[i].rotary && shared ? NULL : szgi_model_find(model, name);
        if (parameter)
            shares[count++] =
                (szgi_head_share){.parameter = parameter,
                                  .by_columns = names[i].columns,
                                  .projects = names[i].role != SHARE_OTHER,
                                  .queries_keys = names[i].role == SHARE_QUERIES_KEYS};
    }
    return count;
}
