/* Folded norms of families: rows with gains on normalised inputs are the rows of the file on what
 * transformers fed them. */
#include <math.h>
#include <stdlib.h>

#include "families_oracle.h"

/* What the queries, or the keys, of a layer read: n x d. */
static const szgi_tensor *input_of(const family_case *own, int64_t layer, bool query) {
    const szgi_tensor *keys = oracle_tensor(own, layer, "keys");
    int64_t owner = own->checkpoint->layer[layer].key_layer;
    if (query || (!keys && owner == layer))
        return oracle_tensor(own, layer, "x");
    return keys ? keys : oracle_tensor(own, owner, "x");
}

/* What is added to a norm's weights to make its gains. */
static double plus_of(input_rule rule) {
    return rule == INPUT_RMS_PLUS_ONE || rule == INPUT_LAYER_PLUS_ONE ||
                   rule == INPUT_RMS_GEMMA_CROSS
               ? 1
               : 0;
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
    double plus = plus_of(rule);
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
    double plus = plus_of(rule);
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

static int folded_layers;

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

TEST_FILE("families_folded") {
    test_add(suite, "folded_norms_of_every_family", folded_norms_of_every_family);
}
