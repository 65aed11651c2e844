/* The tables `heads` and `layers`, and the bands of `kernel`, against every draw of signs done one
 * by one, from rows that are turned one by one. tests/peer/test_heads.py has the noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/positional_rows.h"
#include "checkpoint/fold.h"
#include "model.h"

enum { E = 4, D = 8, HEADS = 3, LAYERS = 2, LENGTH = 24, TOKENS = 20 };

static const char config[] =
    "{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"num_attention_heads\":3,"
    "\"num_key_value_heads\":1,\"hidden_size\":8,\"head_dim\":4,\"rope_theta\":50,"
    "\"max_position_embeddings\":24}";

typedef struct fixture {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    uint64_t seed;
} fixture;

/* Layer 0 knows its mean token; head 0 of layer 1 has queries that are its keys. */
static void make_model(test_model *model) {
    model_open(model);
    model_tensor *table = model_add(model, SZGI_DTYPE_F64, TOKENS, D, "model.embed_tokens.weight");
    for (int64_t i = 0; i < table->count; i++)
        table->value[i] += i % D < 3;
    for (int layer = 0; layer < LAYERS; layer++) {
        model_tensor *q = model_add(model, SZGI_DTYPE_F64, HEADS * E, D,
                                    "model.layers.%d.self_attn.q_proj.weight", layer);
        model_tensor *k = model_add(model, SZGI_DTYPE_F64, E, D,
                                    "model.layers.%d.self_attn.k_proj.weight", layer);
        model_add(model, SZGI_DTYPE_F64, D, -1, "model.layers.%d.input_layernorm.weight", layer);
        if (layer == 1)
            memcpy(q->value, k->value, E * D * sizeof *k->value);
    }
}

static void setup(fixture *own) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = LENGTH,
                                            .seed = 8};
    own->seed = options.seed;
    make_model(&own->model);
    model_write(&own->model, config);
    ck_szg_ok(szg_checkpoint_open(test_context(), own->model.folder, NULL, &own->checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), own->checkpoint, &options, &own->tables));
}

static void teardown(fixture *own) {
    szg_checkpoint_tables_close(&own->tables);
    szg_checkpoint_close(&own->checkpoint);
    model_close(&own->model);
}

/* ---- By brute force ---- */

/* What each column of W_K adds to a kernel, by the lag; a draw gives each a sign. */
typedef struct brute {
    double column[LENGTH][D];
} brute;

static double weight(int64_t lag) {
    double sum = 0;
    for (int64_t i = 0; i < LENGTH; i++)
        sum += 1.0 / (double)(1 + i);
    return 1 / (double)(1 + lag) / sum;
}

/* The mean embedding behind the norm, without gains. */
static void mean_token(const fixture *own, double *out) {
    const double *table = model_value(&own->model, "model.embed_tokens.weight");
    memset(out, 0, D * sizeof *out);
    for (int64_t i = 0; i < TOKENS; i++)
        for (int64_t j = 0; j < D; j++)
            out[j] += table[i * D + j] / (norm_of(D, table + i * D) / sqrt(D)) / TOKENS;
}

static void make_brute(const fixture *own, bool mean, int64_t layer, int64_t head, brute *out) {
    double q[E * D], k[E * D], turned[E * D], token[D];
    szgi_rotary rotary;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), own->checkpoint, layer, &rotary));
    ck_szg_ok(szgi_fold_queries(test_context(), own->checkpoint, layer, head, FOLD_ALL, q, NULL));
    ck_szg_ok(szgi_fold_keys(test_context(), own->checkpoint, layer, 0, FOLD_ALL, k, NULL));
    mean_token(own, token);
    for (int64_t lag = 0; lag < LENGTH; lag++) {
        oracle_turn(&rotary, E, D, lag, q, turned);
        for (int64_t j = 0; j < D; j++) {
            out->column[lag][j] = 0;
            for (int64_t i = 0; i < E; i++) {
                double query = turned[i * D + j];
                for (int64_t c = 0; mean && c < D; c++)
                    query = (c == 0 ? 0 : query) + turned[i * D + c] * token[c];
                out->column[lag][j] += query * k[i * D + j] * (mean ? token[j] : 1);
            }
        }
    }
}

