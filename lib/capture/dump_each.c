/* The matrices of a dump, read a few at a time. */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dump_private.h"

enum { TOGETHER = 64 };                           /* matrices in memory at a time, */
static const int64_t MEMORY = (int64_t)256 << 20; /* or as many as come to these bytes */

typedef struct dump_job {
    szg_context *context;
    const szgi_dump *dump;
    const szgi_dump_options *options;
    dump_reading reading;
    dump_take *take;
    void *user;
    int64_t count, bytes, done, total;
    dump_matrix matrix[TOGETHER];
} dump_job;

static void drop(dump_job *job) {
    for (int64_t i = 0; i < job->count; i++)
        szgi_dump_matrix_close(&job->matrix[i]);
    job->count = job->bytes = 0;
}

static szg_status flush(dump_job *job) {
    szg_status status = job->take(job->context, job->user, job->count, job->matrix);
    job->done += job->count;
    drop(job);
    if (status == SZG_OK)
        szgi_progress(job->context, "logits", job->done, job->total);
    return status;
}

static szg_status read_one(dump_job *job, const dump_group *group, int64_t index, int64_t longest) {
    int64_t bytes;
    SZG_TRY(szgi_context_check_cancel(job->context));
    SZG_TRY(szgi_dump_matrix_open(job->context, job->dump, job->options, group, index, job->reading,
                                  &job->matrix[job->count], &bytes));
    job->matrix[job->count++].longest = longest;
    job->bytes += bytes;
    return job->count == TOGETHER || job->bytes >= MEMORY ? flush(job) : SZG_OK;
}

static szg_status run_group(dump_job *job, const dump_group *group) {
    for (int64_t i = 0; i < group->matrices; i++)
        SZG_TRY(read_one(job, group, i, group->n));
    return SZG_OK;
}

/* ---- By head ---- */

