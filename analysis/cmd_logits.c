/* `szego logits`: contraction report, or softmax statistics, of logits, or queries and keys, that
 * other programs dumped. */
#include "capture/dump.h"
#include "base/memory.h"
#include "base/text.h"

#include "captured.h"
#include "specs.h"

enum {
    KEY_PE = 0x300,
    KEY_CONTENT,
    KEY_COUPLED,
    KEY_Q,
    KEY_K,
    KEY_Q_COUPLED,
    KEY_K_COUPLED,
    KEY_AXES,
    KEY_SCALE,
    KEY_LENGTHS,
    KEY_MASK,
    KEY_CERTIFIED,
    KEY_ALL,
    KEY_STATISTICS,
    KEY_SINKS,
    KEY_SOFT_CAP
};

typedef struct logits_options {
    text_list files;
    const char *array[SZGI_DUMP_ROLES], *encoding;
    szgi_dump_options dump;
    integer_list lengths, sinks;
    double soft_cap;
    bool certified, all, statistics;
} logits_options;

static const struct argp_option options[] = {
    {"coupled", KEY_COUPLED, "FILE", 0,
     "coupled logits: FILE.npy, or FILE.safetensors:TENSOR, here and below", 1},
    {"content", KEY_CONTENT, "FILE", 0, "content logits that go with them", 1},
    {"q", KEY_Q, "FILE", 0, "queries before the encoding acts", 1},
    {"k", KEY_K, "FILE", 0, "keys before the encoding acts", 1},
    {"q-coupled", KEY_Q_COUPLED, "FILE", 0, "queries after it", 1},
    {"k-coupled", KEY_K_COUPLED, "FILE", 0, "keys after it", 1},
    {"pe", KEY_PE, "SPEC", 0, "the positional encoding that couples q and k, as an operand SPEC",
     2},
    {"scale", KEY_SCALE, "S", 0, "factor on q . k (default 1/sqrt(d)); logits are not scaled", 2},
    {"axes", KEY_AXES, "LIST", 0,
     "what the axes before the last two count (default: the file's metadata, else head of one "
     "axis, layer,head of two, batch,layer,head of three); with token and dim every axis, in any "
     "order: token,head,dim",
     2},
    {"lengths", KEY_LENGTHS, "N[,N...]", 0, "real tokens of each batch entry: cut to them", 2},
    {"mask", KEY_MASK, "MASK", 0,
     "none (default) or causal: entries above the diagonal are not read; they count as zeros, and "
     "have no weight in a softmax",
     2},
    {"certified", KEY_CERTIFIED, NULL, 0, "symbol ranges by ball arithmetic, not by a grid", 2},
    {"all", KEY_ALL, NULL, 0, "tables of every eigenvalue, singular value and symbol sample too",
     2},
    {"statistics", KEY_STATISTICS, NULL, 0,
     "in place of the contraction: largest logit, entropy of the attention weights, share of token "
     "0, norms of q and k; memory does not grow with N^2",
     3},
    {"sinks", KEY_SINKS, "TOKEN[,TOKEN...]", 0,
     "with --statistics: share of these tokens too, counted from 0", 3},
    {"soft-cap", KEY_SOFT_CAP, "C", 0, "with --statistics: the softmax is of C tanh(logit / C)", 3},
    {0}};

static const char mask_names[] = "none|causal";

static int role_of(int key) {
    static const struct {
        int key, role;
    } roles[] = {{KEY_CONTENT, SZGI_DUMP_CONTENT},
                 {KEY_COUPLED, SZGI_DUMP_COUPLED},
                 {KEY_Q, SZGI_DUMP_QUERIES},
                 {KEY_K, SZGI_DUMP_KEYS},
                 {KEY_Q_COUPLED, SZGI_DUMP_COUPLED_QUERIES},
                 {KEY_K_COUPLED, SZGI_DUMP_COUPLED_KEYS}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i].key == key)
            return roles[i].role;
    return -1;
}

/* Two would be a choice that nobody made. */
static void take_encoding(logits_options *own, const char *spec, struct argp_state *state) {
    if (own->encoding)
        argp_error(state, "one encoding couples q and k: '%s' is there, '%s' is a second one",
                   SHOWN(own->encoding), SHOWN(spec));
    own->encoding = spec;
}