/* A random sign of the block and column, times an entry of Hadamard's matrix: chance.c. */
static double sign_of(uint64_t seed, int64_t layer, int64_t draw, int64_t column) {
    const szgi_stream stream = {seed, (uint32_t)layer, 0x0c1d0000};
    int64_t order = 1;
    while (order < D)
        order *= 2;
    int64_t place = draw / order * D + column;
    uint32_t word = szgi_random_word(&stream, (uint64_t)(place / 32));
    double sign = word >> (place % 32) & 1 ? 1 : -1;
    for (int64_t common = draw % order & column; common; common &= common - 1)
        sign = -sign;
    return sign;
}

/* The kernel of a draw, -1: of the head itself. */
static void fill_kernel(const fixture *own, const brute *from, int64_t layer, int64_t draw,
                        double *out) {
    for (int64_t lag = 0; lag < LENGTH; lag++) {
        out[lag] = 0;
        for (int64_t j = 0; j < D; j++)
            out[lag] += from->column[lag][j] * (draw < 0 ? 1 : sign_of(own->seed, layer, draw, j));
    }
}

static double mean_of(const double *kernel) {
    double mean = 0;
    for (int64_t lag = 0; lag < LENGTH; lag++)
        mean += weight(lag) * kernel[lag];
    return mean;
}

static double variance_of(const double *kernel) {
    double mean = mean_of(kernel), sum = 0;
    for (int64_t lag = 0; lag < LENGTH; lag++)
        sum += weight(lag) * (kernel[lag] - mean) * (kernel[lag] - mean);
    return sum;
}

/* Shares of the draws and, last, of the head. */
typedef struct shares {
    double of[CHANCE_DRAWS + 1];
} shares;

static void fill_shares(const fixture *own, const brute *from, int64_t layer, double noise,
                        shares *out) {
    double kernel[LENGTH];
    for (int64_t draw = 0; draw <= CHANCE_DRAWS; draw++) {
        fill_kernel(own, from, layer, draw < CHANCE_DRAWS ? draw : -1, kernel);
        double variance = variance_of(kernel);
        out->of[draw] = variance / (variance + noise * noise);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* p, and the 950th of 999 draws. */
static double compare(shares *own, double *quantile) {
    int64_t more = 1;
    for (int64_t i = 0; i < CHANCE_DRAWS; i++)
        more += own->of[i] >= own->of[CHANCE_DRAWS] * (1 - 1e-9); /* all signs alike, say */
    qsort(own->of, CHANCE_DRAWS, sizeof *own->of, ascending);
    *quantile = own->of[949];
    return (double)more / (CHANCE_DRAWS + 1);
}

/* ---- Heads ---- */

static double named(const szg_table *table, int64_t row, const char *kernel, const char *what) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s", kernel, what);
    return cell(table, row, name);
}

/* The mean kernel is known in layer 0 alone: nothing has a bias. */
static bool is_known(int64_t layer, int mean) {
    return !mean || layer == 0;
}

/* Of one kernel; NaN: not known. */
typedef struct verdicts {
    double share[LAYERS * HEADS], p[LAYERS * HEADS];
} verdicts;

/* A share of a tenth, and a p that Benjamini and Hochberg keep: some p that is no smaller is at
 * most 5% of its rank among the known ones. */
static bool stands_out(const verdicts *all, int64_t i) {
    bool kept = false;
    for (int64_t j = 0; j < LAYERS * HEADS; j++) {
        int64_t rank = 0, known = 0;
        for (int64_t k = 0; k < LAYERS * HEADS; k++) {
            rank += all->p[k] <= all->p[j];
            known += !isnan(all->p[k]);
        }
        kept = kept || (all->p[j] >= all->p[i] && all->p[j] <= 0.05 * (double)rank / (double)known);
    }
    return kept && all->share[i] >= 0.1;
}

START_TEST(shares_and_chance_of_every_head) {
    verdicts judged[2];
    fixture own;
    setup(&own);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            int64_t row = find_row(own.tables.heads, layer, head, NULL);
            for (int mean = 1; mean >= 0; mean--) {
                const char *kernel = mean ? "mean" : "self";
                double noise = named(own.tables.heads, row, kernel, "noise"), quantile;
                brute from;
                shares all;
                judged[mean].share[layer * HEADS + head] = judged[mean].p[layer * HEADS + head] =
                    NAN;
                ck_assert_int_eq(isnan(noise), !is_known(layer, mean));
                if (isnan(noise))
                    continue;
                make_brute(&own, mean, layer, head, &from);
                fill_shares(&own, &from, layer, noise, &all);
                double share = all.of[CHANCE_DRAWS], p = compare(&all, &quantile);
                ck_close(named(own.tables.heads, row, kernel, "share"), share, 1e-11);
                ck_close(named(own.tables.heads, row, kernel, "p"), p, 1e-12);
                ck_close(named(own.tables.heads, row, kernel, "null"), quantile, 1e-11);
                judged[mean].share[layer * HEADS + head] = share;
                judged[mean].p[layer * HEADS + head] = p;
            }
        }
    for (int64_t i = 0; i < LAYERS * HEADS; i++) {
        int64_t row = find_row(own.tables.heads, i / HEADS, i % HEADS, NULL);
        const char *out = cell_text(own.tables.heads, row, "stands_out");
        ck_assert_int_eq(strstr(out, "mean") != NULL, stands_out(&judged[1], i));
        ck_assert_int_eq(strstr(out, "self") != NULL, stands_out(&judged[0], i));
    }
    teardown(&own);
}
END_TEST

