/* Logits made again from what szego resolved, with the error that single precision allows. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/lag_bias.h"
#include "families_oracle.h"

measured measured_new(int64_t rows, int64_t columns) {
    measured out = {rows, columns, calloc((size_t)(rows * columns), sizeof(double)),
                    calloc((size_t)(rows * columns), sizeof(double))};
    ck_assert_ptr_nonnull(out.value);
    ck_assert_ptr_nonnull(out.error);
    return out;
}

void measured_free(measured *self) {
    free(self->value);
    free(self->error);
}

double *read_all(const szgi_tensor *tensor) {
    double *out = calloc((size_t)tensor->count, sizeof *out);
    ck_assert_ptr_nonnull(out);
    ck_szg_ok(szgi_tensor_read(test_context(), tensor, 0, tensor->count, out));
    return out;
}

const szgi_tensor *oracle_tensor(const family_case *own, int64_t layer, const char *what) {
    char name[128];
    if (own->layers)
        layer = own->layers[layer] - '0';
    snprintf(name, sizeof name, "%s%lld.%s", own->stack, (long long)layer, what);
    return szgi_safetensors_find(own->oracle, name);
}

measured project(const szgi_tensor *x, int64_t rows, const double *w) {
    double *input = read_all(x);
    int64_t n = x->shape[0], d = x->shape[1];
    measured out = measured_new(n, rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < d; j++) {
                sum += w[r * d + j] * input[i * d + j];
                size += fabs(w[r * d + j] * input[i * d + j]);
            }
            out.value[i * rows + r] = sum;
            out.error[i * rows + r] = gamma32((double)d + 2) * size;
        }
    free(input);
    return out;
}

void add_bias(const szgi_tensor *bias, int64_t first, measured *x) {
    if (!bias)
        return;
    double *b = read_all(bias);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t r = 0; r < x->columns; r++) {
            x->value[i * x->columns + r] += b[first + r];
            x->error[i * x->columns + r] +=
                gamma32(2) * (fabs(x->value[i * x->columns + r]) + fabs(b[first + r]));
        }
    free(b);
}

void clip(double limit, measured *x) {
    for (int64_t i = 0; limit > 0 && i < x->rows * x->columns; i++)
        x->value[i] = fmax(-limit, fmin(limit, x->value[i])); /* which moves no two apart */
}

