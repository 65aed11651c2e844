/* Circuits of families: every head's logits are those of its matrix at the lag, and what attention
 * writes is made again from W_O W_V of every head. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/circuit.h"
#include "families_oracle.h"

static int64_t turns_seen; /* heads whose logits were made at every lag */

/* Query i, which has not rotated, turned to the lag that it has to key j; what transformers' two
 * rotations are off by is all on this side. */
static void turn_query(const family_case *own, const szgi_rotary *rotary, const measured *q,
                       int64_t i, int64_t j, measured *out) {
    int64_t e = q->columns, lag = own->positions[i] - own->positions[j];
    double *value = out->value + i * e, *error = out->error + i * e;
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    memcpy(value, q->value + i * e, (size_t)e * sizeof *value);
    memcpy(error, q->error + i * e, (size_t)e * sizeof *error);
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t a = rotary->offset + (half ? t : 2 * t), b = a + (half ? rotary->pairs : 1);
        double angles = (double)(own->positions[i] + own->positions[j]) * rotary->theta[t];
        error[a] = error[b] =
            error[a] + error[b] +
            (fabs(value[a]) + fabs(value[b])) * (gamma32(13) * fabs(angles) + gamma32(16));
    }
    szgi_circuit_turn(rotary, lag, 1, value);
}

/* The logit of query i and key j is that of M(i - j), the matrix of the head at that lag: queries
 * and keys without rotation, and the turn between them. */
static void check_lags_of_layer(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const szgi_tensor *x = oracle_tensor(own, layer, "x"), *keys = x;
    const szgi_tensor *logits = oracle_tensor(own, layer, "logits");
    szgi_rotary rotary;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
    /* Gains behind the rotation: logits depend on more than the lag. */
    if (checkpoint->layer[layer].absent || rotary.pairs == 0 ||
        checkpoint->family->norm == NORM_HEAD_AFTER)
        return;
    if (checkpoint->layer[layer].key_layer != layer)
        keys = oracle_tensor(own, checkpoint->layer[layer].key_layer, "x");
    family_case still = *own;
    memset(still.positions, 0, sizeof still.positions);
    measured *q = make_side(&still, layer, true, x), *k = make_side(&still, layer, false, keys);
    double *wanted = read_all(logits);
    int64_t group = checkpoint->heads / checkpoint->key_heads, n = x->shape[0];
    double shift = shift_error(own, logits->count, wanted);
    measured turned = measured_new(n, q[0].columns);
    for (int64_t h = 0; h < checkpoint->heads; h++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double error, of = wanted[(h * n + i) * n + j];
                turn_query(own, &rotary, &q[h], i, j, &turned);
                double got = logit(own, layer, &turned, &k[h / group], i, j, &error);
                if (!isnan(of))
                    ck_assert_msg(fabs(got - of) <= error + shift,
                                  "%s, layer %lld, head %lld, tokens %lld and %lld: %.9g at the "
                                  "lag, transformers has %.9g, and %.3g is allowed",
                                  own->folder, (long long)layer, (long long)h, (long long)i,
                                  (long long)j, got, of, error + shift);
            }
    turns_seen += checkpoint->heads;
    for (int64_t h = 0; h < checkpoint->heads; h++)
        measured_free(&q[h]);
    for (int64_t h = 0; h < checkpoint->key_heads; h++)
        measured_free(&k[h]);
    measured_free(&turned);
    free(q), free(k), free(wanted);
}

START_TEST(logits_of_every_lag) {
    turns_seen = 0;
    check_all("config.json", check_lags_of_layer);
    ck_assert_int_ge(turns_seen, 700);
}
END_TEST

/* Models whose heads' values are acted on by more than the weights, by the sentence that says so.
 */
static const struct {
    const char *words;
    const char *const model_type[4];
} acted_on[] = {
    {"values are normalised by head, without gains",
     {"gemma3n_text", "gemma4_text", "gemma4_unified_text"}},
    {"gate multiplies the values", {"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"}},
    {"attn_sub_norm.weight acts on the values", {"bitnet"}},
};

static bool is_acted_on(const szg_checkpoint *checkpoint, size_t kind) {
    const char *const *each = acted_on[kind].model_type;
    for (int i = 0; i < 4 && each[i]; i++)
        if (strcmp(checkpoint->family->model_type, each[i]) == 0)
            return true;
    return false;
}

/* Every head of the stack has its row, and what acts on values besides says so in it. */
static void check_rows(const family_case *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .circuits = true};
    bool refused = acts_on_values(checkpoint->family->model_type);
    szg_checkpoint_tables tables;
    int64_t attend = 0, rows = 0;
    if (layer > 0)
        return;
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    const szg_table *table = tables.circuits;
    for (int64_t i = 0; i < checkpoint->layers; i++)
        attend += !checkpoint->layer[i].absent;
    for (int64_t i = 0; i < szg_table_rows(table); i++) {
        if (strcmp(cell_text(table, i, "circuit"), "ov") != 0)
            continue;
        rows += !szg_table_is_empty(table, i, szg_table_find(table, "sigma_max"));
        for (size_t k = 0; k < sizeof acted_on / sizeof *acted_on; k++)
            ck_assert_msg(!strstr(cell_text(table, i, "note"), acted_on[k].words) ==
                              !is_acted_on(checkpoint, k),
                          "%s: the note is '%s'", own->folder, cell_text(table, i, "note"));
    }
    ck_assert_msg(rows == (refused ? 0 : attend * checkpoint->heads), "%s: %s%lld rows",
                  own->folder, own->stack, (long long)rows);
    ck_assert_msg(tables.bad == (refused ? attend : 0), "%s: %lld are bad", own->folder,
                  (long long)tables.bad);
    szg_checkpoint_tables_close(&tables);
}

START_TEST(rows_of_every_family) {
    ck_assert_int_ge(check_all("config.json", check_rows), 130);
}
END_TEST

START_TEST(outputs_of_every_family) {
    ck_assert_int_ge(check_all("config.json", check_written), 130);
}
END_TEST

TEST_FILE("families_circuits") {
    test_add(suite, "logits_of_every_lag", logits_of_every_lag);
    test_add(suite, "rows_of_every_family", rows_of_every_family);
    test_add(suite, "outputs_of_every_family", outputs_of_every_family);
}
