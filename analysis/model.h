/* What `checkpoint` and `diff` share: options that say how a model is opened. */
#ifndef SZG_ANALYSIS_MODEL_H
#define SZG_ANALYSIS_MODEL_H

#include <szego/checkpoint.h>

#include "command.h"

/* Keys of the shared options; a command's own start at MODEL_KEY_OWN. */
enum { MODEL_KEY_CONFIG = 0x300, MODEL_KEY_SET, MODEL_KEY_PREFIX, MODEL_KEY_OWN, MODEL_SETS = 64 };

typedef struct model_options {
    const char *config, *prefix;
    const char *set[MODEL_SETS];
    int64_t sets;
} model_options;

/* Rows of a command's table of options. */
#define MODEL_OPTIONS                                                                              \
    {"config",                                                                                     \
     MODEL_KEY_CONFIG,                                                                             \
     "FILE",                                                                                       \
     0,                                                                                            \
     "the model's configuration (default: config.json beside the weights, or the metadata of a "   \
     "GGUF file; none: assume no architecture)",                                                   \
     0},                                                                                           \
        {"set",                                                                                    \
         MODEL_KEY_SET,                                                                            \
         "PATH=VALUE",                                                                             \
         0,                                                                                        \
         "a value of the configuration, in place of what is there: --set rope_theta=10000; as "    \
         "often as needed",                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "prefix", MODEL_KEY_PREFIX, "PREFIX", 0,                                                   \
            "the part of a name in front of the layers to read, in a model of several stacks "     \
            "(default: the stack of text)",                                                        \
            0                                                                                      \
    }

/* ARGP_ERR_UNKNOWN for any other key. */
error_t model_parse(model_options *options, int key, const char *argument,
                    struct argp_state *state);

/* What szg_checkpoint_open_chosen takes; `stack` NULL: the first. */
szg_checkpoint_choices model_choices(const model_options *options, const char *stack);

#endif