double norm2(int64_t n, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Columns first .. first + count - 1 of one token by their root mean square; with `centre` their
 * mean goes first. Gains follow, NULL: none. */
void normalise(int64_t count, double *value, double *error, bool centre, double eps,
               const double *gain, double plus) {
    double n = (double)count;
    if (centre) {
        double mean = 0, size = 0, off = 0;
        for (int64_t i = 0; i < count; i++) {
            mean += value[i] / n;
            size += fabs(value[i]) / n;
            off += error[i] / n;
        }
        for (int64_t i = 0; i < count; i++) {
            value[i] -= mean;
            error[i] += off + gamma32(n + 2) * size + gamma32(1) * fabs(value[i]);
        }
    }
    double length = norm2(count, value), root = sqrt(length * length / n + eps);
    /* squares, their sum, division, eps, root, division, gain; and what the errors do to the root
     */
    double relative = gamma32(n + 8) + norm2(count, error) / length;
    for (int64_t i = 0; i < count; i++) {
        double factor = (gain ? plus + gain[i] : 1) / root;
        error[i] = fabs(factor) * (error[i] + fabs(value[i]) * relative);
        value[i] *= factor;
    }
}

/* The norm of queries or keys of one head. `head` counts among `heads` of them. */
static void apply_norm(const family_case *own, int64_t layer, bool query, int64_t head,
                       measured *x) {
    const model_family *family = own->checkpoint->family;
    const layer_weights *weights = &own->checkpoint->layer[layer];
    const szgi_tensor *tensor = query ? weights->q.norm : weights->k.norm;
    bool centre = family->norm == NORM_LAYER || family->norm == NORM_EACH;
    char name[128];
    if (family->norm == NORM_EACH) {
        snprintf(name, sizeof name, "self_attn.%s_layernorm.norms.%lld.weight", query ? "q" : "k",
                 (long long)head);
        tensor = szgi_layer_tensor(own->checkpoint, layer, name);
        ck_assert_ptr_nonnull(tensor);
    }
    ck_assert(family->norm == NORM_BARE || tensor);
    double *gain = tensor ? read_all(tensor) : NULL;
    int64_t first = tensor && tensor->count > x->columns ? head * x->columns : 0;
    for (int64_t i = 0; i < x->rows; i++)
        normalise(x->columns, x->value + i * x->columns, x->error + i * x->columns, centre,
                  own->eps, gain ? gain + first : NULL, family->gain_plus_one ? 1 : 0);
    free(gain);
    if (family->norm != NORM_LAYER)
        return;
    snprintf(name, sizeof name, "self_attn.%s_layernorm.bias", query ? "q" : "k");
    add_bias(szgi_layer_tensor(own->checkpoint, layer, name), 0, x);
}

static void rotate(const family_case *own, int64_t layer, measured *x) {
    szgi_rotary rotary;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), own->checkpoint, layer, &rotary));
    bool half = rotary.pairing == SZGI_PAIRING_HALF;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t t = 0; t < rotary.pairs; t++) {
            int64_t a = i * x->columns + rotary.offset + (half ? t : 2 * t);
            int64_t b = a + (half ? rotary.pairs : 1);
            double angle = (double)own->positions[i] * rotary.theta[t], first = x->value[a],
                   second = x->value[b], size = fabs(first) + fabs(second);
            /* a frequency is a power, a quotient and at most six operations of a scaling: 12
             * roundings and the product with the position's; cosine, sine and amplitude 2 each */
            double off = rotary.amplitude * (x->error[a] + x->error[b] +
                                             size * (gamma32(13) * fabs(angle) + gamma32(8)));
            x->value[a] = rotary.amplitude * (first * cos(angle) - second * sin(angle));
            x->value[b] = rotary.amplitude * (second * cos(angle) + first * sin(angle));
            x->error[a] = x->error[b] = off;
        }
}

/* Row `row` of what acts on a latent, as it stands or transposed by head. */
static double upper(const szgi_tensor *weight, const double *value, int64_t row, int64_t column,
                    int64_t rank) {
    if (weight->dims < 3)
        return value[row * rank + column];
    int64_t rows = weight->shape[2];
    return value[(row / rows * rank + column) * rows + row % rows];
}

void divide_by_latent(const family_case *own, const side_weights *side, int64_t rank,
                      const szgi_tensor *x, int64_t first, int64_t rows, measured *out) {
    if (!side->down)
        return;
    double *down = read_all(side->down), *up = read_all(side->weight), *gain = read_all(side->gain);
    measured latent = project(x, rank, down);
    for (int64_t i = 0; i < x->shape[0]; i++) {
        double *c = latent.value + i * rank, *error = latent.error + i * rank;
        double length = norm2(rank, c), root = sqrt(length * length / (double)rank + own->eps);
        normalise(rank, c, error, false, own->eps, gain, 0);
        for (int64_t r = 0; r < rows; r++) {
            double sum = 0, off = 0, size = 0;
            for (int64_t j = 0; j < rank; j++) {
                double weight = upper(side->weight, up, first + r, j, rank);
                sum += weight * c[j];
                off += fabs(weight) * error[j];
                size += fabs(weight * c[j]);
            }
            double *value = out->value + i * out->columns + r;
            *value /= root;
            sum *= side->factor;
            off *= side->factor;
            size *= side->factor;
            ck_close(*value, sum,
                     gamma_of(4 * (double)(rank + x->shape[1])) * (size + fabs(sum)) +
                         1e-9 * fabs(sum));
            out->error[i * out->columns + r] = off + gamma32((double)rank + 2) * size;
        }
    }
    measured_free(&latent);
    free(down);
    free(up);
    free(gain);
}

