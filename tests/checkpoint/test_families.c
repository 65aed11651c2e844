/* Families against transformers: tests/data/families has, for a tiny model of each, what the
 * softmax received (tools/families). The logits are made again here, in double precision, from what
 * szego resolved: rows of heads, scale, rotation, and everything that its table `architecture`
 * calls left out. So nothing that acts on the logits is missing there, or wrong. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/bound.h"
#include "checkpoint/fold.h"
#include "model.h"

enum { TOKENS = 8 };

/* Of single precision, in which transformers computed: the sum of n products is off by at most
 * gamma(n) times the sum of their moduli (Higham 2002, section 3.1). */
static double gamma32(double n) {
    double u = ldexp(1, -24);
    return n * u / (1 - n * u);
}

/* Numbers, and how far transformers' may be from them. */
typedef struct measured {
    int64_t rows, columns;
    double *value, *error;
} measured;

static measured measured_new(int64_t rows, int64_t columns) {
    measured out = {rows, columns, calloc((size_t)(rows * columns), sizeof(double)),
                    calloc((size_t)(rows * columns), sizeof(double))};
    ck_assert_ptr_nonnull(out.value);
    ck_assert_ptr_nonnull(out.error);
    return out;
}

static void measured_free(measured *self) {
    free(self->value);
    free(self->error);
}

static double *read_all(const szgi_tensor *tensor) {
    double *out = calloc((size_t)tensor->count, sizeof *out);
    ck_assert_ptr_nonnull(out);
    ck_szg_ok(szgi_tensor_read(test_context(), tensor, 0, tensor->count, out));
    return out;
}

/* One family's folder. */
typedef struct family_case {
    char folder[700];
    const szg_checkpoint *checkpoint;
    szgi_safetensors *oracle;
    const char *stack; /* "" or "encoder." */
    double eps;
    int64_t positions[TOKENS];
} family_case;

static const szgi_tensor *oracle_tensor(const family_case *own, int64_t layer, const char *what) {
    char name[128];
    snprintf(name, sizeof name, "%s%lld.%s", own->stack, (long long)layer, what);
    return szgi_safetensors_find(own->oracle, name);
}