/* Each kernel by itself: 0.0251 is above 3/6 of 5% and 0.0332 below 4/6, so that both pass; 0.04
 * passes alone, and not among eight. */
START_TEST(what_stands_out_among_all) {
    static const struct {
        double mean_share, mean_p, self_share, self_p;
        const char *stands_out;
    } heads[] = {{0.1, 0.012, 0.5, 0.04, "mean"}, {0.0999, 0.001, 0.5, 0.05, ""},
                 {0.9, 0.0251, 0.2, 0.9, "mean"}, {0.9, 0.3, 0.1, 0.001, "self"},
                 {NAN, NAN, 0.9, 0.2, ""},        {0.1, NAN, 0.01, 0.3, "mean"},
                 {0.2, 0.0332, 0.3, 0.9, "mean"}, {0.2, 0.05, 0.3, 0.9, ""}};
    enum { COUNT = sizeof heads / sizeof *heads };
    const head_sizes sizes = {NAN, NAN};
    szg_checkpoint_tables tables = {0};
    ck_szg_ok(szgi_positional_rows_open(test_context(), 0, &tables));
    for (int i = 0; i < COUNT; i++) {
        const row_key key = {"model", i / 4, i % 4, "qk"};
        head_positional found = {.spread = NAN};
        found.kernel[KERNEL_MEAN] =
            (kernel_facts){.share = heads[i].mean_share, .p = heads[i].mean_p};
        found.kernel[KERNEL_SELF] =
            (kernel_facts){.share = heads[i].self_share, .p = heads[i].self_p};
        ck_szg_ok(szgi_positional_rows_add(test_context(), &tables, &key, i % 4, &sizes, &found));
    }
    ck_szg_ok(szgi_positional_rows_judge(test_context(), &tables));
    for (int i = 0; i < COUNT; i++)
        ck_assert_str_eq(cell_text(tables.heads, i, "stands_out"), heads[i].stands_out);
    ck_assert_int_eq(szgi_positional_rows_standing(tables.heads, 0, "mean"), 2);
    ck_assert_int_eq(szgi_positional_rows_standing(tables.heads, 1, "mean"), 2);
    ck_assert_int_eq(szgi_positional_rows_standing(tables.heads, 0, "self"), 1);
    ck_assert_int_eq(szgi_positional_rows_standing(tables.heads, 1, "self"), 0);
    szg_checkpoint_tables_close(&tables);
}
END_TEST

START_TEST(what_stands_beside_the_shares) {
    fixture own;
    setup(&own);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            int64_t row = find_row(own.tables.heads, layer, head, NULL);
            int64_t bound = find_row(own.tables.bounds, layer, head, NULL);
            int64_t rank = find_row(own.tables.summary, layer, head, NULL);
            ck_assert(cell(own.tables.heads, row, "bound") ==
                      cell(own.tables.bounds, bound, "bound"));
            ck_assert(cell(own.tables.heads, row, "effective_rank") ==
                      cell(own.tables.summary, rank, "effective_rank"));
            /* Of the angles 1 and 50^(-1/2) the second makes 24 / 7.07 = 3.4 radians. */
            ck_assert_int_eq((int64_t)cell(own.tables.heads, row, "slow_pairs"), 1);
            ck_assert(isnan(cell(own.tables.heads, row, "spread")));
            ck_assert_str_eq(cell_text(own.tables.heads, row, "mean_tokens"),
                             layer == 0 ? "vocabulary" : "");
        }
    teardown(&own);
}
END_TEST

