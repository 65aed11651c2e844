/* What the files that draw ablations share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_ABLATION_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_ABLATION_H

#include "groups.h"
#include "captioned.h"
#include "words.h"

enum { MOST_LAYERS = 48 };

/* One figure: the rows of every seed. */
typedef struct ablated {
    rows of;
    const rows *deposit; /* NULL: none */
    groups layers;
    double whole, whole_lo, whole_hi; /* accuracy with every head; NaN: not known */
    int64_t noted;                    /* heads' rows that carry a note */
    int64_t heads_left_out;
    bool within_unit; /* every accuracy is one */
} ablated;

/* How many of its layers are drawn. */
int64_t szgi_ablated_layers(const ablated *self);

/* " (output)": the way in which the rows' heads were taken away, where they say it. */
void szgi_ablation_method(words *words, rows of);

/* The share of the worst head against what its loss costs, a point a run and layer; nothing where
 * no row has both. */
SZG_CHECK_RESULT szg_status szgi_section_ablation_deposit(page *page, rows deposit);

/* The caption; words_free, on failure too. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_ablation_caption(szg_context *context, const ablated *self,
                                                  words *out);

#endif
