/* `szego logits`: contraction report, or softmax statistics, of logits, or queries and keys, that
 * other programs dumped. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "capture/dump.h"
#include "base/memory.h"
#include "base/text.h"
#include "summary/discoveries.h"

#include "captured.h"
#include "specs.h"

typedef struct logits_options {
    text_list files;
    const char *array[SZGI_DUMP_ROLES], *encoding;
    szgi_dump_options dump;
    integer_list lengths, sinks;
    double soft_cap;
    int64_t band;
    int mask;
    bool certified, all, statistics, exact;
} logits_options;

/* Two would be a choice that nobody made. */
static void refuse_second(const command_option *row, void *field, const char *spec,
                          struct argp_state *state) {
    const char *const *encoding = field;
    (void)row;
    if (*encoding)
        argp_error(state, "one encoding couples q and k: '%s' is there, '%s' is a second one",
                   SHOWN(*encoding), SHOWN(spec));
}

/* A FILE or a SPEC. */
static void take_operand(const command_option *row, void *field, const char *text,
                         struct argp_state *state) {
    logits_options *own = field;
    if (!specs_names_encoding(text)) {
        parse_text(state, text, &own->files);
        return;
    }
    refuse_second(row, &own->encoding, text, state);
    own->encoding = text;
}

static const command_option options[] = {
    OPTION(
        logits_options, array[SZGI_DUMP_COUPLED], "coupled", "FILE",
        "coupled logits: FILE.npy or FILE.safetensors:TENSOR; the other matrices below likewise"),
    OPTION(logits_options, array[SZGI_DUMP_CONTENT], "content", "FILE",
           "content logits of the same matrices"),
    OPTION(logits_options, array[SZGI_DUMP_QUERIES], "q", "FILE",
           "queries before the encoding acts"),
    OPTION(logits_options, array[SZGI_DUMP_KEYS], "k", "FILE", "keys before the encoding acts"),
    OPTION(logits_options, array[SZGI_DUMP_COUPLED_QUERIES], "q-coupled", "FILE",
           "queries after it"),
    OPTION(logits_options, array[SZGI_DUMP_COUPLED_KEYS], "k-coupled", "FILE", "keys after it"),
    OPTION(logits_options, encoding, "pe", "SPEC",
           "the positional encoding that couples q and k, as an operand SPEC",
           .list = &words_encodings, .hook = refuse_second),
    OPTION(logits_options, dump.scale, "scale", "S",
           "factor on q . k (default 1/sqrt(d)); logits are not scaled", .low = 1e-300,
           .high = 1e300),
    OPTION(logits_options, dump.axes, "axes", "LIST",
           "meanings of the axes before the last two (default: the file's metadata, or else head "
           "for one axis, layer,head for two, batch,layer,head for three); with token and dim, "
           "meanings of all axes in any order: token,head,dim",
           .words = "head|layer,head|batch,layer,head|token,head,dim|head,token,dim"),
    OPTION(logits_options, lengths, "lengths", "N[,N...]",
           "number of real tokens of each batch entry; the others are cut off", .least = 1,
           .most = (int64_t)1 << 40),
    OPTION(logits_options, mask, "mask", "MASK",
           "file (default): with --statistics as the file's metadata says, otherwise none; none; "
           "or causal: entries above the diagonal are not read; they count as zeros, and have no "
           "weight in a softmax",
           .choices = "file|none|causal"), /* as szgi_dump_mask has them */
    OPTION(logits_options, certified, "certified", NULL,
           "symbol ranges by ball arithmetic, not by a grid"),
    OPTION(logits_options, all, "all", NULL,
           "tables of every eigenvalue, singular value and symbol sample too"),
    OPTION(logits_options, band, "band", "DRAWS",
           "table of the range that the ratios have by chance: queries and keys are relabelled "
           "before the encoding acts, and both spectra computed, DRAWS times (default 0: no table; "
           "39 give a range of 95%)",
           .most = 100000),
    OPTION(logits_options, statistics, "statistics", NULL,
           "instead of the contraction: largest logit, entropy of the attention weights, share of "
           "token 0, norms of q and k; memory does not grow with N^2"),
    OPTION(logits_options, sinks, "sinks", "TOKEN[,TOKEN...]",
           "with --statistics: also the share of these tokens, counted from 0",
           .most = (int64_t)1 << 40),
    OPTION(logits_options, soft_cap, "soft-cap", "C",
           "with --statistics: the softmax is of C tanh(logit / C) (default: the file's metadata)",
           .low = 1e-300, .high = 1e300),
    OPTION(logits_options, exact, "exact", NULL,
           "with --statistics: everything in double precision; without it products of queries and "
           "keys are in single precision from 1,024 tokens on where their proved error is at most "
           "0.001 (column precision)"),
    OPTION_BY(take_operand, logits_options, files, NULL, "[FILE...] [SPEC]", NULL),
    {0}};