/* One dimension carries the keys: a sign changes no variance, so that every draw is the head. */
START_TEST(one_column_is_no_more_than_chance) {
    fixture own;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    setup(&own);
    for (int layer = 0; layer < LAYERS; layer++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%d.self_attn.k_proj.weight", layer);
        for (int64_t i = 0; i < E * D; i++)
            model_find(&own.model, name)->value[i] *= i % D == 5;
    }
    model_write(&own.model, config);
    model_analyse(&own.model, &checkpoint, &tables);
    for (int64_t row = 0; row < LAYERS * HEADS; row++) {
        ck_assert(cell(tables.heads, row, "self_p") == 1);
        ck_assert_str_eq(cell_text(tables.heads, row, "stands_out"), "");
        ck_assert_str_eq(cell_text(tables.heads, row, "self_shape"), "flat");
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    teardown(&own);
}
END_TEST

/* ---- Bands ---- */

/* Ends are at 1.96 deviations of the draws, to six digits. */
static void check_band(const fixture *own, const brute *from, int64_t layer, int64_t row,
                       const char *kernel, int64_t *inside) {
    double head[LENGTH], square[LENGTH] = {0}, drawn[LENGTH];
    fill_kernel(own, from, layer, -1, head);
    for (int64_t draw = 0; draw < CHANCE_DRAWS; draw++) {
        fill_kernel(own, from, layer, draw, drawn);
        double mean = mean_of(drawn);
        for (int64_t lag = 0; lag < LENGTH; lag++)
            square[lag] += (drawn[lag] - mean) * (drawn[lag] - mean) / CHANCE_DRAWS;
    }
    double level = mean_of(head), low[LENGTH], high[LENGTH];
    for (int64_t lag = 0; lag < LENGTH; lag++) {
        double half = 1.96 * sqrt(square[lag]);
        low[lag] = named(own->tables.kernel, row + lag, kernel, "low");
        high[lag] = named(own->tables.kernel, row + lag, kernel, "high");
        ck_close(cell(own->tables.kernel, row + lag, kernel), head[lag], 1e-11);
        ck_close(low[lag], level - half, 1e-5 * (fabs(low[lag]) + half));
        ck_close(high[lag], level + half, 1e-5 * (fabs(high[lag]) + half));
    }
    for (int64_t draw = 0; draw < CHANCE_DRAWS; draw++) {
        fill_kernel(own, from, layer, draw, drawn);
        double mean = mean_of(drawn);
        for (int64_t lag = 0; lag < LENGTH; lag++)
            *inside +=
                drawn[lag] - mean + level >= low[lag] && drawn[lag] - mean + level <= high[lag];
    }
}

/* Of the 256 patterns of signs most are there. */
START_TEST(draws_of_few_columns_differ) {
    static double unit[D * D], sums[D * CHANCE_DRAWS];
    bool seen[1 << D] = {false};
    int64_t patterns = 0;
    for (int64_t j = 0; j < D; j++)
        unit[j * (D + 1)] = 1;
    ck_szg_ok(szgi_chance_sums(test_context(), 3, 0, D, D, unit, sums));
    for (int64_t draw = 0; draw < CHANCE_DRAWS; draw++) {
        int pattern = 0;
        for (int64_t j = 0; j < D; j++)
            pattern |= (sums[j * CHANCE_DRAWS + draw] > 0) << j;
        patterns += !seen[pattern];
        seen[pattern] = true;
    }
    ck_assert_int_ge(patterns, 9 * (1 << D) / 10);
}
END_TEST

START_TEST(bands_hold_95_percent_of_the_draws) {
    fixture own;
    setup(&own);
    int64_t inside = 0, all = 0;
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            for (int mean = 0; mean < 2; mean++) {
                brute from;
                if (!is_known(layer, mean))
                    continue;
                make_brute(&own, mean, layer, head, &from);
                check_band(&own, &from, layer, (layer * HEADS + head) * LENGTH,
                           mean ? "mean" : "self", &inside);
                all += CHANCE_DRAWS * LENGTH;
            }
    ck_assert_int_eq(szg_table_rows(own.tables.kernel), LAYERS * HEADS * LENGTH);
    double part = (double)inside / (double)all;
    ck_assert_msg(part > 0.93 && part < 1, "%.3f of the draws",
                  part); /* few columns have short tails */
    teardown(&own);
}
END_TEST

/* ---- Layers ---- */

static void check_layer(const fixture *own, int64_t row, int64_t layer, bool mean) {
    const char *kernel = mean ? "mean" : "self";
    shares part = {{0}}, sum = {{0}}, all;
    double squares = 0, quantile, most = 0;
    int64_t largest = -1, standing = 0;
    for (int64_t head = 0; head < HEADS; head++) {
        brute from;
        int64_t at = find_row(own->tables.heads, layer, head, NULL);
        make_brute(own, mean, layer, head, &from);
        fill_shares(own, &from, layer, named(own->tables.heads, at, kernel, "noise"), &all);
        for (int64_t i = 0; i <= CHANCE_DRAWS; i++) {
            part.of[i] = fmax(part.of[i], all.of[i]);
            sum.of[i] += all.of[i];
        }
        double share = all.of[CHANCE_DRAWS];
        squares += share * share;
        largest = share > most ? head : largest;
        most = fmax(most, share);
        standing += strstr(cell_text(own->tables.heads, at, "stands_out"), kernel) != NULL;
    }
    double total = sum.of[CHANCE_DRAWS];
    for (int64_t i = 0; i <= CHANCE_DRAWS; i++)
        part.of[i] /= sum.of[i];
    double own_part = part.of[CHANCE_DRAWS], p = compare(&part, &quantile);
    const szg_table *table = own->tables.layers;
    ck_assert_int_eq((int64_t)cell(table, row, "layer"), layer);
    ck_assert_str_eq(cell_text(table, row, "kernel"), kernel);
    ck_assert_int_eq((int64_t)cell(table, row, "heads"), HEADS);
    ck_assert_int_eq((int64_t)cell(table, row, "stand_out"), standing);
    ck_assert_int_eq((int64_t)cell(table, row, "largest"), largest);
    ck_close(cell(table, row, "sum"), total, 1e-11);
    ck_close(cell(table, row, "part"), own_part, 1e-11);
    ck_close(cell(table, row, "part_null"), quantile, 1e-11);
    ck_close(cell(table, row, "part_p"), p, 1e-12);
    ck_close(cell(table, row, "effective_heads"), total * total / squares, 1e-10);
}

START_TEST(layers_by_the_same_draws) {
    fixture own;
    setup(&own);
    ck_assert_int_eq(szg_table_rows(own.tables.layers), 3);
    check_layer(&own, 0, 0, true);
    check_layer(&own, 1, 0, false);
    check_layer(&own, 2, 1, false);
    teardown(&own);
}
END_TEST

/* ---- What is wrong, or small ---- */

/* A BERT of one layer: positions, width, heads. */
typedef struct bert_sizes {
    int64_t positions, d, heads;
} bert_sizes;

static void make_bert(const bert_sizes *sizes, test_model *model) {
    int64_t d = sizes->d;
    model_open(model);
    model_add(model, SZGI_DTYPE_F32, TOKENS, d, "embeddings.word_embeddings.weight");
    model_add(model, SZGI_DTYPE_F32, sizes->positions, d, "embeddings.position_embeddings.weight");
    model_add(model, SZGI_DTYPE_F32, d, -1, "embeddings.LayerNorm.weight");
    model_add(model, SZGI_DTYPE_F32, d, -1, "embeddings.LayerNorm.bias");
    for (int side = 0; side < 2; side++) {
        const char *name = side ? "key" : "query";
        model_add(model, SZGI_DTYPE_F32, d, d, "encoder.layer.0.attention.self.%s.weight", name);
        model_add(model, SZGI_DTYPE_F32, d, -1, "encoder.layer.0.attention.self.%s.bias", name);
    }
}

static const char *bert_config(const bert_sizes *sizes) {
    static char text[256];
    snprintf(text, sizeof text,
             "{\"model_type\":\"bert\",\"num_hidden_layers\":1,\"num_attention_heads\":%d,"
             "\"hidden_size\":%d}",
             (int)sizes->heads, (int)sizes->d);
    return text;
}

/* Analyses, and every head has the note (NULL: numbers of a mean kernel), and its bound and rank
 * anyway. */
static void check_noted(const test_model *model, const char *text, const char *note) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_write(model, text);
    model_analyse(model, &checkpoint, &tables);
    ck_assert_int_gt(szg_table_rows(tables.heads), 0);
    for (int64_t row = 0; row < szg_table_rows(tables.heads); row++) {
        const char *got = cell_text(tables.heads, row, "note");
        ck_assert_msg(strstr(got, note ? note : "no self kernel: nothing rotates"), "'%s'", got);
        ck_assert_int_eq(isnan(cell(tables.heads, row, "mean_share")), note != NULL);
        ck_assert(!(cell(tables.heads, row, "effective_rank") < 1));
    }
    ck_assert_int_eq(szg_table_rows(tables.layers) > 0, note == NULL);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}