/* w (rows x d) x (n x d): n x rows. */
static measured project(const szgi_tensor *x, int64_t rows, const double *w) {
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

/* The bias of the rows from `first` on. */
static void add_bias(const szgi_tensor *bias, int64_t first, measured *x) {
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

static void clip(double limit, measured *x) {
    for (int64_t i = 0; limit > 0 && i < x->rows * x->columns; i++)
        x->value[i] = fmax(-limit, fmin(limit, x->value[i])); /* which moves no two apart */
}

static double norm2(int64_t n, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Columns first .. first + count - 1 of one token by their root mean square; with `centre` their
 * mean goes first. Gains follow, NULL: none. */
static void normalise(int64_t count, double *value, double *error, bool centre, double eps,
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

/* What the model divides by, for each token: the root mean square of the latent; 1 without one. And
 * the error of a row of `up`, which acts on it. */
static void divide_by_latent(const family_case *own, const side_weights *side, int64_t rank,
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
                double weight = up[(first + r) * rank + j];
                sum += weight * c[j];
                off += fabs(weight) * error[j];
                size += fabs(weight * c[j]);
            }
            double *value = out->value + i * out->columns + r;
            *value /= root;
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
    add_bias(side->bias, first, &out);
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

/* Queries, or keys, of every head as the product receives them. */
static measured *make_side(const family_case *own, int64_t layer, bool query,
                           const szgi_tensor *x) {
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

/* The logit of tokens i and j, and its error: e products, scale, temperature, cap. */
static double logit(const family_case *own, int64_t layer, const measured *q, const measured *k,
                    int64_t i, int64_t j, double *error) {
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

/* Sinks: the model takes a row's maximum off, and tools/families puts it back: two roundings of
 * numbers up to the largest logit or sink, twice. */
static double shift_error(const family_case *own, int64_t count, const double *logits) {
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

static void check_head(const family_case *own, int64_t layer, int64_t head, const measured *q,
                       const measured *k, const double *logits) {
    int64_t nq = q->rows, nk = k->rows;
    bool added = own->checkpoint->alibi || own->checkpoint->family->added;
    double *rest = calloc((size_t)(nq * nk), sizeof *rest),
           *errors = calloc((size_t)(nq * nk), sizeof *errors);
    char place[800];
    ck_assert_ptr_nonnull(rest);
    ck_assert_ptr_nonnull(errors);
    snprintf(place, sizeof place, "%s: %slayer %lld, head %lld", own->folder, own->stack,
             (long long)layer, (long long)head);
    int64_t seen = 0;
    double shift = shift_error(own, nq * nk, logits);
    for (int64_t i = 0; i < nq; i++)
        for (int64_t j = 0; j < nk; j++) {
            double wanted = logits[i * nk + j], error;
            double got = logit(own, layer, q, k, i, j, &error);
            error += shift;
            rest[i * nk + j] = wanted - got;
            errors[i * nk + j] = error;
            if (isnan(wanted))
                continue;
            seen++;
            if (!added)
                ck_assert_msg(fabs(got - wanted) <= error,
                              "%s, tokens %lld and %lld: the logit is %.9g, transformers has %.9g, "
                              "and %.3g is allowed",
                              place, (long long)i, (long long)j, got, wanted, error);
        }
    ck_assert_int_ge(seen, nk); /* a mask left something */
    if (added)
        check_added(own, place, nq, nk, rest, errors);
    free(rest);
    free(errors);
}

static void check_layer(const family_case *own, int64_t layer) {
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
static double read_eps(szgi_json_value settings) {
    static const char *const keys[] = {"rms_norm_eps", "layer_norm_eps", "norm_eps",
                                       "layer_norm_epsilon"};
    double eps = 1e-6;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (szgi_json_has(settings, keys[i]))
            ck_szg_ok(szgi_json_as_real(test_context(), szgi_json_member(settings, keys[i]), &eps));
    return eps;
}

/* What is looked at in each layer. */
typedef void layer_check(const family_case *own, int64_t layer);

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

static const char *data_folder(void) {
    const char *folder = getenv("SZG_FAMILIES");
    ck_assert_msg(folder, "SZG_FAMILIES is not set");
    return folder;
}

/* The families of `family.c` and their tiny models: `config` names the configuration's version. */
static int check_all(const char *config, layer_check *check) {
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

START_TEST(logits_of_every_family) {
    ck_assert_int_ge(check_all("config.json", check_layer), 70);
}
END_TEST

/* What acts on the logits of each family beside W_Q^T W_K, by hand from the definition of its
 * class: the logits above are right only if these are there, and here each must be said. */
static const struct {
    const char *family, *left_out;
} left_out[] = {
    {"llama", ""},
    {"gemma", ""},
    {"qwen2", "bias "},
    {"qwen3", "query_key_norm "},
    {"phi", "query_key_norm bias "},
    {"cohere", "query_key_norm "},
    {"stablelm", "query_key_norm bias "},
    {"olmo", "clip "},
    {"olmo3", "query_key_norm "},
    {"gemma2", "soft_cap "},
    {"hunyuan_v1_dense", "query_key_norm "},
    {"llama4_text", "query_key_norm temperature "},
    {"ministral3", "temperature "},
    {"gpt_oss", "bias sinks "},
    {"mpt", "clip alibi "},
    {"bloom", "bias alibi "},
    {"falcon", ""},
    {"falcon-alibi", "bias alibi "},
    {"t5", "lag_terms "},
    {"mpnet", "bias lag_terms "},
    {"deberta-v2", "bias lag_terms "},
    {"deepseek_v3", "latent_norm "},
    {"mistral4", "latent_norm temperature "},
};

static void open_dry(const char *family, szg_checkpoint **checkpoint,
                     szg_checkpoint_tables *tables) {
    char folder[512];
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    snprintf(folder, sizeof folder, "%s/%s", data_folder(), family);
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), *checkpoint, &dry, tables));
    ck_assert_ptr_null(tables->summary);
    ck_assert_ptr_null(tables->spectra);
}

START_TEST(what_is_left_out_has_a_row) {
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char found[256] = "";
        open_dry(left_out[i].family, &checkpoint, &tables);
        for (int64_t row = 0; row < szg_table_rows(tables.architecture); row++)
            if ((int64_t)cell(tables.architecture, row, "left_out") == 1) {
                strcat(found, cell_text(tables.architecture, row, "property"));
                strcat(found, " ");
            }
        ck_assert_msg(strcmp(found, left_out[i].left_out) == 0, "%s: left out is '%s', not '%s'",
                      left_out[i].family, found, left_out[i].left_out);
        /* and a note says so to people */
        ck_assert_msg(!*szg_checkpoint_describe(checkpoint).note == !*left_out[i].left_out,
                      "%s: '%s'", left_out[i].family, szg_checkpoint_describe(checkpoint).note);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Properties with the key that decided them, of families that show each kind. */
static const struct {
    const char *family, *property, *value, *layers, *key;
} decided[] = {
    {"gemma2", "scale", "0.44721359549995793", "0-1", "query_pre_attn_scalar"},
    {"gemma2", "soft_cap", "2", "", "attn_logit_softcapping"},
    {"gpt2", "scale", "0.5", "0", "scale_attn_weights"},
    {"smollm3", "no_rotation", "1", "1", "no_rope_layers"},
    {"exaone4", "no_rotation", "1", "1", "layer_types"},
    {"granitemoehybrid-nope", "no_rotation", "1", "1", "position_embedding_type"},
    {"qwen3_next", "attention", "queries and keys", "1", "layer_types"},
    {"qwen3_next", "layout", "separate, queries with gates", "", ""},
    {"qwen3_next", "norm_gain", "1 + weight", "", ""},
    {"gemma", "input_norm", "RMS, gains 1 + weight", "0-1",
     "model.layers.0.input_layernorm.weight"},
    {"olmo", "input_norm", "mean and variance, without gains", "0-1", ""},
    {"electra", "input_norm", "mean and variance", "1", "encoder.layer.0.output.LayerNorm.weight"},
    {"gemma3n_text", "shared_keys", "of layer 0", "2", "num_kv_shared_layers"},
    {"albert", "shared_layers", "1 groups", "", "num_hidden_groups"},
    {"falcon", "key_heads", "2", "", "num_kv_heads"},
    {"falcon-mqa", "key_heads", "1", "", "multi_query"},
    {"deepseek_v3", "pairing", "interleaved", "0-1", "rope_interleave"},
    {"deepseek_v3", "rotated", "6-9", "0-1", ""},
    {"t5", "head_size", "6", "", "d_kv"},
    {"t5", "stack", "encoder", "", ""},
    {"llama", "heads", "4", "", "num_attention_heads"},
    {"opt", "position_first", "2", "", ""},
    {"mpnet", "position_first", "2", "", ""},
    {"vit", "position_rows", "5", "", ""},
    {"electra", "positions", "none", "", ""},
    {"whisper", "positions", "learned", "", "model.encoder.embed_positions.weight"},
    {"mpt", "clip", "0.80000000000000004", "", "attn_config.clip_qkv"},
    {"mpt", "scale", "0.40000000000000002", "0-1", "attn_config.softmax_scale"},
};

START_TEST(properties_name_their_keys) {
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) {
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        int64_t found = -1;
        open_dry(decided[i].family, &checkpoint, &tables);
        for (int64_t row = 0; row < szg_table_rows(tables.architecture) && found < 0; row++)
            if (strcmp(cell_text(tables.architecture, row, "property"), decided[i].property) == 0)
                found = row;
        ck_assert_msg(found >= 0, "%s has no %s", decided[i].family, decided[i].property);
        const char *const got[] = {cell_text(tables.architecture, found, "value"),
                                   cell_text(tables.architecture, found, "layers"),
                                   cell_text(tables.architecture, found, "key")};
        const char *const wanted[] = {decided[i].value, decided[i].layers, decided[i].key};
        for (int j = 0; j < 3; j++)
            ck_assert_msg(strcmp(got[j], wanted[j]) == 0, "%s, %s: '%s', not '%s'",
                          decided[i].family, decided[i].property, got[j], wanted[j]);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Of llava the stack of text is read; --prefix reads the tower, by vision_config. */
START_TEST(a_prefix_chooses_another_stack) {
    char folder[512];
    szg_checkpoint *checkpoint;
    snprintf(folder, sizeof folder, "%s/llava", data_folder());
    szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices)};
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).model_type, "llama");
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 2);
    szg_checkpoint_close(&checkpoint);
    choices.prefix = "vision_tower.";
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).model_type, "clip_vision_model");
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 3);
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).position_rows,
                     5); /* 2 x 2 patches, class */
    szg_checkpoint_close(&checkpoint);
    choices.prefix = "nothing.";
    ck_assert_int_eq(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint),
                     SZG_EDATA);
    ck_assert(strstr(szg_context_message(test_context()), "no tensor is called nothing.layers.N"));
    choices = (szg_checkpoint_choices){SZG_INIT(szg_checkpoint_choices), .stack = "encoder"};
    ck_assert_int_eq(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint),
                     SZG_EINVAL);
    ck_assert(strstr(szg_context_message(test_context()), "no stack called 'encoder'"));
}
END_TEST