static void check_options(command_call *call, struct argp_state *state) {
    const logits_options *own = call->own;
    bool any = own->files.count > 0;
    for (int i = 0; i < SZGI_DUMP_ROLES; i++)
        any = any || own->array[i];
    if (!any)
        argp_error(state, "nothing to read: give FILE.safetensors, FILE.npy of coupled logits, or "
                          "--coupled, --q and their like");
    if (!own->statistics && (own->sinks.count > 0 || own->soft_cap > 0))
        argp_error(state, "%s is about the softmax: add --statistics",
                   own->sinks.count > 0 ? "--sinks" : "--soft-cap");
    if (!own->statistics && own->exact)
        argp_error(state, "--exact is about the softmax: add --statistics; spectra are in double "
                          "precision without it");
    if (own->statistics && own->band > 0)
        argp_error(state, "--statistics computes no spectra: leave --band out, or run it apart");
    if (own->statistics && (own->all || own->certified))
        argp_error(state, "--statistics computes no spectra: leave %s out, or run it apart",
                   own->all ? "--all" : "--certified");
}

static void release(command_call *call) {
    logits_options *own = call->own;
    szgi_memory_free((void *)own->files.value);
}

static szg_status add_files(szg_context *context, const logits_options *own, szgi_dump *dump) {
    for (int i = 0; i < SZGI_DUMP_ROLES; i++)
        if (own->array[i])
            SZG_TRY(szgi_dump_add_as(context, dump, (szgi_dump_role)i, own->array[i]));
    for (int64_t i = 0; i < own->files.count; i++)
        SZG_TRY(szgi_dump_add(context, dump, own->files.value[i]));
    return SZG_OK;
}

/* ---- In words ---- */

enum { NAMED = 10 }; /* heads at most */

static double number_at(const szg_table *table, int64_t row, const char *column) {
    int64_t c = szg_table_find(table, column);
    return szg_table_is_empty(table, row, c) ? NAN : szg_table_get_real(table, row, c);
}

/* "yes", "alone", "no"; "": not known. */
static const char *verdict(const szg_table *shares, int64_t row) {
    const char *found = szg_table_get_text(shares, row, szg_table_find(shares, "beyond_chance"));
    return found ? found : "";
}

static bool is_beyond(const szg_table *shares, int64_t row) {
    return strcmp(verdict(shares, row), "yes") == 0 || strcmp(verdict(shares, row), "alone") == 0;
}

/* The row of the largest share below row `before`, of equal ones the first, among those that are
 * more than chance; -1: none is left. */
static int64_t next_head(const szg_table *shares, int64_t before) {
    double limit = before < 0 ? INFINITY : number_at(shares, before, "lag_share");
    int64_t found = -1;
    for (int64_t i = 0; i < szg_table_rows(shares); i++) {
        double share = number_at(shares, i, "lag_share");
        bool left = share < limit || (share == limit && i > before);
        if (left && is_beyond(shares, i) &&
            (found < 0 || share > number_at(shares, found, "lag_share")))
            found = i;
    }
    return found;
}

