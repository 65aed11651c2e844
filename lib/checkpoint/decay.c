/* Decays of recurrent layers, from their weights: docs/explanation/theory.md. */
#include "decay.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "decay_rows.h"
#include "problem.h"
#include "rows.h"
#include "toeplitz/toeplitz.h"

/* What the configuration says of all layers. */
typedef struct decay_settings {
    bool bounded;
    double bound, least, most;
    double factor, bias_factor; /* on the gate's rows, and on their bias */
    int64_t key_heads;
    char *note; /* of every row; NULL: none */
} decay_settings;

typedef struct decay_job {
    const szg_checkpoint *checkpoint;
    const decay_family *family;
    szg_checkpoint_tables *tables;
    char *prefix;
    int64_t layers, size;
    decay_settings settings;
    sphere_law law;
} decay_job;

/* ---- Which tensors ---- */

const decay_family *szgi_decay_family_of(const szg_checkpoint *checkpoint) {
    if (!checkpoint->model_type || checkpoint->gguf.families > 0)
        return NULL;
    return szgi_decay_family_find(checkpoint->model_type);
}

static const char *stem_of(const decay_family *family) {
    return family->stem ? family->stem : "layers.";
}

/* The tensor of a layer by a name of the family's row. */
static const szgi_tensor *find(const szg_checkpoint *checkpoint, const decay_family *family,
                               const char *prefix, int64_t layer, const char *name) {
    const char *const inner[] = {"", family->inner};
    for (int i = 0; name && i < 2 && inner[i]; i++) {
        char whole[512];
        int length = snprintf(whole, sizeof whole, "%s%s%" PRId64 ".%s%s", prefix, stem_of(family),
                              layer, inner[i], name);
        const szgi_tensor *tensor = length > 0 && (size_t)length < sizeof whole
                                        ? szgi_safetensors_find(checkpoint->tensors, whole)
                                        : NULL;
        if (tensor)
            return tensor;
    }
    return NULL;
}

void szgi_decay_tensors(const szg_checkpoint *checkpoint, const decay_family *family,
                        const char *prefix, int64_t layer, const szgi_tensor *out[DECAY_TENSORS]) {
    char norm[128], bias[128];
    snprintf(norm, sizeof norm, "%s.weight", family->norm ? family->norm : "");
    snprintf(bias, sizeof bias, "%s", family->gate ? family->gate : "");
    char *end = strstr(bias, "weight");
    if (end)
        memcpy(end, "bias", sizeof "bias");
    const char *const name[] = {[DECAY_RATE] = family->rate,
                                [DECAY_SHIFT] = family->shift,
                                [DECAY_WEIGHT] = family->gate,
                                [DECAY_DOWN] = family->down,
                                [DECAY_GAIN] = family->norm ? norm : NULL,
                                [DECAY_BIAS] = family->gate ? bias : NULL};
    for (int i = 0; i < DECAY_TENSORS; i++)
        out[i] = find(checkpoint, family, prefix, layer, name[i]);
}

/* Has the layer one of the tensors that recurrent layers alone have? */
static bool has_tensors(const decay_job *job, int64_t layer) {
    const decay_family *family = job->family;
    const char *const names[] = {family->mark, family->rate, family->shift,
                                 family->rows == GATE_LAST ? NULL : family->gate, family->down};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find(job->checkpoint, family, job->prefix, layer, names[i]))
            return true;
    return false;
}

/* Does the configuration say that it is recurrent? */
static bool is_said(const decay_job *job, int64_t layer) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    return checkpoint->family && job->family->type && checkpoint->layer[layer].absent &&
           strcmp(checkpoint->layer[layer].absent, job->family->type) == 0;
}

/* Is `name` PREFIX stem INDEX "." and then one of the family's names? Of an unknown architecture
 * that gives the prefix, and how many layers there are. */
