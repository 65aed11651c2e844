#include <math.h>
#include <stdio.h>
#include <string.h>

#include <szego/contraction.h>
#include <szego/memory.h>
#include "report_private.h"

void szg_contraction_close(szg_contraction *contraction) {
    if (!contraction)
        return;
    szg_matrix_report_close(&contraction->content);
    szg_matrix_report_close(&contraction->coupled);
    *contraction = (szg_contraction){0};
}

/* ---- Ratios ---- */

/* All n values, structural zeros included; NULL where some are not listed or not real. */
static szg_status expand(szg_context *context, const szg_spectrum *spectrum, double **out) {
    *out = NULL;
    if (!spectrum->kind || spectrum->im || spectrum->count + spectrum->zeros != spectrum->n)
        return SZG_OK;
    SZG_TRY(szg_memory_alloc(context, spectrum->n, sizeof **out, out));
    if (spectrum->count)
        memcpy(*out, spectrum->re, (size_t)spectrum->count * sizeof **out);
    return SZG_OK;
}

/* Singular values: listed ones, or the moduli of a normal matrix's eigenvalues. */
static szg_status expand_singular(szg_context *context, const szg_matrix_report *report,
                                  double **out) {
    if (report->singular.kind)
        return expand(context, &report->singular, out);
    *out = NULL;
    if (!report->eigenvalues.normal)
        return SZG_OK;
    SZG_TRY(expand(context, &report->eigenvalues, out));
    for (int64_t i = 0; *out && i < report->eigenvalues.n; i++)
        (*out)[i] = fabs((*out)[i]);
    return SZG_OK;
}

/* Eigenvalues are those of symmetric matrices, if need be of the Hermitian part: complex ones have
 * no order to compare, and the diagonal of a masked matrix says nothing of its size. */
static szg_report_options compared(const szg_report_options *options) {
    szg_report_options own = options ? *options : (szg_report_options){0};
    own.hermitian_part = true;
    return own;
}

/* Backward stable solvers: an eigenvalue of a symmetric matrix is off by n eps ||A||_2 at most (in
 * practice far less). */
static double value_error(const szg_contraction *c) {
    return (double)c->n * 0x1p-52 *
           fmax(c->content.summary.sigma_max, c->coupled.summary.sigma_max);
}

static szg_status fill_ratios(szg_context *context, szg_contraction *c) {
    enum { CONTENT_VALUES, COUPLED_VALUES, CONTENT_SINGULAR, COUPLED_SINGULAR, ARRAYS };
    double *array[ARRAYS] = {0};
    szg_status status;
    SZG_TRY_GOTO(status, expand(context, &c->content.eigenvalues, &array[CONTENT_VALUES]), done);
    SZG_TRY_GOTO(status, expand(context, &c->coupled.eigenvalues, &array[COUPLED_VALUES]), done);
    SZG_TRY_GOTO(status, expand_singular(context, &c->content, &array[CONTENT_SINGULAR]), done);
    SZG_TRY_GOTO(status, expand_singular(context, &c->coupled, &array[COUPLED_SINGULAR]), done);
    bool real = array[CONTENT_VALUES] && array[COUPLED_VALUES];
    szg_contraction_input input = {
        .eigenvalues = real ? c->n : 0,
        .content_eigenvalues = real ? array[CONTENT_VALUES] : NULL,
        .coupled_eigenvalues = real ? array[COUPLED_VALUES] : NULL,
        .content_values = array[CONTENT_SINGULAR] ? c->n : 0,
        .coupled_values = array[COUPLED_SINGULAR] ? c->n : 0,
        .content_singular = array[CONTENT_SINGULAR],
        .coupled_singular = array[COUPLED_SINGULAR],
        .error = value_error(c),
    };
    if (!(input.error >= 0))
        input.error = 0;
    status = szg_contraction_ratios_of(context, &input, &c->ratios);
    /* Partial spectra still have their ends. */
    if (status == SZG_OK && isnan(c->ratios.norm) && c->content.summary.sigma_max > 0)
        c->ratios.norm = c->coupled.summary.sigma_max / c->content.summary.sigma_max;
    if (status == SZG_OK && isnan(c->ratios.width) && c->content.summary.width > 0)
        c->ratios.width = c->coupled.summary.width / c->content.summary.width;
done:
    for (int i = 0; i < ARRAYS; i++)
        szg_memory_free(array[i]);
    return status;
}

