/* The configuration: profiles, what wins over what, exact echoes, refusals, the page of switches.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "linalg/linalg.h"
#include "base/file.h"
#include "formats/json.h"
#include "train/config/config_private.h"

#include "suite.h"

static const szgi_config_key *key_at(int64_t index) {
    const config_row *row = szgi_config_row_at(index);
    return row ? &row->key : NULL;
}

static szg_status parse(const char *text, szg_train_config *out) {
    return szgi_train_config_parse(test_context(), "c.json", text, out);
}

static szg_status read_overrides(const char *const *overrides, int64_t count,
                                 szg_train_config *out) {
    return szg_train_config_read(test_context(), NULL, overrides, count, out);
}
#define READ(out, ...)                                                                             \
    read_overrides((const char *const[]){__VA_ARGS__},                                             \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), (out))

static void check_echo(const szg_train_config *config) {
    szgi_json *json;
    char *text;
    szg_train_config again;
    ck_szg_ok(szgi_train_config_json(test_context(), config, &json));
    ck_szg_ok(szgi_json_text(test_context(), szgi_json_root(json), 2, &text));
    ck_szg_ok(parse(text, &again));
    ck_assert_msg(memcmp(config, &again, sizeof again) == 0, "%s", text);
    szgi_memory_free(text);
    szgi_json_close(&json);
}

/* The paper's Table 3 and section 5, and the defaults of the released training script. */
START_TEST(text_profile_is_the_paper) {
    szg_train_config c;
    ck_szg_ok(parse("{}", &c));
    const szg_model_config *m = &c.model;
    ck_assert_int_eq(c.profile, SZG_PROFILE_TEXT);
    ck_assert_str_eq(m->encoding, "rope");
    ck_assert(m->vocabulary == 574 && m->width == 256 && m->hidden == 512 && m->layers == 6);
    ck_assert(m->heads == 16 && m->max_length == 128 && m->mask == SZG_MASK_CAUSAL);
    ck_assert(m->mask_padding && m->keys_values == SZG_KEYS_SELF && m->pooling == SZG_POOL_REAL);
    ck_assert(!m->final_norm && m->activation == SZG_ACTIVATION_RELU && m->dropout == 0.1);
    ck_assert(m->dropout_attention && m->dropout_attention_output && m->dropout_feed_forward);
    ck_assert(!m->dropout_hidden && m->added_sinusoid == SZG_SINUSOID_NONE);
    ck_assert(m->position_table == SZG_TABLE_FIXED && !m->extra_position_table);
    ck_assert(m->biases == SZG_BIASES_ALL && m->classes == SZG_CLASSES_LABELS);
    ck_assert(m->ignored_label == -1 && m->rotated_layers.all && m->latent_query == 128 &&
              m->latent_kv == 128);
    ck_assert(m->rotary_queries == SZG_QUERIES_PER_HEAD && m->latent_rotation == SZG_ROTATION_TRUE);
    ck_assert(c.loop.batch == 512 && c.loop.epochs == 100 && c.loop.learning_rate == 1e-4);
    ck_assert(c.loop.beta1 == .98 && c.loop.beta2 == .9 && c.loop.decay == 1e-5);
    ck_assert(c.loop.eps == 1e-8 && c.loop.warmup == .06 && c.data.train_part == .7);
    ck_assert(c.data.task == SZG_TASK_DISTANCE && c.data.examples == 100000);
    ck_assert(c.data.seed == 42 && c.data.between_min == 1 && c.data.between_max == 70);
    ck_assert(c.data.side_min == 1 && c.data.side_max == 25 && c.data.longest == 120);
    ck_assert(c.data.words == 120 && c.data.count_max == 100 && c.data.triggers == 30);
    ck_szg_ok(READ(&c, "model.encoding=mla"));
    ck_assert_int_eq(m->biases, SZG_BIASES_NOT_ATTENTION);
    ck_assert_int_eq(m->mask, SZG_MASK_CAUSAL);
}
END_TEST

/* Section 5: 50,000 examples and 150 epochs of Task 2, wherever the task stands; keys that are
 * given win. */