/* Values given by hand: in place of what is there, in an inner object, a text, a list. */
START_TEST(values_are_set) {
    static const struct {
        const char *set, *words; /* words NULL: it opens */
    } cases[] = {
        {"rope_parameters.rope_theta=1000", NULL},
        {"rope_parameters.rope_theta=-1", "rope_parameters.rope_theta: is -1"},
        {"rope_parameters.rope_type=spiral", "'spiral'"},
        {"num_hidden_layers=null", "num_hidden_layers: is missing, and nothing is assumed: --set "
                                   "num_hidden_layers=VALUE gives it"},
        {"rope_parameters={\"rope_theta\":1000,\"rope_type\":\"default\"}", NULL},
        {"rope_theta", "KEY=VALUE is needed"},
        {"=3", "KEY=VALUE is needed"},
        {"a.b.c.d.e.f.g.h.i.j=3", "at most"},
    };
    char folder[512];
    snprintf(folder, sizeof folder, "%s/mistral", data_folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_checkpoint *checkpoint;
        szgi_rotary rotary;
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices),
                                                .set = &cases[i].set, .sets = 1};
        szg_status status =
            szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint);
        if (cases[i].words) {
            ck_assert_msg(status == SZG_EDATA || status == SZG_EINVAL, "%s: %s", cases[i].set,
                          szg_status_name(status));
            ck_assert_msg(strstr(szg_context_message(test_context()), cases[i].words), "%s: '%s'",
                          cases[i].set, szg_context_message(test_context()));
            continue;
        }
        ck_szg_ok(status);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        ck_close(rotary.theta[1], pow(1000, -0.5), gamma_of(4) * pow(1000, -0.5));
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

START_TEST(configurations_of_version_4) {
    ck_assert_int_ge(check_all("config-4.json", check_layer), 40);
}
END_TEST

/* Forms in which some families were first published. */
START_TEST(older_forms) {
    static const struct {
        const char *family, *set[3], *property, *value, *layers; /* value NULL: there is no row */
    } cases[] = {
        {"llama4_text",
         {"no_rope_layers=[]", "attn_temperature_tuning=4"},
         "no_rotation",
         NULL,
         ""},
        {"llama4_text", {"no_rope_layers=[]", "no_rope_layer_interval=2"}, "no_rotation", "1", "1"},
        {"llama4_text", {"attn_temperature_tuning=0"}, "temperature", NULL, ""},
        {"lfm2", {"layer_types=null", "full_attn_idxs=[1]"}, "attention", "queries and keys", "1"},
        {"qwen3_next",
         {"layer_types=null", "full_attention_interval=2"},
         "attention",
         "queries and keys",
         "1"},
        {"exaone4", {"layer_types=null", "sliding_window_pattern=2"}, "no_rotation", "1", "1"},
        {"exaone4", {"sliding_window=null"}, "no_rotation", NULL, ""},
        {"deberta-v2", {"pos_att_type=c2p|p2c"}, "scale", "0.28867513459481292", "0-1"},
        {"mistral",
         {"rope_parameters.spin=3"},
         "rotary",
         "rope:dim=4,rotary=4,base=10000,pairing="
         "half; the rotary key 'spin' is not known "
         "to szego",
         "0-1"},
        /* as OPT's class has it */
        {"opt", {"do_layer_norm_before=null"}, "input_norm", "mean and variance", "0-1"},
        /* what every layer's tensors contradict */
        {"qwen3",
         {"head_dim=4"},
         "bad",
         "tensor model.layers.0.self_attn.q_proj.weight has shape [32, 16], the configuration "
         "wants "
         "[16, 16]; tensor model.layers.0.self_attn.k_proj.weight has shape [16, 16], the "
         "configuration wants [8, 16]",
         "0-1"},
        {"qwen3", {"head_dim=8"}, "bad", NULL, ""},
        /* multipliers of which all readers make the paper's factor, 0.1 ln(4) + 1 */
        {"deepseek_v3",
         {"rope_parameters.mscale_all_dim=0"},
         "rotary_amplitude",
         "1.1386294361119891",
         "0-1"},
        {"deepseek_v3",
         {"rope_parameters.mscale=null", "rope_parameters.mscale_all_dim=null"},
         "rotary_amplitude",
         "1.1386294361119891",
         "0-1"},
        {"nomic_bert",
         {"rotary_emb_fraction=1.0", "rotary_emb_interleaved=false", "rotary_emb_scale_base=null"},
         "pairing",
         "half",
         "0-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512];
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
        szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = cases[i].set};
        while (choices.sets < 3 && cases[i].set[choices.sets])
            choices.sets++;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), cases[i].family);
        ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables));
        ck_assert_int_eq(tables.bad,
                         strcmp(cases[i].property, "bad") == 0 && cases[i].value ? 2 : 0);
        int64_t found = -1;
        for (int64_t row = 0; row < szg_table_rows(tables.architecture); row++)
            if (strcmp(cell_text(tables.architecture, row, "property"), cases[i].property) == 0)
                found = row;
        ck_assert_msg((found >= 0) == (cases[i].value != NULL), "%s, case %zu: %s", cases[i].family,
                      i, cases[i].property);
        if (found >= 0) {
            ck_assert_str_eq(cell_text(tables.architecture, found, "value"), cases[i].value);
            ck_assert_str_eq(cell_text(tables.architecture, found, "layers"), cases[i].layers);
        }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Gemma 3's older form has two bases, each under its own key. */
