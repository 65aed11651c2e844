/* adapter_config.json of peft: which adapter it is, and the rank and the scale of each module. */
#ifndef SZG_CHECKPOINT_ADAPTER_CONFIG_H
#define SZG_CHECKPOINT_ADAPTER_CONFIG_H

#include "base/context.h"
#include "base/decls.h"
#include "formats/json.h"

SZGI_BEGIN_DECLS

/* Texts belong to the document, which the caller keeps. */
typedef struct adapter_config {
    szgi_json_value root;
    const char *base; /* base_model_name_or_path; "": it does not say */
    int64_t rank;     /* r and lora_alpha, where no pattern hits */
    double alpha;
    bool rslora, dora, lora_bias, turned; /* turned: fan_in_fan_out */
    szgi_json_value ranks, alphas;        /* rank_pattern, alpha_pattern; absent: none */
    szgi_json_value parameters;           /* target_parameters; absent: none */
} adapter_config;

/* SZG_EDATA that names file, field and remedy: another peft_type than LORA; an initialisation that
 * changes the base; a variant, or a field that szego does not know and that is not empty; a pattern
 * that is no regular expression, or one that POSIX would read otherwise than Python. */
SZG_CHECK_RESULT szg_status szgi_adapter_config_read(szg_context *context, const szgi_json *json,
                                                     adapter_config *out);

/* What peft takes for the module: rank, and scale = alpha / rank, of rsLoRA alpha / sqrt(rank). The
 * patterns are tried in the order of the file; the first that matches the whole name, or its end
 * behind a dot, counts. SZG_EDATA, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_adapter_config_module(szg_context *context,
                                                       const adapter_config *config,
                                                       const char *module, int64_t *rank,
                                                       double *scale);

/* "LoRA", "rsLoRA", "DoRA" or "DoRA, rsLoRA". */
const char *szgi_adapter_config_kind(const adapter_config *config);

SZGI_END_DECLS

#endif
