/* Trained checkpoints: from the names of tensors and config.json to the matrix W_Q^T W_K of every
 * attention head, its spectra, its position-position term and its rotary frequencies.
 *
 * Notation: d = model size, e = head size. Head h of a layer has query rows W_Q (e x d) and key
 * rows W_K (e x d); the logit of query token x_i and key token x_j is scale x_i^T W_Q^T W_K x_j
 * (plus what biases add). docs/reference/checkpoints.md says which architectures are known and what
 * is noted.
 */
#ifndef SZEGO_CHECKPOINT_H
#define SZEGO_CHECKPOINT_H

#include <szego/encoding.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

typedef struct szg_checkpoint szg_checkpoint;

/* Opens PATH: a safetensors file, an index of shards, a GGUF file (whole or in parts), a model
 * folder, or how the Hugging Face hub calls a model that is in its cache on this machine, ORG/NAME,
 * or a file of one, ORG/NAME:FILE. Nothing is fetched. `config` names the configuration; NULL:
 * config.json in the same folder, if there is one; a GGUF file has its own, and takes NULL or ""
 * (none). Headers and configuration are read, weights are read as they are asked for. A model_type
 * that szego knows is resolved completely here, and a value that matters and is missing,
 * contradictory or unknown is an error that names the key; with no configuration, or a model_type
 * that szego does not know, the architecture is unknown (see szg_checkpoint_facts.unknown).
 * SZG_EDATA, SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_checkpoint_open(szg_context *context, const char *path,
                                                const char *config, szg_checkpoint **out);

/* How to open a checkpoint. All fields but `size` may be zero. */
typedef struct szg_checkpoint_choices {
    SZG_SIZE(szg_checkpoint_choices);
    const char *config; /* as for szg_checkpoint_open; "": none is used */
    const char *prefix; /* what begins the names of the stack to read, "vision_tower."; NULL:
                           the stack of text, which must be the only one */
    const char *stack; /* of an encoder-decoder: "encoder", "decoder" or "cross"; NULL: the first */
    const char *const *set; /* texts "PATH=VALUE" that change the configuration; PATH as messages
                               print it, VALUE in JSON or a plain text */
    int64_t sets;
    const char *revision; /* of a name of the hub: a branch, a tag or a whole commit; NULL: main */
    const char *adapter;  /* a folder of peft (LoRA, rsLoRA, DoRA), or a name of the hub in its
                             cache: what it makes of the weights of PATH is read; NULL: none */
} szg_checkpoint_choices;

/* As szg_checkpoint_open. SZG_EINVAL too: a choice that is none, a change that nothing reads (of
 * one stack among several that is a warning). NULL: no choices. */
SZG_CHECK_RESULT szg_status szg_checkpoint_open_chosen(szg_context *context, const char *path,
                                                       const szg_checkpoint_choices *choices,
                                                       szg_checkpoint **out);

/* One tensor in memory. */
typedef struct szg_tensor {
    const char *name;  /* UTF-8, as in the files of a model */
    const char *dtype; /* as safetensors has it: "F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2",
                          "I64" ...; of another one no number is read */
    int64_t dims;      /* 0: one number */
    const int64_t *shape;
    const void *data;    /* row-major, little-endian, without gaps, aligned or not; NULL: `read` */
    const char *refusal; /* NULL, or why its numbers are not there: a clause for messages */
} szg_tensor;

/* Bytes offset .. offset + bytes - 1 of tensor `index`, whole elements, into `out`. Returns 0, or
 * another number where it cannot, and then the call of the library that needed them fails. Several
 * threads may ask at the same time, for 64 KiB at most. */
typedef int szg_tensor_read(void *user, int64_t index, int64_t offset, int64_t bytes, void *out);

/* A model in memory. All fields but `size`, `name` and `tensor` may be zero. */
typedef struct szg_tensors {
    SZG_SIZE(szg_tensors);
    const char *name;   /* what tables and messages call the model */
    const char *config; /* the text of its config.json; NULL: none, no architecture is known */
    const szg_tensor *tensor; /* [count], in any order */
    int64_t count;
    szg_tensor_read *read; /* of tensors without `data`; NULL: all have some */
    void *user;            /* for `read` */
} szg_tensors;

/* As szg_checkpoint_open_chosen, of a model in memory: what is computed is the same as of the same
 * tensors in a file. Names, shapes and texts are copied; `data` and `user` must stay until the
 * checkpoint is closed, and nothing of them is copied but what is worked on. The analysis takes no
 * journal, which tells versions of a file apart. choices->config must be NULL. SZG_EINVAL: a
 * negative count or dims, a tensor without data where there is no `read`. SZG_EDATA: a name that
 * is there twice, is empty or not UTF-8, a shape that is negative or too large; queries or keys
 * with a `refusal`; and as for szg_checkpoint_open. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_checkpoint_open_tensors(szg_context *context,
                                                        const szg_tensors *tensors,
                                                        const szg_checkpoint_choices *choices,
                                                        szg_checkpoint **out);
void szg_checkpoint_close(szg_checkpoint **checkpoint);

/* What a PATH is to szg_checkpoint_open_chosen. */
typedef enum szg_checkpoint_place {
    SZG_PLACE_PATH,    /* a file or folder; also where nothing is there */
    SZG_PLACE_HUB,     /* a name of the hub, whole in its cache */
    SZG_PLACE_FETCHED, /* a name of the hub of which szego's own cache has parts */
    SZG_PLACE_NOWHERE, /* a name of the hub that no cache has, or its own not whole */
} szg_checkpoint_place;