START_TEST(two_bases_have_two_keys) {
    const char *const set[] = {"rope_parameters=null", "rope_theta=1000000",
                               "rope_local_base_freq=10000"};
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                            .sets = 3};
    char folder[512];
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    int found = 0;
    snprintf(folder, sizeof folder, "%s/gemma3_text", data_folder());
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables));
    for (int64_t row = 0; row < szg_table_rows(tables.architecture); row++) {
        if (strcmp(cell_text(tables.architecture, row, "property"), "rotary") != 0)
            continue;
        ck_assert_str_eq(cell_text(tables.architecture, row, "key"),
                         "rope_theta, rope_local_base_freq");
        found++;
    }
    ck_assert_int_eq(found, 2);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}
END_TEST

/* What szego would read in another way than the model does is refused, with key and remedy. */
START_TEST(forms_that_are_refused) {
    static const struct {
        const char *family, *set, *words[2];
    } cases[] = {
        {"lfm2",
         "layer_types=[\"conv\", \"full attention\"]",
         {"layer_types: makes layer 1 one of 'full attention'", "--set layer_types=VALUE"}},
        {"qwen2",
         "rope_parameters.rope_type=null",
         {"rope_parameters.rope_type: is missing", "--set rope_parameters.rope_type=TYPE"}},
        {"phi3-longrope",
         "rope_parameters.rope_type=null",
         {"rope_parameters.rope_type: is missing", "--set rope_parameters.rope_type=TYPE"}},
        {"olmo3",
         "rope_parameters.sliding_attention=null",
         {"rope_parameters.sliding_attention: is missing",
          "--set rope_parameters.sliding_attention=VALUE"}},
        {"albert", "inner_group_num=2", {"inner_group_num: is 2", "--config none"}},
        {"mpt", "attn_config.alibi=false", {"attn_config.alibi: is false", "--config none"}},
        {"nomic_bert", "rotary_emb_fraction=0.5", {"rotary_emb_fraction:", "--config none"}},
        {"nomic_bert", "rotary_emb_interleaved=true", {"rotary_emb_interleaved:", "--config none"}},
        {"nomic_bert", "rotary_emb_scale_base=512", {"rotary_emb_scale_base:", "--config none"}},
        {"glm",
         "rope_parameters.partial_rotary_factor=0.4",
         {"rope_parameters.partial_rotary_factor: lets 3 dimensions", "odd"}},
        {"gptj", "rotary_dim=3", {"rotary_dim: lets 3 dimensions", "odd"}},
        {"qwen3", "head_dim=7", {"head_dim: lets 7 dimensions", "odd"}},
        {"deepseek_v3", "qk_rope_head_dim=3", {"qk_rope_head_dim: lets 3 dimensions", "odd"}},
        {"deepseek_v3", "rope_parameters.mscale_all_dim=null", {NULL, NULL}}, /* mscale 1 alone */
        {"ministral3", "rope_parameters.mscale=0.7", {NULL, NULL}},
        {"qwen2",
         "rope_parameters.mscale=0.7",
         {"mscale and mscale_all_dim", "--set rope_parameters.attention_factor=VALUE"}},
        {"qwen2",
         "rope_parameters.mscale_all_dim=1",
         {"mscale and mscale_all_dim", "--set rope_parameters.attention_factor=VALUE"}},
        {"qwen2", "rope_parameters.mscale=-1", {"rope_parameters.mscale: is -1", "negative"}},
        {"qwen2", "rope_parameters.mscale_all_dim=1e999", {"mscale_all_dim", ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512];
        szg_checkpoint *checkpoint;
        const char *const set[] = {cases[i].set};
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                                .sets = 1};
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), cases[i].family);
        szg_status status =
            szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint);
        const char *message = szg_context_message(test_context());
        ck_assert_msg((status == SZG_EDATA) == (cases[i].words[0] != NULL), "%s, %s: %s",
                      cases[i].family, cases[i].set, message);
        for (int j = 0; j < 2 && cases[i].words[j]; j++)
            ck_assert_msg(strstr(message, cases[i].words[j]), "%s, %s: '%s' lacks '%s'",
                          cases[i].family, cases[i].set, message, cases[i].words[j]);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* T5 as it was published counts the layers of the decoder nowhere: they are as many as the
 * encoder's. */
START_TEST(a_decoder_as_long_as_the_encoder) {
    static const char *const stacks[] = {"encoder", "decoder", "cross"};
    const char *const set[] = {"num_decoder_layers=null"};
    char folder[512];
    snprintf(folder, sizeof folder, "%s/t5", data_folder());
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                                .sets = 1, .stack = stacks[i]};
        szg_checkpoint *checkpoint;
        ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
        ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 2);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Layers that predict further tokens are no second stack; two others are, and the message has the
 * options that choose. */
