/* Everything that one row of the table `summary` says about one matrix: an encoding's own kernel,
 * or a logit matrix; and the tables that hold such rows. */
#ifndef SZEGO_REPORT_H
#define SZEGO_REPORT_H

#include <szego/coupling.h>
#include <szego/summary.h>
#include <szego/symbol.h>
#include <szego/table.h>
#include <szego/theory.h>

SZG_BEGIN_DECLS

enum {
    /* Above these orders whole spectra are computed only on request (`all`), or in closed form. */
    SZG_REPORT_ALL_LIMIT = 4096,
    SZG_REPORT_GENERAL_LIMIT = 2048 /* complex eigenvalues of a dense matrix */
};

typedef struct szg_report_options {
    SZG_SIZE(szg_report_options);
    bool all;            /* every eigenvalue, whatever the order */
    bool dense;          /* the dense oracle in place of structure */
    bool no_symbol;      /* leave the symbol's range out */
    bool quick_symbol;   /* of logits: |a| enclosed on a grid, not by balls */
    bool hermitian_part; /* of logits: eigenvalues of (L + L^T)/2 in place of those of L */
    double precision; /* of contraction reports: relative error of the entries, 0: that of doubles;
                         the majorisation test takes it for rounding */
    int64_t samples;  /* samples of the symbol to take; 0: none */
    szg_symbol_convention convention; /* of the symbol; TRUNCATED is that of the N x N matrix */
    szg_certify certify; /* of eigenvalues of a Hermitian matrix, else singular values */
} szg_report_options;

/* Numbers that do not exist are NaN; `note` says why. */
typedef struct szg_matrix_report {
    const char *matrix; /* position gram, rotary mean, bias, coefficients, zero, content, logits */
    szg_spectrum eigenvalues; /* kind NULL: not computed */
    szg_spectrum singular;    /* likewise */
    bool hermitian_part; /* eigenvalues, lambda_min .. radius are those of (L + L^T)/2, not of L */
    szg_summary summary;
    szg_tau toeplitzness;
    szg_symbol_convention convention;
    szg_range symbol;   /* method NULL: none, and its numbers are NaN */
    bool modulus;       /* `symbol` bounds |a|: the symbol is complex */
    bool toeplitz_part; /* `symbol` and the samples are those of the matrix's Toeplitz part */
    int64_t samples;    /* at theta = 2 pi j / samples */
    szg_c64 *sample;
    /* Almost periodic kernels: a_k = sum_j mass_j cos(k theta_j) over atoms at +-theta_j, j = 0 ..
     * atoms - 1, theta_j >= 0; the mass of a pair is shared by its two points. */
    int64_t atoms;
    double *atom_theta, *atom_mass;
    szg_theorem_answer theorem;
    char note[2048];
    char noise[192]; /* why sigma_min and condition are left out; `note` has it too; "": they are
                        not */
} szg_matrix_report;

/* Frees what the report holds and zeroes it. */
void szg_matrix_report_close(szg_matrix_report *report);

/* The summary of an n x n matrix: the spectra that its structure and the options afford, what is
 * derived from them, toeplitzness, symbol, theorem.
 *
 * A matrix of an encoding (szg_encoding_matrix) is spoken of as one of its family: closed forms and
 * rotary kernels take no memory of order n. Logits and dense matrices that are not symmetric have
 * singular values besides eigenvalues, or besides those of the Hermitian part. `options` may be
 * NULL. SZG_EINVAL: not square; errors of szg_spectrum_compute, szg_encoding_kernel. */
SZG_CHECK_RESULT szg_status szg_summary_compute(szg_context *context, const szg_matrix *matrix,
                                                const szg_report_options *options,
                                                szg_matrix_report *out);

/* The symbol of the same matrix alone, without spectra (summary.n is set). SZG_EDOMAIN: the matrix
 * is not Toeplitz, or its lags must be opened first. */
SZG_CHECK_RESULT szg_status szg_symbol_compute(szg_context *context, const szg_matrix *matrix,
                                               const szg_report_options *options,
                                               szg_matrix_report *out);

/* ---- Tables ---- */

typedef struct szg_report_tables {
    szg_table *summary;         /* one row per matrix */
    szg_table *eigenvalues;     /* one row per value; NULL: not wanted */
    szg_table *samples, *range; /* the symbols; NULL: not wanted */
    szg_table *atoms;           /* of symbols that are point masses; NULL: not wanted */
} szg_report_tables;

SZG_CHECK_RESULT szg_status szg_report_tables_open(szg_context *context, bool eigenvalues,
                                                   bool symbols, szg_report_tables *out);
void szg_report_tables_close(szg_report_tables *tables);

/* What a row is about; negative layer and head leave the cell empty. */
typedef struct szg_report_labels {
    SZG_SIZE(szg_report_labels);
    const char *source;
    int64_t layer, head;
} szg_report_labels;

/* Adds the report to every table that is open. */
SZG_CHECK_RESULT szg_status szg_report_add(szg_context *context, szg_report_tables *tables,
                                           const szg_report_labels *labels,
                                           const szg_matrix_report *report);

SZG_END_DECLS

#endif