static bool is_recurrent_name(const decay_family *family, const char *name, size_t *prefix,
                              int64_t *layer) {
    const char *const names[] = {family->mark, family->rate};
    const char *stem = stem_of(family);
    for (const char *at = strstr(name, stem); at; at = strstr(at + 1, stem)) {
        char *end;
        const char *digits = at + strlen(stem);
        long long number = strtoll(digits, &end, 10);
        if (end == digits || end - digits > 9 || *digits < '0' || *digits > '9' || *end != '.')
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (names[i] && szgi_text_ends(end, names[i])) {
                *prefix = (size_t)(at - name);
                *layer = number;
                return true;
            }
    }
    return false;
}

static szg_status find_layers(szg_context *context, decay_job *job) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    const char *first = "";
    size_t length = 0, prefix;
    int64_t layer;
    job->layers = checkpoint->family ? checkpoint->layers : 0;
    job->size = checkpoint->family ? checkpoint->model_size
                                   : szgi_config_number_or(checkpoint, "hidden_size", 0);
    if (checkpoint->family && checkpoint->family->two_streams) /* of which attention alone reads */
        job->size /= 2;
    if (checkpoint->family)
        return szgi_memory_copy_text(context, checkpoint->prefix, &job->prefix);
    for (int64_t i = 0; i < szgi_safetensors_count(checkpoint->tensors); i++) {
        const char *name = szgi_safetensors_tensor(checkpoint->tensors, i)->name;
        if (!is_recurrent_name(job->family, name, &prefix, &layer))
            continue;
        if (job->layers == 0) {
            first = name;
            length = prefix;
        }
        if (prefix == length && strncmp(name, first, length) == 0 && layer >= job->layers)
            job->layers = layer + 1;
    }
    SZG_TRY(szgi_memory_copy_text(context, first, &job->prefix));
    job->prefix[length] = 0;
    return SZG_OK;
}

/* ---- Settings ---- */

/* A number that may be {"__float__": "Infinity"}, as transformers writes it. */
static szg_status as_limit(szg_context *context, szgi_json_value value, double *out) {
    const char *text;
    if (szgi_json_kind_of(value) != SZGI_JSON_OBJECT)
        return szgi_json_as_real(context, value, out);
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(value, "__float__"), &text));
    if (strcmp(text, "Infinity") != 0)
        return szgi_json_fail(context, value, "is '%s', and a number or Infinity is needed", text);
    *out = INFINITY;
    return SZG_OK;
}

static szg_status read_limits(szg_context *context, const decay_job *job, decay_settings *out) {
    const char *key = job->family->limits_key;
    szgi_json_value object = job->checkpoint->settings, pair = szgi_json_member(object, key);
    if (!szgi_json_has(object, key))
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, pair));
    SZG_TRY(as_limit(context, szgi_json_element(pair, 0), &out->least));
    SZG_TRY(as_limit(context, szgi_json_element(pair, 1), &out->most));
    if (!(out->least >= 0) || !(out->most > out->least))
        return szgi_json_fail(context, pair, "is [%g, %g]: 0 <= first < second is needed",
                              out->least, out->most);
    return SZG_OK;
}

/* A number of the configuration, or what the class takes where it has none: that is noted. */
static szg_status number_or(szg_context *context, decay_settings *settings, szgi_json_value object,
                            const char *key, double otherwise, double *out) {
    *out = otherwise;
    if (szgi_json_has(object, key))
        return szgi_json_as_real(context, szgi_json_member(object, key), out);
    return szgi_text_append(context, &settings->note,
                            "%s is not in the configuration: %g, as the class takes", key,
                            otherwise);
}

static szg_status read_bound(szg_context *context, const decay_job *job, decay_settings *out) {
    const decay_family *family = job->family;
    szgi_json_value object = job->checkpoint->settings, value;
    const char *key = family->bound_key;
    bool wanted = true;
    if (family->bound_flag)
        SZG_TRY(szgi_config_flag(context, object, family->bound_flag, true, &wanted));
    if (!wanted)
        return SZG_OK;
    value = family->bound_inner ? szgi_json_member(object, family->bound_inner) : object;
    if (family->bound_inner && szgi_json_kind_of(value) == SZGI_JSON_OBJECT &&
        szgi_json_has(value, "gate_lower_bound")) {
        object = value;
        key = "gate_lower_bound";
    }
    value = szgi_json_member(object, key);
    if (szgi_json_kind_of(value) == SZGI_JSON_NULL)
        return SZG_OK;
    out->bounded = true;
    SZG_TRY(number_or(context, out, object, key, -5, &out->bound));
    return out->bound < 0 && isfinite(out->bound)
               ? SZG_OK
               : szgi_json_fail(context, value, "is %g, and must be negative and finite",
                                out->bound);
}