/* Where szg_checkpoint_open_chosen looks for PATH; revision NULL: main. A file or folder comes
 * before a name of the hub. The hub's cache is $HF_HUB_CACHE, $HF_HOME/hub,
 * $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub, the first that is set; szego's is
 * $XDG_CACHE_HOME/szego/hub or ~/.cache/szego/hub. SZG_EINVAL: no revision has such a name, or the
 * path is no name of the hub; SZG_EDATA: a damaged cache; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_checkpoint_locate(szg_context *context, const char *path,
                                                  const char *revision, szg_checkpoint_place *out);

/* The rotation that a model's configuration describes, without weights: `json` is the text of its
 * config.json. layer: whose rotation; -1: that of every layer that rotates. *out is an encoding
 * `rope`, or `mla` for latent attention, for szg_encoding_close. SZG_EDATA: a model_type that szego
 * does not know, a missing or contradictory key. SZG_EINVAL: no such layer, or layers that rotate
 * differently and none chosen. SZG_EDOMAIN: nothing rotates, or no SPEC has the scaling
 * (longrope). */
SZG_CHECK_RESULT szg_status szg_checkpoint_rotation_open(szg_context *context, const char *json,
                                                         int64_t layer, szg_encoding **out);

typedef enum szg_position_kind {
    SZG_POSITIONS_NONE,       /* no table: rotary or none at all */
    SZG_POSITIONS_LEARNED,    /* a tensor of the checkpoint */
    SZG_POSITIONS_SINUSOIDAL, /* computed: sin and cos interleaved, base 10000 */
} szg_position_kind;

/* Texts belong to the checkpoint. */
typedef struct szg_checkpoint_facts {
    const char *source;     /* PATH as given; with several stacks the open one's name behind it */
    const char *unknown;    /* NULL, or why the architecture is not known; then the rest is 0 */
    const char *model_type; /* as in the configuration */
    const char *stack;      /* which stack of an encoder-decoder is open; "" where there is one */
    const char *stacks;     /* all of them with a plus sign between, or "" */
    int64_t layers, heads, key_heads, head_size, model_size;
    szg_position_kind positions;
    int64_t position_rows; /* positions that the model can address; 0 without a table */
    bool rotary;           /* queries and keys of at least one layer rotate */
    const char *note;      /* what W_Q^T W_K leaves out, and what was taken, or "" */
} szg_checkpoint_facts;
szg_checkpoint_facts szg_checkpoint_describe(const szg_checkpoint *checkpoint);

/* The most that szg_checkpoint_options.kernel may be. */
#define SZG_CHECKPOINT_LAGS (1 << 20)
/* szg_checkpoint_options.context: the length that the configuration says the model was trained for.
 */
enum { SZG_CONTEXT_TRAINED = -1 };

/* All fields but `size` may be zero. */
typedef struct szg_checkpoint_options {
    SZG_SIZE(szg_checkpoint_options);
    int64_t positions;  /* leading positions to use; 0: all of them */
    int64_t samples;    /* symbol samples a head in table `samples`; 0: none */
    bool dry_run;       /* the tables `architecture` and `tensors` alone: no weight is read */
    const char *layers; /* "0-7+12", or "-1", the last: those layers alone; NULL: all */
    const char *heads;  /* likewise, query heads of each layer */
    bool raw;           /* no gain of a norm is folded into `qk`, and no logit is bounded */
    int64_t kernel;     /* lags below this in size, and 16 in each doubling beyond them, a head in
                           table `kernel`; 0: none */
    int64_t top;        /* of whole weights (an unknown architecture) the so many largest singular
                           values alone, each with its error, in table `top`; 0: all values */
    uint64_t seed;   /* of what chance would give, of the random vectors with `top`, of `draws` */
    int64_t context; /* N: bounds of rotary heads are for the lags 0 .. N - 1, and cost one
                        factorisation a lag; 0: they are for any lag; or SZG_CONTEXT_TRAINED */
    bool circuits;   /* the table `circuits`: QK and OV of each head, and their values */
    const int64_t *lags; /* of QK's rotation: place of the query minus place of the key */
    int64_t lag_count;   /* 0: lag 0 alone */
    int64_t draws;       /* random circuits beside each; 0: none */
    bool kernel_only;    /* the tables `kernel` and `notes` alone, without the cost of spectra and
                            bounds; `kernel` must not be 0 */
    /* How often each token occurs, [token_count], in the order of the rows of the embeddings; rows
     * beyond them do not occur. Layer 0's mean kernel, share and noise are then those of tokens so
     * drawn. NULL: each token is as likely. SZG_EINVAL: a number below 0 or not finite, none above
     * 0, more numbers than rows, a layer 0 whose numbers do not depend on the tokens. */
    const double *token_counts;
    int64_t token_count;
    /* A file to which heads of a known architecture go when they are done, and behind which the
     * same analysis goes on after an interruption; NULL: none. It is made once there is something
     * to keep, stays when the analysis ends, and is the caller's to remove. */
    const char *journal;
} szg_checkpoint_options;