/* Queries or keys of one head as they come out of the projection: n x e. */
static measured project_head(const family_case *own, int64_t layer, bool query, int64_t head,
                             const szgi_tensor *x) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const layer_weights *weights = &checkpoint->layer[layer];
    const side_weights *side = query ? &weights->q : &weights->k;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    double *rows = calloc((size_t)(e * d), sizeof *rows);
    szgi_rotary rotary;
    ck_assert_ptr_nonnull(rows);
    if (query)
        ck_szg_ok(szgi_checkpoint_queries(test_context(), checkpoint, layer, head, rows));
    else
        ck_szg_ok(szgi_checkpoint_keys(test_context(), checkpoint, layer, head / group, rows));
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
    for (int64_t r = 0; r < e; r++) {
        bool rotated = r >= rotary.offset && r < rotary.offset + 2 * rotary.pairs;
        double factor = (query ? weights->scale : 1) * (rotated ? rotary.amplitude : 1);
        for (int64_t j = 0; j < d; j++)
            rows[r * d + j] /= factor;
    }
    measured out = project(x, e, rows);
    int64_t first = szgi_layout_row(query ? &checkpoint->query_at : &checkpoint->key_at,
                                    query ? head : head / group);
    add_bias(side->bias, szgi_bias_place(checkpoint, query, query ? head : head / group), &out);
    divide_by_latent(own, side, query ? checkpoint->latent.query_rank : checkpoint->latent.key_rank,
                     x, first, query ? e : checkpoint->latent.nope, &out);
    clip(checkpoint->clip, &out);
    free(rows);
    return out;
}

/* OLMo 2's norm acts on all heads of queries, or of keys, together. */
static void apply_full_norm(const family_case *own, int64_t layer, bool query, int64_t heads,
                            measured *all) {
    const layer_weights *weights = &own->checkpoint->layer[layer];
    const szgi_tensor *tensor = query ? weights->q.norm : weights->k.norm;
    int64_t e = all[0].columns, n = all[0].rows;
    ck_assert_ptr_nonnull(tensor);
    ck_assert_int_eq(tensor->count, heads * e);
    double *gain = read_all(tensor);
    measured whole = measured_new(1, heads * e);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < heads * e; j++) {
            whole.value[j] = all[j / e].value[i * e + j % e];
            whole.error[j] = all[j / e].error[i * e + j % e];
        }
        normalise(heads * e, whole.value, whole.error, false, own->eps, gain, 0);
        for (int64_t j = 0; j < heads * e; j++) {
            all[j / e].value[i * e + j % e] = whole.value[j];
            all[j / e].error[i * e + j % e] = whole.error[j];
        }
    }
    measured_free(&whole);
    free(gain);
}

measured *make_side(const family_case *own, int64_t layer, bool query, const szgi_tensor *x) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const model_family *family = checkpoint->family;
    int64_t group = query ? 1 : checkpoint->heads / checkpoint->key_heads;
    int64_t heads = checkpoint->heads / group;
    bool after = family->norm == NORM_HEAD_AFTER || family->norm == NORM_BARE;
    bool acts =
        checkpoint->normed && (family->norm != NORM_BARE || checkpoint->layer[layer].rotation >= 0);
    measured *out = calloc((size_t)heads, sizeof *out);
    ck_assert_ptr_nonnull(out);
    if (checkpoint->normed)
        ck_assert(family->norm != NORM_NONE); /* a kind that is not known */
    for (int64_t h = 0; h < heads; h++) {
        out[h] = project_head(own, layer, query, h * group, x);
        if (acts && !after && family->norm != NORM_FULL)
            apply_norm(own, layer, query, h, &out[h]);
    }
    if (acts && family->norm == NORM_FULL)
        apply_full_norm(own, layer, query, heads, out);
    for (int64_t h = 0; h < heads; h++) {
        rotate(own, layer, &out[h]);
        if (acts && after)
            apply_norm(own, layer, query, h, &out[h]);
    }
    return out;
}

/* What a query at token i is multiplied by. Llama 4 counts tokens, Ministral 3 takes positions. */
static double temperature(const family_case *own, int64_t layer, int64_t i) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    double factor = checkpoint->temperature, length = checkpoint->temperature_length;
    if (!(factor > 0))
        return 1;
    if (checkpoint->family->temperature == TEMPERATURE_LLAMA4)
        return checkpoint->layer[layer].rotation >= 0
                   ? 1
                   : 1 + factor * log1p(floor((double)(i + 1) / length));
    return 1 + factor * log1p(floor((double)own->positions[i] / length));
}