START_TEST(counting_has_its_own_sizes) {
    szg_train_config c;
    ck_szg_ok(parse("{\"data\": {\"task\": \"count\"}}", &c));
    ck_assert_int_eq(c.data.task, SZG_TASK_COUNT);
    ck_assert(c.data.examples == 50000 && c.loop.epochs == 150);
    check_echo(&c);
    ck_szg_ok(READ(&c, "profile=released", "loop.epochs=7", "data.task=count"));
    ck_assert(c.data.examples == 50000 && c.loop.epochs == 7);
    ck_szg_ok(READ(&c, "data.task=count", "data.task=distance"));
    ck_assert(c.data.examples == 100000 && c.loop.epochs == 100);
}
END_TEST

/* The released scripts: 100 epochs and a batch of 512 for six encodings, 150 and 1024 for MLA, for
 * both tasks. */
START_TEST(released_loops_are_the_scripts) {
    static const char *const encodings[] = {"nope",      "absolute", "alibi",           "relative",
                                            "random",    "rope",     "rope:rotate=0-3", "mla",
                                            "mla:rope=8"};
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        for (int task = 0; task < 2; task++) {
            bool mla = strncmp(encodings[i], "mla", 3) == 0;
            char encoding[64];
            szg_train_config c;
            snprintf(encoding, sizeof encoding, "model.encoding=%s", encodings[i]);
            ck_szg_ok(READ(&c, "profile=released", encoding,
                           task == 0 ? "data.task=distance" : "data.task=count"));
            ck_assert_int_eq(c.loop.epochs, mla ? 150 : 100);
            ck_assert_int_eq(c.loop.batch, mla ? 1024 : 512);
            ck_assert_int_eq(c.data.examples, task == 0 ? 100000 : 50000);
        }
}
END_TEST

static void check_released(const char *encoding, szg_sinusoid sinusoid, bool mla) {
    szg_train_config c;
    const szg_model_config *m = &c.model;
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_RELEASED, encoding, &c));
    ck_assert_int_eq(m->mask, SZG_MASK_NONE);
    ck_assert_int_eq(m->mask_padding, mla);
    ck_assert_int_eq(m->keys_values, mla ? SZG_KEYS_SELF : SZG_KEYS_EMBEDDING);
    ck_assert_int_eq(m->pooling, mla ? SZG_POOL_REAL : SZG_POOL_ALL);
    ck_assert_int_eq(m->final_norm, mla);
    ck_assert_int_eq(m->activation, mla ? SZG_ACTIVATION_GELU : SZG_ACTIVATION_RELU);
    ck_assert_int_eq(m->dropout_attention, !mla);
    ck_assert_int_eq(m->dropout_attention_output, !mla);
    ck_assert_int_eq(m->dropout_hidden, mla);
    ck_assert(m->dropout_feed_forward);
    ck_assert_int_eq(m->added_sinusoid, sinusoid);
    ck_assert_int_eq(m->position_table, SZG_TABLE_TRAINED);
    ck_assert_int_eq(m->extra_position_table, mla);
    ck_assert_int_eq(m->biases, mla ? SZG_BIASES_NOT_ATTENTION : SZG_BIASES_ALL);
    ck_assert_int_eq(m->classes, SZG_CLASSES_VOCABULARY);
    ck_assert_int_eq(m->ignored_label, mla ? -1 : 0);
    ck_assert_int_eq(m->rotary_queries, SZG_QUERIES_SHARED);
    ck_assert_int_eq(m->latent_rotation, SZG_ROTATION_TABLE_HALVES);
}

START_TEST(released_profile_is_the_code) {
    check_released("rope", SZG_SINUSOID_HALVES, false);
    check_released("rope:base=5000", SZG_SINUSOID_HALVES, false);
    check_released("rope:rotate=0-3", SZG_SINUSOID_NONE, false);
    check_released("rope:base=5000,rotate=0", SZG_SINUSOID_NONE, false);
    check_released("rope+absolute", SZG_SINUSOID_NONE, false);
    check_released("nope", SZG_SINUSOID_NONE, false);
    check_released("mla", SZG_SINUSOID_NONE, true);
}
END_TEST

static void check_slopes(szg_profile profile, const char *spec, const char *becomes) {
    szg_train_config c;
    ck_szg_ok(szgi_train_config_profile(test_context(), profile, spec, &c));
    ck_assert_str_eq(c.model.encoding, becomes);
    ck_szg_ok(szg_train_config_set(test_context(), &c, "model.encoding", spec));
    ck_assert_str_eq(c.model.encoding, becomes);
}