/* What szg_checkpoint_analyse fills; NULL where there is nothing to say. The caller closes it. */
typedef struct szg_checkpoint_tables {
    szg_table *summary;      /* a row for each head and matrix, or for each 2-D weight */
    szg_table *notes;        /* what is to be said of a row of `summary`, or of a layer */
    szg_table *spectra;      /* source, layer, head, matrix, kind, index, re, im */
    szg_table *frequencies;  /* rotary pairs */
    szg_table *kernel;       /* mean and self kernels of heads, one row per lag */
    szg_table *range;        /* |symbol| of the Toeplitz parts of position-position terms */
    szg_table *samples;      /* that symbol, sampled */
    szg_table *tensors;      /* every tensor, what it was used for, and what is wrong with it */
    szg_table *bounds;       /* one row per head: no logit is larger; NULL with `raw` */
    szg_table *architecture; /* one row per property: what was resolved, which key decided, and
                                whether W_Q^T W_K leaves it out */
    szg_table *top;          /* with `top`: one row per value; `spectra` is NULL then */
    szg_table *heads;        /* one row per head: is it positional, at which lags, beside chance */
    szg_table *layers;       /* how a layer's shares spread over its heads, beside chance */
    szg_table *circuits;     /* QK at each lag, and OV, a row each; NULL unless asked for */
    szg_table *profiles; /* one row per trained profile of the lag: its certified symbol range */
    szg_table *profile_values; /* the values of the profiles, one row per lag */
    szg_table *mixtures;       /* one row per head that mixes profiles: bounds for any query */
    szg_table *decays;         /* of recurrent layers, one row per head: half-lives, and what bounds
                                  them; NULL with `raw`, or if no layer is recurrent */
    int64_t bad;               /* tensors and heads that were reported and skipped */
    int64_t unconverged;       /* heads or tensors whose spectrum did not converge: skipped */
} szg_checkpoint_tables;

/* Analyses the whole checkpoint. Known architecture: for each layer and head singular values and
 * eigenvalues of scale W_Q^T W_K (matrix `qk`) with the gains of norms folded in, and with
 * positions of scale P W_Q^T W_K P^T
 * (`position`), its toeplitzness and its Toeplitz part's symbol. Unknown: singular values of every
 * 2-D floating-point tensor, or with `top` the largest of them. What is bad is skipped, with an
 * empty row and a note; the rest is kept: look at out->bad and out->unconverged. With `layers` and
 * `heads` the tables hold the rows of that part: disjoint parts concatenate to the full result, but
 * which heads stand out is judged in each. What belongs to a layer as a whole (its tensors, that it
 * is skipped) is in the part with its head 0. What belongs to no layer (other tensors, the
 * architecture) is in the part with layer 0, head 0. SZG_EINVAL (options; `top` of a known
 * architecture), SZG_EDOMAIN (more positions than the table has; with `kernel_only` a model without
 * kernels), SZG_ENOMEM, SZG_ECANCEL. On failure *out is zeroed. */
SZG_CHECK_RESULT szg_status szg_checkpoint_analyse(szg_context *context,
                                                   const szg_checkpoint *checkpoint,
                                                   const szg_checkpoint_options *options,
                                                   szg_checkpoint_tables *out);
void szg_checkpoint_tables_close(szg_checkpoint_tables *tables);

/* The table `bounds` alone, of every head, for a model that trains: no logit that the model
 * computes is larger in modulus, before its soft cap and at any lag, whatever its input is. unit:
 * the unit roundoff of the type that queries and keys have (2^-8 bfloat16, 2^-11 float16, 2^-24
 * float32). The bound then includes that inputs, weights, queries, keys and logits are rounded to
 * that type. It holds if sums are in single precision or better, nothing overflows before the
 * logit, and LayerNorm, where the model has one, subtracts the exact mean: `note` names this last
 * assumption in the rows that need it (docs/explanation/theory.md). 0: logits of exact arithmetic,
 * after the soft cap, as in szg_checkpoint_tables. A layer that is damaged has rows with a note.
 * SZG_EINVAL: unit; SZG_EDOMAIN: an unknown architecture; SZG_ENOMEM, SZG_ECANCEL. The caller
 * closes the table. */
SZG_CHECK_RESULT szg_status szg_checkpoint_bounds(szg_context *context,
                                                  const szg_checkpoint *checkpoint, double unit,
                                                  szg_table **out);

SZG_END_DECLS

#endif
