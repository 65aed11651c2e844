/* Which of a family's stacks is read, and which ones the file has. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"

/* The family's stack of that number; NULL: it has no more. */
static const model_family *numbered_stack(const szg_checkpoint *checkpoint, int64_t number) {
    if (checkpoint->gguf.families > 0)
        return number < checkpoint->gguf.families ? &checkpoint->gguf.family[number] : NULL;
    return szgi_family_find(checkpoint->model_type, number);
}

/* The first stack from *number on that the file has; NULL: there is none. */
static const model_family *next_stack(const szg_checkpoint *checkpoint, int64_t *number) {
    const model_family *family;
    while ((family = numbered_stack(checkpoint, (*number)++)))
        if (szgi_stack_is_there(checkpoint, family))
            break;
    return family;
}

/* The names of the stacks that the file has, with a plus sign between. */
static szg_status list_stacks(szg_context *context, szg_checkpoint *checkpoint) {
    const model_family *family;
    int64_t size = 1;
    for (int64_t i = 0; (family = next_stack(checkpoint, &i));)
        size += family->stack ? (int64_t)strlen(family->stack) + 1 : 0;
    SZG_TRY(szgi_memory_alloc(context, size, &checkpoint->stacks));
    for (int64_t i = 0; (family = next_stack(checkpoint, &i));)
        if (family->stack) {
            if (*checkpoint->stacks)
                strcat(checkpoint->stacks, "+");
            strcat(checkpoint->stacks, family->stack);
        }
    return SZG_OK;
}

/* The source's name in tables, "t5-small/ (encoder)": rows of several stacks stay apart. */
static szg_status name_stack(szg_context *context, szg_checkpoint *checkpoint) {
    const char *stack = checkpoint->family->stack;
    size_t size = strlen(checkpoint->source) + strlen(stack) + sizeof " ()";
    char *name;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &name));
    snprintf(name, size, "%s (%s)", checkpoint->source, stack);
    szgi_memory_free(checkpoint->source);
    checkpoint->source = name;
    return SZG_OK;
}

szg_status szgi_stack_choose(szg_context *context, szg_checkpoint *checkpoint, const char *stack) {
    int64_t first = 0;
    const model_family *family = next_stack(checkpoint, &first);
    while (stack && family && !(family->stack && strcmp(family->stack, stack) == 0))
        family = next_stack(checkpoint, &first);
    if (!family)
        family = numbered_stack(checkpoint, 0);
    for (int64_t i = 0; family && stack && !(family->stack && strcmp(family->stack, stack) == 0);)
        family = numbered_stack(checkpoint, ++i);
    checkpoint->family = family;
    if (family && family->stack)
        SZG_TRY(name_stack(context, checkpoint));
    if (family)
        return list_stacks(context, checkpoint);
    const char *why = szgi_family_refusal(checkpoint->model_type);
    if (!stack && why)
        return szgi_text_append(context, &checkpoint->unknown,
                                "model_type '%s' is not read by szego: %s", checkpoint->model_type,
                                why);
    if (!stack)
        return szgi_text_append(context, &checkpoint->unknown,
                                "model_type '%s' is not known to szego", checkpoint->model_type);
    return szgi_fail(context, SZG_EINVAL, "%s: model_type '%s' has no stack called '%s'",
                     checkpoint->source, checkpoint->model_type, stack);
}
