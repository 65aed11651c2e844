#include "resume.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/journal.h"
#include "linalg/linalg.h"
#include "linalg/ops.h"
#include "adapter.h"
#include <szego/version.h>

/* The first record is written after a quarter of a second; each later one when the work since the
 * last took twenty times as long as that one took to write: at most a twentieth is spent so. */
static const double first_seconds = 0.25, worth = 20;

struct head_resume {
    szgi_journal *journal;
    szg_checkpoint_tables *tables;
    /* Those that get no rows head by head have none to keep. */
    szg_table *table[SZGI_CHECKPOINT_TABLES];
    int64_t first[SZGI_CHECKPOINT_TABLES]; /* rows that the journal has, or that are none of its */
    int64_t bad, unconverged;              /* likewise */
    int64_t kept;                          /* shares */
    double since, needed; /* when the last record was written; seconds until the next */
};

/* Whoever adds an option says below whether results depend on it. */
_Static_assert(sizeof(szg_checkpoint_options) ==
                   offsetof(szg_checkpoint_options, journal) + sizeof(const char *),
               "an option after `journal` is not in the journal's input");

/* The lags go one after the other, as "lag 0", "lag 1". */
static szg_status add_circuits(szg_context *context, const szg_checkpoint_options *options,
                               szgi_json *input) {
    char name[32];
    SZG_TRY(szgi_json_add_boolean(context, input, "circuits", options->circuits));
    if (!options->circuits)
        return SZG_OK;
    for (int64_t i = 0; i < options->lag_count; i++) {
        szgi_print(name, sizeof name, "lag %" PRId64, i);
        SZG_TRY(szgi_json_add_integer(context, input, name, options->lags[i]));
    }
    return szgi_json_add_integer(context, input, "draws", options->draws);
}

static szg_status add_options(szg_context *context, const szg_checkpoint_options *options,
                              szgi_json *input) {
    SZG_TRY(szgi_json_add_integer(context, input, "positions", options->positions));
    SZG_TRY(szgi_json_add_integer(context, input, "samples", options->samples));
    SZG_TRY(szgi_json_add_text(context, input, "layers", options->layers ? options->layers : ""));
    SZG_TRY(szgi_json_add_text(context, input, "heads", options->heads ? options->heads : ""));
    SZG_TRY(szgi_json_add_integer(context, input, "kernel", options->kernel));
    SZG_TRY(szgi_json_add_integer(context, input, "seed", (int64_t)options->seed));
    SZG_TRY(szgi_json_add_integer(context, input, "context", options->context));
    SZG_TRY(szgi_json_add_boolean(context, input, "kernel_only", options->kernel_only));
    SZG_TRY(add_circuits(context, options, input));
    if (options->token_counts)
        SZG_TRY(szgi_json_add_integer(
            context, input, "token counts",
            (int64_t)szgi_journal_checksum(options->token_counts,
                                           options->token_count *
                                               (int64_t)sizeof *options->token_counts)));
    return szgi_json_add_boolean(context, input, "raw", options->raw);
}

/* The configuration as it was read, --set included. */
static szg_status add_configuration(szg_context *context, const szg_checkpoint *checkpoint,
                                    szgi_json *input) {
    szgi_json *copy;
    SZG_TRY(szgi_json_add_text(context, input, "prefix", checkpoint->prefix));
    if (!checkpoint->config)
        return SZG_OK;
    SZG_TRY(szgi_json_copy(context, szgi_json_root(checkpoint->config), &copy));
    return szgi_json_add(context, input, "config.json", &copy);
}

/* The adapter's weights, and its configuration as it was read. */
static szg_status add_adapter(szg_context *context, const szg_checkpoint *checkpoint,
                              szgi_json *input) {
    szgi_json *copy;
    if (!checkpoint->adapter)
        return SZG_OK;
    SZG_TRY(szgi_safetensors_describe(context, checkpoint->adapter->tensors, input));
    SZG_TRY(szgi_json_copy(context, szgi_json_root(checkpoint->adapter->json), &copy));
    return szgi_json_add(context, input, ADAPTER_CONFIG, &copy);
}

/* Everything that the rows depend on. Threads are not: they give the same bits. */
static szg_status describe(szg_context *context, const szg_checkpoint *checkpoint,
                           const szg_checkpoint_options *options, szgi_json *input) {
    SZG_TRY(szgi_json_add_text(context, input, "szego", szg_version()));
    SZG_TRY(szgi_json_add_text(context, input, "commit", szg_commit()));
    SZG_TRY(szgi_json_add_text(context, input, "backend", szgi_backend_name(context)));
    SZG_TRY(szgi_json_add_text(context, input, "blas", szg_backend_blas()));
    SZG_TRY(szgi_json_add_text(context, input, "PATH", checkpoint->source));
    SZG_TRY(add_options(context, options, input));
    SZG_TRY(szgi_safetensors_describe(context, checkpoint->tensors, input));
    SZG_TRY(add_adapter(context, checkpoint, input));
    return add_configuration(context, checkpoint, input);
}

