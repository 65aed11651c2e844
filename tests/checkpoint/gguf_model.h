/* GGUF files of small models, and how two tables of frequencies are compared. */
#ifndef SZG_TESTS_CHECKPOINT_GGUF_MODEL_H
#define SZG_TESTS_CHECKPOINT_GGUF_MODEL_H

#include "gguf_file.h"
#include "model.h"

/* A key of the architecture and its value. */
typedef struct key_value {
    const char *key;
    enum {
        NO_KEY,
        WHOLE,
        REAL,
        WORD,
        FLAG,
        WHOLES,
        FLAGS
    } kind; /* the last two: a digit a layer */
    double number;
    const char *word;
} key_value;

#define INT(name, value)                                                                           \
    { .key = name, .kind = WHOLE, .number = value }
#define NUM(name, value)                                                                           \
    { .key = name, .kind = REAL, .number = value }
#define YES(name)                                                                                  \
    { .key = name, .kind = FLAG, .number = 1 }
#define NO(name)                                                                                   \
    { .key = name, .kind = FLAG, .number = 0 }
#define TXT(name, value)                                                                           \
    { .key = name, .kind = WORD, .word = value }
#define PER_LAYER(name, value)                                                                     \
    { .key = name, .kind = WHOLES, .word = value }
#define SLIDING(value)                                                                             \
    { .key = "attention.sliding_window_pattern", .kind = FLAGS, .word = value }
#define BASE(base) NUM("rope.freq_base", base)

void put_key(gguf_file *file, const char *architecture, const key_value *is);
/* F32, row-major. */
void put_weight(gguf_file *file, const char *name, int64_t rows, int64_t columns,
                const float *data);
/* F32, one number each. */
void put_divisors(gguf_file *file, const char *name, const float *divisors, int count);
/* A file that begins with this text. */
void begin(gguf_file *file, const char *key, const char *value);
szg_status open_file(const gguf_file *file, szg_checkpoint **out);

/* A model of one layer, one head and three pairs, with its keys open for more; `model` has a
 * folder.
 */
void fill_small(gguf_file *file, test_model *model, const char *architecture);

/* The product of the Frobenius norms of a head's rows, which bounds that of any two of them. */
double size_of_rows(const szg_checkpoint *checkpoint, int64_t layer, int64_t head);

/* Both tables of frequencies are one but for the source and the rounding: the permutation moves
 * rows, and a product may round its rows by their place. A coefficient is the mean of two products
 * of rows, with an error below gamma_{d+4} times `size` each time; an energy is a sum of four
 * squares of such. Where a factor of both rows went through a number of relative error `roundoff`,
 * energies have it four times. `checkpoint` has the raw rows of `want`. */
void check_frequencies(const szg_checkpoint *checkpoint, const szg_table *got,
                       const szg_table *want, double roundoff);

#endif