static szg_status finish(szg_context *context, szg_status status, int64_t n, szg_contraction *out) {
    out->n = n;
    if (status == SZG_OK)
        status = fill_ratios(context, out);
    if (status != SZG_OK)
        szg_contraction_close(out);
    return status;
}

szg_status szg_contraction_of_factored(szg_context *context, const szg_factored *content,
                                       const szg_factored *coupled,
                                       const szg_report_options *options, szg_contraction *out) {
    *out = (szg_contraction){0};
    if (content->n != coupled->n)
        return szg_fail(context, SZG_EINVAL,
                        "content of order %lld against coupled logits of order %lld",
                        (long long)content->n, (long long)coupled->n);
    szg_report_options own = compared(options);
    szg_status status = szg_report_factored(context, content, "content", &own, &out->content);
    if (status == SZG_OK)
        status = szg_report_factored(context, coupled, "logits", &own, &out->coupled);
    return finish(context, status, content->n, out);
}

szg_status szg_contraction_of_dense(szg_context *context, int64_t n, const double *content,
                                    int64_t ldcontent, const double *coupled, int64_t ldcoupled,
                                    const szg_report_options *options, szg_contraction *out) {
    *out = (szg_contraction){0};
    szg_report_options own = compared(options);
    szg_status status =
        szg_report_dense(context, n, content, ldcontent, "content", &own, &out->content);
    if (status == SZG_OK)
        status = szg_report_dense(context, n, coupled, ldcoupled, "logits", &own, &out->coupled);
    return finish(context, status, n, out);
}

/* ---- The table ---- */

const char *szg_contraction_content_kind(const szg_encoding *encoding) {
    return szg_encoding_attaches(encoding) & SZG_ATTACH_INPUT ? "zeroed" : "same_qk";
}

static const szg_column label_columns[] = {
    {"source", SZG_TEXT, "the SPEC or the file"},
    {"step", SZG_INTEGER, "training step"},
    {"layer", SZG_INTEGER, "layer, counted from 0"},
    {"head", SZG_INTEGER, "head, counted from 0"},
    {"probe", SZG_TEXT, "input that the logits were captured on"},
    {"n", SZG_INTEGER, "order"},
    {"content_kind", SZG_TEXT,
     "same_qk: queries and keys without the position part; zeroed: position table zeroed"},
    {"width_ratio", SZG_REAL, "eigenvalue width of the Hermitian parts, coupled / content"},
    {"norm_ratio", SZG_REAL, "largest singular value, coupled / content"},
    {"nuclear_ratio", SZG_REAL, "sum of singular values, coupled / content"},
    {"majorised", SZG_INTEGER,
     "1: eigenvalues of coupled's Hermitian part are majorised by those of content's"},
    {"margin", SZG_REAL, "least slack of the majorisation's partial sums"},
    {"grad_norm", SZG_REAL, "gradient norm of the step"},
};
enum { LABELS = sizeof label_columns / sizeof *label_columns, NAME = 48 };
static const char *const suffixes[] = {"_content", "_coupled"};

/* The columns of one matrix. Eigenvalues are those of the Hermitian part; see the header. */
typedef struct number_columns {
    char name[SZG_SUMMARY_NUMBERS][NAME], doc[SZG_SUMMARY_NUMBERS][NAME + 80];
} number_columns;

static void fill_columns(const char *suffix, number_columns *own, szg_column *columns) {
    const szg_summary empty = {0};
    szg_summary_number numbers[SZG_SUMMARY_NUMBERS];
    szg_summary_numbers(&empty, NAN, NULL, numbers);
    for (int i = 0; i < SZG_SUMMARY_NUMBERS; i++) {
        snprintf(own->name[i], sizeof own->name[i], "%s%s", numbers[i].column, suffix);
        snprintf(own->doc[i], sizeof own->doc[i], "%s%s",
                 numbers[i].eigenvalue ? "of the Hermitian part: " : "", numbers[i].doc);
        columns[i] =
            (szg_column){own->name[i], numbers[i].integer ? SZG_INTEGER : SZG_REAL, own->doc[i]};
    }
}

