/* A trained model on longer sequences than those of training, its rotation rescaled in several
 * ways. */
#ifndef SZG_TRAIN_LENGTH_H
#define SZG_TRAIN_LENGTH_H

#include "base/row.h"
#include "train/ablation/ablation.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* How the frequencies of a rotary encoding are changed for the longer sequences: encodings.md. */
typedef enum szgi_scaling {
    SZGI_SCALING_NONE,
    SZGI_SCALING_LINEAR,
    SZGI_SCALING_NTK,
    SZGI_SCALING_DYNAMIC,
    SZGI_SCALING_YARN,
    SZGI_SCALING_LLAMA3,
    SZGI_SCALINGS
} szgi_scaling;

const char *szgi_scaling_name(szgi_scaling scaling);
/* SZG_EINVAL names the known ones. `none` is not among them: it is always tested. */
SZG_CHECK_RESULT szg_status szgi_scaling_parse(szg_context *context, const char *name,
                                               szgi_scaling *out);

enum { SZGI_LENGTHS = 16, SZGI_LENGTH_EXAMPLES = 2000 };

typedef struct szgi_length_options {
    int64_t count, words[SZGI_LENGTHS]; /* ascending; count 0: nothing is tested */
    unsigned scalings;                  /* besides SZGI_SCALING_NONE: a bit 1 << each */
    int64_t examples;                   /* of each length */
} szgi_length_options;

/* Whether the model takes sequences of these lengths. SZG_EINVAL: as szgi_longer_check; an encoding
 * or a model with a table of positions, which ends with those of training (named); a scaling that
 * the size of its rotation does not allow. */
SZG_CHECK_RESULT szg_status szgi_length_check(szg_context *context, const szg_train_config *config,
                                              const szgi_length_options *options);

/* The scalings that are tested at a length, `none` among them, as bits: the others beyond
 * data.longest alone, and only of an encoding that rotates and has neither a scaling nor a choice
 * of frequencies of its own (scaling=, theta=, bands=). */
unsigned szgi_length_scalings(const szg_train_config *config, const szgi_length_options *options,
                              int64_t words);

/* The configuration of the model at that length: a model.max_length that admits it, and the scaling
 * in the SPEC, whose factor is words / data.longest. Nothing that is trained depends on either.
 * SZG_EINVAL: the SPEC becomes too long. */
SZG_CHECK_RESULT szg_status szgi_length_config(szg_context *context, const szg_train_config *config,
                                               szgi_scaling scaling, int64_t words,
                                               szg_train_config *out);

/* `length`: a row a length and scaling. */
SZG_CHECK_RESULT szg_status szgi_length_table_open(szg_context *context, szg_table **out);

/* Adds the rows of the model in a checkpoint, which `config` describes. */
SZG_CHECK_RESULT szg_status szgi_length_rows(szg_context *context, szg_table *table,
                                             const szg_run_key *key, const char *checkpoint,
                                             const szg_train_config *config,
                                             const szgi_length_options *options);

SZGI_END_DECLS

#endif