/* Falcon H1 multiplies the input of its mixer, and the rows of the time step. */
static szg_status read_multipliers(szg_context *context, const decay_job *job,
                                   decay_settings *out) {
    szgi_json_value object = job->checkpoint->settings;
    szgi_json_value list = szgi_json_member(object, "ssm_multipliers");
    double input;
    SZG_TRY(number_or(context, out, object, "ssm_in_multiplier", 1, &input));
    if (szgi_json_has(object, "ssm_multipliers"))
        SZG_TRY(szgi_json_as_real(context, szgi_json_element(list, 4), &out->bias_factor));
    else
        SZG_TRY(number_or(context, out, object, "ssm_multipliers", 1, &out->bias_factor));
    out->factor = input * out->bias_factor;
    return isfinite(out->factor)
               ? SZG_OK
               : szgi_json_fail(context, list, "[4] is %g, and must be finite", out->bias_factor);
}

static szg_status read_settings(szg_context *context, const decay_job *job, decay_settings *out) {
    static const char *const key_heads[] = {"linear_num_key_heads", NULL};
    const decay_family *family = job->family;
    szgi_json_value object = job->checkpoint->settings;
    *out = (decay_settings){.most = INFINITY, .factor = 1, .bias_factor = 1};
    if (family->rule == DECAY_BOUNDED)
        SZG_TRY(read_bound(context, job, out));
    if (family->rows == GATE_GROUPS)
        SZG_TRY(szgi_config_integer(context, object, key_heads, 1, &out->key_heads));
    if (family->multiplied)
        SZG_TRY(read_multipliers(context, job, out));
    if (family->limits_key)
        SZG_TRY(read_limits(context, job, out));
    if (family->least_key)
        SZG_TRY(number_or(context, out, object, family->least_key, 0.001, &out->least));
    if (!(out->least >= 0) || !isfinite(out->least))
        return szgi_json_fail(context, szgi_json_member(object, family->least_key),
                              "is %g, and must be finite and not negative", out->least);
    return out->least > 0 || isfinite(out->most)
               ? szgi_text_append(context, &out->note,
                                  "time steps are clamped to [%g, %g] where several tokens are "
                                  "read at once",
                                  out->least, out->most)
               : SZG_OK;
}

/* ---- Rows ---- */

static szg_status add(szg_context *context, const decay_job *job, decay_facts *facts) {
    char *note = NULL;
    szg_status status = SZG_OK;
    const char *const notes[] = {
        facts->note, facts->channels > 0 ? job->settings.note : NULL,
        facts->channels > 0 || job->family->rule == DECAY_UNREAD ? job->family->why : NULL};
    for (size_t i = 0; i < sizeof notes / sizeof *notes && status == SZG_OK; i++)
        if (notes[i])
            status = szgi_text_append(context, &note, "%s", notes[i]);
    facts->note = note;
    if (status == SZG_OK)
        status =
            szgi_decay_rows_add(context, job->tables, job->checkpoint->source, job->family, facts);
    szgi_memory_free(note);
    return status;
}

/* A layer, or a head of it, that is skipped. */
static szg_status add_problem(szg_context *context, const decay_job *job, int64_t layer,
                              int64_t head, const char *problem) {
    decay_facts facts = {.layer = layer, .head = head, .note = problem};
    char place[64] = "";
    if (head >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ", head %" PRId64 ": ", layer, head);
    else if (layer >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ": ", layer);
    job->tables->bad++;
    if (job->tables->bad + job->tables->unconverged <= SAID_MOST)
        szgi_say(context, SZG_WARNING, "no decays: %s%s", place, problem);
    return add(context, job, &facts);
}

