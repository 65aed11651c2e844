/* Positional encodings: a SPEC such as `rope:dim=64,base=10000` becomes a handle that yields lag
 * kernels and states their facts. No theorem is named here: <szego/theory.h> derives which one
 * applies from these facts.
 *
 * Lag k = i - j (row minus column). Positions, heads, pairs and lags count from 0. */
#ifndef SZEGO_ENCODING_H
#define SZEGO_ENCODING_H

#include <szego/matrix.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

typedef struct szg_encoding szg_encoding;

/* ---- The SPEC ---- */

/* Parses `name` or `name:key=value,key=value` and reads the files it names. SZG_EINVAL: an unknown
 * name or key (the message lists the known ones), a repeated or missing key, a value outside its
 * range; SZG_EDATA, SZG_EIO: a file; SZG_ENOMEM. The caller closes it. */
SZG_CHECK_RESULT szg_status szg_encoding_parse(szg_context *context, const char *spec,
                                               szg_encoding **out);
void szg_encoding_close(szg_encoding **encoding);

/* The canonical SPEC: the given keys in the table's order. Valid until the encoding is closed. */
const char *szg_encoding_spec(const szg_encoding *encoding);

/* Opens a table of all encodings and their keys, in the order of `szego help specs`: encoding,
 * about, reference, key, type, default, required, min, max, choices, doc; its columns say what each
 * is. An encoding without keys has one row. SZG_ENOMEM. The caller closes it. */
SZG_CHECK_RESULT szg_status szg_encoding_keys(szg_context *context, szg_table **out);

/* Number of heads, at least 1: kernels are asked for by head. */
int64_t szg_encoding_heads(const szg_encoding *encoding);

/* ---- Its own lag matrices ---- */

typedef enum szg_symbol_form {
    SZG_FORM_ZERO,             /* the kernel is 0 */
    SZG_FORM_CLOSED,           /* known in closed form */
    SZG_FORM_ATOMS,            /* almost periodic: point masses at +-theta_t (and 0), no density */
    SZG_FORM_POLYNOMIAL,       /* finitely many lags */
    SZG_FORM_POLYNOMIAL_TAILS, /* finitely many lags plus a constant beyond them on either side */
    SZG_FORM_UNBOUNDED,        /* the lags are not summable and grow or do not decay */
    SZG_FORM_NOT_TOEPLITZ      /* the matrix depends on i and j, not on i - j alone */
} szg_symbol_form;

typedef enum szg_definiteness {
    SZG_DEFINITE_UNKNOWN, /* decided by the coefficients: look at the symbol's range */
    SZG_DEFINITE_ZERO,
    SZG_DEFINITE_POSITIVE,
    SZG_DEFINITE_SEMI,        /* positive semidefinite */
    SZG_DEFINITE_ONE_NEGATIVE /* N >= 2: one negative eigenvalue, N - 1 positive ones */
} szg_definiteness;

/* How the matrix is given, which decides the solver. */
typedef enum szg_kernel_structure {
    SZG_KERNEL_ZERO,
    SZG_KERNEL_COSINES, /* scale * (2 sum_t cos(k theta_t) + unrotated) / dim: theta below */
/* SZG_KERNEL_KMS, SZG_KERNEL_DISTANCE: given by `parameter`. */
#define SZG_CLOSED_FORM(NAME, name, words, method) SZG_KERNEL_##NAME,
#include <szego/closed_forms.def>
    SZG_KERNEL_COEFFICIENTS, /* lags without further structure */
    SZG_KERNEL_GRAM          /* P P^T of the input rows: not Toeplitz, rank <= dimension */
} szg_kernel_structure;

/* The facts of one of the encoding's matrices. */
typedef struct szg_kernel_facts {
    const char *matrix; /* bias | position gram | rotary mean | coefficients | zero */
    szg_symbol_form form;
    szg_definiteness definiteness;
    szg_kernel_structure structure;
    szg_toeplitz_kind kind; /* where it is Toeplitz; SZG_KERNEL_GRAM is real symmetric */
    double parameter;       /* of a closed form: rho, slope; scale of COSINES */
    int64_t pairs;          /* COSINES: number of theta */
    const double *theta;    /* borrowed from the encoding */
    int64_t unrotated;      /* COSINES: unrotated dimensions; dim = 2 pairs + unrotated */
    int64_t rank_bound;     /* rank <= min(N, rank_bound); INT64_MAX: no bound but N */
    bool rank_exact;        /* rank = min(N, rank_bound) in exact arithmetic (alibi: N >= 2) */
    bool summable;          /* sum |a_k| over all lags is finite */
    int64_t degree;         /* POLYNOMIAL (N > degree): largest |lag|; POLYNOMIAL_TAILS: lags k with
                               |k| > degree are the tails; -1 otherwise */
    double tail_plus;       /* POLYNOMIAL_TAILS: a_k for k > degree */
    double tail_minus;      /* POLYNOMIAL_TAILS: a_k for k < -degree */
    const char *line;       /* one sentence in plain language, without a theorem */
} szg_kernel_facts;