/* "step 100 layer 3 head 1", what of it there is. */
static void name_head(const szg_table *shares, int64_t row, char *out, size_t size) {
    static const char *const parts[] = {"step", "layer", "head"};
    size_t used = 0;
    *out = 0;
    for (int i = 0; i < 3; i++) {
        double number = number_at(shares, row, parts[i]);
        if (!isnan(number) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s %.0f", used ? " " : "",
                                     parts[i], number);
    }
    if (!*out)
        snprintf(out, size, "the logits");
}

/* "layer 0 head 1 0.46 (chance 0.05), ...": where the lag explains more than chance, the largest
 * share first. */
static void name_heads(const szg_table *shares, char *out, size_t size) {
    char name[96];
    int named = 0;
    *out = 0;
    for (int64_t i = next_head(shares, -1); i >= 0; i = next_head(shares, i)) {
        size_t used = strlen(out);
        if (named == NAMED) {
            snprintf(out + used, size - used, ", ...");
            return;
        }
        name_head(shares, i, name, sizeof name);
        snprintf(out + used, size - used, "%s%s %.2g (chance %.2g)", named++ ? ", " : ": ", name,
                 number_at(shares, i, "lag_share"), number_at(shares, i, "lag_null"));
    }
}

static void say_lags(szg_context *context, const szg_table *shares) {
    int64_t heads = 0, unknown = 0, beyond = 0, alone = 0;
    char names[1024], how[128] = "at most 5% of them are expected to be false";
    for (int64_t i = 0; i < szg_table_rows(shares); i++) {
        bool known = *verdict(shares, i) != 0;
        heads += known;
        unknown += !known && !isnan(number_at(shares, i, "lag_share"));
        beyond += is_beyond(shares, i);
        alone += strcmp(verdict(shares, i), "alone") == 0;
    }
    if (unknown > 0)
        szgi_say(context, SZG_NOTE,
                 "whether the lag explains more than chance is not known of %" PRId64
                 " heads: their logits above the diagonal were not captured",
                 unknown);
    if (heads == 0)
        return;
    if (alone > 0)
        snprintf(how, sizeof how,
                 "each at 5%%, as too few relabellings were drawn to compare all; %.2g by chance "
                 "alone",
                 SZGI_LEVEL * (double)heads);
    name_heads(shares, names, sizeof names);
    szgi_say(context, SZG_NOTE,
             "the lag explains more of the logits' variance than chance in %" PRId64 " of %" PRId64
             " heads%s%s%s%s",
             beyond, heads, beyond > 0 ? " (" : "", beyond > 0 ? how : "", beyond > 0 ? ")" : "",
             names);
}

/* ---- The report ---- */

typedef struct logits_job {
    const szgi_dump *dump;
    const szgi_dump_options *wanted;
    int64_t band;
    szgi_dump_lag_tables lags;
    szg_table *bands; /* NULL: not wanted */
} logits_job;

static szg_status fill(command_call *call, void *user, const szg_report_options *how,
                       szg_contraction_tables *tables) {
    const uint64_t seed = call->shared.seed;
    logits_job *job = user;
    SZG_TRY(szgi_dump_report(call->context, job->dump, job->wanted, how, tables));
    SZG_TRY(szgi_dump_lags(call->context, job->dump, job->wanted, seed, &job->lags));
    say_lags(call->context, job->lags.shares);
    if (!job->bands)
        return SZG_OK;
    return szgi_dump_bands(call->context, job->dump, job->wanted, job->band, seed, job->bands);
}

