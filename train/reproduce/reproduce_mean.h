/* Cells of means over runs. */
#ifndef SZG_TRAIN_REPRODUCE_MEAN_H
#define SZG_TRAIN_REPRODUCE_MEAN_H

#include "reproduce_private.h"
#include "train/data/running_mean.h"

/* Leaves the cell empty where there is no number. */
static inline szg_status set_known(szg_context *context, szg_table *table, const char *column,
                                   double value) {
    return isnan(value) ? SZG_OK : szg_table_set_real(context, table, column, value);
}

#endif