double logit(const family_case *own, int64_t layer, const measured *q, const measured *k, int64_t i,
             int64_t j, double *error) {
    double sum = 0, size = 0, off = 0, cap = own->checkpoint->soft_cap;
    int64_t e = q->columns;
    for (int64_t r = 0; r < e; r++) {
        double a = q->value[i * e + r], b = k->value[j * e + r];
        double da = q->error[i * e + r], db = k->error[j * e + r];
        sum += a * b;
        size += fabs(a * b);
        off += fabs(a) * db + fabs(b) * da + da * db;
    }
    double factor = own->checkpoint->layer[layer].scale * temperature(own, layer, i);
    *error = fabs(factor) * (off + gamma32((double)e + 8) * size);
    if (!(cap > 0))
        return factor * sum;
    *error += gamma32(4) * cap;
    return cap * tanh(factor * sum / cap);
}

/* What the model adds beyond what was made here depends on the lag alone (T5), or is a slope times
 * the key's place (ALiBi, written without the query's place): `rest` has it, NaN where masked. */
static void check_added(const family_case *own, const char *place, int64_t nq, int64_t nk,
                        const double *rest, const double *error) {
    const double *last = rest + (nq - 1) * nk, *last_error = error + (nq - 1) * nk;
    bool alibi = own->checkpoint->alibi;
    for (int64_t i = 0; i < nq; i++)
        for (int64_t j = 0; j < nk; j++) {
            int64_t at = i * nk + j;
            if (isnan(rest[at]))
                continue;
            double expected, bound;
            if (alibi) {
                expected = last[0] + (last[1] - last[0]) * (double)j;
                bound = error[at] + last_error[0] + (double)j * (last_error[0] + last_error[1]);
            } else if (i + 1 < nq && j + 1 < nk) {
                expected = rest[at + nk + 1];
                bound = error[at] + error[at + nk + 1];
            } else {
                continue;
            }
            bound += gamma32(8) * (fabs(expected) + fabs(rest[at]));
            ck_assert_msg(fabs(rest[at] - expected) <= bound,
                          "%s, tokens %lld and %lld: %.9g is added, where %.9g +- %.3g should be",
                          place, (long long)i, (long long)j, rest[at], expected, bound);
        }
    if (alibi)
        ck_assert_msg(last[1] > last[0] + last_error[0] + last_error[1], "%s: no slope", place);
}

/* And that number is the mean kernel's, up to what a query adds to all keys (ALiBi). The eager
 * Falcon of transformers adds it twice, with the scores and with the mask; its default, SDPA, does
 * once. */
static void check_bias(const family_case *own, const char *place, int64_t layer, int64_t head,
                       int64_t nq, int64_t nk, const double *rest, const double *error) {
    lag_bias bias;
    ck_szg_ok(szgi_lag_bias_open(test_context(), own->checkpoint, 0, &bias));
    if (strcmp(own->checkpoint->family->model_type, "mpt") == 0) {
        /* Its alibi_bias_max is 4, which transformers does not read; who runs a GGUF file does. */
        if (bias.why)
            ck_assert_ptr_nonnull(strstr(bias.why, "alibi_bias_max is not 8"));
        else
            ck_assert(szgi_lag_bias_of(&bias, layer, head)[1] == -exp2(-(double)(head + 1)));
        szgi_lag_bias_close(&bias);
        return;
    }
    double times = strcmp(own->checkpoint->family->model_type, "falcon") == 0 ? 2 : 1;
    ck_assert_msg(!bias.why, "%s: %s", place, bias.why);
    ck_assert_int_eq(!bias.value,
                     own->checkpoint->added && !own->checkpoint->family->added_by_head);
    for (int64_t at = 0; at < nq * nk && bias.value; at++) {
        int64_t lag = at / nk - at % nk, first = at / nk * nk;
        if (isnan(rest[at]))
            continue;
        const double *value = szgi_lag_bias_of(&bias, layer, head) - bias.first;
        bool alibi = own->checkpoint->alibi;
        double want = value[lag] - (alibi ? value[at / nk] : 0);
        double got = (rest[at] - (alibi ? rest[first] : 0)) / times;
        double bound = error[at] + error[first] + gamma32(8) * (fabs(want) + fabs(rest[at]));
        ck_assert_msg(fabs(got - want) <= bound, "%s, lag %lld: %.9g is added, %.9g was found",
                      place, (long long)lag, got, want);
    }
    szgi_lag_bias_close(&bias);
}

