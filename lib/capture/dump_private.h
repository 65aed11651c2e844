/* Arrays of dump files, grouped by name. */
#ifndef SZG_DUMP_PRIVATE_H
#define SZG_DUMP_PRIVATE_H

#include "capture/dump.h"
#include "encoding/encoding.h"
#include "formats/npy.h"
#include "formats/safetensors.h"

enum {
    DUMP_LENGTHS = SZGI_DUMP_ROLES, /* lengths [batch]: real tokens, integers */
    DUMP_GRAD_NORM,                 /* grad_norm: for the column of that name, a number a matrix */
    DUMP_GRAD_NORM_QK,              /* as grad_norm */
    DUMP_SINK_LOGIT, /* sink_logit: of a learned sink, a number a matrix; for the statistics */
    DUMP_ROLES,
    DUMP_AXES = 3 /* batch, layer and head; a matrix has two axes more */
};

typedef struct dump_file {
    char *path;
    szgi_npy *npy; /* one of the two is set */
    szgi_safetensors *set;
    int64_t step; /* of the metadata, or -1 */
    /* Of the metadata, or NULL; axes, pairing and base are those of its queries and keys. */
    const char *source, *content_kind, *axes, *pairing, *base, *mask, *logit_cap;
} dump_file;

/* What the parts of a name say; -1: nothing. */
typedef struct dump_place {
    int64_t layer, head, probe;
} dump_place;

typedef struct dump_array {
    int role;
    int64_t file;
    const szgi_tensor *tensor; /* NULL: the file's npy array */
    char *prefix; /* the name without its last part: arrays of one file and prefix belong together;
                     NULL: an array of szgi_dump_add_as, all of which belong together */
    char *rest;   /* what of the prefix is no layer, head or probe */
    dump_place place;
} dump_array;

struct szgi_dump {
    int64_t files, file_room, arrays, array_room;
    dump_file *file;
    dump_array *array;
    uint32_t given; /* roles that szgi_dump_add_as has filled, a bit each */
};

/* Number of axes and their sizes. */
int szgi_dump_array_dims(const szgi_dump *dump, const dump_array *array);
const int64_t *szgi_dump_array_shape(const szgi_dump *dump, const dump_array *array);

/* "FILE", or "FILE: tensor NAME", for messages. Returns `text`. */
enum { DUMP_TEXT = 256 };
const char *szgi_dump_array_text(const szgi_dump *dump, const dump_array *array,
                                 char text[DUMP_TEXT]);

/* Elements start .. start + count - 1. */
SZG_CHECK_RESULT szg_status szgi_dump_array_read(szg_context *context, const szgi_dump *dump,
                                                 const dump_array *array, int64_t start,
                                                 int64_t count, double *out);

/* The arrays of one prefix. */
typedef struct dump_group {
    const dump_array *array[DUMP_ROLES]; /* NULL: not there */
    const dump_array *first;             /* one that is there, for labels and messages */
    int axes;
    char axis[DUMP_AXES];              /* 'b' batch, 'l' layer, 'h' head */
    int64_t size[DUMP_AXES], matrices; /* their product */
    int64_t n;
    bool named;                    /* the axes are the user's, or of the file's metadata */
    bool of_logits;                /* `order` is that of logits, not of queries and keys */
    char order[DUMP_AXES + 2 + 1]; /* every axis in the file's order: those, 't' token (of logits
                                      query) and 'd' dimension (key) */
} dump_group;

/* Size of an array along one of these axes, and how many elements lie between neighbours. */
int64_t szgi_dump_extent(const szgi_dump *dump, const dump_group *group, const dump_array *array,
                         char axis);
int64_t szgi_dump_stride(const szgi_dump *dump, const dump_group *group, const dump_array *array,
                         char axis);

/* Groups of the dump's arrays, in the order of their rows; the caller frees *out. */
SZG_CHECK_RESULT szg_status szgi_dump_groups(szg_context *context, const szgi_dump *dump,
                                             dump_group **out, int64_t *count);

/* Finds out the group's axes and checks that shapes and options go together. */
SZG_CHECK_RESULT szg_status szgi_dump_group_check(szg_context *context, const szgi_dump *dump,
                                                  const szgi_dump_options *options,
                                                  dump_group *group);

/* "4 heads, 24 tokens, dimension 8 (axes head,token,dim)": how the group's arrays are read. Returns
 * `text`. */
const char *szgi_dump_group_text(const szgi_dump *dump, const dump_group *group,
                                 char text[DUMP_TEXT]);

/* What is read of a head's matrices. */
typedef enum dump_reading {
    DUMP_PAIRS,   /* content and coupled logits */
    DUMP_FACTORS, /* the same; queries and keys stay a product even where the other matrix of the
                     pair is dense or missing */
    DUMP_AGAIN,   /* pairs, without a word about them */
    DUMP_WHOLE    /* the coupled logits alone, dense and with the entries that the mask hides, of
                     orders up to SZGI_LAG_ORDER; by head, and without a word about them */
} dump_reading;

/* One matrix, or pair of matrices, in memory. */
typedef struct dump_matrix {
    double *content, *coupled;     /* dense */
    double *side[SZGI_DUMP_ROLES]; /* queries and keys */
    szg_logits *logits;            /* coupled here by the encoding */
    int64_t encoding_head;         /* by this head of it */
    /* Of DUMP_WHOLE: */
    bool masked;     /* what is above the diagonal was not captured */
    int64_t longest; /* at least the order of every matrix of this head */
    szg_factored factored_content, factored_coupled;
    double sink_logit; /* NaN: none */
    double scale[2];   /* that is in the queries, of content and coupled; 0: dense */
    const dump_file *file;
    char probe[48], *source;
    char problem[512]; /* why there are no numbers; "": there are */
    szgi_contraction_pair pair;
} dump_matrix;

/* Matrix `index` of the group; *bytes: the memory that it takes. Close it on success. A number that
 * is not finite or too large is the matrix's `problem`; masks are refused. */
SZG_CHECK_RESULT szg_status szgi_dump_matrix_open(szg_context *context, const szgi_dump *dump,
                                                  const szgi_dump_options *options,
                                                  const dump_group *group, int64_t index,
                                                  dump_reading reading, dump_matrix *out,
                                                  int64_t *bytes);
void szgi_dump_matrix_close(dump_matrix *matrix);

/* The layer and head that it has in its labels; -1: none. */
void szgi_dump_matrix_head(const dump_group *group, int64_t index, int64_t *layer, int64_t *head);

/* The `mask` and the `logit_cap` that the file's metadata says. SZG_EDATA, with file, field and
 * remedy: another mask than none and causal at this order, a cap that is no positive number. */
SZG_CHECK_RESULT szg_status szgi_dump_mask_said(szg_context *context, const dump_matrix *matrix,
                                                bool *causal);
SZG_CHECK_RESULT szg_status szgi_dump_cap_said(szg_context *context, const dump_file *file,
                                               double *cap);

/* What becomes of some matrices of a dump, in memory together. */
typedef szg_status dump_take(szg_context *context, void *user, int64_t count,
                             const dump_matrix *matrices);

/* Reads every matrix, a few at a time, in the order of the rows, and has them taken. With
 * DUMP_WHOLE the sequences of a head follow each other, heads in the order of their first rows. */
SZG_CHECK_RESULT szg_status szgi_dump_each(szg_context *context, const szgi_dump *dump,
                                           const szgi_dump_options *options, dump_reading reading,
                                           dump_take *take, void *user);

#endif