static szg_status print_statistics(command_call *call, const logits_options *own,
                                   const logits_job *job) {
    const szg_statistics_options how = {SZG_INIT(szg_statistics_options), .soft_cap = own->soft_cap,
                                        .sinks = own->sinks.count, .sink = own->sinks.value,
                                        .exact = own->exact};
    szg_table *table = NULL;
    SZG_TRY(szgi_dump_statistics_table(call->context, &table));
    int64_t bad;
    szg_status status = szgi_dump_statistics(call->context, job->dump, job->wanted,
                                             (szgi_dump_mask)own->mask, &how, table, &bad);
    if (status == SZG_OK)
        status =
            captured_tables(call, table, bad, SZG_EDATA, 1, (szg_table * *const[]){&table}, NULL);
    szg_table_close(&table);
    return status;
}

static szg_status print_contraction(command_call *call, const logits_options *own,
                                    logits_job *job) {
    szg_table **const other[CAPTURED_OTHER] = {&job->lags.shares, &job->lags.lags, &job->bands};
    SZG_TRY(szgi_dump_lags_open(call->context, captured_more(call, own->all), &job->lags));
    szg_status status = own->band > 0 ? szgi_dump_bands_table(call->context, &job->bands) : SZG_OK;
    if (status == SZG_OK)
        status = captured_output(call, own->all, own->certified, fill, job, other);
    szgi_dump_lags_close(&job->lags);
    szg_table_close(&job->bands);
    return status;
}

static szg_status print(command_call *call, const logits_options *own, logits_job job) {
    job.band = own->band;
    return own->statistics ? print_statistics(call, own, &job) : print_contraction(call, own, &job);
}

static szg_status run(command_call *call) {
    const logits_options *own = call->own;
    szgi_dump_options wanted = own->dump;
    szg_encoding *encoding = NULL;
    szgi_dump *dump = NULL;
    wanted.causal = own->mask == SZGI_MASK_CAUSAL;
    wanted.lengths = own->lengths.count;
    wanted.length = own->lengths.value;
    szg_status status = szgi_dump_open(call->context, &dump);
    if (status == SZG_OK)
        status = add_files(call->context, own, dump);
    if (status == SZG_OK && own->encoding)
        status = szgi_dump_encoding(call->context, dump, own->encoding, &encoding);
    wanted.encoding = encoding;
    if (status == SZG_OK)
        status = print(call, own, (logits_job){.dump = dump, .wanted = &wanted});
    szgi_dump_close(&dump);
    szg_encoding_close(&encoding);
    return status;
}

static const command_example examples[] = {
    {"szego logits captured/logits/step-100.safetensors", "What `szego capture --dump` wrote."},
    {"szego logits --q q.npy --k k.npy rope:dim=16,pairing=half",
     "Queries and keys, coupled by RoPE here, in the pairing of most Hugging Face models."},
    {"szego logits logits.npy --mask causal --statistics --sinks 0,1 -o statistics/",
     "The softmax of another program's logits: largest logit, entropy, sinks. In files."},
    {0}};

const command command_logits = {
    .name = "logits",
    .summary = "contraction or softmax statistics of captured logits, or of queries and keys",
    .doc =
        "Says in which heads the lag explains more of the logits' variance than chance. Compares "
        "the coupled logits (with the encoding) with the content (without it), matrix by matrix: "
        "eigenvalue width of the Hermitian part, spectral and nuclear norm, majorisation, ranks, "
        "toeplitzness, symbol. FILE.npy holds coupled logits. FILE.safetensors holds tensors "
        "whose names end in .content, .coupled "
        "(or .logits), .q, .k, .q_coupled, .k_coupled, with layers.L, heads.H, probes.P before. "
        "Shapes are [N, N] or [N, d] with batch, layer, head before them. -o DIR/ also writes "
        "every eigenvalue, singular value and symbol sample. --statistics describes the softmax of "
        "each matrix instead. docs/how-to/logits.md has the layout.",
    .options = options,
    .own_size = sizeof(logits_options),
    .check = check_options,
    .run = run,
    .release = release,
    .examples = examples,
    .topics = "specs",
};