szg_status szg_contraction_table(szg_context *context, szg_table **out) {
    enum { COUNT = LABELS + 2 * SZG_SUMMARY_NUMBERS + 1 };
    szg_column columns[COUNT];
    number_columns own[2];
    memcpy(columns, label_columns, sizeof label_columns);
    for (int i = 0; i < 2; i++)
        fill_columns(suffixes[i], &own[i], columns + LABELS + i * SZG_SUMMARY_NUMBERS);
    columns[COUNT - 1] = (szg_column){"note", SZG_TEXT, "what a reader must know"};
    return szg_table_open(context, "contraction", columns, COUNT, out);
}

static szg_status set_labels(szg_context *context, szg_table *table,
                             const szg_contraction_labels *labels) {
    const struct {
        const char *column;
        int64_t value;
    } integers[] = {{"step", labels->step}, {"layer", labels->layer}, {"head", labels->head}};
    for (int i = 0; i < 3; i++)
        if (integers[i].value >= 0)
            SZG_TRY(szg_table_set_integer(context, table, integers[i].column, integers[i].value));
    SZG_TRY(szg_table_set_text(context, table, "source", labels->source));
    SZG_TRY(szg_table_set_text(context, table, "probe", labels->probe));
    SZG_TRY(szg_table_set_text(context, table, "content_kind", labels->content_kind));
    if (!isnan(labels->grad_norm))
        SZG_TRY(szg_table_set_real(context, table, "grad_norm", labels->grad_norm));
    return SZG_OK;
}

static szg_status set_ratios(szg_context *context, szg_table *table,
                             const szg_contraction_ratios *ratios) {
    const szg_summary_number reals[] = {{.column = "width_ratio", .value = ratios->width},
                                        {.column = "norm_ratio", .value = ratios->norm},
                                        {.column = "nuclear_ratio", .value = ratios->nuclear}};
    for (int i = 0; i < 3; i++)
        SZG_TRY(szg_summary_set(context, table, reals[i].column, &reals[i]));
    if (!ratios->ordered)
        return szg_table_note(context, table, "no majorisation: it needs all eigenvalues (--all)");
    SZG_TRY(szg_table_set_integer(context, table, "majorised",
                                  ratios->eigenvalues.order == SZG_ORDER_HOLDS));
    SZG_TRY(szg_table_set_real(context, table, "margin", ratios->eigenvalues.margin));
    if (ratios->eigenvalues.order == SZG_ORDER_HOLDS)
        return SZG_OK;
    return szg_table_note(context, table, "first violated partial sum: k = %lld",
                          (long long)ratios->eigenvalues.first_violation);
}

static szg_status set_numbers(szg_context *context, szg_table *table,
                              const szg_matrix_report *report, const char *suffix) {
    szg_summary_number numbers[SZG_SUMMARY_NUMBERS];
    char name[NAME];
    szg_summary_numbers(&report->summary, report->toeplitzness, &report->symbol, numbers);
    for (int i = 0; i < SZG_SUMMARY_NUMBERS; i++) {
        snprintf(name, NAME, "%s%s", numbers[i].column, suffix);
        SZG_TRY(szg_summary_set(context, table, name, &numbers[i]));
    }
    return SZG_OK;
}

static szg_status set_notes(szg_context *context, szg_table *table,
                            const szg_contraction *contraction) {
    if (contraction->content.summary.sigma_max == 0)
        SZG_TRY(szg_table_note(context, table, "no ratios: the content is the zero matrix"));
    if (contraction->content.hermitian_part && !contraction->coupled.hermitian_part)
        SZG_TRY(szg_table_note(context, table, "content " REPORT_HERMITIAN_PART));
    if (contraction->coupled.note[0])
        SZG_TRY(szg_table_note(context, table, "%s", contraction->coupled.note));
    return SZG_OK;
}

szg_status szg_contraction_add(szg_context *context, szg_table *table,
                               const szg_contraction_labels *labels,
                               const szg_contraction *contraction) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(set_labels(context, table, labels));
    SZG_TRY(szg_table_set_integer(context, table, "n", contraction->n));
    SZG_TRY(set_ratios(context, table, &contraction->ratios));
    SZG_TRY(set_numbers(context, table, &contraction->content, suffixes[0]));
    SZG_TRY(set_numbers(context, table, &contraction->coupled, suffixes[1]));
    return set_notes(context, table, contraction);
}
