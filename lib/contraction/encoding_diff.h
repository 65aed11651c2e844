/* Two encodings beside each other: ranges of their symbols, and how far their spectra are apart. */
#ifndef SZEGO_CONTRACTION_ENCODING_DIFF_H
#define SZEGO_CONTRACTION_ENCODING_DIFF_H

#include <szego/encoding.h>
#include <szego/table.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* An empty table `diff_encodings`. */
SZG_CHECK_RESULT szg_status szgi_encoding_diff_open(szg_context *context, szg_table **out);

/* Adds a row for each head and matrix of order n: A the base, B the other. An encoding of one head
 * is compared with every head of the other. SZG_EDATA: heads or matrices that have no counterpart;
 * SZG_EDOMAIN: a matrix that is not Toeplitz; SZG_EINVAL: n < 1. */
SZG_CHECK_RESULT szg_status szgi_encoding_diff(szg_context *context, const szg_encoding *base,
                                               const szg_encoding *other, int64_t n,
                                               szg_table *table);

SZGI_END_DECLS

#endif