START_TEST(stacks_beside_the_model) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    const char *const prefixes[] = {"model.", "mtp.", "twin."};
    for (int i = 0; i < 3; i++) {
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "%slayers.0.self_attn.q_proj.weight", prefixes[i]);
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "%slayers.0.self_attn.k_proj.weight", prefixes[i]);
    }
    model_write_part(&model, "model.safetensors", 0, 4);
    model_write_text(&model, "config.json",
                     "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":1,"
                     "\"hidden_size\":4,\"rope_theta\":10000}");
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert_str_eq(checkpoint->prefix, "model.");
    szg_checkpoint_close(&checkpoint);
    model_write_part(&model, "model.safetensors", 0, 6);
    ck_assert_int_eq(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint),
                     SZG_EDATA);
    ck_assert_msg(strstr(szg_context_message(test_context()),
                         "--prefix model. or --prefix twin. chooses one"),
                  "%s", szg_context_message(test_context()));
    model_close(&model);
}
END_TEST

static szg_status open_changed(const char *folder, const char *stack) {
    static const char *const set[] = {"a.b=text", "layer_norm_eps=1e-5"};
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .stack = stack,
                                            .set = set, .sets = 2};
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    SZG_TRY(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    int64_t size = checkpoint->head_size * checkpoint->model_size;
    double *rows = calloc((size_t)size, sizeof *rows);
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables);
    if (status == SZG_OK)
        status = szgi_checkpoint_queries(test_context(), checkpoint, 1, 0, rows);
    if (status == SZG_OK)
        status = szgi_checkpoint_keys(test_context(), checkpoint, 1, 0, rows);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    free(rows);
    return status;
}

/* Of each kind of layout, note and rotation: no refused allocation is overlooked. */
START_TEST(families_survive_refused_allocations) {
    static const struct {
        const char *family, *stack;
    } each[] = {{"deepseek_v3", NULL},  {"gpt_oss", NULL},    {"phi3-longrope", NULL},
                {"gemma3n_text", NULL}, {"t5", "cross"},      {"electra", NULL},
                {"codegen", NULL},      {"llama4_text", NULL}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), each[i].family);
        ck_survives_failed_allocations(1, open_changed(folder, each[i].stack));
    }
}
END_TEST

/* ---- Folded norms, and bounds on the largest logit ---- */

/* What the queries, or the keys, of a layer read: n x d. */
static const szgi_tensor *input_of(const family_case *own, int64_t layer, bool query) {
    const szgi_tensor *keys = oracle_tensor(own, layer, "keys");
    int64_t owner = own->checkpoint->layer[layer].key_layer;
    if (query || (!keys && owner == layer))
        return oracle_tensor(own, layer, "x");
    return keys ? keys : oracle_tensor(own, owner, "x");
}

/* The normalised input n of x = D n + b, by loops: what fold.c says the norm is. With `plus` the
 * gains are 1 + w. */
static double *normalised(const szgi_tensor *x, const side_weights *side, double plus) {
    int64_t n = x->shape[0], d = x->shape[1];
    double *value = read_all(x);
    double *gain = side->input_gain ? read_all(side->input_gain) : NULL;
    double *shift = side->input_shift ? read_all(side->input_shift) : NULL;
    for (int64_t i = 0; i < n * d; i++)
        value[i] = (value[i] - (shift ? shift[i % d] : 0)) / (gain ? plus + gain[i % d] : 1);
    free(gain);
    free(shift);
    return value;
}

/* The oracle's inputs are those of a norm with these gains and this shift: n has the square length
 * d, less what eps takes; with a mean of its own, no mean. In single precision x = g n + b is off
 * by u (3 |g n| + |b|) and n by gamma(d + 8) more. */
static void check_normalised(const family_case *own, int64_t layer, bool query) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const layer_weights *weights = &checkpoint->layer[layer];
    const side_weights *side = query ? &weights->q : &weights->k;
    input_rule rule = checkpoint->family->input;
    bool centred = rule >= INPUT_LAYER && rule < INPUT_NONE;
    double plus = rule == INPUT_RMS_PLUS_ONE || rule == INPUT_LAYER_PLUS_ONE ? 1 : 0;
    const szgi_tensor *x = input_of(own, layer, query);
    int64_t d = x->shape[1];
    double *n = normalised(x, side, plus), *raw = read_all(x);
    double *gain = side->input_gain ? read_all(side->input_gain) : NULL;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        double square = 0, sum = 0, off = 0, largest = 0;
        for (int64_t j = 0; j < d; j++) {
            double value = n[i * d + j], factor = gain ? fabs(plus + gain[j]) : 1;
            double error = gamma32((double)d + 8) * fabs(value) +
                           gamma32(4) * (fabs(raw[i * d + j]) + fabs(factor * value)) / factor;
            square += value * value;
            sum += value;
            off += error;
            largest = fmax(largest, fabs(value));
        }
        double allowed = 2 * largest * off + gamma32((double)d + 8) * square;
        ck_assert_msg(square <= (double)d + allowed && square >= 0.98 * (double)d - allowed,
                      "%s: %slayer %lld, %s, token %lld: |n|^2 is %.9g, not %lld", own->folder,
                      own->stack, (long long)layer, query ? "queries" : "keys", (long long)i,
                      square, (long long)d);
        ck_assert_msg(!centred || fabs(sum) <= off + gamma32(1) * (double)d * largest,
                      "%s: %slayer %lld, token %lld: n has the mean %.3g", own->folder, own->stack,
                      (long long)layer, (long long)i, sum / (double)d);
    }
    free(n);
    free(raw);
    free(gain);
}

/* A head's rows with these gains: e x d of queries, or of keys. */
static double *rows_of(const family_case *own, int64_t layer, bool query, int64_t head,
                       fold_kind fold) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    double *rows = calloc((size_t)(checkpoint->head_size * checkpoint->model_size), sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    ck_szg_ok(query ? szgi_fold_queries(test_context(), checkpoint, layer, head, fold, rows, NULL)
                    : szgi_fold_keys(test_context(), checkpoint, layer, head, fold, rows, NULL));
    return rows;
}

