/* `szego spectrum`: eigenvalues of an encoding's kernel, of content, of logits, and their ratio. */
#include <inttypes.h>
#include <string.h>

#include "base/row.h"
#include "base/text.h"
#include "contraction/contraction.h"
#include "formats/result.h"
#include "linalg/distributed.h"

#include <szego/density.h>
#include <szego/extremes.h>

#include "captured.h"
#include "specs.h"

enum part { KERNEL, CONTENT, LOGITS, RATIO };
enum { SAMPLES = 1024 };

typedef struct spectrum_options {
    specs_options common;
    enum part part;
    bool dense, all, causal, certify, density;
    int64_t moments, vectors; /* of the density; 0: its defaults */
    int64_t k;                /* eigenvalues at each end; 0: their range, with all tables */
    const char *content;
} spectrum_options;

static const command_option options[] = {
    SPECS_OPTIONS(spectrum_options, "sequence lengths (default 512)"),
    OPTION(spectrum_options, part, "part", "PART",
           "kernel (default): the encoding's own matrix; content: the content Gram matrix; logits: "
           "the coupled logits; ratio: coupled against content",
           .choices = "kernel|content|logits|ratio"),
    OPTION(spectrum_options, content, "content", "KIND",
           "content of the last three parts (default gaussian)", .list = &words_contents),
    OPTION(spectrum_options, causal, "mask", "MASK",
           "none (default) or causal: zeros above the diagonal", .choices = "none|causal"),
    OPTION(spectrum_options, all, "all", NULL,
           "every eigenvalue (table eigenvalues), at any length"),
    OPTION(spectrum_options, dense, "dense", NULL,
           "form the dense matrix and use LAPACK, as a check"),
    OPTION(spectrum_options, certify, "certify", NULL,
           "prove the range of the eigenvalues of a Hermitian matrix, or of the singular values of "
           "any other matrix, and with --all every value, at any cost; without this option the "
           "range of eigenvalues is proved if that costs at most a quarter of the solver"),
    OPTION(spectrum_options, k, "k", "K",
           "K eigenvalues at each end (table extremes, 1 .. 100), instead of their range; for N up "
           "to 10^7, or up to 10^8 with K <= 2, where memory (0.8 GB per vector) and crowded ends "
           "are the limits",
           .least = 1, .most = 100),
    OPTION(
        spectrum_options, density, "density", NULL,
        "the density of the eigenvalues (table density), instead of their range; for N up to 10^8"),
    OPTION(spectrum_options, moments, "moments", "M",
           "Chebyshev moments of --density (default 128): the resolution is about width / M",
           .least = 2, .most = 65536),
    OPTION(
        spectrum_options, vectors, "vectors", "R",
        "random vectors of --density (default: none if all eigenvalues are known, else 2^19 / N)",
        .least = 1, .most = 1 << 20),
    {0}};

static void check_options(command_call *call, struct argp_state *state) {
    const spectrum_options *own = call->own;
    if (own->part == KERNEL && own->content)
        argp_error(state, "--content has no meaning with --part kernel: choose content, logits or "
                          "ratio");
    if (own->part == RATIO && own->certify)
        argp_error(state, "--certify has no meaning with --part ratio: choose kernel, content or "
                          "logits");
    if (own->part == KERNEL && own->causal)
        argp_error(state, "--mask has no meaning with --part kernel: choose content, logits or "
                          "ratio");
    if (own->density && (own->part == RATIO || own->all || own->dense || own->certify))
        argp_error(state, "--density takes the place of eigenvalues: leave out --all, --dense, "
                          "--certify and --part ratio");
    if (own->k > 0 && (own->part == RATIO || own->all || own->density || own->certify))
        argp_error(state, "--k takes the place of the range: leave out --all, --density, "
                          "--certify and --part ratio");
    if (own->k > 0 && own->dense)
        argp_error(state, "--k chooses its solver: leave out --dense");
    if (!own->density && (own->moments || own->vectors))
        argp_error(state, "--moments and --vectors belong to --density");
}

static void release(command_call *call) {
    spectrum_options *own = call->own;
    specs_free(&own->common);
}

typedef struct spectrum_job {
    szg_context *context;
    const spectrum_options *own;
    uint64_t seed;
    szg_report_options report;
    szg_content *content; /* NULL for kernels */
    szg_report_tables tables;
    szg_density_tables density; /* with --density, in place of all others */
    szg_table *extremes;        /* with --k, likewise */
    szg_table *contraction;     /* NULL except for ratios */
    int64_t bad;                /* matrices that could not be computed */
    szg_status bad_status;      /* of the first one */
} spectrum_job;

static szg_matrix_labels labels_of(const szg_report_labels *labels, const szg_matrix *matrix) {
    return (szg_matrix_labels){
        SZG_INIT(szg_matrix_labels), .source = labels->source, .head = labels->head,
        .matrix = matrix->name ? matrix->name : szg_matrix_kind_name(matrix->kind)};
}

