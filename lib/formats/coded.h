/* Weights stored as codes of a few bits, with the scales that make numbers of them. */
#ifndef SZG_FORMATS_CODED_H
#define SZG_FORMATS_CODED_H

#include "formats/safetensors.h"

SZGI_BEGIN_DECLS

enum { CODED_VALUES = 256, CODED_SPAN = 8, CODED_DIMS = 3 };

/* A matrix of codes. Each line's codes follow each other bit by bit, low bits first, with no bit
 * between them. */
typedef struct szgi_codes {
    szgi_tensor tensor;        /* as it is stored */
    int bits;                  /* 1 .. 8; 0: there are none */
    int64_t lines, length;     /* `length` codes in each line */
    bool strided;              /* a line's 32-bit words are a column of the tensor; else a row */
    bool turned;               /* lines are columns of the weight (groups, of zeros); else rows */
    int span;                  /* places change within so many codes; 0: they do not */
    uint8_t place[CODED_SPAN]; /* where each of `span` codes is */
} szgi_codes;

/* A number for each row and group: element row_step * row + group_step * group. */
typedef struct szgi_factors {
    szgi_tensor tensor;
    int64_t row_step, group_step;
    double divisor; /* each is divided by it */
    /* With `nested`, the tensor has bytes, and the number is, in float32, table[byte] *
     * outer[element / block] + offset. */
    bool nested;
    szgi_tensor table, outer;
    int64_t block;
    float offset;
} szgi_factors;

/* Element (row, column) is scale (value[code] - zero) + bias, as a double. */
typedef struct szgi_coded {
    char *name, *label; /* of the weight; what it is made from, as "GPTQ, 4 bits" */
    int dims;
    int64_t shape[CODED_DIMS];
    int64_t rows, columns; /* all its elements as a matrix */
    int64_t group, groups; /* columns that share a scale, and how many such groups there are */
    szgi_codes codes, zeros;
    double value[CODED_VALUES], zero[CODED_VALUES]; /* NaN: a zero that has two readings */
    szgi_factors scales, biases;                    /* without biases their step is 0, name NULL */
    szgi_tensor index; /* the group of each column; name NULL: groups in turn */
} szgi_coded;

/* Tensor `index` has the codes of the weight `packed`, and is read as that weight from the next
 * call of szgi_safetensors_rename on; its parts are scales of another tensor. Name and label are
 * copied. SZG_EINVAL: a part is too small. */
SZG_CHECK_RESULT szg_status szgi_safetensors_decode(szg_context *context, szgi_safetensors *set,
                                                    int64_t index, const szgi_coded *packed);
/* Instead of a weight that cannot be read: it has this name, and messages say the reason. */
SZG_CHECK_RESULT szg_status szgi_safetensors_decode_refused(szg_context *context,
                                                            szgi_safetensors *set, int64_t index,
                                                            const char *name, const char *label,
                                                            const char *reason);
/* Gives weights their names and sorts. Pointers to tensors and indices from before do not hold.
 * SZG_EDATA: two tensors have one weight's codes. */
SZG_CHECK_RESULT szg_status szgi_safetensors_rename(szg_context *context, szgi_safetensors *set);

SZGI_END_DECLS

#endif