static double dot_rows(int64_t n, const double *a, const double *b, double *size) {
    double sum = 0;
    *size = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
        *size += fabs(a[i] * b[i]);
    }
    return sum;
}

/* The folded rows on n are those of the file on x = D n + b, less W b: or, where queries and keys
 * are normalised too, as the norm makes of them, up to one factor of the token. */
static void check_folded_side(const family_case *own, int64_t layer, bool query, int64_t head) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const layer_weights *weights = &checkpoint->layer[layer];
    const side_weights *side = query ? &weights->q : &weights->k;
    input_rule rule = checkpoint->family->input;
    const szgi_tensor *x = input_of(own, layer, query);
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    bool folds = szgi_fold_has_input(checkpoint, layer);
    double *raw = rows_of(own, layer, query, head, FOLD_LATENT),
           *folded = rows_of(own, layer, query, head, FOLD_ALL), *input = read_all(x);
    double plus = rule == INPUT_RMS_PLUS_ONE || rule == INPUT_LAYER_PLUS_ONE ? 1 : 0;
    double *n = folds ? normalised(x, side, plus) : read_all(x);
    double *shift = folds && side->input_shift ? read_all(side->input_shift) : NULL;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        measured got = measured_new(1, e), wanted = measured_new(1, e);
        for (int64_t r = 0; r < e; r++) {
            double size, more;
            got.value[r] = dot_rows(d, folded + r * d, n + i * d, &more);
            wanted.value[r] = dot_rows(d, raw + r * d, input + i * d, &size);
            if (shift)
                wanted.value[r] -= dot_rows(d, raw + r * d, shift, &size);
            /* the oracle's mean is off by rounding of single precision, and W D sees it */
            got.error[r] = gamma32(2 * (double)d + 16) * (size + more);
        }
        if (szgi_fold_has_heads(checkpoint, layer)) { /* before the norm's own bias */
            double ratio = 0, most = 0;
            bool centre =
                checkpoint->family->norm == NORM_LAYER || checkpoint->family->norm == NORM_EACH;
            double *gain = calloc((size_t)e, sizeof *gain);
            ck_szg_ok(szgi_fold_gains(test_context(), checkpoint, layer, query, head, gain));
            normalise(e, wanted.value, wanted.error, centre, 0, gain, 0);
            for (int64_t r = 0; r < e; r++)
                if (fabs(wanted.value[r]) > most) {
                    most = fabs(wanted.value[r]);
                    ratio = got.value[r] / wanted.value[r];
                }
            for (int64_t r = 0; r < e; r++)
                wanted.value[r] *= ratio;
            free(gain);
        }
        double allowed = 0;
        for (int64_t r = 0; r < e; r++)
            allowed += 4 * got.error[r];
        for (int64_t r = 0; r < e; r++)
            ck_assert_msg(fabs(got.value[r] - wanted.value[r]) <= allowed,
                          "%s: %slayer %lld, %s of head %lld, token %lld: folded rows give %.9g, "
                          "the layers %.9g, and %.3g is allowed",
                          own->folder, own->stack, (long long)layer, query ? "queries" : "keys",
                          (long long)head, (long long)i, got.value[r], wanted.value[r], allowed);
        measured_free(&got);
        measured_free(&wanted);
    }
    free(raw);
    free(folded);
    free(input);
    free(n);
    free(shift);
}

static int folded_layers, bounded_heads, lag_heads;

static void check_fold(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    if (checkpoint->layer[layer].absent)
        return;
    if (szgi_fold_has_input(checkpoint, layer)) {
        check_normalised(own, layer, true);
        check_normalised(own, layer, false);
        folded_layers++;
    }
    for (int64_t h = 0; h < checkpoint->heads; h++) {
        check_folded_side(own, layer, true, h);
        if (h % group == 0)
            check_folded_side(own, layer, false, h / group);
    }
}

START_TEST(folded_norms_of_every_family) {
    ck_assert_int_ge(check_all("config.json", check_fold), 70);
    ck_assert_int_ge(folded_layers, 140);
}
END_TEST

/* One side of a head, as head.c makes it. */
static void make_bound_side(const family_case *own, const bound_place *place, double *room,
                            latent_side *kept, bound_side *out) {
    bound_rows rows = {.value = room};
    ck_szg_ok(place->query ? szgi_fold_queries_kept(test_context(), own->checkpoint, place->layer,
                                                    place->head, FOLD_ALL, kept, room, &rows.error)
                           : szgi_fold_keys_kept(test_context(), own->checkpoint, place->layer,
                                                 place->head, FOLD_ALL, kept, room, &rows.error));
    ck_szg_ok(szgi_bound_side_make(test_context(), own->checkpoint, place, &rows, kept, out));
}

/* `lags`: as for szgi_bound_head. */
static head_bound bound_of(const family_case *own, int64_t layer, int64_t head, int64_t lags) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    int64_t size = checkpoint->head_size * checkpoint->model_size;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    const bound_place query = {.layer = layer, .head = head, .query = true},
                      key = {.layer = layer, .head = head / group};
    double *room = calloc((size_t)(2 * size), sizeof *room);
    bound_side q = {0}, k = {0};
    latent_side q_kept = {0}, k_kept = {0};
    head_bound bound;
    ck_assert_ptr_nonnull(room);
    make_bound_side(own, &query, room, &q_kept, &q);
    make_bound_side(own, &key, room + size, &k_kept, &k);
    ck_szg_ok(szgi_bound_head(test_context(), checkpoint, layer, head, lags, &q, &k, &bound));
    szgi_bound_side_release(&q);
    szgi_bound_side_release(&k);
    szgi_latent_release(&q_kept);
    szgi_latent_release(&k_kept);
    free(room);
    return bound;
}

/* No logit that transformers computed is above the bound, but for single precision: queries and
 * keys are off by gamma(d + 16) of their length, and so are their products. */