START_TEST(released_slopes_stand_in_the_spec) {
    check_slopes(SZG_PROFILE_TEXT, "alibi", "alibi");
    check_slopes(SZG_PROFILE_RELEASED, "alibi", "alibi:slopes=exp");
    check_slopes(SZG_PROFILE_RELEASED, "alibi:heads=16", "alibi:heads=16,slopes=exp");
    check_slopes(SZG_PROFILE_RELEASED, "alibi:slopes=published", "alibi:slopes=published");
    check_slopes(SZG_PROFILE_RELEASED, "alibi:heads=16,slopes=exp", "alibi:heads=16,slopes=exp");
}
END_TEST

/* Explicit keys win, wherever they stand; among overrides the last. */
START_TEST(explicit_keys_win) {
    szg_train_config c;
    ck_szg_ok(parse("{\"model\": {\"mask\": \"causal\", \"encoding\": \"mla\"}, "
                    "\"profile\": \"released\"}",
                    &c));
    ck_assert_int_eq(c.model.mask, SZG_MASK_CAUSAL);
    ck_assert(c.model.final_norm);
    ck_szg_ok(READ(&c, "model.final_norm=false", "profile=released", "model.encoding=mla"));
    ck_assert(!c.model.final_norm && c.model.mask == SZG_MASK_NONE);
    ck_szg_ok(
        READ(&c, "model.width=64", "model.encoding=mla", "model.encoding=nope", "model.width=32"));
    ck_assert_str_eq(c.model.encoding, "nope");
    ck_assert_int_eq(c.model.width, 32);
    ck_assert_int_eq(c.model.biases, SZG_BIASES_ALL);
    ck_szg_ok(READ(&c, "profile=released", "model.encoding=alibi:slopes=published"));
    ck_assert_str_eq(c.model.encoding, "alibi:slopes=published");
    ck_szg_ok(parse("{\"profile\": \"released\", \"model\": {\"encoding\": \"alibi\"}}", &c));
    ck_assert_str_eq(c.model.encoding, "alibi:slopes=exp");
}
END_TEST

/* Overrides beat the file's keys, also where they change the profile under them. */
static void write_document(char *path, const char *text) {
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    fputs(text, file);
    fclose(file);
}

START_TEST(files_and_overrides) {
    char path[] = "/tmp/szego-config.XXXXXX";
    write_document(path, "{\"model\": {\"heads\": 8, \"pooling\": \"real\"}, "
                         "\"loop\": {\"batch\": 64}}");
    szg_train_config c;
    const char *const overrides[] = {"loop.batch=32", "profile=released"};
    ck_szg_ok(szg_train_config_read(test_context(), path, overrides, 2, &c));
    ck_assert(c.model.heads == 8 && c.model.pooling == SZG_POOL_REAL && c.loop.batch == 32);
    ck_assert_int_eq(c.model.mask, SZG_MASK_NONE);
    check_echo(&c);
    const char *const wrong[] = {"model.heads=7"};
    ck_szg_fails(SZG_EINVAL, "model.heads=7 does not divide",
                 szg_train_config_read(test_context(), path, wrong, 1, &c));
    ck_szg_fails(SZG_EINVAL, "an override, on top of /tmp/szego-config.",
                 szg_train_config_read(test_context(), path, wrong, 1, &c));
    ck_survives_failed_allocations(1,
                                   szg_train_config_read(test_context(), path, overrides, 2, &c));
    remove(path);
    ck_szg_fails(SZG_EIO, path, szg_train_config_read(test_context(), path, NULL, 0, &c));
}
END_TEST

/* A file that is wrong by itself is blamed, whatever stands beside it; one that an override makes
 * right is not, and what another override then breaks is no fault of the file. */
START_TEST(who_is_blamed) {
    char path[] = "/tmp/szego-config.XXXXXX";
    write_document(path, "{\"model\": {\"heads\": 7}}");
    szg_train_config c;
    const char *const beside[] = {"loop.batch=32", "model.heads=8", "data.side_min=26"};
    ck_szg_fails(SZG_EDATA, "model.heads=7 does not divide",
                 szg_train_config_read(test_context(), path, beside, 1, &c));
    ck_assert_ptr_eq(strstr(szg_context_message(test_context()), path),
                     szg_context_message(test_context()));
    ck_szg_ok(szg_train_config_read(test_context(), path, beside, 2, &c));
    ck_szg_fails(SZG_EINVAL, "data.side_min=26 exceeds",
                 szg_train_config_read(test_context(), path, beside, 3, &c));
    ck_survives_failed_allocations(1, szg_train_config_read(test_context(), path, beside, 2, &c));
    remove(path);
}
END_TEST