/* Number of matrices of its own: 1; 2 for rope+absolute (rotary mean kernel, then P P^T). */
int64_t szg_encoding_matrices(const szg_encoding *encoding);

/* Facts of matrix `matrix` of head `head`. SZG_EINVAL: an index out of range. */
SZG_CHECK_RESULT szg_status szg_encoding_facts(szg_context *context, const szg_encoding *encoding,
                                               int64_t head, int64_t matrix, szg_kernel_facts *out);

/* The matrix as an n x n Toeplitz operator: the bias, P P^T, or the rotary mean kernel
 * g(k) = (2 sum_t cos(k theta_t) + unrotated) / dim (without YaRN's attention factor). O(n) memory:
 * above n ~ 10^8 use the facts instead (SZG_ENOMEM says so). SZG_EDOMAIN: not Toeplitz, or a table
 * that ends before lag n - 1; SZG_EINVAL: n < 1, an index out of range. */
SZG_CHECK_RESULT szg_status szg_encoding_kernel(szg_context *context, const szg_encoding *encoding,
                                                int64_t head, int64_t matrix, int64_t n,
                                                szg_toeplitz **out);

/* The same matrix as an argument, whatever its structure: the closed forms and the sums of cosines
 * take no memory; lags without further structure are opened as by szg_encoding_kernel, and P P^T
 * holds its rows. The view borrows from the encoding; szg_matrix_close frees what it holds.
 * SZG_EINVAL: n < 1, an index out of range; SZG_EDOMAIN: a table of fewer than n rows; SZG_ENOMEM.
 */
SZG_CHECK_RESULT szg_status szg_encoding_matrix(szg_context *context, const szg_encoding *encoding,
                                                int64_t head, int64_t matrix, int64_t n,
                                                szg_matrix *out);

/* The same matrix of heads first .. first + heads - 1, by lag: re, im, spread [heads][2n - 1],
 * where element k + n - 1 is for lag k = -(n-1) .. n-1. re, im: the mean of the diagonal's entries,
 * which a Toeplitz matrix has all over it; spread: their standard deviation about that mean,
 * exactly 0 where the matrix is Toeplitz. im and spread may be NULL. re NULL: nothing is written,
 * and SZG_ENOMEM says whether the arrays re (and im, of a complex matrix) exceed the available
 * memory. P P^T takes O(n^2 d) time, others O(n). Errors of szg_encoding_kernel and
 * szg_encoding_matrix. */
SZG_CHECK_RESULT szg_status szg_encoding_lags(szg_context *context, const szg_encoding *encoding,
                                              int64_t first, int64_t heads, int64_t matrix,
                                              int64_t n, double *re, double *im, double *spread);

/* The same entry by entry: re, im [heads][n][n], row i the query and column j the key. im and re
 * may be NULL, likewise. Errors of szg_encoding_lags. */
SZG_CHECK_RESULT szg_status szg_encoding_entries(szg_context *context, const szg_encoding *encoding,
                                                 int64_t first, int64_t heads, int64_t matrix,
                                                 int64_t n, double *re, double *im);

/* Tables of matrices by lag. */
typedef struct szg_kernel_tables {
    szg_table *kernel; /* one row per lag: those of both signs, but lags 0 .. n-1 of a symmetric or
                          Hermitian matrix */
    szg_table
        *extrema; /* one row per matrix: symmetry, extrema and their lags, what the kernel is */
} szg_kernel_tables;

SZG_CHECK_RESULT szg_status szg_kernel_tables_open(szg_context *context, szg_kernel_tables *out);
void szg_kernel_tables_close(szg_kernel_tables *tables);

/* Adds the rows of matrix `matrix` of head `head`. Errors of szg_encoding_lags. */
SZG_CHECK_RESULT szg_status szg_kernel_tables_add(szg_context *context, szg_kernel_tables *tables,
                                                  const szg_encoding *encoding, int64_t head,
                                                  int64_t matrix, int64_t n);

SZG_END_DECLS

#endif
