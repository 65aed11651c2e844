/* What attention writes, made again from transformers' logits and what szego resolved of values and
 * outputs, with the error that single precision allows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/values.h"
#include "families_oracle.h"

/* Row i of the softmax of head h, and what single precision makes of it: the differences to the
 * largest logit, their exponentials, the sum and a division. */
static void weigh(const family_case *own, int64_t layer, int64_t h, int64_t n, const double *logits,
                  double shift, double *p, double *error) {
    double largest = -INFINITY, sum = 0, sink = -INFINITY;
    if (own->checkpoint->sinks) {
        static const char *const names[] = {"attn_sinks.weight", "self_attn.sinks",
                                            "self_attn.softmax_offset",
                                            "self_attn.attention_sink_bias"};
        const szgi_tensor *tensor = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names && !tensor; i++)
            tensor = szgi_layer_tensor(own->checkpoint, layer, names[i]);
        double *sinks = read_all(tensor);
        sink = sinks[h];
        free(sinks);
    }
    largest = sink;
    for (int64_t j = 0; j < n; j++)
        if (!isnan(logits[j]))
            largest = fmax(largest, logits[j]);
    sum = exp(sink - largest);
    for (int64_t j = 0; j < n; j++)
        sum += isnan(logits[j]) ? 0 : exp(logits[j] - largest);
    double spread = 0;
    for (int64_t j = 0; j < n; j++)
        spread = fmax(spread, isnan(logits[j]) ? 0 : largest - logits[j]);
    spread = fmax(spread, isfinite(sink) ? largest - sink : 0);
    for (int64_t j = 0; j < n; j++) {
        p[j] = isnan(logits[j]) ? 0 : exp(logits[j] - largest) / sum;
        error[j] = p[j] * (gamma32((double)n + 12) + 2 * gamma32(1) * spread + 4 * shift);
    }
}

/* The bias beside a weight, or NULL. */
static const szgi_tensor *bias_of(const szg_checkpoint *checkpoint, const szgi_tensor *weight) {
    char name[256];
    int length = (int)(strlen(weight->name) - strlen("weight"));
    snprintf(name, sizeof name, "%.*sbias", length, weight->name);
    return szgi_safetensors_find(checkpoint->tensors, name);
}

/* Values of a key head as attention collects them. */
static measured make_values(const family_case *own, int64_t layer, const layer_values *values,
                            int64_t key_head, const szgi_tensor *x) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    side_weights side = checkpoint->layer[layer].k;
    szgi_tensor flat = *values->value; /* [heads, size, rank] in a GGUF file, else two dimensions */
    int64_t e = values->size, first = szgi_layout_row(&values->at, key_head);
    double *rows = calloc((size_t)(e * checkpoint->model_size), sizeof *rows);
    long double norm;
    ck_assert_ptr_nonnull(rows);
    ck_szg_ok(szgi_values_rows(test_context(), checkpoint, values, layer, key_head, FOLD_LATENT,
                               rows, &norm));
    measured out = project(x, e, rows);
    if (strcmp(checkpoint->family->model_type, "deberta") == 0)
        add_bias(szgi_layer_tensor(checkpoint, layer, "attention.self.v_bias"), key_head * e, &out);
    else
        add_bias(bias_of(checkpoint, values->value), first, &out);
    flat.dims = 2;
    side.weight = &flat;
    divide_by_latent(own, &side, checkpoint->latent.key_rank, x, first, e, &out);
    clip(checkpoint->clip, &out);
    if (szgi_values_are_scale_free(checkpoint) && !side.down)
        for (int64_t i = 0; i < out.rows; i++)
            normalise(e, out.value + i * e, out.error + i * e, false, own->eps, NULL, 0);
    free(rows);
    return out;
}

/* Qwen3-Next: what a head has collected, times the sigmoid of its token's gate. */
static void apply_gate(const family_case *own, int64_t layer, int64_t head, const szgi_tensor *x,
                       measured *context) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    if (checkpoint->family->layout != LAYOUT_GATED)
        return;
    double *all = read_all(checkpoint->layer[layer].q.weight);
    int64_t first = szgi_layout_row(&checkpoint->query_at, head) + e;
    measured gate = project(x, e, all + first * d);
    for (int64_t i = 0; i < x->shape[0] * e; i++) {
        double open = 1 / (1 + exp(-gate.value[i]));
        context->error[i] = open * context->error[i] +
                            fabs(context->value[i]) * (gate.error[i] / 4 + gamma32(6) * open);
        context->value[i] *= open;
    }
    measured_free(&gate);
    free(all);
}

