/* The numbers of the arena: initial values, to and from the host. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "train/config/config_private.h"
#include "model_private.h"

enum { PURPOSE_INITIAL = 0x54524E01, PART = 1 << 16 };

/* ---- To and from the backend's real numbers ---- */

static szg_status upload_part(szg_context *context, void *to, const double *from, int64_t count,
                              float *narrow) {
    if (szgi_network_real_size(context) == sizeof(double))
        return szgi_device_upload(context, to, from, count * (int64_t)sizeof(double));
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)from[i];
    return szgi_device_upload(context, to, narrow, count * (int64_t)sizeof(float));
}

szg_status szgi_model_upload(szg_context *context, void *to, const double *from, int64_t count) {
    float *narrow;
    SZG_TRY(szgi_memory_alloc(context, count < PART ? count : PART, &narrow));
    szg_status status = SZG_OK;
    for (int64_t at = 0; at < count && status == SZG_OK; at += PART)
        status = upload_part(context, model_at(context, to, at), from + at,
                             count - at < PART ? count - at : PART, narrow);
    szgi_memory_free(narrow);
    return status;
}

/* Gradients and moments end where the trained numbers do. */
static szg_status check_place(szg_context *context, const szg_model *model, const void *arena,
                              int64_t start, int64_t count) {
    int64_t limit = arena == model->arena ? model->numbers : model->count;
    if (start >= 0 && count >= 0 && count <= limit - start)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "model: numbers %lld + %lld are outside the arena",
                     (long long)start, (long long)count);
}

szg_status szgi_model_read(szg_context *context, const szg_model *model, const void *arena,
                           int64_t start, int64_t count, double *out) {
    SZG_TRY(check_place(context, model, arena, start, count));
    int64_t size = szgi_network_real_size(context);
    SZG_TRY(szgi_device_download(context, out, model_at(context, arena, start), count * size));
    if (size == sizeof(double))
        return SZG_OK;
    const float *narrow = (const float *)out; /* widened in place, from the end */
    for (int64_t i = count - 1; i >= 0; i--) {
        float value;
        __builtin_memcpy(&value, narrow + i, sizeof value);
        double wide = (double)value;
        __builtin_memcpy(out + i, &wide, sizeof wide);
    }
    return SZG_OK;
}

szg_status szgi_model_write(szg_context *context, szg_model *model, void *arena, int64_t start,
                            int64_t count, const double *values) {
    SZG_TRY(check_place(context, model, arena, start, count));
    return szgi_model_upload(context, model_at(context, arena, start), values, count);
}

/* ---- Initial values ---- */

static void fill(const szgi_stream *stream, const model_start_of *start, int64_t count,
                 double *values) {
    double bound = start->fan_in ? 1 / sqrt((double)start->fan_in) : 0;
    if (start->start == START_NORMAL)
        szgi_random_fill_normal(stream, 0, count, values);
    if (start->start == START_UNIFORM)
        szgi_random_fill_uniform(stream, 0, count, values);
    for (int64_t i = 0; i < count; i++)
        if (start->start == START_UNIFORM)
            values[i] = bound * (2 * values[i] - 1);
        else if (start->start != START_NORMAL)
            values[i] = start->start == START_ONES;
}

/* Tables that the SPEC gives no numbers for are drawn anew for each layer and seed. */
static szg_status fill_table(szg_context *context, const szg_model *model,
                             const szgi_stream *stream, double *values) {
    uint64_t seed = (uint64_t)szgi_random_word(stream, 0) << 32 | szgi_random_word(stream, 1);
    szg_encoding *encoding;
    SZG_TRY(szgi_config_parse_encoding(context, &model->config.model, seed, &encoding));
    szg_status status =
        szgi_encoding_table_initial(context, encoding, model->config.model.max_length, values);
    szg_encoding_close(&encoding);
    return status;
}

bool szgi_model_table_given(const szg_model *model) {
    const char *spec = model->config.model.encoding;
    return szgi_config_spec_gives(spec, "table") || szgi_config_spec_gives(spec, "seed");
}

static szg_status initialise(szg_context *context, szg_model *model, uint64_t seed, int64_t index,
                             double *values) {
    const szgi_parameter *p = &model->parameter[index];
    szgi_stream stream = {.seed = seed, .step = (uint32_t)index, .purpose = PURPOSE_INITIAL};
    if (model->start[index].start == START_ENCODING)
        SZG_TRY(fill_table(context, model, &stream, values));
    else
        fill(&stream, &model->start[index], p->count, values);
    return szgi_model_write(context, model, model->arena, p->offset, p->count, values);
}

szg_status szgi_model_initialise_tensor(szg_context *context, szg_model *model, uint64_t seed,
                                        int64_t index) {
    double *values;
    SZG_TRY(szgi_memory_alloc(context, model->parameter[index].count, &values));
    szg_status status = initialise(context, model, seed, index, values);
    szgi_memory_free(values);
    return status;
}

szg_status szgi_model_initialise(szg_context *context, szg_model *model, uint64_t seed) {
    int64_t largest = 0;
    for (int64_t i = 0; i < model->tensors; i++)
        if (model->parameter[i].count > largest)
            largest = model->parameter[i].count;
    double *values;
    SZG_TRY(szgi_memory_alloc(context, largest, &values));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < model->tensors && status == SZG_OK; i++)
        status = initialise(context, model, seed, i, values);
    szgi_memory_free(values);
    return status;
}
