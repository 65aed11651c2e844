/* Weights that are packed in several tensors: which there are, and what they are made from. */
#ifndef SZG_CHECKPOINT_QUANTISED_H
#define SZG_CHECKPOINT_QUANTISED_H

#include "checkpoint_private.h"
#include "formats/coded.h"

#define QUANTISED_CONFIG "quantization_config"
#define QUANTISED_MLX "quantization"

/* Values of the object that says how weights are quantised; absent if the configuration has none.
 * The object is at the top of config.json, or in that of the stack. */
szgi_json_value szgi_quantised_settings(const szg_checkpoint *checkpoint, const char *key);
/* Of a member: its text, or NULL; its number, or -1; whether it is true. */
const char *szgi_quantised_text(szgi_json_value settings, const char *key);
int64_t szgi_quantised_number(szgi_json_value settings, const char *key);
bool szgi_quantised_true(szgi_json_value settings, const char *key);

/* ---- quantised_float8.c ---- */

/* Which scales belong to which 8-bit floats. */
SZG_CHECK_RESULT szg_status szgi_quantised_scale(szg_context *context, szg_checkpoint *checkpoint);

/* ---- quantised_packed.c ---- */

/* One weight whose codes are tensor `index`. */
typedef struct unpack_job {
    szg_context *context;
    szgi_safetensors *tensors;
    const szgi_tensor *codes;
    szgi_json_value settings; /* quantization_config; of MLX quantization */
    int64_t index;
    char stem[512];    /* what the names of all its tensors begin with */
    szgi_coded packed; /* to fill; name and label are set already */
    char label[160];
    char problem[1024]; /* "", or why it cannot be read: a clause */
} unpack_job;

/* What fills job->packed and appends to the label, or writes the problem. A failure is one of
 * reading or of memory. */
typedef szg_status unpack(unpack_job *job);
unpack szgi_unpack_gptq, szgi_unpack_awq, szgi_unpack_words, szgi_unpack_floats, szgi_unpack_mlx;
unpack szgi_unpack_mxfp4, szgi_unpack_four, szgi_unpack_eight, szgi_unpack_integers;

SZG_CHECK_RESULT szg_status szgi_quantised_unpack(szg_context *context, szg_checkpoint *checkpoint);

/* ---- quantised_parts.c ---- */

/* Types of tensors; several may be joined. */
enum {
    PART_FLOAT = 1,
    PART_WORD = 2,
    PART_BYTE = 4,
    PART_SIGNED = 8,
    PART_EIGHT = 16,
    PART_INDEX = 32
};

/* The tensor STEM ending; NULL: there is none. */
const szgi_tensor *szgi_part_find(const unpack_job *job, const char *ending);
/* Copies the tensor STEM ending of one of these types, which must be [rows, columns], or [rows]
 * where columns < 0. False: the problem is written. */
bool szgi_part_take(unpack_job *job, const char *ending, int kinds, int64_t rows, int64_t columns,
                    szgi_tensor *out);
/* Writes the problem; false. */
SZG_PRINTF(2, 3) bool szgi_part_problem(unpack_job *job, const char *format, ...);
/* Appends to the label. */
SZG_PRINTF(2, 3) void szgi_part_label(unpack_job *job, const char *format, ...);

/* The weight's shape, one scale for each `group` columns, and row-major factors of that. */
void szgi_part_shape(unpack_job *job, int64_t rows, int64_t columns, int64_t group);
szgi_factors szgi_part_factors(const szgi_tensor *tensor, int64_t row_step, int64_t group_step);
/* value[code] = code - offset, for codes of `bits`; with two's complement where that is signed. */
void szgi_part_values(double value[CODED_VALUES], int bits, int64_t offset, bool is_signed);
/* Codes of E2M1, the 4-bit floats of the OCP. */
void szgi_part_e2m1(double value[CODED_VALUES]);

#endif