START_TEST(embeddings_that_cannot_be_read_are_said) {
    const bert_sizes sizes = {6, 8, 2};
    test_model model;
    make_bert(&sizes, &model);
    model_tensor *table = model_find(&model, "embeddings.word_embeddings.weight");
    check_noted(&model, bert_config(&sizes), NULL);
    double kept = table->value[9];
    table->value[9] = NAN;
    check_noted(&model, bert_config(&sizes), "an embedding has a number that is not finite");
    table->value[9] = kept;
    table->dtype = SZGI_DTYPE_INTEGER;
    check_noted(&model, bert_config(&sizes), "of a type that is not read here");
    table->dtype = SZGI_DTYPE_F32;
    snprintf(table->name, sizeof table->name, "embeddings.other.weight");
    check_noted(&model, bert_config(&sizes), "the table of embeddings is missing");
    snprintf(table->name, sizeof table->name, "embeddings.word_embeddings.weight");
    model_find(&model, "embeddings.position_embeddings.weight")->value[0] = INFINITY;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_write(&model, bert_config(&sizes));
    model_analyse(&model, &checkpoint, &tables);
    ck_assert_ptr_nonnull(strstr(cell_text(tables.heads, 0, "note"), "positions cannot be read"));
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Why there are no numbers, in a word that fits. */
START_TEST(mechanisms_without_a_kernel_say_which) {
    static const struct {
        const char *family, *note;
    } cases[] = {{"electra", "before a projection"},
                 {"dinov3_vit", "by their row and column"},
                 {"hunyuan_v1_dense", "gains of the norm of queries and keys act behind"},
                 {"granitemoehybrid-nope", "nothing says where a token stands"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512];
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        snprintf(folder, sizeof folder, "%s/%s", getenv("SZG_FAMILIES"), cases[i].family);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_assert_int_gt(szg_table_rows(tables.heads), 0);
        for (int64_t row = 0; row < szg_table_rows(tables.heads); row++)
            ck_assert_msg(strstr(cell_text(tables.heads, row, "note"), cases[i].note), "%s: '%s'",
                          cases[i].family, cell_text(tables.heads, row, "note"));
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Of each layer, and with a number for each lag. */
START_TEST(distance_tables_that_cannot_be_read_are_said) {
    static const char settings[] =
        "{\"model_type\":\"bert\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
        "\"hidden_size\":8,\"position_embedding_type\":\"relative_key\"}";
    static const char name[] = "encoder.layer.0.attention.self.distance_embedding.weight";
    const bert_sizes sizes = {6, 8, 2};
    for (int64_t rows = 0; rows < 13; rows += 4) {
        test_model model;
        make_bert(&sizes, &model);
        if (rows > 0)
            model_add(&model, SZGI_DTYPE_F32, rows == 4 ? 4 : 2 * rows - 1, 4, "%s", name);
        if (rows == 12)
            model_find(&model, name)->value[1] = NAN;
        check_noted(&model, settings,
                    rows < 8     ? "distance_embedding is missing"
                    : rows == 12 ? "not finite"
                                 : NULL);
        model_close(&model);
    }
}
END_TEST

/* Where heads rotate the rest of layer 0 is kept, and the table `notes` says what is missing. */
START_TEST(rotary_heads_need_no_embeddings) {
    static const char *const reasons[] = {
        "no mean kernel: an embedding has a number that is not finite, so that the mean token is "
        "not known",
        "no mean kernel: the table of embeddings is missing, so that the mean token is not known",
        "no mean kernel: the mean token of this layer is not known from weights, and biases add "
        "nothing"};
    for (int missing = 0; missing < 2; missing++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        make_model(&model);
        model_tensor *table = model_find(&model, "model.embed_tokens.weight");
        if (missing)
            snprintf(table->name, sizeof table->name, "model.other.weight");
        else
            table->value[1] = NAN;
        model_write(&model, config);
        model_analyse(&model, &checkpoint, &tables);
        ck_noted(&tables, 0, -1, NULL, missing ? "is missing" : "not finite");
        for (int64_t row = 0; row < LAYERS * HEADS; row++) {
            ck_assert(isnan(cell(tables.heads, row, "mean_share")));
            ck_assert(cell(tables.heads, row, "self_share") > 0);
            ck_assert_str_eq(cell_text(tables.heads, row, "note"),
                             reasons[row < HEADS ? missing : 2]);
        }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

START_TEST(small_models) {
    static const struct {
        bert_sizes sizes;
        const char *note;
    } cases[] = {{{6, 4, 4}, NULL}, /* heads of one dimension */
                 {{1, 8, 2}, NULL}, /* one position */
                 {{2, 2, 2}, NULL},
                 {{6, 1, 1}, "a token of one dimension is 0 behind its norm"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        make_bert(&cases[i].sizes, &model);
        check_noted(&model, bert_config(&cases[i].sizes), cases[i].note);
        model_close(&model);
    }
}
END_TEST

/* One position has one lag: nothing varies, and no draw is beyond it. */
START_TEST(one_position_has_no_share) {
    const bert_sizes sizes = {1, 8, 2};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    make_bert(&sizes, &model);
    model_write(&model, bert_config(&sizes));
    model_analyse(&model, &checkpoint, &tables);
    for (int64_t row = 0; row < 2; row++) {
        ck_assert(cell(tables.heads, row, "mean_share") == 0);
        ck_assert(cell(tables.heads, row, "mean_p") == 1);
        ck_assert_str_eq(cell_text(tables.heads, row, "mean_shape"), "flat");
        ck_assert_int_eq((int64_t)cell(tables.heads, row, "lag_max"), 0);
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(lags_end_with_the_length) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options),
                                            .kernel = SZG_CHECKPOINT_LAGS};
    fixture own;
    szg_checkpoint_tables tables;
    setup(&own);
    ck_szg_ok(szg_checkpoint_analyse(test_context(), own.checkpoint, &options, &tables));
    ck_assert_int_eq(szg_table_rows(tables.kernel), LAYERS * HEADS * LENGTH);
    ck_assert_int_eq((int64_t)cell(tables.kernel, LENGTH - 1, "lag"), LENGTH - 1);
    szg_checkpoint_tables_close(&tables);
    teardown(&own);
}
END_TEST

/* A table by the lag that is none: the heads say so. */
START_TEST(tables_by_the_lag_that_are_wrong) {
    static const struct {
        int64_t rows, columns, distance;
        const char *note;
    } cases[] = {{8, 2, 9, NULL},
                 {8, 2, 2, "relative_attention_max_distance is below"},
                 {8, 3, 9, "another shape than [buckets, heads]"},
                 {3, 2, 9, "another shape than [buckets, heads]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        char text[512];
        model_open(&model);
        model_add(&model, SZGI_DTYPE_F32, cases[i].rows, cases[i].columns,
                  "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "encoder.block.0.layer.0.SelfAttention.q.weight");
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "encoder.block.0.layer.0.SelfAttention.k.weight");
        model_add(&model, SZGI_DTYPE_F32, 8, -1, "encoder.block.0.layer.0.layer_norm.weight");
        snprintf(text, sizeof text,
                 "{\"model_type\":\"t5\",\"num_layers\":1,\"num_heads\":2,\"d_model\":8,"
                 "\"d_kv\":4,\"n_positions\":20,\"relative_attention_max_distance\":%d}",
                 (int)cases[i].distance);
        check_noted(&model, text, cases[i].note);
        model_close(&model);
    }
}
END_TEST

/* Each path, with every table. */
START_TEST(refused_memory_is_survived) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 3};
    const bert_sizes sizes = {4, 4, 2};
    test_model rotary, added;
    make_model(&rotary);
    model_write(&rotary, config);
    ck_survives_failed_allocations(1, model_try(rotary.folder, &options));
    model_close(&rotary);
    make_bert(&sizes, &added);
    model_write(&added, bert_config(&sizes));
    ck_survives_failed_allocations(1, model_try(added.folder, &options));
    model_close(&added);
}
END_TEST

START_TEST(refused_memory_of_biases_is_survived) {
    static const char *const families[] = {"mpnet", "bloom"};
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 3,
                                            .heads = "0", .layers = "1"};
    for (int i = 0; i < 2; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", getenv("SZG_FAMILIES"), families[i]);
        ck_survives_failed_allocations(1, model_try(folder, &options));
    }
}
END_TEST

/* The first and the last lag of the last layer. */
static void find_lags(const char *folder, const char *changed, double *least, double *most) {
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .config = changed};
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    int64_t row = szg_table_rows(tables.heads) - 1;
    *least = cell(tables.heads, row, "lag_min");
    *most = cell(tables.heads, row, "lag_max");
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}

/* Writes a family's configuration with is_decoder set. */
static void write_decoder(const test_model *model, const char *folder) {
    enum { SIZE = 8192 };
    char path[600], text[SIZE], changed[SIZE + 32];
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, SIZE - 1, file);
    ck_assert(length < SIZE - 1);
    fclose(file);
    text[length] = 0;
    char *said = strstr(text, "\"is_decoder\": false");
    if (said)
        memcpy(said, "\"is_decoder\": true ", strlen("\"is_decoder\": true "));
    snprintf(changed, sizeof changed, "{%s%s", said ? "" : "\"is_decoder\": true,",
             strchr(text, '{') + 1);
    model_write_text(model, "decoder.json", changed);
}

/* Masks as transformers makes them: encoders that rotate ignore is_decoder. */
START_TEST(decoders_have_lags_of_one_sign) {
    static const struct {
        const char *family;
        bool both, as_decoder;
    } cases[] = {{"mpnet", true, false},         {"eurobert", true, true}, {"llama", false, false},
                 {"falcon-alibi", false, false}, {"t5", true, true},       {NULL, true, false}};
    const bert_sizes sizes = {6, 8, 2};
    test_model bert;
    make_bert(&sizes, &bert);
    model_write(&bert, bert_config(&sizes));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int decoder = 0; decoder < 2; decoder++) {
            char folder[512];
            double least, most;
            const char *family = cases[i].family;
            snprintf(folder, sizeof folder, "%s%s%s", family ? getenv("SZG_FAMILIES") : bert.folder,
                     family ? "/" : "", family ? family : "");
            write_decoder(&bert, folder);
            find_lags(folder, decoder ? model_path(&bert, "decoder.json") : NULL, &least, &most);
            bool both = decoder ? cases[i].as_decoder : cases[i].both;
            ck_assert_msg(most > 0 && least == (both ? -most : 0), "%s, %d: %g to %g", folder,
                          decoder, least, most);
        }
    model_close(&bert);
}
END_TEST