static void mark(head_resume *resume) {
    for (int i = 0; i < SZGI_CHECKPOINT_TABLES; i++)
        resume->first[i] = resume->table[i] ? szg_table_rows(resume->table[i]) : 0;
    resume->bad = resume->tables->bad;
    resume->unconverged = resume->tables->unconverged;
}

static void choose_tables(head_resume *resume, szg_checkpoint_tables *tables) {
    szg_table **table[SZGI_CHECKPOINT_TABLES];
    szgi_checkpoint_tables_list(tables, table);
    for (int i = 0; i < SZGI_CHECKPOINT_TABLES; i++)
        resume->table[i] = *table[i];
    resume->tables = tables;
    mark(resume);
}

szg_status szgi_resume_open(szg_context *context, const szg_checkpoint *checkpoint,
                            const szg_checkpoint_options *options, szg_checkpoint_tables *tables,
                            head_resume **out) {
    szgi_json *input = NULL;
    head_resume *resume = NULL;
    szg_status status;
    *out = NULL;
    if (!options->journal)
        return SZG_OK;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, 1, &resume), done);
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &input), done);
    SZG_TRY_GOTO(status, describe(context, checkpoint, options, input), done);
    status = szgi_journal_open(context, options->journal, input, &resume->journal);
    choose_tables(resume, tables);
    resume->needed = first_seconds;
    resume->since = szgi_context_seconds(context);
done:
    szgi_json_close(&input);
    if (status != SZG_OK)
        szgi_resume_close(&resume);
    *out = resume;
    return status;
}

static szg_status read_facts(szg_context *context, head_resume *resume, const szgi_json *facts) {
    szgi_json_value root = szgi_json_root(facts);
    int64_t bad, unconverged;
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(root, "shares"), &resume->kept));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(root, "bad"), &bad));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(root, "unconverged"), &unconverged));
    resume->tables->bad += bad;
    resume->tables->unconverged += unconverged;
    return SZG_OK;
}

szg_status szgi_resume_read(szg_context *context, head_resume *resume, int64_t *shares) {
    szgi_json *facts = NULL;
    szg_status status = SZG_OK;
    *shares = 0;
    if (!resume)
        return SZG_OK;
    while (status == SZG_OK) {
        status = szgi_journal_next(context, resume->journal, resume->table, SZGI_CHECKPOINT_TABLES,
                                   &facts);
        if (status != SZG_OK || !facts)
            break;
        status = read_facts(context, resume, facts);
        szgi_json_close(&facts);
    }
    mark(resume);
    resume->since = szgi_context_seconds(context);
    *shares = resume->kept;
    return status;
}

static szg_status write_record(szg_context *context, head_resume *resume, int64_t shares) {
    const szg_checkpoint_tables *tables = resume->tables;
    szgi_json *facts;
    SZG_TRY(szgi_json_open_object(context, &facts));
    szg_status status = szgi_json_add_integer(context, facts, "shares", shares);
    if (status == SZG_OK)
        status = szgi_json_add_integer(context, facts, "bad", tables->bad - resume->bad);
    if (status == SZG_OK)
        status = szgi_json_add_integer(context, facts, "unconverged",
                                       tables->unconverged - resume->unconverged);
    if (status == SZG_OK)
        status = szgi_journal_add(context, resume->journal, resume->table, resume->first,
                                  SZGI_CHECKPOINT_TABLES, facts);
    szgi_json_close(&facts);
    return status;
}

szg_status szgi_resume_keep(szg_context *context, head_resume *resume, int64_t shares, bool now) {
    if (!resume || shares <= resume->kept)
        return SZG_OK;
    double begin = szgi_context_seconds(context);
    if (!now && begin - resume->since < resume->needed)
        return SZG_OK;
    szgi_context_defer_cancel(context, true);
    szg_status status = write_record(context, resume, shares);
    szgi_context_defer_cancel(context, false);
    SZG_TRY(status);
    mark(resume);
    resume->kept = shares;
    resume->since = szgi_context_seconds(context);
    resume->needed = worth * (resume->since - begin);
    return SZG_OK;
}

int64_t szgi_resume_kept(const head_resume *resume) {
    return resume ? resume->kept : 0;
}

void szgi_resume_close(head_resume **resume) {
    if (!*resume)
        return;
    szgi_journal_close(&(*resume)->journal);
    szgi_memory_free(*resume);
    *resume = NULL;
}
