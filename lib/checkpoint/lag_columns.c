#include "lag_columns.h"

#include <math.h>

#include "toeplitz/toeplitz.h"
#include "lag_weight.h"

void szgi_lag_columns_centre(lag_columns *parts) {
    int64_t d = parts->d;
    double middle = szgi_lag_spread(parts->count, parts->weight, parts->still).mean;
    for (int64_t i = 0; i < parts->count; i++)
        parts->still[i] = sqrt(parts->weight[i]) * (parts->still[i] - middle);
    for (int64_t c = 0; c < d; c++) {
        double mean = 0;
        for (int64_t i = 0; i < parts->count; i++)
            mean += parts->weight[i] * parts->column[i * d + c];
        for (int64_t i = 0; i < parts->count; i++)
            parts->column[i * d + c] = sqrt(parts->weight[i]) * (parts->column[i * d + c] - mean);
    }
}

szg_status szgi_lag_columns_draw(szg_context *context, uint64_t seed, int64_t layer,
                                 const lag_columns *parts, double draws[CHANCE_DRAWS]) {
    SZG_TRY(
        szgi_chance_sums(context, seed, layer, parts->count, parts->d, parts->column, parts->sum));
    for (int64_t i = 0; i < CHANCE_DRAWS; i++)
        draws[i] = 0;
    for (int64_t i = 0; i < parts->count; i++)
        szgi_chance_add_squares(CHANCE_DRAWS, parts->sum + i * CHANCE_DRAWS, parts->still[i],
                                draws);
    return SZG_OK;
}

void szgi_lag_columns_values(const lag_columns *parts, double mean, bool drawn,
                             head_positional *out) {
    for (int64_t i = 0; i < out->listed.count; i++) {
        int64_t index = out->listed.lag[i] - parts->first;
        const double *column = parts->column + index * parts->d;
        double half = CHANCE_BAND * sqrt(szgi_dot(parts->d, column, column) / parts->weight[index]);
        double middle = mean + parts->still[index] / sqrt(parts->weight[index]);
        kernel_value *value = &out->value[KERNEL_MEAN][i];
        value->value = parts->kernel[index];
        if (!drawn)
            continue;
        value->low = middle - half;
        value->high = middle + half;
    }
}