/* ---- Fixed decays ---- */

static szg_status add_fixed(szg_context *context, const decay_job *job, int64_t layer, int64_t head,
                            double log_decay) {
    decay_facts facts = {.layer = layer,
                         .head = head,
                         .channels = 1,
                         .range = {log_decay * (1 + 0x1p-44), log_decay * (1 - 0x1p-44)},
                         .typical = {log_decay, log_decay, log_decay},
                         .note =
                             job->family->rule == DECAY_LIGHTNING &&
                                     (job->checkpoint->heads & (job->checkpoint->heads - 1)) != 0
                                 ? "the number of heads is no power of two: vLLM takes other slopes"
                                 : NULL};
    return add(context, job, &facts);
}

/* Slopes in the file are those that the model uses. */
static szg_status lightning(szg_context *context, const decay_job *job, int64_t layer,
                            const szgi_tensor *slopes) {
    int64_t heads = job->checkpoint->heads;
    double *rate;
    SZG_TRY(szgi_memory_alloc(context, heads, &rate));
    double last = (double)job->layers - 1 + 1e-5, shrink = 1 - (double)layer / last + 1e-5;
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < heads; i++)
        rate[i] = exp2(-8 * (double)(i + 1) / (double)heads) * shrink;
    if (slopes && slopes->count != heads)
        status = szgi_fail(context, SZG_EDATA,
                           "%s: tensor %s has %" PRId64 " numbers for %" PRId64
                           " heads: leave it out of the file, and szego computes the slopes",
                           slopes->file, slopes->name, slopes->count, heads);
    else if (slopes)
        status = szgi_tensor_check(context, slopes);
    if (slopes && status == SZG_OK)
        status = szgi_tensor_read(context, slopes, 0, heads, rate);
    for (int64_t i = 0; i < heads && status == SZG_OK; i++)
        status = rate[i] >= 0 ? add_fixed(context, job, layer, i, -rate[i])
                              : add_problem(context, job, layer, i,
                                            "its slope is negative, so that nothing decays: check "
                                            "the tensor slope_rate");
    szgi_memory_free(rate);
    return status;
}

static szg_status retention(szg_context *context, const decay_job *job, int64_t layer) {
    static const char *const keys[] = {"num_heads", NULL};
    int64_t heads;
    SZG_TRY(szgi_config_integer(context, job->checkpoint->settings, keys, 1, &heads));
    for (int64_t i = 0; i < heads && i < 1024; i++)
        SZG_TRY(add_fixed(context, job, layer, i, log1p(-exp2(-5 - (double)i))));
    return SZG_OK;
}

/* Single precision ends here, in which models take the exponential. */
static const double rate_most = 88.72;

static szg_status channels(szg_context *context, const decay_job *job, int64_t layer,
                           const szgi_tensor *logs) {
    int64_t count = logs->count;
    double *value;
    if (count == 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s is empty: compare the file with the "
                         "model that it comes from",
                         logs->file, logs->name);
    SZG_TRY(szgi_memory_alloc(context, count, &value));
    szg_status status = szgi_tensor_read(context, logs, 0, count, value);
    szgi_sort_reals(count, value);
    if (status == SZG_OK && value[count - 1] > rate_most)
        status = szgi_fail(context, SZG_EDATA,
                           "%s: tensor %s: exp(%.6g) exceeds single precision, so that the decay "
                           "overflows: check that number",
                           logs->file, logs->name, value[count - 1]);
    if (status == SZG_OK) {
        decay_facts facts = {
            .layer = layer,
            .head = -1,
            .channels = count,
            .range = {-exp(value[count - 1]) * (1 + 0x1p-44), -exp(value[0]) * (1 - 0x1p-44)}};
        for (int i = 0; i < TYPICAL; i++) { /* the shortest half-lives are the largest logs */
            double from = (1 - szgi_typical_chance[i]) * (double)count;
            int64_t place = (int64_t)ceil(from - 1e-9) - 1;
            facts.typical[i] = -exp(value[place < 0 ? 0 : place]);
        }
        status = add(context, job, &facts);
    }
    szgi_memory_free(value);
    return status;
}