double shift_error(const family_case *own, int64_t count, const double *logits) {
    double largest = 0;
    if (!own->checkpoint->sinks)
        return 0;
    double *sinks = read_all(own->checkpoint->sinks);
    for (int64_t i = 0; i < own->checkpoint->sinks->count; i++)
        largest = fmax(largest, fabs(sinks[i]));
    for (int64_t i = 0; i < count; i++)
        if (!isnan(logits[i]))
            largest = fmax(largest, fabs(logits[i]));
    free(sinks);
    return gamma32(4) * 2 * largest;
}

/* Tokens whose logits are made again: where patches rotate by row and column, those that are none.
 */
static int64_t unrotated_tokens(const family_case *own) {
    static const char *const keys[] = {"num_register_tokens", NULL};
    int64_t registers;
    if (!own->checkpoint->family->two_coordinates)
        return TOKENS;
    ck_szg_ok(szgi_config_integer(test_context(), own->checkpoint->settings, keys, 1, &registers));
    return 1 + registers; /* and the class */
}

static void check_head(const family_case *own, int64_t layer, int64_t head, const measured *q,
                       const measured *k, const double *logits) {
    int64_t nq = q->rows, nk = k->rows;
    bool added = own->checkpoint->alibi || own->checkpoint->added;
    double *rest = calloc((size_t)(nq * nk), sizeof *rest),
           *errors = calloc((size_t)(nq * nk), sizeof *errors);
    char place[800];
    ck_assert_ptr_nonnull(rest);
    ck_assert_ptr_nonnull(errors);
    snprintf(place, sizeof place, "%s: %slayer %lld, head %lld", own->folder, own->stack,
             (long long)layer, (long long)head);
    int64_t seen = 0, plain = unrotated_tokens(own);
    double shift = shift_error(own, nq * nk, logits);
    for (int64_t i = 0; i < nq; i++)
        for (int64_t j = 0; j < nk; j++) {
            double wanted = logits[i * nk + j], error;
            double got = logit(own, layer, q, k, i, j, &error);
            error += shift;
            rest[i * nk + j] = wanted - got;
            errors[i * nk + j] = error;
            if (isnan(wanted) || i >= plain || j >= plain)
                continue;
            seen++;
            if (!added)
                ck_assert_msg(fabs(got - wanted) <= error,
                              "%s, tokens %lld and %lld: the logit is %.9g, transformers has %.9g, "
                              "and %.3g is allowed",
                              place, (long long)i, (long long)j, got, wanted, error);
        }
    ck_assert_int_ge(seen, plain < nk ? plain * plain : nk); /* a mask left something */
    if (added) {
        check_added(own, place, nq, nk, rest, errors);
        check_bias(own, place, layer, head, nq, nk, rest, errors);
    }
    free(rest);
    free(errors);
}

void check_layer(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const szgi_tensor *x = oracle_tensor(own, layer, "x"),
                      *keys = oracle_tensor(own, layer, "keys");
    const szgi_tensor *logits = oracle_tensor(own, layer, "logits");
    if (checkpoint->layer[layer].absent) {
        ck_assert_msg(!x, "%s: layer %lld has attention", own->folder, (long long)layer);
        return;
    }
    ck_assert_msg(x && logits, "%s: %slayer %lld is not in the oracle", own->folder, own->stack,
                  (long long)layer);
    ck_assert_msg(!checkpoint->layer[layer].problem, "%s: %s", own->folder,
                  checkpoint->layer[layer].problem);
    if (checkpoint->layer[layer].key_layer != layer && !keys)
        keys = oracle_tensor(own, checkpoint->layer[layer].key_layer, "x");
    if (!keys)
        keys = x;
    ck_assert_int_eq(logits->shape[0], checkpoint->heads);
    ck_assert_int_eq(x->shape[1], checkpoint->model_size);
    measured *q = make_side(own, layer, true, x), *k = make_side(own, layer, false, keys);
    double *values = read_all(logits);
    int64_t group = checkpoint->heads / checkpoint->key_heads, each = x->shape[0] * keys->shape[0];
    for (int64_t h = 0; h < checkpoint->heads; h++)
        check_head(own, layer, h, &q[h], &k[h / group], values + h * each);
    for (int64_t h = 0; h < checkpoint->heads; h++)
        measured_free(&q[h]);
    for (int64_t h = 0; h < checkpoint->key_heads; h++)
        measured_free(&k[h]);
    free(q);
    free(k);
    free(values);
}

