/* Logits that get products of queries and keys with trained vectors by the lag: DeBERTa, and BERT's
 * relative keys (Shaw et al. 2018). docs/explanation/theory.md, "Positional heads". */
#ifndef SZG_CHECKPOINT_LAG_TABLE_H
#define SZG_CHECKPOINT_LAG_TABLE_H

#include "positional.h"

/* What all layers have in common. */
typedef struct lag_table {
    const char *why;    /* NULL, or why there are no numbers: static */
    bool used;          /* the model has such products */
    bool keys, queries; /* vectors that queries, and that keys, are multiplied by */
    bool projected;     /* by weights of the layer, from `value`; else each layer has its own */
    int64_t first, lags, rows;
    int64_t *row;  /* [lags - first]: of each lag */
    double *value; /* [rows, d], behind their norm where they have one */
    lag_list listed;
} lag_table;

/* Looks up the settings that such products are read from later, so that changes of them count as
 * read (szgi_config_watch). */
void szgi_lag_table_watch(const szg_checkpoint *checkpoint);
bool szgi_lag_table_is_used(const szg_checkpoint *checkpoint);

/* dense: of the listed lags. Numbers that cannot be read are said in `why`. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_table_open(szg_context *context,
                                                const szg_checkpoint *checkpoint, int64_t dense,
                                                lag_table *out);
void szgi_lag_table_close(lag_table *table);

/* The tensors that a layer's numbers are made of beside its queries, keys and layer_weights.added;
 * NULL for less. */
enum { LAG_TABLE_TENSORS = 6 };
void szgi_lag_table_tensors(const szg_checkpoint *checkpoint, int64_t layer,
                            const szgi_tensor *out[LAG_TABLE_TENSORS]);

/* NULL, or why a layer has no numbers: its own reasons, behind table->why. */
const char *szgi_lag_table_refusal(const lag_table *table, const szg_checkpoint *checkpoint,
                                   int64_t layer);

/* Of a head that does not rotate. Numbers that are not finite are said in out->why. SZG_EIO,
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_table_find(szg_context *context, const law_input *head,
                                                const lag_table *table, uint64_t seed,
                                                head_positional *out);

#endif