/* Every key is set to a corner or a drawn value, in both profiles; the echo reads back bit for
 * bit. Values that would not go together are left out by hand. */
static void draw_value(const szgi_config_key *key, const szgi_stream *stream, uint64_t index,
                       char *text, size_t size) {
    int64_t words = 1;
    for (const char *at = key->choices; at && *at; at++)
        words += *at == '|';
    const char *word = key->choices;
    double part = szgi_random_uniform(stream, index);
    switch (key->type) {
    case SZGI_CONFIG_INTEGER:
        snprintf(text, size, "%lld",
                 (long long)(part < .2   ? key->min
                             : part < .4 ? key->max
                                         : key->min + part * (key->max - key->min)));
        break;
    case SZGI_CONFIG_REAL:
        snprintf(text, size, "%.17g", part < .1 ? key->min : part * .99 * key->max);
        break;
    case SZGI_CONFIG_BOOLEAN:
        snprintf(text, size, "%s", part < .5 ? "true" : "false");
        break;
    case SZGI_CONFIG_CHOICE:
        for (int64_t i = szgi_random_below(stream, index, words); i > 0; i--)
            word = strchr(word, '|') + 1;
        snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
        break;
    case SZGI_CONFIG_STRING:
        snprintf(text, size, "%s", part < .5 ? "" : "a \"b\"\\\xC3\xA9=\x01,\n");
        break;
    case SZGI_CONFIG_INDICES:
        snprintf(text, size, "%s", part < .25 ? "all" : part < .5 ? "none" : "0-1+3+5");
        break;
    }
}

START_TEST(echoes_read_back_exactly) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 501};
    int64_t passed = 0;
    for (int64_t trial = 0; trial < test_trials(3000); trial++) {
        szg_train_config c;
        const szgi_config_key *key;
        char text[256];
        stream.step = (uint32_t)trial;
        ck_szg_ok(szgi_train_config_profile(test_context(), (szg_profile)(trial % 2),
                                            trial % 3 ? "rope" : "mla", &c));
        for (uint64_t i = 1; (key = key_at((int64_t)i)); i++) {
            if (szgi_random_uniform(&stream, 1000 + i) < .8 ||
                strcmp(key->name, "model.encoding") == 0)
                continue;
            draw_value(key, &stream, i, text, sizeof text);
            ck_szg_ok(szg_train_config_set(test_context(), &c, key->name, text));
        }
        if (szg_train_config_check(test_context(), &c) != SZG_OK)
            continue;
        check_echo(&c);
        passed++;
    }
    ck_assert_int_gt(passed, test_trials(3000) / 100);
}
END_TEST

/* Each key alone, every value of the profiles and the ends of its range: set, echoed, read. The
 * document holds the one key and those that it needs to go with. */
START_TEST(every_key_is_read_alone) {
    const szgi_config_key *key;
    for (int64_t i = 0; (key = key_at(i)); i++) {
        const char *values[] = {key->text, key->text_mla, key->released, key->released_rope,
                                key->released_mla};
        for (int v = 0; v < 5; v++) {
            char document[512], section[32];
            size_t length = strcspn(key->name, ".");
            bool quoted = key->type == SZGI_CONFIG_CHOICE || key->type == SZGI_CONFIG_STRING ||
                          key->type == SZGI_CONFIG_INDICES;
            const char *quote = quoted ? "\"" : "";
            snprintf(section, sizeof section, "%.*s", (int)length, key->name);
            if (key->name[length])
                snprintf(document, sizeof document, "{\"%s\": {\"%s\": %s%s%s}}", section,
                         key->name + length + 1, quote, values[v], quote);
            else
                snprintf(document, sizeof document, "{\"%s\": %s%s%s}", section, quote, values[v],
                         quote);
            szg_train_config c;
            ck_szg_ok(parse(document, &c));
            check_echo(&c);
        }
    }
}
END_TEST

