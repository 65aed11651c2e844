/* The layers' part of a backend: what <szego/backend.h> calls a table. The checked functions of
 * "network/network.h" call its entries; nothing else does. An entry that a backend lacks is NULL.
 * Shapes and meanings are those of the functions of the same name. */
#ifndef SZEGO_NETWORK_OPS_H
#define SZEGO_NETWORK_OPS_H

#include "linalg/ops.h"
#include "network.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Memory and layers. Arguments are checked; see "network/network.h". */
typedef struct szgi_network_ops {
    int64_t real_size; /* bytes of a real number in arrays */

    szg_status (*alloc)(szg_context *context, int64_t bytes, void **out);
    void (*free)(szg_context *context, void *memory);
    szg_status (*upload)(szg_context *context, void *to, const void *from, int64_t bytes);
    szg_status (*download)(szg_context *context, void *to, const void *from, int64_t bytes);
    szg_status (*copy)(szg_context *context, void *to, const void *from, int64_t bytes);
    szg_status (*clear)(szg_context *context, void *memory, int64_t bytes);
    szg_status (*clear_columns)(szg_context *context, void *memory, int64_t rows, int64_t stride,
                                int64_t bytes);
    szg_status (*sync)(szg_context *context);

    szg_status (*linear)(szg_context *context, const szgi_linear *linear);
    szg_status (*linear_backward)(szg_context *context, const szgi_linear *linear,
                                  const szgi_linear_gradient *gradient);
    szg_status (*attention)(szg_context *context, const szgi_attention *attention);
    /* NULL where the backend draws dropout's mask again: szgi_network_attention_kept. */
    int64_t (*attention_kept)(const szgi_attention *attention);
    szg_status (*attention_backward)(szg_context *context, const szgi_attention *attention,
                                     const szgi_attention_gradient *gradient);
    szg_status (*attention_logits)(szg_context *context, const szgi_attention *attention,
                                   bool coupled, void *logits);
    szg_status (*diagonal_means)(szg_context *context, int64_t count, int64_t n, const void *a,
                                 void *out);
    szg_status (*join)(szg_context *context, const szgi_join *join, const void *a, const void *b,
                       void *out);
    szg_status (*join_backward)(szg_context *context, const szgi_join *join, const void *dout,
                                void *da, void *db);
    szg_status (*bias)(szg_context *context, const szgi_bias_rows *rows, const void *table,
                       void *bias);
    szg_status (*bias_backward)(szg_context *context, const szgi_bias_rows *rows, const void *dbias,
                                void *dtable);
    szg_status (*layer_norm)(szg_context *context, const szgi_layer_norm *norm);
    szg_status (*layer_norm_backward)(szg_context *context, const szgi_layer_norm *norm,
                                      const szgi_layer_norm_gradient *gradient);
    szg_status (*dropout_residual)(szg_context *context, int64_t rows, int64_t columns,
                                   const szgi_dropout *dropout, const void *x, const void *residual,
                                   void *y);
    szg_status (*dropout_backward)(szg_context *context, int64_t rows, int64_t columns,
                                   const szgi_dropout *dropout, const void *dy, void *dx);
    szg_status (*embedding)(szg_context *context, const szgi_embedding *embedding);
    szg_status (*embedding_backward)(szg_context *context, const szgi_embedding *embedding,
                                     const void *dout, void *dtable, void *dtrained);
    szg_status (*pooling)(szg_context *context, const szgi_pooling *pooling, const void *x,
                          void *y);
    szg_status (*pooling_backward)(szg_context *context, const szgi_pooling *pooling,
                                   const void *dy, void *dx);
    szg_status (*cross_entropy)(szg_context *context, const szgi_cross_entropy *entropy);
    szg_status (*finite)(szg_context *context, int64_t count, const void *x,
                         szgi_step_block *block);
    szg_status (*adamw)(szg_context *context, const szgi_adamw *adamw);
    szg_status (*gather)(szg_context *context, const szgi_gather *gather);
    szg_status (*advance)(szg_context *context, const szgi_step_block *blocks, int64_t count,
                          szgi_step_block *block, int64_t *at);

    /* All six NULL where the backend has none (szgi_network_has_spectra). The library keeps the
     * fields of szgi_spectra_job but for those that open sets: count, n, sums. */
    szg_status (*spectra_open)(szg_context *context, int64_t count, int64_t n, int64_t sums,
                               szgi_spectra_job **out);
    void (*spectra_close)(szg_context *context, szgi_spectra_job *job);
    szg_status (*spectra_take)(szg_context *context, szgi_spectra_job *job, int64_t first,
                               int64_t count, int64_t length, const void *logits);
    szg_status (*spectra_squares)(szg_context *context, szgi_spectra_job *job, int64_t first,
                                  int64_t heads, int64_t count, const szgi_head_part *parts);
    szg_status (*spectra_begin)(szg_context *context, szgi_spectra_job *job, int64_t count);
    szg_status (*spectra_collect)(szg_context *context, szgi_spectra_job *job,
                                  szgi_logit_numbers *numbers, double *sums);

    /* From here on NULL where work is done when a call returns (szgi_device_records). recording
     * NULL: dropped. */
    szg_status (*record_begin)(szg_context *context);
    szg_status (*record_end)(szg_context *context, void **recording);
    szg_status (*replay)(szg_context *context, void *recording);
    void (*recording_close)(szg_context *context, void *recording);
    szg_status (*mark)(szg_context *context, int64_t which);
    szg_status (*elapsed)(szg_context *context, int64_t from, int64_t to, double *seconds);

    /* Both NULL where there is nothing to say. */
    void (*products)(szg_context *context, int64_t room, szgi_product_fact *out, int64_t *count);
    szg_status (*products_begin)(szg_context *context, bool timed, int64_t count,
                                 const szgi_product_fact *kept);
} szgi_network_ops;

SZGI_END_DECLS

#endif
