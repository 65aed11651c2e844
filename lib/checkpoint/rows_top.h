/* The table `top`: the largest singular values of whole weights, each with its error. */
#ifndef SZG_CHECKPOINT_ROWS_TOP_H
#define SZG_CHECKPOINT_ROWS_TOP_H

#include "rows.h"
#include "top.h"

SZG_CHECK_RESULT szg_status szgi_rows_top_open(szg_context *context, szg_table **out);

/* A row of `summary`, whose other cells stay empty, and a row of `top` for each value. */
SZG_CHECK_RESULT szg_status szgi_rows_top(szg_context *context, szg_checkpoint_tables *tables,
                                          const row_key *key, const szgi_tensor *tensor,
                                          const szgi_top *top);

#endif