/* The norm's eps, which each configuration calls by its own name. */
double read_eps(szgi_json_value settings) {
    static const char *const keys[] = {"rms_norm_eps", "layer_norm_eps", "norm_eps",
                                       "layer_norm_epsilon"};
    double eps = 1e-6;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (szgi_json_has(settings, keys[i]))
            ck_szg_ok(szgi_json_as_real(test_context(), szgi_json_member(settings, keys[i]), &eps));
    return eps;
}

static void check_stack(const char *folder, const char *config, const char *stack,
                        layer_check *check) {
    char path[640], file[640];
    szg_checkpoint *checkpoint;
    family_case own = {.stack = ""};
    snprintf(path, sizeof path, "%s/%s", folder, config);
    snprintf(own.folder, sizeof own.folder, "%s (%s)", folder, config);
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .config = path,
                                            .stack = *stack ? stack : NULL};
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_assert_msg(checkpoint->family, "%s: %s", own.folder, checkpoint->unknown);
    snprintf(file, sizeof file, "%s/oracle.safetensors", folder);
    ck_szg_ok(szgi_safetensors_open(test_context(), file, &own.oracle));
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%s.", stack);
    own.stack = *stack ? prefix : "";
    own.checkpoint = checkpoint;
    own.eps = read_eps(checkpoint->settings);
    double *positions = read_all(szgi_safetensors_find(own.oracle, "positions"));
    for (int64_t i = 0; i < szgi_safetensors_find(own.oracle, "positions")->count; i++)
        own.positions[i] = (int64_t)positions[i];
    free(positions);
    for (int64_t layer = 0; layer < checkpoint->layers; layer++)
        check(&own, layer);
    szgi_safetensors_close(&own.oracle);
    szg_checkpoint_close(&checkpoint);
}

/* Every stack of the model in the folder. */
static void check_folder(const char *folder, const char *config, layer_check *check) {
    char path[640], stacks[128];
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    snprintf(path, sizeof path, "%s/%s", folder, config);
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, path, &checkpoint));
    ck_assert_msg(checkpoint->family, "%s", checkpoint->unknown);
    snprintf(stacks, sizeof stacks, "%s", szg_checkpoint_describe(checkpoint).stacks);
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    ck_assert_msg(tables.bad == 0 && tables.unconverged == 0, "%s: something is skipped", folder);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    char *rest = stacks;
    do {
        char *name = strsep(&rest, "+");
        check_stack(folder, config, name, check);
    } while (rest);
}

const char *data_folder(void) {
    const char *folder = getenv("SZG_FAMILIES");
    ck_assert_msg(folder, "SZG_FAMILIES is not set");
    return folder;
}

/* The families of `family.c` and their tiny models: `config` names the configuration's version. */
int check_all(const char *config, layer_check *check) {
    char folder[512], path[640];
    DIR *all = opendir(data_folder());
    ck_assert_ptr_nonnull(all);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(all));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), entry->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, config);
        if (access(path, R_OK) != 0)
            continue;
        check_folder(folder, config, check);
        count++;
    }
    closedir(all);
    return count;
}

/* A head's rows with these gains: e x d of queries, or of keys. */
double *rows_of(const family_case *own, int64_t layer, bool query, int64_t head, fold_kind fold) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    double *rows = calloc((size_t)(checkpoint->head_size * checkpoint->model_size), sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    ck_szg_ok(query ? szgi_fold_queries(test_context(), checkpoint, layer, head, fold, rows, NULL)
                    : szgi_fold_keys(test_context(), checkpoint, layer, head, fold, rows, NULL));
    return rows;
}