/* ---- Gates ---- */

/* The weights of a layer's gates, as doubles, with the gains of the norm in what reads it. */
typedef struct gate_weights {
    const szgi_tensor *tensor[DECAY_TENSORS];
    int64_t heads, channels; /* of a head */
    int64_t inner;           /* columns of the gate's rows */
    double unit;             /* unit roundoff of what the model computes with */
    double *rate, *shift, *bias;
    double *row;          /* [heads channels][inner] */
    double *gram, *sizes; /* with a matrix before: of its rows with gains, and their norms */
    gate_channel *channel;
} gate_weights;

static void close_gates(gate_weights *gates) {
    double *const all[] = {gates->rate, gates->shift, gates->bias,
                           gates->row,  gates->gram,  gates->sizes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        szgi_memory_free(all[i]);
    szgi_memory_free(gates->channel);
}

static const char remedy[] = "compare the file with the model that it comes from";

static szg_status wrong_shape(szg_context *context, const szgi_tensor *tensor, const char *wanted) {
    char shape[64];
    return szgi_fail(context, SZG_EDATA, "%s: tensor %s has shape %s where %s is needed: %s",
                     tensor->file, tensor->name,
                     szgi_tensor_shape_text(tensor, shape, sizeof shape), wanted, remedy);
}

/* Those that the family has must be there; numbers must be finite. */
static szg_status check_there(szg_context *context, const decay_job *job, int64_t layer,
                              const gate_weights *gates) {
    const decay_family *family = job->family;
    const char *const name[DECAY_TENSORS] = {family->rate, family->shift, family->gate,
                                             family->down, family->norm,  NULL};
    for (int i = 0; i < DECAY_TENSORS; i++) {
        const szgi_tensor *tensor = gates->tensor[i];
        if (name[i] && !tensor)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s%s%" PRId64
                             ".%s%s is missing, and without it the layer's decays are not known: "
                             "put the files of the whole model there",
                             job->checkpoint->source, job->prefix, stem_of(family), layer, name[i],
                             i == DECAY_GAIN ? ".weight" : "");
        if (tensor && (tensor->dtype == SZGI_DTYPE_INTEGER || tensor->dtype == SZGI_DTYPE_OTHER))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s has type %s where a weight belongs: %s", tensor->file,
                             tensor->name, tensor->dtype_name, szgi_tensor_remedy(tensor));
        if (tensor)
            SZG_TRY(szgi_tensor_check(context, tensor));
    }
    return SZG_OK;
}

/* Sizes: one rate a head, shifts and rows for its channels. */
static szg_status check_shapes(szg_context *context, const decay_job *job, gate_weights *gates) {
    const szgi_tensor *weight = gates->tensor[DECAY_WEIGHT], *down = gates->tensor[DECAY_DOWN];
    const szgi_tensor *shift = gates->tensor[DECAY_SHIFT], *gain = gates->tensor[DECAY_GAIN];
    const szgi_tensor *bias = gates->tensor[DECAY_BIAS];
    gate_rows rows = job->family->rows;
    char wanted[96];
    gates->heads = gates->tensor[DECAY_RATE]->count;
    if (gates->heads < 1 || shift->count < 1 || shift->count % gates->heads != 0 ||
        (job->family->rows != GATE_ALL && shift->count != gates->heads)) {
        snprintf(wanted, sizeof wanted, "a number for each of %" PRId64 " heads", gates->heads);
        return wrong_shape(context, shift, wanted);
    }
    gates->channels = shift->count / gates->heads;
    snprintf(wanted, sizeof wanted, "[rank, %" PRId64 "]", job->size);
    if (down && (down->dims != 2 || down->shape[1] != job->size))
        return wrong_shape(context, down, wanted);
    gates->inner = down ? down->shape[0] : job->size;
    int64_t all = rows == GATE_GROUPS ? 2 * gates->heads : shift->count;
    snprintf(wanted, sizeof wanted, "[%s%" PRId64 ", %" PRId64 "]",
             rows == GATE_LAST ? "more than " : "", all, gates->inner);
    if (weight->dims != 2 || weight->shape[1] != gates->inner ||
        (rows == GATE_LAST ? weight->shape[0] <= all : weight->shape[0] != all))
        return wrong_shape(context, weight, wanted);
    if (rows == GATE_GROUPS && gates->heads % job->settings.key_heads != 0)
        return szgi_json_fail(
            context, szgi_json_member(job->checkpoint->settings, "linear_num_key_heads"),
            "is %" PRId64 ", and does not divide the %" PRId64 " heads of tensor %s",
            job->settings.key_heads, gates->heads, gates->tensor[DECAY_RATE]->name);
    snprintf(wanted, sizeof wanted, "[%" PRId64 "]", job->size);
    if (gain->count != job->size)
        return wrong_shape(context, gain, wanted);
    snprintf(wanted, sizeof wanted, "[%" PRId64 "]", weight->shape[0]);
    return bias && bias->count != weight->shape[0] ? wrong_shape(context, bias, wanted) : SZG_OK;
}