static void check_options(const logits_options *own, struct argp_state *state) {
    bool any = own->files.count > 0;
    for (int i = 0; i < SZGI_DUMP_ROLES; i++)
        any = any || own->array[i];
    if (!any)
        argp_error(state, "nothing to read: give FILE.safetensors, FILE.npy of coupled logits, or "
                          "--coupled, --q and their like");
    if (!own->statistics && (own->sinks.count > 0 || own->soft_cap > 0))
        argp_error(state, "%s is about the softmax: add --statistics",
                   own->sinks.count > 0 ? "--sinks" : "--soft-cap");
    if (own->statistics && (own->all || own->certified))
        argp_error(state, "--statistics computes no spectra: leave %s out, or run it apart",
                   own->all ? "--all" : "--certified");
}

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    logits_options *own = call->own;
    if (role_of(key) >= 0) {
        own->array[role_of(key)] = argument;
        return 0;
    }
    switch (key) {
    case KEY_PE:
        take_encoding(own, argument, state);
        return 0;
    case KEY_SCALE:
        own->dump.scale = parse_real(state, "--scale", argument, 1e-300, 1e300);
        return 0;
    case KEY_AXES:
        own->dump.axes = argument;
        return 0;
    case KEY_LENGTHS:
        parse_integer_list(state, "--lengths", argument, 1, (int64_t)1 << 40, &own->lengths);
        return 0;
    case KEY_MASK:
        own->dump.causal = parse_choice(state, "--mask", argument, mask_names) == 1;
        return 0;
    case KEY_CERTIFIED:
        own->certified = true;
        return 0;
    case KEY_ALL:
        own->all = true;
        return 0;
    case KEY_STATISTICS:
        own->statistics = true;
        return 0;
    case KEY_SINKS:
        parse_integer_list(state, "--sinks", argument, 0, (int64_t)1 << 40, &own->sinks);
        return 0;
    case KEY_SOFT_CAP:
        own->soft_cap = parse_real(state, "--soft-cap", argument, 1e-300, 1e300);
        return 0;
    case ARGP_KEY_ARG:
        if (specs_names_encoding(argument))
            take_encoding(own, argument, state);
        else
            parse_text(state, argument, &own->files);
        return 0;
    case ARGP_KEY_END:
        check_options(own, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void release(command_call *call) {
    logits_options *own = call->own;
    szgi_memory_free((void *)own->files.value);
    szgi_memory_free(own->lengths.value);
    szgi_memory_free(own->sinks.value);
}

static szg_status add_files(szg_context *context, const logits_options *own, szgi_dump *dump) {
    for (int i = 0; i < SZGI_DUMP_ROLES; i++)
        if (own->array[i])
            SZG_TRY(szgi_dump_add_as(context, dump, (szgi_dump_role)i, own->array[i]));
    for (int64_t i = 0; i < own->files.count; i++)
        SZG_TRY(szgi_dump_add(context, dump, own->files.value[i]));
    return SZG_OK;
}

typedef struct logits_job {
    const szgi_dump *dump;
    const szgi_dump_options *wanted;
} logits_job;

static szg_status fill(command_call *call, void *user, const szg_report_options *how,
                       szg_contraction_tables *tables) {
    const logits_job *job = user;
    return szgi_dump_report(call->context, job->dump, job->wanted, how, tables);
}

static szg_status print_statistics(command_call *call, const logits_options *own,
                                   const logits_job *job) {
    const szg_statistics_options how = {SZG_INIT(szg_statistics_options), .soft_cap = own->soft_cap,
                                        .sinks = own->sinks.count, .sink = own->sinks.value};
    szg_table *table = NULL;
    SZG_TRY(szgi_dump_statistics_table(call->context, &table));
    int64_t bad;
    szg_status status =
        szgi_dump_statistics(call->context, job->dump, job->wanted, &how, table, &bad);
    if (status == SZG_OK)
        status =
            captured_tables(call, table, bad, SZG_EDATA, 1, (szg_table * *const[]){&table}, NULL);
    szg_table_close(&table);
    return status;
}

static szg_status print(command_call *call, const logits_options *own, logits_job job) {
    return own->statistics ? print_statistics(call, own, &job)
                           : captured_output(call, own->all, own->certified, fill, &job);
}

static szg_status run(command_call *call) {
    const logits_options *own = call->own;
    szgi_dump_options wanted = own->dump;
    szg_encoding *encoding = NULL;
    szgi_dump *dump = NULL;
    wanted.lengths = own->lengths.count;
    wanted.length = own->lengths.value;
    szg_status status = szgi_dump_open(call->context, &dump);
    if (status == SZG_OK)
        status = add_files(call->context, own, dump);
    if (status == SZG_OK && own->encoding)
        status = szgi_dump_encoding(call->context, dump, own->encoding, &encoding);
    wanted.encoding = encoding;
    if (status == SZG_OK)
        status = print(call, own, (logits_job){dump, &wanted});
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

static const option_words words[] = {
    {KEY_PE, NULL, &words_encodings},
    {KEY_AXES, "head|layer,head|batch,layer,head|token,head,dim|head,token,dim", NULL},
    {KEY_MASK, mask_names, NULL},
    {0}};

const command command_logits = {
    .name = "logits",
    .summary = "contraction or softmax statistics of captured logits, or of queries and keys",
    .arguments = "[FILE...] [SPEC]",
    .doc =
        "Coupled against content logits, matrix by matrix: eigenvalue width of the Hermitian "
        "part, spectral and nuclear norm, majorisation, ranks, toeplitzness, symbol. FILE.npy "
        "holds coupled logits; FILE.safetensors tensors whose names end in .content, .coupled "
        "(or .logits), .q, .k, .q_coupled, .k_coupled, with layers.L, heads.H, probes.P before. "
        "Shapes are [N, N] or [N, d] with batch, layer, head before them. -o DIR/ also writes "
        "every eigenvalue, singular value and symbol sample. --statistics describes the softmax of "
        "each matrix instead. docs/how-to/logits.md has the layout.",
    .argp = options,
    .own_size = sizeof(logits_options),
    .parse = parse,
    .run = run,
    .release = release,
    .examples = examples,
    .words = words,
    .topics = "specs",
};
