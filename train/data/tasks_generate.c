/* The paper's two tasks, one example at a time. */
#include "base/memory.h"

#include "tasks_private.h"

/* Numbers of the set itself: no example has this index. */
static const uint32_t SET = UINT32_MAX;

typedef struct draw {
    szgi_stream stream;
    uint64_t at;
} draw;

static int64_t below(draw *from, int64_t bound) {
    return szgi_random_below(&from->stream, from->at++, bound);
}

static int64_t between(draw *from, int64_t least, int64_t most) {
    return least + below(from, most - least + 1);
}

static void exchange(int32_t *a, int32_t *b) {
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Draws `count` of the fillers without replacement (Fisher and Yates) and leaves them in order. */
static int32_t *draw_segment(task_generator *g, draw *from, int64_t count, int32_t *out) {
    for (int64_t i = 0; i < count; i++) {
        g->swap[i] = between(from, i, g->fillers - 1);
        exchange(&g->filler[i], &g->filler[g->swap[i]]);
        out[i] = g->filler[i];
    }
    for (int64_t i = count - 1; i >= 0; i--)
        exchange(&g->filler[i], &g->filler[g->swap[i]]);
    return out + count;
}

/* Words before the first trigger and after the second. */
static void draw_sides(const szg_data_config *data, draw *from, task_range range, int64_t middle,
                       int64_t *before, int64_t *after) {
    if (range.length > 0) {
        int64_t both = range.length - 2 - middle;
        *before = between(from, data->side_min, both - data->side_min);
        *after = both - *before;
        return;
    }
    *before = between(from, data->side_min, data->side_max);
    *after = between(from, data->side_min, data->side_max);
}

static void make_distance(task_generator *g, draw *from, task_range range) {
    const szg_data_config *data = g->data;
    int64_t middle = between(from, range.least, range.most), before, after;
    draw_sides(data, from, range, middle, &before, &after);
    int32_t *at = draw_segment(g, from, before, g->tokens);
    *at++ = g->trigger[0];
    at = draw_segment(g, from, middle, at);
    *at++ = g->trigger[1];
    int64_t most = range.length > 0 ? range.length : data->longest;
    int64_t left = g->tokens + most - at; /* the cut: the first words are drawn alike */
    at = draw_segment(g, from, after < left ? after : left, at);
    g->count = at - g->tokens;
    g->label = (int32_t)(middle + 1);
}

static void make_count(task_generator *g, draw *from, task_range range) {
    const szg_data_config *data = g->data;
    int64_t count = between(from, 0, data->count_max);
    for (int64_t i = 0; i < range.words; i++)
        g->tokens[i] =
            i < count ? g->trigger[below(from, g->triggers)] : g->filler[below(from, g->fillers)];
    for (int64_t i = range.words - 1; i > 0; i--)
        exchange(&g->tokens[i], &g->tokens[between(from, 0, i)]);
    g->count = range.words;
    g->label = (int32_t)count;
}

void szgi_task_make(task_generator *g, int64_t index, task_range range) {
    draw from = {.stream = {g->data->seed, (uint32_t)index, g->purpose}};
    if (g->data->task == SZG_TASK_DISTANCE)
        make_distance(g, &from, range);
    else
        make_count(g, &from, range);
}

task_range szgi_task_train_range(const szg_data_config *data) {
    return (task_range){data->between_min, data->between_max, data->words, 0};
}

task_range szgi_task_test_range(const szg_data_config *data) {
    task_range range = szgi_task_train_range(data);
    if (data->test_between_max > 0) {
        range.least = data->test_between_min;
        range.most = data->test_between_max;
    }
    if (data->test_words > 0)
        range.words = data->test_words;
    return range;
}

bool szgi_task_splits_differ(const szg_data_config *data) {
    return (data->task == SZG_TASK_DISTANCE ? data->test_between_max : data->test_words) > 0;
}

/* The triggers come to the front of the words; without them among the fillers, the rest serves. */
static void choose_triggers(task_generator *g) {
    draw from = {.stream = {g->data->seed, SET, g->purpose}};
    for (int64_t i = 0; i < g->words; i++)
        g->filler[i] = (int32_t)(i + 1);
    for (int64_t i = 0; i < g->triggers; i++) {
        exchange(&g->filler[i], &g->filler[between(&from, i, g->words - 1)]);
        g->trigger[i] = g->filler[i];
    }
    g->fillers = g->words;
    if (g->data->task == SZG_TASK_DISTANCE && !g->data->clean_labels)
        return;
    g->fillers = g->words - g->triggers;
    for (int64_t i = 0; i < g->triggers; i++)
        exchange(&g->filler[i], &g->filler[g->fillers + i]);
}

static int64_t largest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

szg_status szgi_task_open(szg_context *context, const szg_train_config *config, uint32_t purpose,
                          task_generator *out) {
    const szg_data_config *data = &config->data;
    bool distance = data->task == SZG_TASK_DISTANCE;
    int64_t segment = largest(data->side_max, largest(data->between_max, data->test_between_max));
    *out = (task_generator){.data = data,
                            .purpose = purpose,
                            .words = config->model.vocabulary - 1,
                            .triggers = distance ? 2 : data->triggers};
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, out->triggers, &out->trigger), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, out->words, &out->filler), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, segment, &out->swap), fail);
    SZG_TRY_GOTO(status,
                 szgi_memory_alloc(
                     context, distance ? data->longest : largest(data->words, data->test_words),
                     &out->tokens),
                 fail);
    choose_triggers(out);
    return SZG_OK;
fail:
    szgi_task_close(out);
    return status;
}

szg_status szgi_task_enlarge(szg_context *context, task_generator *generator, int64_t words) {
    szgi_memory_free(generator->swap);
    szgi_memory_free(generator->tokens);
    generator->swap = NULL;
    generator->tokens = NULL;
    SZG_TRY(szgi_memory_alloc(context, words, &generator->swap));
    return szgi_memory_alloc(context, words, &generator->tokens);
}

void szgi_task_close(task_generator *generator) {
    szgi_memory_free(generator->trigger);
    szgi_memory_free(generator->filler);
    szgi_memory_free(generator->swap);
    szgi_memory_free(generator->tokens);
    *generator = (task_generator){0};
}