/* The row of the gate's tensor that a head's channel reads. */
static int64_t row_of(const decay_job *job, const gate_weights *gates, int64_t index) {
    int64_t group;
    switch (job->family->rows) {
    case GATE_LAST:
        return gates->tensor[DECAY_WEIGHT]->shape[0] - gates->heads + index;
    case GATE_GROUPS:
        group = gates->heads / job->settings.key_heads;
        return index / group * 2 * group + group + index % group;
    default:
        return index;
    }
}

static szg_status read_vector(szg_context *context, const szgi_tensor *tensor, double **out) {
    SZG_TRY(szgi_memory_alloc(context, tensor->count, out));
    return szgi_tensor_read(context, tensor, 0, tensor->count, *out);
}

static void fold(const decay_job *job, const double *gain, int64_t count, double *rows) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < job->size; j++)
            rows[i * job->size + j] *= job->family->plus_one ? 1 + gain[j] : gain[j];
}

/* Products of the rows of the matrix before the gate's, which have the gains. */
static szg_status read_down(szg_context *context, const decay_job *job, const double *gain,
                            gate_weights *gates) {
    int64_t rank = gates->inner, size = job->size;
    double *rows = NULL;
    SZG_TRY(szgi_memory_alloc(context, rank * rank, &gates->gram));
    SZG_TRY(szgi_memory_alloc(context, rank, &gates->sizes));
    szg_status status = read_vector(context, gates->tensor[DECAY_DOWN], &rows);
    if (status == SZG_OK)
        fold(job, gain, rank, rows);
    for (int64_t i = 0; i < rank && status == SZG_OK; i++) {
        for (int64_t j = 0; j < rank; j++)
            gates->gram[i * rank + j] = szgi_dot(size, rows + i * size, rows + j * size);
        gates->sizes[i] = sqrt(gates->gram[i * rank + i]);
        status = szgi_context_check_cancel(context);
    }
    szgi_memory_free(rows);
    return status;
}

static szg_status read_gates(szg_context *context, const decay_job *job, double *gain,
                             gate_weights *gates) {
    int64_t count = gates->heads * gates->channels, inner = gates->inner;
    SZG_TRY(read_vector(context, gates->tensor[DECAY_RATE], &gates->rate));
    SZG_TRY(read_vector(context, gates->tensor[DECAY_SHIFT], &gates->shift));
    SZG_TRY(szgi_memory_alloc(context, count, &gates->bias));
    SZG_TRY(szgi_memory_alloc(context, count, &gates->channel));
    SZG_TRY(szgi_memory_alloc(context, count * inner, &gates->row));
    for (int64_t i = 0; i < count; i++) {
        int64_t row = row_of(job, gates, i);
        SZG_TRY(szgi_tensor_read(context, gates->tensor[DECAY_WEIGHT], row * inner, inner,
                                 gates->row + i * inner));
        if (gates->tensor[DECAY_BIAS])
            SZG_TRY(szgi_tensor_read(context, gates->tensor[DECAY_BIAS], row, 1, gates->bias + i));
    }
    if (gates->tensor[DECAY_DOWN])
        return read_down(context, job, gain, gates);
    fold(job, gain, count, gates->row);
    return SZG_OK;
}