static szg_status add_extremes(spectrum_job *job, const szg_report_labels *labels,
                               const szg_matrix *matrix) {
    const szg_matrix_labels row = labels_of(labels, matrix);
    szg_extremes extremes;
    SZG_TRY(szg_extremes_compute(job->context, matrix, job->own->k, &extremes));
    szg_status status = szg_extremes_add(job->context, job->extremes, &row, &extremes);
    szg_extremes_close(&extremes);
    return status;
}

static szg_status add_density(spectrum_job *job, const szg_report_labels *labels,
                              const szg_matrix *matrix) {
    const szg_density_options wanted = {SZG_INIT(szg_density_options), .moments = job->own->moments,
                                        .vectors = job->own->vectors, .seed = job->seed};
    const szg_matrix_labels row = labels_of(labels, matrix);
    szg_density density;
    SZG_TRY(szg_density_compute(job->context, matrix, &wanted, &density));
    szg_status status = szg_density_add(job->context, &job->density, &row, &density);
    szg_density_close(&density);
    return status;
}

static szg_status add_matrix(spectrum_job *job, const szg_report_labels *labels,
                             const szg_matrix *matrix) {
    szg_matrix_report report;
    if (job->own->density)
        return add_density(job, labels, matrix);
    if (job->own->k > 0)
        return add_extremes(job, labels, matrix);
    SZG_TRY(szg_summary_compute(job->context, matrix, &job->report, &report));
    szg_status status = szg_report_add(job->context, &job->tables, labels, &report);
    szg_matrix_report_close(&report);
    return status;
}

static szg_status add_kernels(spectrum_job *job, const szg_encoding *encoding, int64_t n,
                              int64_t head) {
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = szg_encoding_spec(encoding),
                                .layer = -1, .head = head};
    for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++) {
        szg_matrix kernel;
        SZG_TRY(szg_encoding_matrix(job->context, encoding, head, matrix, n, &kernel));
        szg_status status = add_matrix(job, &labels, &kernel);
        szg_matrix_close(&kernel);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status add_ratio(spectrum_job *job, const szg_report_labels *labels,
                            const szg_encoding *encoding, const szg_logits *logits) {
    const szg_matrix content = szg_logits_matrix(logits, SZG_LOGITS_CONTENT);
    const szg_matrix coupled = szg_logits_matrix(logits, SZG_LOGITS_COUPLED);
    szg_contraction contraction;
    SZG_TRY(szg_contraction_compute(job->context, &content, &coupled, &job->report, &contraction));
    szg_contraction_labels row = {SZG_INIT(szg_contraction_labels),
                                  .source = labels->source,
                                  .content_kind = szg_contraction_content_kind(encoding),
                                  .pairing = szgi_encoding_pairing(encoding),
                                  .step = -1,
                                  .layer = -1,
                                  .head = labels->head,
                                  .grad_norm = __builtin_nan(""),
                                  .grad_norm_qk = __builtin_nan("")};
    szg_status status = szg_contraction_add(job->context, job->contraction, &row, &contraction);
    if (status == SZG_OK) {
        szgi_row added = szgi_row_latest(job->context, job->contraction);
        szgi_row_note(&added, "content %s", szg_content_spec(job->content));
        status = added.status;
    }
    if (status == SZG_OK)
        status = szg_report_add(job->context, &job->tables, labels, &contraction.content);
    if (status == SZG_OK)
        status = szg_report_add(job->context, &job->tables, labels, &contraction.coupled);
    szg_contraction_close(&contraction);
    return status;
}

static szg_status add_logits(spectrum_job *job, const szg_encoding *encoding, int64_t n,
                             int64_t head) {
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = szg_encoding_spec(encoding),
                                .layer = -1, .head = head};
    szg_logits_options mask = {SZG_INIT(szg_logits_options), .causal = job->own->causal};
    szg_logits *logits;
    SZG_TRY(szg_logits_open(job->context, encoding, head, job->content, n, &mask, &logits));
    szg_matrix matrix = szg_logits_matrix(logits, job->own->part == CONTENT ? SZG_LOGITS_CONTENT
                                                                            : SZG_LOGITS_COUPLED);
    szg_status status = job->own->part == RATIO ? add_ratio(job, &labels, encoding, logits)
                                                : add_matrix(job, &labels, &matrix);
    szg_logits_close(&logits);
    return status;
}

static szg_table *first_table(const spectrum_job *job) {
    if (job->own->density)
        return job->density.moments;
    if (job->own->k > 0)
        return job->extremes;
    return job->contraction ? job->contraction : job->tables.summary;
}