static const struct {
    const char *json, *words;
} bad[] = {
    {"", "c.json: line 1"},
    {"[]", "c.json: is an array, not an object"},
    {"{\"model\": 5}", "c.json: model: is an integer, not an object"},
    {"{\"model\": {\"widht\": 64}}",
     "c.json: model.widht: is not a key of the configuration: did you mean model.width?"},
    {"{\"width\": 64}",
     "c.json: width: is not a key of the configuration: did you mean model.width?"},
    {"{\"loop\": {\"seed\": 64}}", "did you mean data.seed?"},
    {"{\"loop\": {\"lr\": 1}}", "loop.lr: is not a key of the configuration: did you mean "
                                "loop.learning_rate?"},
    {"{\"batch_size\": 64}", "did you mean loop.batch?"},
    {"{\"modle\": {\"width\": 64}}", "c.json: modle: is not a key"},
    {"{\"model\": {\"width\": 64, \"width\": 64}}", "duplicate"},
    {"{\"model\": {\"width\": 64.5}}", "model.width: is a real number, not an integer"},
    {"{\"model\": {\"width\": \"64\"}}", "model.width: is a text, not an integer"},
    {"{\"model\": {\"width\": null}}", "model.width: is null, not an integer"},
    {"{\"model\": {\"width\": 0}}", "model.width: is outside the range 1 .. 65536"},
    {"{\"model\": {\"dropout\": -0.1}}", "model.dropout: is outside the range 0 .. 1"},
    {"{\"model\": {\"dropout\": 1}}", "model.dropout=1 leaves nothing"},
    {"{\"model\": {\"mask\": \"Causal\"}}",
     "model.mask: is unknown: did you mean causal? One of none|causal"},
    {"{\"model\": {\"mask\": \"\"}}", "model.mask: is unknown: one of none|causal"},
    {"{\"model\": {\"mask\": true}}", "model.mask: is true or false, not a text"},
    {"{\"model\": {\"final_norm\": \"true\"}}", "model.final_norm: is a text, not true or false"},
    {"{\"model\": {\"rotated_layers\": \"3-1\"}}", "is not an ascending list"},
    {"{\"model\": {\"rotated_layers\": \"\"}}", "is not an ascending list"},
    {"{\"model\": {\"rotated_layers\": \"1+\"}}", "is not an ascending list"},
    {"{\"model\": {\"rotated_layers\": \"1+1\"}}", "is not an ascending list"},
    {"{\"model\": {\"rotated_layers\": \"0-1024\"}}", "outside the range 0 .. 1023"},
    {"{\"model\": {\"rotated_layers\": \"0-64\"}}", "has more than 64 members"},
    {"{\"model\": {\"rotated_layers\": \"0-99999999999999999999\"}}", "is not an ascending list"},
    {"{\"model\": {\"rotated_layers\": \"6\"}}",
     "model.rotated_layers names 6, but model.layers=6"},
    {"{\"model\": {\"heads\": 7}}", "model.heads=7 does not divide model.width=256"},
    {"{\"model\": {\"encoding\": \"ropes\"}}", "model.encoding (model.width=256, a head of 16): "},
    {"{\"model\": {\"encoding\": \"ropes\"}}", "\"ropes\" is unknown"},
    {"{\"model\": {\"width\": 112}}", "dim=7 is odd"},
    {"{\"model\": {\"encoding\": \"alibi:heads=8\"}}", "heads=8 contradicts the model"},
    {"{\"model\": {\"encoding\": \"rope:rotate=16\"}}", "names head 16"},
    {"{\"model\": {\"encoding\": \"alibi\", \"rotated_layers\": \"0\"}}",
     "model.encoding=alibi does not rotate"},
    {"{\"model\": {\"width\": 15, \"heads\": 3, \"encoding\": \"nope\", "
     "\"added_sinusoid\": \"halves\"}}",
     "model.width=15 is odd"},
    {"{\"profile\": \"released\", \"data\": {\"between_max\": 600, \"longest\": 700}, "
     "\"model\": {\"max_length\": 700}}",
     "data.between_max=600 words without replacement"},
    {"{\"profile\": \"released\", \"model\": {\"vocabulary\": 71}}",
     "data.between_max makes labels up to 71, but model.classes=vocabulary has 71"},
    {"{\"model\": {\"vocabulary\": 72}, \"data\": {\"clean_labels\": true}}",
     "has 69 besides the triggers"},
    {"{\"model\": {\"vocabulary\": 70}}", "has 69"},
    {"{\"model\": {\"vocabulary\": 2}, \"data\": {\"between_min\": 0, \"between_max\": 0}}",
     "padding and two triggers"},
    {"{\"data\": {\"longest\": 96}}", "data.side_max + data.between_max + 2 = 97 exceeds"},
    {"{\"data\": {\"test_between_max\": 94, \"test_between_min\": 71}}",
     "data.side_max + data.test_between_max + 2 = 121 exceeds"},
    {"{\"data\": {\"test_between_min\": 71}}", "data.test_between_min=71 exceeds"},
    {"{\"data\": {\"between_min\": 71}}", "data.between_min=71 exceeds data.between_max=70"},
    {"{\"data\": {\"side_min\": 26}}", "data.side_min=26 exceeds data.side_max=25"},
    {"{\"data\": {\"longest\": 129}}", "data.longest=129 words do not fit model.max_length=128"},
    {"{\"data\": {\"task\": \"count\", \"count_max\": 121}}", "data.count_max=121 exceeds"},
    {"{\"data\": {\"task\": \"count\", \"triggers\": 573}}", "leave no other word"},
    {"{\"data\": {\"task\": \"count\", \"words\": 129}}", "data.words=129 words do not fit"},
    {"{\"data\": {\"task\": \"count\", \"test_words\": 129}}",
     "data.test_words=129 words do not fit"},
    {"{\"data\": {\"task\": \"count\", \"test_words\": 99}}",
     "data.count_max=100 exceeds data.test_words=99"},
    {"{\"data\": {\"test_file\": \"a\"}}", "without data.train_file"},
    {"{\"data\": {\"train_part\": 1.0}}", "data.train_part=1"},
    {"{\"data\": {\"train_part\": 0}}", "data.train_part=0"},
    {"{\"data\": {\"seed\": -1}}", "data.seed: is outside the range"},
    {"{\"data\": {\"seed\": 9007199254740993}}", "data.seed: is outside the range"},
    {"{\"loop\": {\"beta1\": 1}}", "must be below 1"},
    {"{\"capture\": {\"heads\": \"16\"}}", "capture.heads names 16, but model.heads=16"},
    {"{\"capture\": {\"every\": 5, \"layers\": \"none\"}}", "no layer or no head to capture"},
    {"{\"intervention\": {\"kind\": \"rotations\"}}",
     "intervention.kind: is unknown: did you mean rotation? One of none|rotation|gradient"},
    {"{\"intervention\": {\"from\": 1.5}}", "intervention.from: is outside the range 0 .. 1"},
    {"{\"intervention\": {\"head\": -1}}", "intervention.head: is outside the range 0 .. 1023"},
    {"{\"intervention\": {\"kind\": \"gradient\", \"layer\": 6}}",
     "intervention.layer names 6, but model.layers=6"},
    {"{\"intervention\": {\"kind\": \"rotation\", \"head\": 16}}",
     "intervention.head names 16, but model.heads=16"},
    {"{\"model\": {\"encoding\": \"alibi\"}, \"intervention\": {\"kind\": \"rotation\"}}",
     "intervention.kind=rotation: model.encoding=alibi does not rotate head 0 of layer 0"},
    {"{\"model\": {\"encoding\": \"rope:rotate=0-3\"}, \"intervention\": {\"kind\": \"rotation\", "
     "\"head\": 4}}",
     "model.encoding=rope:rotate=0-3 does not rotate head 4 of layer 0: name a head that rotates"},
    {"{\"model\": {\"rotated_layers\": \"0+2\"}, \"intervention\": {\"kind\": \"rotation\", "
     "\"layer\": 1}}",
     "model.encoding=rope does not rotate head 0 of layer 1"},
};