/* A matrix before it is read. */
typedef struct dump_item {
    const dump_group *group;
    const dump_file *file;
    int64_t index, layer, head;
    int64_t place, first; /* in the order of the rows: its own, and its head's first */
} dump_item;

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_integers(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* What szgi_logits_identify writes, the probe left out. */
static int compare_heads(const dump_item *a, const dump_item *b) {
    const dump_file *one = a->file, *other = b->file;
    int order = compare_texts(one->source ? one->source : one->path,
                              other->source ? other->source : other->path);
    order = order ? order : compare_texts(a->group->first->rest, b->group->first->rest);
    order = order ? order : compare_integers(one->step, other->step);
    order = order ? order : compare_integers(a->layer, b->layer);
    return order ? order : compare_integers(a->head, b->head);
}

static int by_head(const void *left, const void *right) {
    const dump_item *a = left, *b = right;
    int order = compare_heads(a, b);
    return order ? order : compare_integers(a->place, b->place);
}

static int by_first(const void *left, const void *right) {
    const dump_item *a = left, *b = right;
    int order = compare_integers(a->first, b->first);
    return order ? order : compare_integers(a->place, b->place);
}

static void list_items(const dump_job *job, const dump_group *groups, int64_t count,
                       dump_item *items) {
    int64_t place = 0;
    for (int64_t g = 0; g < count; g++)
        for (int64_t i = 0; i < groups[g].matrices; i++, place++) {
            dump_item *item = &items[place];
            *item = (dump_item){.group = &groups[g],
                                .file = &job->dump->file[groups[g].first->file],
                                .index = i,
                                .place = place};
            szgi_dump_matrix_head(&groups[g], i, &item->layer, &item->head);
        }
    qsort(items, (size_t)place, sizeof *items, by_head);
    for (int64_t i = 0; i < place; i++)
        items[i].first = i > 0 && compare_heads(&items[i - 1], &items[i]) == 0 ? items[i - 1].first
                                                                               : items[i].place;
    qsort(items, (size_t)place, sizeof *items, by_first);
}

/* Positions of the longest matrix of the head that begins here. */
static int64_t longest_of(const dump_item *items, int64_t count) {
    int64_t longest = 0;
    for (int64_t i = 0; i < count && items[i].first == items[0].first; i++)
        longest = items[i].group->n > longest ? items[i].group->n : longest;
    return longest;
}

static szg_status run_by_head(dump_job *job, const dump_group *groups, int64_t count) {
    dump_item *items;
    SZG_TRY(szgi_memory_alloc(job->context, job->total, &items));
    list_items(job, groups, count, items);
    szg_status status = SZG_OK;
    for (int64_t i = 0, longest = 0; i < job->total && status == SZG_OK; i++) {
        if (items[i].place == items[i].first)
            longest = longest_of(items + i, job->total - i);
        status = read_one(job, items[i].group, items[i].index, longest);
    }
    szgi_memory_free(items);
    return status == SZG_OK ? flush(job) : status;
}

/* ---- All of them ---- */

/* Says how the arrays of each file are read: once, where its others are read alike. */
static void say_reading(const dump_job *job, const dump_group *group, const dump_group *before) {
    char text[DUMP_TEXT], other[DUMP_TEXT], name[DUMP_TEXT];
    const szg_encoding *encoding = job->options->encoding;
    bool coupled = encoding && group->array[SZGI_DUMP_QUERIES] &&
                   !group->array[SZGI_DUMP_COUPLED_QUERIES] && !group->array[SZGI_DUMP_COUPLED];
    szgi_dump_group_text(job->dump, group, text);
    if (before && before->first->file == group->first->file &&
        strcmp(szgi_dump_group_text(job->dump, before, other), text) == 0)
        return;
    szgi_say(job->context, SZG_NOTE, "%s: read as %s%s%s",
             szgi_dump_array_text(job->dump, group->first, name), text,
             coupled ? ", coupled by " : "", coupled ? szg_encoding_spec(encoding) : "");
    if (encoding && !coupled)
        szgi_say(job->context, SZG_WARNING,
                 "%s: %s is not applied: the file has the coupled side itself", name,
                 szg_encoding_spec(encoding));
    for (int i = 0; i < group->axes && !group->named; i++)
        if (group->axis[i] == 'h' && group->size[i] > group->n)
            szgi_say(job->context, SZG_WARNING,
                     "%s: more heads than tokens: if the tokens come first, give --axes "
                     "token,head,dim",
                     name);
}

static szg_status run_groups(dump_job *job, dump_group *groups, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        SZG_TRY(szgi_dump_group_check(job->context, job->dump, job->options, &groups[i]));
        job->total += groups[i].matrices;
    }
    if (job->reading == DUMP_WHOLE)
        return run_by_head(job, groups, count);
    for (int64_t i = 0; i < count && job->reading != DUMP_AGAIN; i++)
        say_reading(job, &groups[i], i > 0 ? &groups[i - 1] : NULL);
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(run_group(job, &groups[i]));
    return flush(job);
}

szg_status szgi_dump_each(szg_context *context, const szgi_dump *dump,
                          const szgi_dump_options *options, dump_reading reading, dump_take *take,
                          void *user) {
    static const szgi_dump_options defaults;
    dump_group *groups = NULL;
    dump_job *job = NULL;
    int64_t count;
    SZG_TRY(szgi_dump_groups(context, dump, &groups, &count));
    szg_status status = szgi_memory_alloc(context, 1, &job);
    if (status == SZG_OK) {
        job->context = context;
        job->dump = dump;
        job->options = options ? options : &defaults;
        job->reading = reading;
        job->take = take;
        job->user = user;
        status = run_groups(job, groups, count);
        for (int64_t i = 0; i < dump->files && status == SZG_OK; i++)
            status = dump->file[i].set ? szgi_safetensors_check(context, dump->file[i].set)
                                       : szgi_npy_check(context, dump->file[i].npy);
        drop(job);
    }
    szgi_memory_free(job);
    szgi_memory_free(groups);
    return status;
}
