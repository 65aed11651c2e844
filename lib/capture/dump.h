/* Logits, or queries and keys, that a program wrote to npy or safetensors files: the contraction
 * report on them, and the statistics of their softmax. docs/how-to/logits.md describes the layout.
 */
#ifndef SZEGO_CONTRACTION_DUMP_H
#define SZEGO_CONTRACTION_DUMP_H

#include <szego/statistics.h>
#include "contraction/contraction.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* What an array holds; the word is the last part of a tensor's name. The last two axes are [N, N],
 * or [N, d] of queries and keys; axes before them count batch, layer, head. */
typedef enum szgi_dump_role {
    SZGI_DUMP_CONTENT,         /* content: logits without the encoding */
    SZGI_DUMP_COUPLED,         /* coupled, logits: with it */
    SZGI_DUMP_QUERIES,         /* q: before the encoding acts */
    SZGI_DUMP_KEYS,            /* k; of grouped queries with fewer heads */
    SZGI_DUMP_COUPLED_QUERIES, /* q_coupled: after it */
    SZGI_DUMP_COUPLED_KEYS,    /* k_coupled */
    SZGI_DUMP_ROLES
} szgi_dump_role;

typedef struct szgi_dump szgi_dump;

SZG_CHECK_RESULT szg_status szgi_dump_open(szg_context *context, szgi_dump **out);
void szgi_dump_close(szgi_dump **dump);

/* Adds a file: FILE.npy holds coupled logits; of a safetensors file every tensor whose name ends
 * with a role's word, those that share the rest of the name together. Parts layers.L, heads.H and
 * probes.P of a name label its rows. SZG_EDATA (no such tensor; the message lists names), errors of
 * szgi_npy_open and szgi_safetensors_open. */
SZG_CHECK_RESULT szg_status szgi_dump_add(szg_context *context, szgi_dump *dump, const char *path);

/* Adds one array in a role: FILE.npy, or FILE.safetensors:NAME. Arrays added in this way belong
 * together. SZG_EINVAL: the role is taken. */
SZG_CHECK_RESULT szg_status szgi_dump_add_as(szg_context *context, szgi_dump *dump,
                                             szgi_dump_role role, const char *path);

/* Opens the encoding that couples the queries and keys that were added. What the SPEC leaves out
 * and the files' metadata says (`pairing`, `base`) is taken from there. SZG_EINVAL: the SPEC
 * contradicts it; SZG_EDATA: two files do; errors of szg_encoding_parse. */
SZG_CHECK_RESULT szg_status szgi_dump_encoding(szg_context *context, const szgi_dump *dump,
                                               const char *spec, szg_encoding **out);

/* All fields may be zero. */
typedef struct szgi_dump_options {
    const char *axes; /* "batch,layer,head": the axes before the last two; with token and dim (of
                         logits query and key) every axis, in any order. NULL: the metadata's
                         `axes`; else none; head; layer, head; batch, layer, head by their number,
                         without those that the tensor's name gives, and batch in their place */
    const szg_encoding *encoding; /* couples q and k; NULL: none */
    double scale;                 /* of q . k; 0: 1/sqrt(d) */
    bool causal;                  /* entries above the diagonal are not read and count as zeros */
    int64_t lengths;              /* how many of `length` there are; 0: none */
    const int64_t *length;        /* real tokens of each batch entry (one entry: of all): the
                                     matrices are cut to them */
} szgi_dump_options;

/* Adds the report of every matrix to `tables`: files in the order in which they were added, in each
 * by probe, layer, head of the names, then along the axes. Matrices are read a few at a time. Where
 * there is no content the ratios stay empty. SZG_EDATA, with file, tensor and remedy: shapes that
 * do not go together, a mask, a type that is no real number; without tables->keep NaN or infinity
 * (with its place) and numbers that are too large; SZG_EINVAL: q and k without encoding, options
 * that do not fit; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_dump_report(szg_context *context, const szgi_dump *dump,
                                             const szgi_dump_options *options,
                                             const szg_report_options *report,
                                             szg_contraction_tables *tables);

/* `shares`: the table `lag_shares`, a row for the sequences of each source, step, layer and head;
 * `lags`: the table of that name, a row a lag of these. NULL: not wanted. */
typedef struct szgi_dump_lag_tables {
    szg_table *shares, *lags;
} szgi_dump_lag_tables;

/* Empty tables; `kernels`: lags too. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_dump_lags_open(szg_context *context, bool kernels,
                                                szgi_dump_lag_tables *out);
void szgi_dump_lags_close(szgi_dump_lag_tables *tables);

/* Adds what the lag explains of every head's coupled logits (contraction/lag_share.h). `seed`: of
 * the relabellings. Matrices that szgi_dump_report keeps as a problem, or above the largest order,
 * are counted in the row's note. Errors as there. */
SZG_CHECK_RESULT szg_status szgi_dump_lags(szg_context *context, const szgi_dump *dump,
                                           const szgi_dump_options *options, uint64_t seed,
                                           szgi_dump_lag_tables *tables);

/* An empty table `bands`: per matrix the three ratios of szgi_dump_report, and the range that each
 * has where its queries and keys are relabelled before the encoding acts. */
SZG_CHECK_RESULT szg_status szgi_dump_bands_table(szg_context *context, szg_table **out);

/* Adds a row a matrix, in the order of szgi_dump_report, from `draws` relabellings, 1 or more.
 * Ratios and range are empty, with a note, where queries and keys before the encoding are not
 * there, or options->encoding does not couple them. Errors as there. */
SZG_CHECK_RESULT szg_status szgi_dump_bands(szg_context *context, const szgi_dump *dump,
                                            const szgi_dump_options *options, int64_t draws,
                                            uint64_t seed, szg_table *table);

/* Which keys a query sees in a softmax. */
typedef enum szgi_dump_mask {
    SZGI_MASK_FILE, /* as the metadata's `mask` says; without it all of them */
    SZGI_MASK_NONE,
    SZGI_MASK_CAUSAL
} szgi_dump_mask;

/* An empty table `statistics`: source, step, layer, head, probe, matrix (content or logits), n,
 * pairing, mask, soft_cap, the numbers of szg_statistics, note. */
SZG_CHECK_RESULT szg_status szgi_dump_statistics_table(szg_context *context, szg_table **out);

/* Adds the statistics of every matrix to such a table, the content's before those of the coupled
 * logits, in the order of szgi_dump_report. `options`: its causal says how matrices are read,
 * `mask` what the softmax leaves. `statistics` NULL: no declared sinks; without a soft cap of it
 * that of the metadata's `logit_cap` counts; its causal, scale and sink_logit are not read, but the
 * dump's. `bad`: how many matrices could not be computed, each a row with the reason as its note;
 * NULL: such a one ends the call. Errors as there, and those of szg_statistics_compute. */
SZG_CHECK_RESULT szg_status szgi_dump_statistics(szg_context *context, const szgi_dump *dump,
                                                 const szgi_dump_options *options,
                                                 szgi_dump_mask mask,
                                                 const szg_statistics_options *statistics,
                                                 szg_table *table, int64_t *bad);

SZGI_END_DECLS

#endif