START_TEST(bad_documents_are_refused) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szg_train_config c;
        ck_szg_fails(SZG_EDATA, bad[i].words, parse(bad[i].json, &c));
        ck_assert_msg(strncmp(szg_context_message(test_context()), "c.json: ", 8) == 0, "%s",
                      szg_context_message(test_context()));
    }
}
END_TEST

static const struct {
    const char *text, *words;
} bad_override[] = {
    {"model.width", "is not key=value"},
    {"", "is not key=value"},
    {"=5", "is not a key of the configuration: docs/reference/configuration.md lists them"},
    {"model.nonsense=5",
     "is not a key of the configuration: docs/reference/configuration.md lists them"},
    {"modle.widht=5", "did you mean model.width?"},
    {"loop.warmpu=5", "did you mean"},
    {"data.task=cuont", "data.task=cuont: is unknown: did you mean count?"},
    {"model.widths=5", "did you mean model.width?"},
    {"width=5", "did you mean model.width?"},
    {"model.width=", "model.width=: is not a whole number"},
    {"model.width= 5", "is not a whole number"},
    {"model.width=+5", "is not a whole number"},
    {"model.width=5x", "is not a whole number"},
    {"model.width=-", "is not a whole number"},
    {"model.width=99999999999999999999", "is outside the range"},
    {"model.dropout=nan", "is not a finite number"},
    {"model.dropout=inf", "is not a finite number"},
    {"model.dropout=1e999", "is not a finite number"},
    {"model.final_norm=yes", "is neither true nor false"},
    {"profile=paper", "is unknown: one of text|released"},
    {"data.train_file=\xFF", "is not UTF-8"},
    {"data.train_file=\xC0\x80", "is not UTF-8"},
    {"data.train_file=\xE2\x82", "is not UTF-8"},
    {"data.train_file=\xE0\x9F\xBF", "is not UTF-8"},
    {"data.train_file=\xED\xA0\x80", "is not UTF-8"},
    {"data.train_file=\xF0\x8F\xBF\xBF", "is not UTF-8"},
    {"data.train_file=\xF4\x90\x80\x80", "is not UTF-8"},
};