/* A row with the reason in place of numbers, so that one head does not cost the others. */
static szg_status add_problem(spectrum_job *job, const szg_encoding *encoding, int64_t n,
                              int64_t head, szg_status reason) {
    char problem[512];
    szg_table *table = first_table(job);
    snprintf(problem, sizeof problem, "%s", szg_context_message(job->context));
    if (job->bad++ == 0)
        job->bad_status = reason;
    szgi_row row = szgi_row_add(job->context, table);
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        const char *name = szg_table_column(table, i)->name;
        if (strcmp(name, "source") == 0)
            szgi_row_text(&row, i, szg_encoding_spec(encoding));
        else if (strcmp(name, "head") == 0)
            szgi_row_integer(&row, i, head);
        else if (strcmp(name, "n") == 0)
            szgi_row_integer(&row, i, n);
        else if (strcmp(name, "note") == 0)
            szgi_row_note(&row, SZGI_NOT_COMPUTED "%s", problem);
    }
    return row.status;
}

static szg_status visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head) {
    spectrum_job *job = user;
    szg_status status = job->own->part == KERNEL ? add_kernels(job, encoding, n, head)
                                                 : add_logits(job, encoding, n, head);
    if (status != SZG_EDATA && status != SZG_EDOMAIN && status != SZG_ENOCONV)
        return status;
    return add_problem(job, encoding, n, head, status);
}

static szg_status open_tables(spectrum_job *job, bool symbols) {
    if (job->own->density)
        return szg_density_tables_open(job->context, &job->density);
    if (job->own->k > 0)
        return szg_extremes_table(job->context, &job->extremes);
    SZG_TRY(szg_report_tables_open(job->context, job->own->all, symbols, &job->tables));
    szg_table_close(&job->tables.atoms); /* `szego symbol` lists them */
    return SZG_OK;
}

static szg_status open_job(command_call *call, spectrum_job *job) {
    const spectrum_options *own = call->own;
    bool symbols = specs_output_folder(call);
    if (own->density && szgi_distributed_of(call->context))
        return szgi_fail(call->context, SZG_EINVAL,
                         "--density is not shared among processes: start one process, without "
                         "mpirun and --backend mpi");
    job->context = call->context;
    job->own = own;
    job->seed = call->shared.seed;
    job->report = (szg_report_options){SZG_INIT(szg_report_options), .all = own->all,
                                       .dense = own->dense, .samples = symbols ? SAMPLES : 0};
    if (own->part != RATIO)
        job->report.certify = !own->certify ? SZG_CERTIFY_CHEAP
                              : own->all    ? SZG_CERTIFY_VALUES
                                            : SZG_CERTIFY_ENDS;
    SZG_TRY(open_tables(job, symbols));
    if (own->part == KERNEL)
        return SZG_OK;
    if (own->part == RATIO) {
        szg_table_close(&job->tables.summary);
        SZG_TRY(szg_contraction_table(call->context, &job->contraction));
    }
    return szg_content_parse(call->context, own->content ? own->content : "gaussian",
                             call->shared.seed, &job->content);
}

static void close_job(spectrum_job *job) {
    szg_content_close(&job->content);
    szg_report_tables_close(&job->tables);
    szg_density_tables_close(&job->density);
    szg_table_close(&job->contraction);
    szg_table_close(&job->extremes);
}

static szg_status finish(command_call *call, spectrum_job *job) {
    szg_table **const tables[] = {
        &job->tables.summary, &job->contraction,     &job->tables.eigenvalues, &job->tables.samples,
        &job->tables.range,   &job->density.density, &job->density.moments,    &job->extremes};
    return captured_tables(call, first_table(job), job->bad, job->bad_status,
                           sizeof tables / sizeof *tables, tables,
                           job->own->all ? "eigenvalues" : NULL);
}

static szg_status run(command_call *call) {
    spectrum_job job = {0};
    const spectrum_options *own = call->own;
    szg_status status = open_job(call, &job);
    if (status == SZG_OK)
        status = specs_run(call->context, &own->common, visit, &job);
    if (status == SZG_OK)
        status = finish(call, &job);
    close_job(&job);
    return status;
}

static const command_example examples[] = {
    {"szego spectrum rope:dim=64 alibi -n 512",
     "Eigenvalue ranges of RoPE and ALiBi at one length."},
    {"szego spectrum rope:dim=64 --part ratio -n 256",
     "How RoPE changes the spectrum of random content."},
    {"szego spectrum alibi:heads=4 -n 256,512 --all -o spectra/",
     "Every eigenvalue at two lengths, in files."},
    {0}};

const command command_spectrum = {
    .name = "spectrum",
    .summary = "eigenvalues of an encoding's kernel or logits, symbol range, limit theorem",
    .doc = "Prints the eigenvalue range (with --all every eigenvalue) of a positional encoding's "
           "kernel, of content, or of logits, the certified range of the symbol, and the limit "
           "theorem that applies. Each head has a row. -o DIR/ also writes samples and ranges of "
           "the symbols.",
    .options = options,
    .own_size = sizeof(spectrum_options),
    .check = check_options,
    .run = run,
    .release = release,
    .examples = examples,
    .shared = true,
    .topics = "specs",
};