static void check_bounds(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const szgi_tensor *logits = oracle_tensor(own, layer, "logits");
    double worst = 0, gain = 1;
    const char *kind = "none";
    if (checkpoint->layer[layer].absent)
        return;
    int64_t each = logits->count / checkpoint->heads;
    double *value = read_all(logits);
    for (int64_t h = 0; h < checkpoint->heads; h++) {
        head_bound bound = bound_of(own, layer, h, 64), any = bound_of(own, layer, h, 0);
        double seen = 0;
        for (int64_t i = 0; i < each; i++)
            if (!isnan(value[h * each + i]))
                seen = fmax(seen, fabs(value[h * each + i]));
        kind = szgi_bound_name(bound.kind);
        ck_assert_msg(isnan(bound.value) == (bound.why != NULL), "%s: %s", own->folder, kind);
        if (isnan(bound.value))
            continue;
        ck_assert_msg(any.lags == 0 && any.value == any.all && bound.all == any.all,
                      "%s: layer %lld: at any lag %.17g, %.17g and %.17g", own->folder,
                      (long long)layer, any.value, any.all, bound.all);
        ck_assert_msg(bound.lags > 0 ? bound.value <= bound.all : bound.value == bound.all,
                      "%s: layer %lld: %.17g at %lld lags, %.17g at any", own->folder,
                      (long long)layer, bound.value, (long long)bound.lags, bound.all);
        gain = fmin(gain, bound.value / bound.all);
        lag_heads += bound.lags > 0;
        double slack = gamma32(2 * (double)(checkpoint->model_size + checkpoint->head_size) + 40);
        ck_assert_msg(seen <= bound.value * (1 + slack),
                      "%s: %slayer %lld, head %lld: a logit is %.9g, and the bound by %s %.9g",
                      own->folder, own->stack, (long long)layer, (long long)h, seen, kind,
                      bound.value);
        worst = fmax(worst, seen / bound.value);
        bounded_heads++;
    }
    printf("# %s: %slayer %lld: %s, bound/observed %.3g, 64 lags/any lag %.3g\n", own->folder,
           own->stack, (long long)layer, kind, worst > 0 ? 1 / worst : NAN, gain);
    free(value);
}

/* ---- Adversarial inputs ---- */

/* One side of a head by its layers, in double precision: n (the output of the input norm before its
 * gains) to x = D n + b, to W x + the projection's bias, to the rotation. Scale and amplitude are
 * in the rows. */
typedef struct explicit_side {
    int64_t e, d;
    double *rows, *gain, *shift, *bias;
    bool centred;
} explicit_side;

static explicit_side open_side(const family_case *own, int64_t layer, bool query, int64_t head) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const layer_weights *weights = &checkpoint->layer[layer];
    const side_weights *side = query ? &weights->q : &weights->k;
    input_rule rule = checkpoint->family->input;
    double plus = rule == INPUT_RMS_PLUS_ONE || rule == INPUT_LAYER_PLUS_ONE ? 1 : 0;
    explicit_side out = {.e = checkpoint->head_size,
                         .d = checkpoint->model_size,
                         .rows = rows_of(own, layer, query, head, FOLD_NONE),
                         .centred = rule >= INPUT_LAYER};
    szgi_rotary rotary;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
    out.gain =
        side->input_gain ? read_all(side->input_gain) : calloc((size_t)out.d, sizeof(double));
    for (int64_t j = 0; j < out.d; j++)
        out.gain[j] = side->input_gain ? plus + out.gain[j] : 1;
    out.shift =
        side->input_shift ? read_all(side->input_shift) : calloc((size_t)out.d, sizeof(double));
    out.bias = calloc((size_t)out.e, sizeof(double));
    double *all = side->bias ? read_all(side->bias) : NULL;
    int64_t first = szgi_layout_row(query ? &checkpoint->query_at : &checkpoint->key_at, head);
    for (int64_t r = 0; r < out.e && all; r++) {
        bool rotated = r >= rotary.offset && r < rotary.offset + 2 * rotary.pairs;
        out.bias[r] =
            all[first + r] * (query ? weights->scale : 1) * (rotated ? rotary.amplitude : 1);
    }
    free(all);
    return out;
}

static void close_side(explicit_side *side) {
    free(side->rows);
    free(side->gain);
    free(side->shift);
    free(side->bias);
}

static void project_explicit(const explicit_side *side, const double *n, double *out) {
    for (int64_t r = 0; r < side->e; r++) {
        out[r] = side->bias[r];
        for (int64_t j = 0; j < side->d; j++)
            out[r] += side->rows[r * side->d + j] * (side->gain[j] * n[j] + side->shift[j]);
    }
}

/* Rotates by `angle` positions; back with a negative number. */
static void turn(const szgi_rotary *rotary, double positions, double *x) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    for (int64_t t = 0; t < rotary->pairs; t++) {
        double *a = x + rotary->offset + (half ? t : 2 * t), *b = a + (half ? rotary->pairs : 1);
        double angle = positions * rotary->theta[t], first = *a;
        *a = cos(angle) * first - sin(angle) * *b;
        *b = sin(angle) * first + cos(angle) * *b;
    }
}

/* The normalised input that has the largest product with `target`: sqrt(d) along W^T target, less
 * its mean where the norm takes it. */
static void best_input(const explicit_side *side, const double *target, double *n) {
    double mean = 0, length = 0;
    for (int64_t j = 0; j < side->d; j++) {
        n[j] = 0;
        for (int64_t r = 0; r < side->e; r++)
            n[j] += side->rows[r * side->d + j] * side->gain[j] * target[r];
        mean += n[j] / (double)side->d;
    }
    for (int64_t j = 0; j < side->d && side->centred; j++)
        n[j] -= mean;
    length = norm2(side->d, n);
    for (int64_t j = 0; j < side->d; j++)
        n[j] *= length > 0 ? sqrt((double)side->d) / length : 0;
}