START_TEST(bad_overrides_are_refused) {
    szg_train_config c;
    for (size_t i = 0; i < sizeof bad_override / sizeof *bad_override; i++)
        ck_szg_fails(SZG_EINVAL, bad_override[i].words, READ(&c, bad_override[i].text));
    ck_szg_fails(SZG_EINVAL, "model.heads=7 does not divide", READ(&c, "model.heads=7"));
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "rope", &c));
    ck_szg_fails(SZG_EINVAL, "did you mean model.width?",
                 szg_train_config_set(test_context(), &c, "model.with", "5"));
    ck_szg_fails(SZG_EINVAL, "a profile sets every other key",
                 szg_train_config_set(test_context(), &c, "profile", "released"));
    ck_szg_fails(SZG_EINVAL, "model.encoding", READ(&c, "model.encoding=ropes"));
    ck_szg_fails(SZG_EIO, "no-such-table", READ(&c, "model.encoding=relative:table=no-such-table"));
    char longest[SZG_CONFIG_TEXT + 32] = "data.train_file=";
    memset(longest + 16, 'a', SZG_CONFIG_TEXT);
    ck_szg_fails(SZG_EINVAL, "1024 bytes, 1023 are the most", READ(&c, longest));
    longest[16 + SZG_CONFIG_TEXT - 1] = 0;
    ck_szg_ok(READ(&c, longest));
    check_echo(&c);
}
END_TEST

/* A struct that was filled by hand is held to the table too. */
START_TEST(fields_out_of_range_are_refused) {
    szg_train_config c;
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "rope", &c));
    c.model.layers = 0;
    ck_szg_fails(SZG_EINVAL, "model.layers=0", szg_train_config_check(test_context(), &c));
    c.model.layers = 6;
    c.loop.learning_rate = NAN;
    ck_szg_fails(SZG_EINVAL, "loop.learning_rate=nan", szg_train_config_check(test_context(), &c));
}
END_TEST

/* The table itself: its values are values, its words and sentences are there, no name twice. */
START_TEST(table_is_sound) {
    const szgi_config_key *key, *other;
    for (int64_t i = 0; (key = key_at(i)); i++) {
        ck_assert_msg(key->doc && *key->doc, "%s", key->name);
        ck_assert((key->type == SZGI_CONFIG_CHOICE) == (key->choices != NULL));
        for (int64_t j = 0; j < i && (other = key_at(j)); j++)
            ck_assert_str_ne(key->name, other->name);
    }
    ck_assert_ptr_null(key_at(-1));
}
END_TEST