/* What a head has collected of the values, and adds to the output. */
static void add_head(const family_case *own, int64_t layer, int64_t head,
                     const layer_values *values, const szgi_tensor *x, const measured *v,
                     const double *logits, double shift, measured *out) {
    int64_t n = x->shape[0], m = v->rows, e = values->size, d = out->columns;
    double *rows = calloc((size_t)(e * d), sizeof *rows), p[2 * TOKENS], p_error[2 * TOKENS];
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_le(m, 2 * TOKENS);
    measured context = measured_new(n, e);
    for (int64_t i = 0; i < n; i++) {
        weigh(own, layer, head, m, logits + (head * n + i) * m, shift, p, p_error);
        for (int64_t r = 0; r < e; r++)
            for (int64_t j = 0; j < m; j++) {
                double value = v->value[j * e + r], size = fabs(p[j] * value);
                context.value[i * e + r] += p[j] * value;
                context.error[i * e + r] += p[j] * v->error[j * e + r] + p_error[j] * fabs(value) +
                                            gamma32((double)m + 2) * size;
            }
    }
    apply_gate(own, layer, head, x, &context);
    ck_szg_ok(szgi_values_output(test_context(), own->checkpoint, values, head, rows));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < e; r++)
            for (int64_t j = 0; j < d; j++) {
                double factor = rows[r * d + j], size = fabs(context.value[i * e + r] * factor);
                out->value[i * d + j] += context.value[i * e + r] * factor;
                out->error[i * d + j] += context.error[i * e + r] * fabs(factor) +
                                         gamma32((double)(own->checkpoint->heads * e) + 2) * size;
            }
    measured_free(&context);
    free(rows);
}

const char *acts_on_values(const char *model_type) {
    static const struct {
        const char *model_type, *tensor;
    } refused[] = {{"xlnet", "rel_attn.v"}, /* its axes are others */
                   {"zamba", "o_proj"},           {"zamba2", "o_proj"},
                   {"afmoe", "gate_proj.weight"}, {"bitnet", "attn_sub_norm.weight"},
                   {"diffllama", "lambda_q1"},    {"mimo_v2_flash", "attention_value_scale"},
                   {"step3p5", "g_proj.weight"},  {"laguna", "g_proj.weight"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(model_type, refused[i].model_type) == 0)
            return refused[i].tensor;
    return NULL;
}

/* What GGUF calls it, where the file has it: the model that it was made of may have no gate. */
static const char *gate_of_file(const szg_checkpoint *checkpoint, const char *tensor) {
    const char *name = strstr(tensor, "_norm.") ? tensor : "attn_gate.weight";
    for (int64_t i = 0; i < checkpoint->layers; i++)
        if (szgi_layer_tensor(checkpoint, i, name))
            return name;
    return NULL;
}

static bool is_refused(const family_case *own, const value_set *set, const layer_values *values) {
    const char *tensor = acts_on_values(own->checkpoint->family->model_type);
    if (tensor && own->checkpoint->gguf.families > 0)
        tensor = gate_of_file(own->checkpoint, tensor);
    const char *problem = set->problem ? set->problem : values->problem;
    if (!tensor) {
        ck_assert_msg(!problem, "%s: %s", own->folder, problem);
        return false;
    }
    ck_assert_msg(problem && strstr(problem, tensor) &&
                      (own->checkpoint->family->layout == LAYOUT_COLUMNS ||
                       strstr(problem, " acts on the values")),
                  "%s: %s", own->folder, problem ? problem : "what acts on values is overlooked");
    return true;
}

void check_written(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const szgi_tensor *x = oracle_tensor(own, layer, "x"),
                      *keys = oracle_tensor(own, layer, "keys"),
                      *written = oracle_tensor(own, layer, "written");
    head_part part;
    value_set set;
    if (checkpoint->layer[layer].absent)
        return;
    ck_szg_ok(szgi_part_open(test_context(), checkpoint,
                             &(szg_checkpoint_options){SZG_INIT(szg_checkpoint_options)}, &part));
    ck_szg_ok(szgi_values_open(test_context(), checkpoint, &part, &set));
    const layer_values *values = &set.layer[layer];
    /* What is left out: the softmax has keys that the oracle does not. */
    if (is_refused(own, &set, values) || checkpoint->family->left_out) {
        szgi_values_close(checkpoint, &set);
        szgi_part_close(&part);
        return;
    }
    ck_assert_msg(written, "%s: layer %lld: no output of its attention", own->folder,
                  (long long)layer);
    if (checkpoint->layer[layer].key_layer != layer && !keys)
        keys = oracle_tensor(own, checkpoint->layer[layer].key_layer, "x");
    keys = keys ? keys : x;
    double *logits = read_all(oracle_tensor(own, layer, "logits")), *wanted = read_all(written);
    double shift = shift_error(own, oracle_tensor(own, layer, "logits")->count, logits);
    measured out = measured_new(x->shape[0], checkpoint->model_size);
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    for (int64_t h = 0; h < checkpoint->heads; h++) {
        measured v = make_values(own, layer, values, h / group, keys);
        add_head(own, layer, h, values, x, &v, logits, shift, &out);
        measured_free(&v);
    }
    add_bias(bias_of(checkpoint, values->output), 0, &out);
    ck_assert_int_eq(written->count, out.rows * out.columns);
    for (int64_t i = 0; i < written->count; i++)
        ck_assert_msg(fabs(out.value[i] - wanted[i]) <= out.error[i],
                      "%s: %slayer %lld, number %lld: the output is %.9g, transformers has %.9g, "
                      "and %.3g is allowed",
                      own->folder, own->stack, (long long)layer, (long long)i, out.value[i],
                      wanted[i], out.error[i]);
    measured_free(&out);
    free(logits), free(wanted);
    szgi_values_close(checkpoint, &set);
    szgi_part_close(&part);
}