/* The largest logit that an ascent finds at a lag: queries and keys in turn, each the best for the
 * other. `sign`: of the logit that is sought. */
static double ascend(const szgi_rotary *rotary, const explicit_side *q, const explicit_side *k,
                     double lag, double sign) {
    double n[64], m[64], a[32], b[32], logit = 0;
    ck_assert(q->d <= 64 && q->e <= 32);
    for (int64_t j = 0; j < q->d; j++)
        m[j] = sin((double)(3 * j + 1));
    project_explicit(k, m, b);
    for (int i = 0; i < 2000; i++) {
        turn(rotary, -lag, b); /* q . R(-lag) k */
        for (int64_t r = 0; r < q->e; r++)
            b[r] *= sign;
        best_input(q, b, n);
        project_explicit(q, n, a);
        logit = 0;
        for (int64_t r = 0; r < q->e; r++)
            logit += a[r] * b[r];
        turn(rotary, lag, a);
        for (int64_t r = 0; r < q->e; r++)
            a[r] *= sign;
        best_input(k, a, m);
        project_explicit(k, m, b);
    }
    return logit;
}

/* The largest modulus that a table by the lag adds: any content may stand at its lag. */
static double largest_added(const szg_checkpoint *checkpoint, int64_t head) {
    double largest = 0;
    if (!checkpoint->added)
        return 0;
    double *table = read_all(checkpoint->added);
    for (int64_t i = head; i < checkpoint->added->count; i += checkpoint->heads)
        largest = fmax(largest, fabs(table[i]));
    free(table);
    return largest;
}

/* Lags that the ascent tries. */
enum { LAGS = 8 };

static int attained, attained_by_lags;

static void check_adversary(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    double most = 0;
    szgi_rotary rotary;
    if (checkpoint->layer[layer].absent || szgi_fold_is_normed(checkpoint, layer) ||
        checkpoint->latent.key_rank || !szgi_fold_has_input(checkpoint, layer))
        return;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
    bool plain = !checkpoint->layer[layer].q.bias && !checkpoint->layer[layer].k.bias &&
                 !checkpoint->layer[layer].q.input_shift;
    for (int64_t h = 0; h < checkpoint->heads; h++) {
        head_bound bound = bound_of(own, layer, h, LAGS);
        if (bound.kind != BOUND_INPUT)
            continue;
        explicit_side q = open_side(own, layer, true, h),
                      k = open_side(own, layer, false, h / group);
        double found = 0;
        int lags = rotary.pairs ? LAGS : 1;
        for (int lag = checkpoint->family->looks_ahead ? 1 - lags : 0; lag < lags; lag++)
            for (int sign = -1; sign < 2; sign += 2)
                found = fmax(found, ascend(&rotary, &q, &k, lag, sign));
        found += largest_added(checkpoint, h);
        /* d products, twice, of numbers whose moduli sum to at most sqrt(d) as much */
        double slack = gamma_of(4 * (double)(q.d + q.e)) * (double)q.d;
        ck_assert_msg(found <= bound.value * (1 + slack),
                      "%s: %slayer %lld, head %lld: an input gives %.17g, and the bound is %.17g",
                      own->folder, own->stack, (long long)layer, (long long)h, found, bound.value);
        /* Without shifts it is attained: 2000 steps find it to 1% even where two singular values
         * are within 0.05% of each other. Over lags it exceeds the maximum by 0.5% or a little
         * more, and clipping leaves the bound at any lag. */
        if (plain && (rotary.pairs == 0 || bound.lags > 0)) {
            double least = rotary.pairs == 0 ? 0.99 : 0.98;
            ck_assert_msg(found >= least * bound.value,
                          "%s: %slayer %lld, head %lld: the ascent found %.9g of %.9g", own->folder,
                          own->stack, (long long)layer, (long long)h, found, bound.value);
            *(rotary.pairs == 0 ? &attained : &attained_by_lags) += 1;
        }
        most = fmax(most, found / bound.value);
        close_side(&q);
        close_side(&k);
    }
    if (most > 0)
        printf("# %s: %slayer %lld: bound/ascent %.3g\n", own->folder, own->stack, (long long)layer,
               1 / most);
}

START_TEST(no_input_is_above_the_bound) {
    ck_assert_int_ge(check_all("config.json", check_adversary), 70);
    ck_assert_int_ge(attained, 20);
    ck_assert_int_ge(attained_by_lags, 60);
}
END_TEST

START_TEST(no_logit_is_above_its_bound) {
    ck_assert_int_ge(check_all("config.json", check_bounds), 70);
    ck_assert_int_ge(bounded_heads, 400);
    ck_assert_int_ge(lag_heads, 150);
}
END_TEST

TEST_FILE("families") {
    test_add(suite, "logits_of_every_family", logits_of_every_family);
    test_add(suite, "configurations_of_version_4", configurations_of_version_4);
    test_add(suite, "what_is_left_out_has_a_row", what_is_left_out_has_a_row);
    test_add(suite, "properties_name_their_keys", properties_name_their_keys);
    test_add(suite, "a_prefix_chooses_another_stack", a_prefix_chooses_another_stack);
    test_add(suite, "values_are_set", values_are_set);
    test_add(suite, "older_forms", older_forms);
    test_add(suite, "two_bases_have_two_keys", two_bases_have_two_keys);
    test_add(suite, "forms_that_are_refused", forms_that_are_refused);
    test_add(suite, "a_decoder_as_long_as_the_encoder", a_decoder_as_long_as_the_encoder);
    test_add(suite, "stacks_beside_the_model", stacks_beside_the_model);
    test_add(suite, "folded_norms_of_every_family", folded_norms_of_every_family);
    test_add(suite, "no_input_is_above_the_bound", no_input_is_above_the_bound);
    test_add(suite, "no_logit_is_above_its_bound", no_logit_is_above_its_bound);
    test_add(suite, "families_survive_refused_allocations", families_survive_refused_allocations);
}
