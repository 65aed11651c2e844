/* What `checkpoint`, `kernel` and `diff` share: options that say how a model is opened. */
#ifndef SZG_ANALYSIS_MODEL_H
#define SZG_ANALYSIS_MODEL_H

#include <szego/checkpoint.h>

#include "command.h"

typedef struct model_options {
    const char *config, *prefix, *revision, *adapter;
    text_list set;
} model_options;

/* Rows of the options, for a struct of options with the member `model_options model`. */
#define MODEL_OPTIONS(type)                                                                        \
    OPTION(type, model.config, "config", "FILE",                                                   \
           "the model's configuration (default: config.json beside the weights, or the metadata "  \
           "of a GGUF file; none: assume no architecture)"),                                       \
        OPTION(type, model.set, "set", "PATH=VALUE",                                               \
               "override a value of the configuration: --set rope_theta=10000; "                   \
               "may be given several times"),                                                      \
        OPTION(type, model.prefix, "prefix", "PREFIX",                                             \
               "the part of a name in front of the layers to read, in a model of several stacks "  \
               "(default: the stack of text)"),                                                    \
        OPTION(type, model.revision, "revision", "REVISION",                                       \
               "of a model of the Hugging Face hub, ORG/NAME: a branch, a tag or a whole commit "  \
               "(default: main)")

/* Row of the option that `diff` has not: there an adapter is a PATH. */
#define MODEL_ADAPTER(type)                                                                        \
    OPTION(type, model.adapter, "adapter", "FOLDER",                                               \
           "an adapter of peft (LoRA, rsLoRA or DoRA) over the model: the weights are those that " \
           "it makes; a folder, or a name of the Hugging Face hub in its cache")

/* What szg_checkpoint_open_chosen takes; `stack` NULL: the first. */
szg_checkpoint_choices model_choices(const model_options *options, const char *stack);

/* Opens one stack of the model at `path` after the other, and calls `visit` with each. */
typedef szg_status model_visit(void *user, const szg_checkpoint *checkpoint);
SZG_CHECK_RESULT szg_status model_each_stack(szg_context *context, const model_options *options,
                                             const char *path, model_visit *visit, void *user);

#endif
