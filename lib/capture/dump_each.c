/* The matrices of a dump, read a few at a time. */

#include <string.h>

#include "base/memory.h"
#include "dump_private.h"

enum { TOGETHER = 64 };                           /* matrices in memory at a time, */
static const int64_t MEMORY = (int64_t)256 << 20; /* or as many as come to these bytes */

typedef struct dump_job {
    szg_context *context;
    const szgi_dump *dump;
    const szgi_dump_options *options;
    bool factors;
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

static szg_status run_group(dump_job *job, const dump_group *group) {
    for (int64_t i = 0; i < group->matrices; i++) {
        int64_t bytes;
        SZG_TRY(szgi_context_check_cancel(job->context));
        SZG_TRY(szgi_dump_matrix_open(job->context, job->dump, job->options, group, i, job->factors,
                                      &job->matrix[job->count], &bytes));
        job->count++;
        job->bytes += bytes;
        if (job->count == TOGETHER || job->bytes >= MEMORY)
            SZG_TRY(flush(job));
    }
    return SZG_OK;
}

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
    for (int64_t i = 0; i < count; i++)
        say_reading(job, &groups[i], i > 0 ? &groups[i - 1] : NULL);
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(run_group(job, &groups[i]));
    return flush(job);
}

szg_status szgi_dump_each(szg_context *context, const szgi_dump *dump,
                          const szgi_dump_options *options, bool factors, dump_take *take,
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
        job->factors = factors;
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