/* What a row of the gate does to the unit sphere; *inner: the largest sum of moduli of what it adds
 * up, where that is not its norm. */
static double row_norm(const gate_weights *gates, const double *row, double *inner) {
    int64_t n = gates->inner;
    double squares = 0;
    *inner = 0;
    if (!gates->gram)
        return sqrt(szgi_dot(n, row, row));
    for (int64_t i = 0; i < n; i++) {
        squares += row[i] * szgi_dot(n, row, gates->gram + i * n);
        *inner += fabs(row[i]) * gates->sizes[i];
    }
    return sqrt(fmax(0, squares));
}

static void place_channel(const decay_job *job, const gate_weights *gates, int64_t index) {
    double inner, length = sqrt((double)job->size), bias = gates->bias[index];
    double radius = row_norm(gates, gates->row + index * gates->inner, &inner);
    gate_channel *channel = &gates->channel[index];
    bias *= job->settings.bias_factor;
    length *= fabs(job->settings.factor);
    channel->shift = gates->shift[index] + bias;
    channel->radius = length * radius;
    /* A norm from products of rows is off by what cancels in them. */
    double lost = gates->gram ? sqrt((double)(job->size + 4 * gates->inner) * DBL_EPSILON) : 0;
    channel->reach = szgi_gate_reach(channel->radius, fabs(gates->shift[index]) + fabs(bias),
                                     length * inner, job->size + gates->inner, gates->unit);
    channel->reach += lost * length * inner;
}

static szg_status add_gate(szg_context *context, const decay_job *job, int64_t layer, int64_t head,
                           const gate_weights *gates) {
    const gate_channel *channel = gates->channel + head * gates->channels;
    char problem[512];
    const char *file = gates->tensor[DECAY_RATE]->file;
    gate_rule rule = {.bounded = job->settings.bounded,
                      .sums = job->family->sums,
                      .rate = exp(gates->rate[head]),
                      .bound = job->settings.bound,
                      .least = job->settings.least,
                      .most = job->settings.most,
                      .unit = gates->unit};
    decay_facts facts = {.layer = layer,
                         .head = head,
                         .channels = gates->channels,
                         .gate = true,
                         .typical = {NAN, NAN, NAN}};
    if (gates->rate[head] > rate_most) {
        szgi_print(problem, sizeof problem,
                   "%s: tensor %s: exp(%.6g) exceeds single precision, so that the decay "
                   "overflows: check that number",
                   file, gates->tensor[DECAY_RATE]->name, gates->rate[head]);
        return add_problem(context, job, layer, head, problem);
    }
    facts.range = szgi_gate_range(&rule, gates->channels, channel);
    if (!isfinite(facts.range.least) || !isfinite(facts.range.most)) {
        szgi_print(problem, sizeof problem,
                   "%s: tensor %s: with the gains of %s the decays overflow: %s", file,
                   gates->tensor[DECAY_WEIGHT]->name, gates->tensor[DECAY_GAIN]->name, remedy);
        return add_problem(context, job, layer, head, problem);
    }
    szgi_gate_typical(&rule, &job->law, gates->channels, channel, facts.typical);
    return add(context, job, &facts);
}

static szg_status gates_of_layer(szg_context *context, const decay_job *job, int64_t layer,
                                 gate_weights *gates) {
    double *gain = NULL;
    szgi_decay_tensors(job->checkpoint, job->family, job->prefix, layer, gates->tensor);
    SZG_TRY(check_there(context, job, layer, gates));
    SZG_TRY(check_shapes(context, job, gates));
    gates->unit = fmax(0x1p-24, szgi_tensor_roundoff(gates->tensor[DECAY_WEIGHT]));
    szg_status status = read_vector(context, gates->tensor[DECAY_GAIN], &gain);
    if (status == SZG_OK)
        status = read_gates(context, job, gain, gates);
    szgi_memory_free(gain);
    for (int64_t i = 0; i < gates->heads * gates->channels && status == SZG_OK; i++)
        place_channel(job, gates, i);
    for (int64_t i = 0; i < gates->heads && status == SZG_OK; i++)
        status = add_gate(context, job, layer, i, gates);
    return status;
}