TEST_FILE("positional") {
    test_add(suite, "shares_and_chance_of_every_head", shares_and_chance_of_every_head);
    test_add(suite, "what_stands_out_among_all", what_stands_out_among_all);
    test_add(suite, "what_stands_beside_the_shares", what_stands_beside_the_shares);
    test_add(suite, "one_column_is_no_more_than_chance", one_column_is_no_more_than_chance);
    test_add(suite, "draws_of_few_columns_differ", draws_of_few_columns_differ);
    test_add(suite, "bands_hold_95_percent_of_the_draws", bands_hold_95_percent_of_the_draws);
    test_add(suite, "layers_by_the_same_draws", layers_by_the_same_draws);
    test_add(suite, "embeddings_that_cannot_be_read_are_said",
             embeddings_that_cannot_be_read_are_said);
    test_add(suite, "mechanisms_without_a_kernel_say_which", mechanisms_without_a_kernel_say_which);
    test_add(suite, "distance_tables_that_cannot_be_read_are_said",
             distance_tables_that_cannot_be_read_are_said);
    test_add(suite, "rotary_heads_need_no_embeddings", rotary_heads_need_no_embeddings);
    test_add(suite, "small_models", small_models);
    test_add(suite, "one_position_has_no_share", one_position_has_no_share);
    test_add(suite, "lags_end_with_the_length", lags_end_with_the_length);
    test_add(suite, "tables_by_the_lag_that_are_wrong", tables_by_the_lag_that_are_wrong);
    test_add(suite, "decoders_have_lags_of_one_sign", decoders_have_lags_of_one_sign);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
    test_add(suite, "refused_memory_of_biases_is_survived", refused_memory_of_biases_is_survived);
}
