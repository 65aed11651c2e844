/* The configuration of a training run: one flat struct of named switches, read from JSON and from
 * `key=value` overrides, echoed in full. Each key, its range, what it does and its value in either
 * profile are in one table, docs/reference/configuration.md. */
#ifndef SZEGO_TRAIN_CONFIG_H
#define SZEGO_TRAIN_CONFIG_H

#include <szego/backend.h>

SZG_BEGIN_DECLS

enum { SZG_CONFIG_TEXT = 1024, SZG_CONFIG_LIST = 64 };

typedef enum szg_profile { SZG_PROFILE_TEXT, SZG_PROFILE_RELEASED } szg_profile;
typedef enum szg_task { SZG_TASK_DISTANCE, SZG_TASK_COUNT } szg_task;
typedef enum szg_mask { SZG_MASK_NONE, SZG_MASK_CAUSAL } szg_mask;
typedef enum szg_keys_values { SZG_KEYS_SELF, SZG_KEYS_EMBEDDING } szg_keys_values;
typedef enum szg_pool { SZG_POOL_REAL, SZG_POOL_ALL } szg_pool;
typedef enum szg_sinusoid {
    SZG_SINUSOID_NONE,
    SZG_SINUSOID_HALVES,
    SZG_SINUSOID_INTERLEAVED
} szg_sinusoid;
typedef enum szg_position_table { SZG_TABLE_FIXED, SZG_TABLE_TRAINED } szg_position_table;
typedef enum szg_biases { SZG_BIASES_ALL, SZG_BIASES_NOT_ATTENTION, SZG_BIASES_NONE } szg_biases;
typedef enum szg_classes { SZG_CLASSES_LABELS, SZG_CLASSES_VOCABULARY } szg_classes;
typedef enum szg_rotary_queries { SZG_QUERIES_PER_HEAD, SZG_QUERIES_SHARED } szg_rotary_queries;
typedef enum szg_latent_rotation {
    SZG_ROTATION_TRUE,
    SZG_ROTATION_TABLE_HALVES
} szg_latent_rotation;
typedef enum szg_intervention {
    SZG_INTERVENTION_NONE,
    SZG_INTERVENTION_ROTATION, /* the head's queries and keys are not rotated */
    SZG_INTERVENTION_GRADIENT  /* the head's own parameters are not trained */
} szg_intervention;

/* A list of indices; all: every one; without any: "none". */
typedef struct szg_index_list {
    bool all;
    int64_t count, index[SZG_CONFIG_LIST]; /* ascending, without repeats */
} szg_index_list;

typedef struct szg_model_config {
    char encoding[SZG_CONFIG_TEXT]; /* a SPEC; sizes that follow from the model are filled in */
    int64_t vocabulary;             /* ids 0 (padding) .. vocabulary - 1 */
    int64_t width, hidden, layers, heads, max_length;
    szg_mask mask;
    bool mask_padding; /* keys beyond a sequence's end are masked */
    szg_keys_values keys_values;
    szg_pool pooling;
    bool final_norm;
    szg_activation activation;
    double dropout; /* probability, at the places switched on below */
    bool dropout_attention, dropout_attention_output, dropout_hidden, dropout_feed_forward;
    szg_sinusoid added_sinusoid;       /* rows added to the embeddings besides the encoding's own */
    szg_position_table position_table; /* whether a `random` encoding's rows are trained */
    bool extra_position_table;         /* a trained table of rows, zeros at the start (pos_embed) */
    szg_biases biases;
    szg_classes classes;
    int64_t ignored_label;               /* counts in neither loss nor accuracy; -1: none */
    szg_index_list rotated_layers;       /* layers in which a rotary encoding rotates */
    int64_t latent_query;                /* mla: size of the compressed queries */
    int64_t latent_kv;                   /* mla: size of the compressed keys and values */
    szg_rotary_queries rotary_queries;   /* mla */
    szg_latent_rotation latent_rotation; /* mla */
} szg_model_config;

