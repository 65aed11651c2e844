#include <string.h>

#include "model.h"

szg_checkpoint_choices model_choices(const model_options *options, const char *stack) {
    const char *config = options->config;
    return (szg_checkpoint_choices){
        SZG_INIT(szg_checkpoint_choices),
        .config = config && strcmp(config, "none") == 0 ? "" : config,
        .prefix = options->prefix,
        .stack = stack,
        .set = options->set.value,
        .sets = options->set.count,
    };
}