/* ---- Layers ---- */

static szg_status read_layer(szg_context *context, const decay_job *job, int64_t layer) {
    gate_weights gates = {.heads = 0};
    const szgi_tensor *rate =
        find(job->checkpoint, job->family, job->prefix, layer, job->family->rate);
    szg_status status;
    switch (job->family->rule) {
    case DECAY_UNREAD:
        return add(context, job, &(decay_facts){.layer = layer, .head = -1});
    case DECAY_LIGHTNING:
        return lightning(context, job, layer, rate);
    case DECAY_RETNET:
        return retention(context, job, layer);
    case DECAY_CHANNELS:
        SZG_TRY(szgi_tensor_check(context, rate));
        return channels(context, job, layer, rate);
    default:
        status = gates_of_layer(context, job, layer, &gates);
        close_gates(&gates);
        return status;
    }
}

static szg_status report_layer(szg_context *context, const decay_job *job, int64_t layer) {
    char *problem;
    szg_status status = read_layer(context, job, layer);
    if (status != SZG_EDATA)
        return status;
    SZG_TRY(szgi_memory_copy_text(context, szg_context_message(context), &problem));
    status = add_problem(context, job, layer, -1, problem);
    szgi_memory_free(problem);
    return status;
}

static szg_status report_layers(szg_context *context, const decay_job *job, const head_part *part) {
    int64_t said = 0, found = 0;
    for (int64_t i = 0; i < job->layers; i++) {
        found += has_tensors(job, i);
        said += is_said(job, i);
    }
    bool first = !part || szgi_part_owns(part, 0);
    const char *why = job->family->rule == DECAY_UNREAD
                          ? NULL
                          : "the file has no tensors of its recurrent "
                            "layers, so that no decay is known";
    if (found == 0 && job->family->rule != DECAY_LIGHTNING)
        return first ? add(context, job, &(decay_facts){.layer = -1, .head = -1, .note = why})
                     : SZG_OK;
    for (int64_t i = 0; i < job->layers; i++)
        if ((has_tensors(job, i) || (said > 0 && is_said(job, i))) &&
            (!part || szgi_part_owns(part, i)))
            SZG_TRY(report_layer(context, job, i));
    return SZG_OK;
}

static szg_status open_job(szg_context *context, decay_job *job) {
    SZG_TRY(find_layers(context, job));
    SZG_TRY(read_settings(context, job, &job->settings));
    if (job->family->norm && job->size < 2)
        return szgi_json_fail(context, szgi_json_member(job->checkpoint->settings, "hidden_size"),
                              "is %" PRId64 ", and gates need at least 2", job->size);
    return job->family->norm ? szgi_sphere_open(context, job->size, &job->law) : SZG_OK;
}

szg_status szgi_decays_report(szg_context *context, const szg_checkpoint *checkpoint,
                              const head_part *part, szg_checkpoint_tables *tables) {
    decay_job job = {
        .checkpoint = checkpoint, .family = szgi_decay_family_of(checkpoint), .tables = tables};
    char *problem = NULL;
    if (!job.family)
        return SZG_OK;
    SZG_TRY(szgi_decay_rows_open(context, tables));
    szg_status status = open_job(context, &job);
    if (status == SZG_EDATA) {
        status = szgi_memory_copy_text(context, szg_context_message(context), &problem);
        if (status == SZG_OK)
            status = add_problem(context, &job, -1, -1, problem);
    } else if (status == SZG_OK) {
        status = report_layers(context, &job, part);
    }
    szgi_memory_free(problem);
    szgi_memory_free(job.settings.note);
    szgi_memory_free(job.law.chance);
    szgi_memory_free(job.prefix);
    return status;
}