typedef struct szg_data_config {
    szg_task task;
    char train_file[SZG_CONFIG_TEXT], test_file[SZG_CONFIG_TEXT]; /* JSONL in place of the task; the
                                       second "": split the first */
    int64_t examples; /* before duplicates are removed */
    uint64_t seed;    /* data, split, probes */
    double train_part;
    /* distance */
    int64_t between_min, between_max, side_min, side_max; /* words between, and on each side */
    int64_t longest;                                      /* sequences are cut here */
    bool clean_labels;                                    /* no trigger among the fillers */
    int64_t test_between_min,
        test_between_max; /* length extrapolation: of the test split; 0: the same */
    /* count */
    int64_t words, count_max, triggers;
    int64_t test_words; /* length extrapolation: of the test split; 0: the same */
} szg_data_config;

typedef struct szg_loop_config {
    int64_t batch, epochs, limit_steps; /* limit_steps 0: none */
    double learning_rate, warmup;       /* warm-up as part of all steps */
    double beta1, beta2, eps, decay;
    int64_t checkpoint_every; /* steps; 0: at the end of each epoch only */
    int64_t evaluate_batch;   /* sequences an evaluation pass takes at once */
    bool time_products;       /* time the algorithms of products on a GPU, and keep the choice */
} szg_loop_config;

typedef struct szg_capture_config {
    int64_t every; /* 0: no capture */
    szg_index_list layers, heads;
    int64_t probes;
    bool spectra;  /* every eigenvalue, singular value and sample of a symbol too */
    bool dump;     /* raw logits too */
    int64_t until; /* only steps before this one; 0: all */
} szg_capture_config;

/* The largest eigenvalue of the loss's Hessian. */
typedef struct szg_curvature_config {
    int64_t every, until; /* as of a capture */
    int64_t examples;     /* the first ones of the training split */
} szg_curvature_config;

/* What is done to one head while the model trains. */
typedef struct szg_intervention_config {
    szg_intervention kind;
    int64_t layer, head;
    double from; /* share of all steps, rounded down, after which it begins */
} szg_intervention_config;

typedef struct szg_train_config {
    szg_profile profile;
    szg_model_config model;
    szg_data_config data;
    szg_loop_config loop;
    szg_capture_config capture;
    szg_intervention_config intervention;
    szg_curvature_config curvature;
} szg_train_config;

/* Reads a configuration: a JSON object with a section each for model, data, loop, capture,
 * intervention, curvature, and `profile` (default text), then `overrides` ("model.width=64", the
 * last of a key wins). Whatever their order, `profile`, `model.encoding` and `data.task` are
 * settled first, then the profile's values are set, then the file's, then the overrides. path NULL:
 * overrides alone. SZG_EDATA (file and path inside it), SZG_EINVAL (an override): an unknown key
 * (the nearest known one is named), a wrong type, a value out of its range; errors of
 * szg_train_config_check, SZG_EINVAL where it takes the overrides to make them. */
SZG_CHECK_RESULT szg_status szg_train_config_read(szg_context *context, const char *path,
                                                  const char *const *overrides, int64_t count,
                                                  szg_train_config *out);

/* Sets one key ("model.width") and nothing else. Values are written as texts: numbers, words,
 * true | false, lists. SZG_EINVAL as szg_train_config_read, and for `profile`, which sets all
 * others. */
SZG_CHECK_RESULT szg_status szg_train_config_set(szg_context *context, szg_train_config *config,
                                                 const char *key, const char *value);

/* Whether the values go together (heads divide the width, lists within range, the encoding parses
 * for this model, sequences fit max_length, ...); SZG_EINVAL names keys and remedy.
 * szg_train_config_read does it. */
SZG_CHECK_RESULT szg_status szg_train_config_check(szg_context *context,
                                                   const szg_train_config *config);

SZG_END_DECLS

#endif
