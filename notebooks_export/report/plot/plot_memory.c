/* A run's first failure, its memory, and what is added to a figure before it is drawn. */
#include "base/memory.h"

#include "match.h"
#include "plot_private.h"

bool szgi_plot_keep(plot_run *run, szg_status status) {
    if (run->status == SZG_OK)
        run->status = status;
    return run->status == SZG_OK;
}

void szgi_plot_adopt(plot_run *run, void *memory) {
    block *new = NULL;
    szg_status status = szgi_memory_alloc(run->context, 1, &new);
    szgi_plot_keep(run, status);
    if (status != SZG_OK) {
        szgi_memory_free(memory);
        return;
    }
    *new = (block){run->block, memory};
    run->block = new;
}

bool szgi_plot_take(plot_run *run, int64_t count, size_t size, void *out) {
    void *memory = NULL;
    *(void **)out = NULL;
    if (run->status != SZG_OK ||
        !szgi_plot_keep(run, szgi_memory_take(run->context, count, size, &memory)))
        return false;
    szgi_plot_adopt(run, memory);
    if (run->status == SZG_OK)
        *(void **)out = memory;
    return run->status == SZG_OK;
}

void szgi_plot_release(plot_run *run, block *mark) {
    while (run->block != mark) {
        block *next = run->block->next;
        szgi_memory_free(run->block->memory);
        szgi_memory_free(run->block);
        run->block = next;
    }
}

double *szgi_plot_reals(plot_run *run, rows of, const char *column) {
    double *value = NULL;
    if (run->status != SZG_OK ||
        !szgi_plot_keep(run, szgi_rows_reals(run->context, of, column, &value)))
        return NULL;
    szgi_plot_adopt(run, value);
    return run->status == SZG_OK ? value : NULL;
}

const char *szgi_plot_text(plot_run *run, void (*say)(words *, const void *), const void *of) {
    words text = {0};
    char *copy = NULL;
    if (run->status != SZG_OK)
        return "";
    szg_status status = szgi_words_open(run->context, &text);
    if (status == SZG_OK) {
        say(&text, of);
        status = szgi_words_end(run->context, &text);
    }
    if (status == SZG_OK)
        status = szgi_memory_copy_text(run->context, text.text, &copy);
    szgi_words_free(&text);
    if (szgi_plot_keep(run, status))
        szgi_plot_adopt(run, copy);
    return run->status == SZG_OK ? copy : "";
}

groups szgi_plot_split(plot_run *run, rows of, const char *const *columns, row_key_fn *key) {
    groups out = {0};
    if (run->status != SZG_OK)
        return out;
    szg_status status = key ? szgi_keyed_split(run->context, of, key, run, &out)
                            : szgi_groups_split(run->context, of, columns, &out);
    if (!szgi_plot_keep(run, status))
        return (groups){0};
    szgi_plot_adopt(run, out.group);
    szgi_plot_adopt(run, out.storage);
    return run->status == SZG_OK ? out : (groups){0};
}

void szgi_plot_add_rule(plot_figure *figure, plot_rule rule) {
    if (figure->rules < (int64_t)(sizeof figure->rule / sizeof *figure->rule))
        figure->rule[figure->rules++] = rule;
}

void szgi_plot_add_source(plot_figure *figure, rows of) {
    if (of.table && figure->sources < (int64_t)(sizeof figure->source / sizeof *figure->source))
        figure->source[figure->sources++] = of;
}
