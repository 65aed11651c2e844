/* Families against transformers: tests/data/families has, for a tiny model of each, what the
 * softmax received (tools/families). The logits are made again here, in double precision, from what
 * szego resolved: rows of heads, scale, rotation, and everything that its table `architecture`
 * calls left out. So nothing that acts on the logits is missing there, or wrong. */
#ifndef SZG_TESTS_FAMILIES_ORACLE_H
#define SZG_TESTS_FAMILIES_ORACLE_H

#include "checkpoint/fold.h"
#include "model.h"

enum { TOKENS = 8 };

/* Of single precision, in which transformers computed: the sum of n products is off by at most
 * gamma(n) times the sum of their moduli (Higham 2002, section 3.1). */
static inline double gamma32(double n) {
    double u = ldexp(1, -24);
    return n * u / (1 - n * u);
}

/* Numbers, and how far transformers' may be from them. */
typedef struct measured {
    int64_t rows, columns;
    double *value, *error;
} measured;

measured measured_new(int64_t rows, int64_t columns);
void measured_free(measured *self);

/* All numbers of a tensor; the caller frees. */
double *read_all(const szgi_tensor *tensor);
double norm2(int64_t n, const double *x);

/* Columns first .. first + count - 1 of one token by their root mean square; with `centre` their
 * mean goes first. Gains follow, NULL: none. */
void normalise(int64_t count, double *value, double *error, bool centre, double eps,
               const double *gain, double plus);

/* One family's folder. */
typedef struct family_case {
    char folder[700];
    const szg_checkpoint *checkpoint;
    szgi_safetensors *oracle;
    const char *stack;  /* "" or "encoder." */
    const char *layers; /* a digit a layer: which one of the oracle it is; NULL: the same */
    double eps;
    int64_t positions[TOKENS];
} family_case;

/* What the oracle has of a layer; NULL: nothing of that name. */
const szgi_tensor *oracle_tensor(const family_case *own, int64_t layer, const char *what);

/* A head's rows with these gains: e x d of queries, or of keys. The caller frees. */
double *rows_of(const family_case *own, int64_t layer, bool query, int64_t head, fold_kind fold);

/* w (rows x d) x (n x d): n x rows. */
measured project(const szgi_tensor *x, int64_t rows, const double *w);

/* The bias of the rows from `first` on; NULL: none. */
void add_bias(const szgi_tensor *bias, int64_t first, measured *x);

/* No number beyond the limit; 0: none. */
void clip(double limit, measured *x);

/* What the model divides by, for each token: the root mean square of the latent; 1 without one. And
 * the error of a row of the weight, which acts on it: rows `first` and on, of a latent of `rank`.
 */
void divide_by_latent(const family_case *own, const side_weights *side, int64_t rank,
                      const szgi_tensor *x, int64_t first, int64_t rows, measured *out);

/* Queries, or keys, of every head as the product receives them. The caller frees each, and all. */
measured *make_side(const family_case *own, int64_t layer, bool query, const szgi_tensor *x);

/* The logit of tokens i and j, and its error: e products, scale, temperature, cap. */
double logit(const family_case *own, int64_t layer, const measured *q, const measured *k, int64_t i,
             int64_t j, double *error);

/* Sinks: the model takes a row's maximum off, and tools/families puts it back: two roundings of
 * numbers up to the largest logit or sink, twice. */
double shift_error(const family_case *own, int64_t count, const double *logits);

/* What is looked at in each layer. */
typedef void layer_check(const family_case *own, int64_t layer);

/* The logits of every head are the oracle's, to rounding of single precision. */
void check_layer(const family_case *own, int64_t layer);

/* The attention's output from the captured logits and the OV circuit of every head: sum of
 * softmax(logits) X (W_O W_V)^T, with the biases that circuits leave out. */
void check_written(const family_case *own, int64_t layer);

/* The tensor that acts on the values of a family between attention and output, which is refused by
 * name; NULL: none does. */
const char *acts_on_values(const char *model_type);

/* The norm's eps, which each configuration calls by its own name. */
double read_eps(szgi_json_value settings);

/* tests/data/families, from the environment. */
const char *data_folder(void);

/* Every stack of every tiny model that has the configuration `config`; how many models. */
int check_all(const char *config, layer_check *check);

#endif
