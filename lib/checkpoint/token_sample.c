#include "token_sample.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "toeplitz/toeplitz.h"
#include "fold.h"
#include "law.h"

enum { TOKENS = 1024, PURPOSE = 0x0c1e0000 };

/* Where one norm serves several heads, whole tokens, fewer of them in wide models. */
enum { WHOLE_NUMBERS = 1 << 20, WHOLE_LEAST = 256, WHOLE_MOST = 4096 };

static int64_t count_whole(int64_t d) {
    int64_t count = WHOLE_NUMBERS / d;
    return count < WHOLE_LEAST ? WHOLE_LEAST : count < WHOLE_MOST ? count : WHOLE_MOST;
}

/* Dimensions that a token has: the input's norm may take one. */
static int64_t free_dimensions(const szg_checkpoint *checkpoint) {
    return checkpoint->model_size - szgi_fold_centres(checkpoint);
}

/* Squares of the coordinates that are not kept add up to a chi-squared number, which is that of so
 * many normals: drawn one by one, since few are. */
static double length(const szgi_stream *stream, int64_t token, int64_t size, int64_t all,
                     const double *kept) {
    double sum = 0;
    for (int64_t i = 0; i < size; i++)
        sum += kept[i] * kept[i];
    for (int64_t i = size; i < all; i++) {
        double x = szgi_random_normal(stream, (uint64_t)(token * all + i));
        sum += x * x;
    }
    return sqrt(sum);
}

/* Normals, brought to the length of a token, and to a mean of 0 where the input's norm does so. */
static szg_status draw_whole(szg_context *context, const szg_checkpoint *checkpoint, uint64_t seed,
                             token_sample *out) {
    const szgi_stream stream = {seed, 1, PURPOSE};
    int64_t d = checkpoint->model_size;
    *out = (token_sample){.count = count_whole(d), .size = d, .whole = true};
    SZG_TRY(szgi_memory_alloc(context, out->count * d, &out->value));
    szgi_random_fill_normal(&stream, 0, out->count * d, out->value);
    if (szgi_fold_centres(checkpoint))
        szgi_centre_rows(out->count, d, out->value);
    for (int64_t i = 0; i < out->count; i++) {
        double *x = out->value + i * d, size = sqrt(szgi_dot(d, x, x));
        for (int64_t j = 0; j < d; j++)
            x[j] *= size > 0 ? sqrt((double)d) / size : 0;
    }
    return SZG_OK;
}

szg_status szgi_token_sample_open(szg_context *context, const szg_checkpoint *checkpoint,
                                  uint64_t seed, token_sample *out) {
    const szgi_stream stream = {seed, 0, PURPOSE};
    int64_t all = free_dimensions(checkpoint), rows = 2 * checkpoint->head_size;
    if (szgi_fold_shares_norm(checkpoint))
        return draw_whole(context, checkpoint, seed, out);
    *out = (token_sample){.count = TOKENS, .size = rows < all ? rows : all};
    if (!checkpoint->normed)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, out->count * out->size, &out->value));
    for (int64_t i = 0; i < out->count; i++) {
        double *x = out->value + i * out->size;
        szgi_random_fill_normal(&stream, (uint64_t)(i * all), out->size, x);
        double factor =
            sqrt((double)checkpoint->model_size) / length(&stream, i, out->size, all, x);
        for (int64_t j = 0; j < out->size; j++)
            x[j] *= factor;
    }
    return SZG_OK;
}

void szgi_token_sample_close(token_sample *sample) {
    szgi_memory_free(sample->value);
    *sample = (token_sample){0};
}
