#include <string.h>

#include "model.h"

error_t model_parse(model_options *options, int key, const char *argument,
                    struct argp_state *state) {
    switch (key) {
    case MODEL_KEY_CONFIG:
        options->config = argument;
        return 0;
    case MODEL_KEY_SET:
        if (options->sets == MODEL_SETS)
            argp_error(state, "--set: at most %d values", MODEL_SETS);
        options->set[options->sets++] = argument;
        return 0;
    case MODEL_KEY_PREFIX:
        options->prefix = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

szg_checkpoint_choices model_choices(const model_options *options, const char *stack) {
    const char *config = options->config;
    return (szg_checkpoint_choices){
        SZG_INIT(szg_checkpoint_choices),
        .config = config && strcmp(config, "none") == 0 ? "" : config,
        .prefix = options->prefix,
        .stack = stack,
        .set = options->set,
        .sets = options->sets,
    };
}
