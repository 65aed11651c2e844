/* Every key of the configuration: a line each. */
#include <string.h>

#include "config_private.h"

/* The key's name is the field's. */
#define ROW(field_, type_, ...)                                                                    \
    {                                                                                              \
        .key = {.name = #field_, .type = SZGI_CONFIG_##type_, __VA_ARGS__},                        \
        .offset = offsetof(szg_train_config, field_)                                               \
    }
#define RANGE(least, most) .min = (least), .max = (most)
#define EACH(text_, released_, rope_, mla_)                                                        \
    .text = (text_), .text_mla = (text_), .released = (released_), .released_rope = (rope_),       \
    .released_mla = (mla_)
#define SAME(value) EACH(value, value, value, value)
#define COUNT(value) .text_count = (value), .released_count = (value)
#define DOC(sentence) .doc = (sentence)
#define WORDS(words) .choices = (words)

#define LARGEST 9007199254740992 /* 2^53: the integers that every JSON reader keeps */
#define IDS 16777216

/* clang-format off */
static const config_row rows[] = {
    ROW(profile, CHOICE, WORDS("text|released"), EACH("text", "released", "released", "released"), DOC("sets every other key first: as the paper's text, or as its published code")),

    ROW(model.encoding, STRING, SAME("rope"), DOC("positional encoding, a SPEC (encodings.md); sizes and seed that follow from the model are filled in")),
    ROW(model.vocabulary, INTEGER, RANGE(2, IDS), SAME("574"), DOC("ids 0 (padding) .. vocabulary - 1")),
    ROW(model.width, INTEGER, RANGE(1, 65536), SAME("256"), DOC("numbers that represent a position in the residual stream")),
    ROW(model.hidden, INTEGER, RANGE(1, 1048576), SAME("512"), DOC("width of the feed-forward network's inner layer")),
    ROW(model.layers, INTEGER, RANGE(1, 1024), SAME("6"), DOC("number of layers")),
    ROW(model.heads, INTEGER, RANGE(1, 1024), SAME("16"), DOC("attention heads in each layer")),
    ROW(model.max_length, INTEGER, RANGE(1, 65536), SAME("128"), DOC("positions; shorter sequences are padded to it")),
    ROW(model.mask, CHOICE, WORDS("none|causal"), EACH("causal", "none", "none", "none"), DOC("whether later positions are hidden from earlier ones")),
    ROW(model.mask_padding, BOOLEAN, EACH("true", "false", "false", "true"), DOC("whether padding is hidden from every position")),
    ROW(model.keys_values, CHOICE, WORDS("self|embedding"), EACH("self", "embedding", "embedding", "self"), DOC("keys and values from the layer's own normalised input, or from the embeddings, unnormalised, in every layer")),
    ROW(model.pooling, CHOICE, WORDS("real|all"), EACH("real", "all", "all", "real"), DOC("mean over the real tokens, or over every position, padding included")),
    ROW(model.final_norm, BOOLEAN, EACH("false", "false", "false", "true"), DOC("a layer norm after the last layer")),
    {.key = {.name = "model.activation", .type = SZGI_CONFIG_CHOICE, WORDS("relu|gelu"), EACH("relu", "relu", "relu", "gelu"), DOC("activation of the feed-forward network; gelu is the erf form")}, .offset = offsetof(szg_train_config, model.activation), .first = SZG_ACTIVATION_RELU},
    ROW(model.dropout, REAL, RANGE(0, 1), SAME("0.1"), DOC("probability, below 1, wherever one of the next keys switches dropout on")),
    ROW(model.dropout_attention, BOOLEAN, EACH("true", "true", "true", "false"), DOC("drop attention weights")),
    ROW(model.dropout_attention_output, BOOLEAN, EACH("true", "true", "true", "false"), DOC("drop the attention's output, before it is added")),
    ROW(model.dropout_hidden, BOOLEAN, EACH("false", "false", "false", "true"), DOC("drop inside the feed-forward network, after the activation")),
    ROW(model.dropout_feed_forward, BOOLEAN, SAME("true"), DOC("drop the feed-forward network's output, before it is added")),
    ROW(model.added_sinusoid, CHOICE, WORDS("none|halves|interleaved"), EACH("none", "none", "halves", "none"), DOC("sinusoidal rows added to the embeddings in addition to the encoding's own: [sin, cos] as halves or interleaved, with frequencies over the width")),
    ROW(model.position_table, CHOICE, WORDS("fixed|trained"), EACH("fixed", "trained", "trained", "trained"), DOC("whether the rows of the encoding `random` are trained; both start normal(0, 1)")),
    ROW(model.extra_position_table, BOOLEAN, EACH("false", "false", "false", "true"), DOC("a trained table of position rows, zeros at the start, added to the embeddings")),
    ROW(model.biases, CHOICE, WORDS("all|not_attention|none"), .text = "all", .text_mla = "not_attention", .released = "all", .released_rope = "all", .released_mla = "not_attention", DOC("which linear layers have biases: all, all except attention's projections, or none")),
    ROW(model.classes, CHOICE, WORDS("labels|vocabulary"), EACH("labels", "vocabulary", "vocabulary", "vocabulary"), DOC("output classes: largest label + 1, or the vocabulary's size")),
    ROW(model.ignored_label, INTEGER, RANGE(-1, 2147483647), EACH("-1", "0", "0", "-1"), DOC("label that counts in neither loss nor accuracy; -1: none")),
    ROW(model.rotated_layers, INDICES, RANGE(0, 1023), SAME("all"), DOC("layers in which a rotary encoding rotates")),
    ROW(model.latent_query, INTEGER, RANGE(1, 65536), SAME("128"), DOC("mla: size of the compressed queries")),
    ROW(model.latent_kv, INTEGER, RANGE(1, 65536), SAME("128"), DOC("mla: size of the compressed keys and values")),
    ROW(model.rotary_queries, CHOICE, WORDS("per_head|shared"), EACH("per_head", "shared", "shared", "shared"), DOC("mla: each head has a rotary query of its own, or all heads share one; they always share one rotary key")),
    ROW(model.latent_rotation, CHOICE, WORDS("true|table_halves"), EACH("true", "table_halves", "table_halves", "table_halves"), DOC("mla: true rotates; table_halves reads a table of two halves [sin, cos] with stride 2 (even columns as sines, odd ones as cosines), which is not a rotation")),

    ROW(data.task, CHOICE, WORDS("distance|count"), SAME("distance"), COUNT("count"), DOC("Task 1, distance of two triggers, or Task 2, number of triggers")),
    ROW(data.train_file, STRING, SAME(""), DOC("JSONL in place of the task; empty: the task")),
    ROW(data.test_file, STRING, SAME(""), DOC("JSONL to test on; empty: a part of train_file")),
    ROW(data.examples, INTEGER, RANGE(2, 1000000000), SAME("100000"), COUNT("50000"), DOC("number of examples before duplicates are removed")),
    ROW(data.seed, INTEGER, RANGE(0, LARGEST), SAME("42"), DOC("seed of the data, the split and the probes")),
    ROW(data.train_part, REAL, RANGE(0, 1), SAME("0.7"), DOC("share of the examples to train on, between 0 and 1; the others are the test split")),
    ROW(data.between_min, INTEGER, RANGE(0, 65536), SAME("1"), DOC("distance: fewest words between the triggers")),
    ROW(data.between_max, INTEGER, RANGE(0, 65536), SAME("70"), DOC("distance: most words between the triggers")),
    ROW(data.side_min, INTEGER, RANGE(0, 65536), SAME("1"), DOC("distance: fewest words before the first and after the second trigger")),
    ROW(data.side_max, INTEGER, RANGE(0, 65536), SAME("25"), DOC("distance: most words on each side")),
    ROW(data.longest, INTEGER, RANGE(2, 65536), SAME("120"), DOC("distance: longer sequences are cut to this many words")),
    ROW(data.clean_labels, BOOLEAN, SAME("false"), DOC("distance: no trigger among the fillers, so every label follows from the text")),
    ROW(data.test_between_min, INTEGER, RANGE(0, 65536), SAME("0"), DOC("distance, length extrapolation: between_min of the test split")),
    ROW(data.test_between_max, INTEGER, RANGE(0, 65536), SAME("0"), DOC("distance, length extrapolation: between_max of the test split; 0: both as in training")),
    ROW(data.words, INTEGER, RANGE(1, 65536), SAME("120"), DOC("count: words in a sequence")),
    ROW(data.test_words, INTEGER, RANGE(0, 65536), SAME("0"), DOC("count, length extrapolation: words in a sequence of the test split; 0: as in training")),
    ROW(data.count_max, INTEGER, RANGE(0, 65536), SAME("100"), DOC("count: largest number of triggers; the number is uniform from 0")),
    ROW(data.triggers, INTEGER, RANGE(1, IDS), SAME("30"), DOC("count: trigger words")),

    ROW(loop.batch, INTEGER, RANGE(1, 1048576), EACH("512", "512", "512", "1024"), DOC("sequences in a step; the last step of an epoch may have fewer")),
    ROW(loop.epochs, INTEGER, RANGE(1, 1000000), EACH("100", "100", "100", "150"), .text_count = "150", DOC("passes over the training split")),
    ROW(loop.limit_steps, INTEGER, RANGE(0, 4294967295), SAME("0"), DOC("stop after this many steps; the schedule remains that of all epochs; 0: no limit")),
    ROW(loop.learning_rate, REAL, RANGE(0, 1000), SAME("0.0001"), DOC("largest learning rate")),
    ROW(loop.warmup, REAL, RANGE(0, 1), SAME("0.06"), DOC("linear warm-up as a share of all steps, rounded down; then a cosine to 0")),
    ROW(loop.beta1, REAL, RANGE(0, 1), SAME("0.98"), DOC("AdamW: decay of the first moment, below 1")),
    ROW(loop.beta2, REAL, RANGE(0, 1), SAME("0.9"), DOC("AdamW: decay of the second moment, below 1")),
    ROW(loop.eps, REAL, RANGE(0, 1), SAME("1e-08"), DOC("AdamW: added to the square root of the second moment")),
    ROW(loop.decay, REAL, RANGE(0, 1000), SAME("1e-05"), DOC("AdamW: weight decay of every parameter")),
    ROW(loop.checkpoint_every, INTEGER, RANGE(0, 4294967295), SAME("0"), DOC("steps between checkpoints; 0: at the end of each epoch only")),
    ROW(loop.evaluate_batch, INTEGER, RANGE(1, 1048576), SAME("256"), DOC("sequences in one pass of an evaluation")),
    ROW(loop.time_products, BOOLEAN, SAME("false"), DOC("on a GPU: time the algorithms of each product and keep the fastest in products.csv, from which a resumed run takes them")),

    ROW(capture.every, INTEGER, RANGE(0, 4294967295), SAME("0"), DOC("steps between captures of the logits; 0: none")),
    ROW(capture.until, INTEGER, RANGE(0, 4294967295), SAME("0"), DOC("capture only before this step; 0: to the end")),
    ROW(capture.layers, INDICES, RANGE(0, 1023), SAME("all"), DOC("layers to capture")),
    ROW(capture.heads, INDICES, RANGE(0, 1023), SAME("all"), DOC("heads to capture")),
    ROW(capture.probes, INTEGER, RANGE(1, 65536), SAME("1"), DOC("test sequences whose logits are captured")),
    ROW(capture.spectra, BOOLEAN, SAME("false"), DOC("also write every eigenvalue and singular value, and samples of the symbols")),
    ROW(capture.dump, BOOLEAN, SAME("false"), DOC("also write the raw logits")),

    ROW(intervention.kind, CHOICE, WORDS("none|rotation|gradient"), SAME("none"), DOC("what is done to one head: rotation leaves its queries and keys unrotated, gradient stops training the parameters that are its own")),
    ROW(intervention.layer, INTEGER, RANGE(0, 1023), SAME("0"), DOC("layer of that head")),
    ROW(intervention.head, INTEGER, RANGE(0, 1023), SAME("0"), DOC("that head")),
    ROW(intervention.from, REAL, RANGE(0, 1), SAME("0"), DOC("share of all steps, rounded down, after which the intervention begins; 0: from the start; 1: when training is done")),

    ROW(curvature.every, INTEGER, RANGE(0, 4294967295), SAME("0"), DOC("steps between measurements of the largest eigenvalue of the Hessian; 0: none")),
    ROW(curvature.until, INTEGER, RANGE(0, 4294967295), SAME("0"), DOC("measure only before this step; 0: to the end")),
    ROW(curvature.examples, INTEGER, RANGE(1, 1048576), SAME("256"), DOC("size of the batch whose loss it is: the first examples of the training split")),
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };

const config_row *szgi_config_row_at(int64_t index) {
    return index >= 0 && index < ROWS ? &rows[index] : NULL;
}

const szgi_config_key *szgi_train_config_key(int64_t index) {
    const config_row *row = szgi_config_row_at(index);
    return row ? &row->key : NULL;
}

const config_row *szgi_config_row_find(const char *name) {
    for (int64_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].key.name, name) == 0)
            return &rows[i];
    return NULL;
}

bool szgi_config_is_section(const char *section) {
    size_t length = strlen(section);
    for (int64_t i = 0; i < ROWS; i++)
        if (strncmp(rows[i].key.name, section, length) == 0 && rows[i].key.name[length] == '.')
            return true;
    return false;
}
