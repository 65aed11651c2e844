#include <stdio.h>
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
        .revision = options->revision,
        .adapter = options->adapter,
    };
}

/* `stacks` gets the names of all, with a plus sign between. */
static szg_status visit_stack(szg_context *context, const szg_checkpoint_choices *choices,
                              const char *path, model_visit *visit, void *user, char stacks[256]) {
    szg_checkpoint *checkpoint;
    SZG_TRY(szg_checkpoint_open_chosen(context, path, choices, &checkpoint));
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    snprintf(stacks, 256, "%s", facts.unknown ? "" : facts.stacks);
    szg_status status = visit(user, checkpoint);
    szg_checkpoint_close(&checkpoint);
    return status;
}

szg_status model_each_stack(szg_context *context, const model_options *options, const char *path,
                            model_visit *visit, void *user) {
    char stacks[256], more[256], *rest = stacks;
    szg_checkpoint_choices choices = model_choices(options, NULL);
    SZG_TRY(visit_stack(context, &choices, path, visit, user, stacks));
    strsep(&rest, "+");
    while (rest) {
        choices.stack = strsep(&rest, "+");
        SZG_TRY(visit_stack(context, &choices, path, visit, user, more));
    }
    return SZG_OK;
}