static void shown_range(const szgi_config_key *key, char *text, size_t size) {
    switch (key->type) {
    case SZGI_CONFIG_INTEGER:
        snprintf(text, size, "integer %.0f .. %.0f", key->min, key->max);
        break;
    case SZGI_CONFIG_REAL:
        snprintf(text, size, "number %g .. %g", key->min, key->max);
        break;
    case SZGI_CONFIG_BOOLEAN:
        snprintf(text, size, "true, false");
        break;
    case SZGI_CONFIG_CHOICE: {
        size_t used = 0;
        for (const char *at = key->choices; *at && used + 3 < size; at++) {
            used += (size_t)snprintf(text + used, size - used, "%s", *at == '|' ? ", " : "");
            if (*at != '|')
                text[used++] = *at;
            text[used] = 0;
        }
        break;
    }
    case SZGI_CONFIG_STRING:
        snprintf(text, size, "text");
        break;
    case SZGI_CONFIG_INDICES:
        snprintf(text, size, "list, all, none");
        break;
    }
}

/* "v", or "v (mla: w)", "v (rope: u; mla: w)", "v (count: w)" where they differ. */
static void shown_values(const char *value, const char *rope, const char *mla, const char *count,
                         char *text, size_t size) {
    const struct {
        const char *name, *value;
    } others[] = {{"rope", rope}, {"mla", mla}, {"count", count ? count : value}};
    size_t used = (size_t)snprintf(text, size, "%s", value), plain = used;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, others[i].value) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s: %s",
                                     used == plain ? " (" : "; ", others[i].name, others[i].value);
    snprintf(text + used, size - used, "%s", used == plain ? "" : ")");
}

/* The line of docs/reference/configuration.md for a key, up to the row of the released code's
 * table. */
static void shown_row(const szgi_config_key *key, char *text, size_t size) {
    char range[256], plain[256], released[256];
    shown_range(key, range, sizeof range);
    bool task = strcmp(key->name, "data.task") == 0;
    shown_values(key->text, key->text, key->text_mla, task ? NULL : key->text_count, plain,
                 sizeof plain);
    shown_values(key->released, key->released_rope, key->released_mla,
                 task ? NULL : key->released_count, released, sizeof released);
    snprintf(text, size, "\n| `%s` | %s | %s | %s | %s |", key->name, range, plain, released,
             key->doc);
}

START_TEST(documented) {
    const char *docs = getenv("SZG_DOCS");
    ck_assert_ptr_nonnull(docs);
    char path[4096], row[1024];
    snprintf(path, sizeof path, "%s/reference/configuration.md", docs);
    szgi_contents page;
    ck_szg_ok(szgi_contents_open(test_context(), path, &page));
    const szgi_config_key *key;
    for (int64_t i = 0; (key = key_at(i)); i++) {
        shown_row(key, row, sizeof row);
        ck_assert_msg(memmem(page.data, (size_t)page.size, row, strlen(row)), "%s lacks%s", path,
                      row);
    }
    szgi_contents_close(&page);
}
END_TEST

TEST_FILE("config") {
    test_add(suite, "text_profile_is_the_paper", text_profile_is_the_paper);
    test_add(suite, "counting_has_its_own_sizes", counting_has_its_own_sizes);
    test_add(suite, "released_loops_are_the_scripts", released_loops_are_the_scripts);
    test_add(suite, "released_profile_is_the_code", released_profile_is_the_code);
    test_add(suite, "released_slopes_stand_in_the_spec", released_slopes_stand_in_the_spec);
    test_add(suite, "explicit_keys_win", explicit_keys_win);
    test_add(suite, "files_and_overrides", files_and_overrides);
    test_add(suite, "who_is_blamed", who_is_blamed);
    test_add(suite, "echoes_read_back_exactly", echoes_read_back_exactly);
    test_add(suite, "every_key_is_read_alone", every_key_is_read_alone);
    test_add(suite, "bad_documents_are_refused", bad_documents_are_refused);
    test_add(suite, "bad_overrides_are_refused", bad_overrides_are_refused);
    test_add(suite, "fields_out_of_range_are_refused", fields_out_of_range_are_refused);
    test_add(suite, "table_is_sound", table_is_sound);
    test_add(suite, "documented", documented);
}
