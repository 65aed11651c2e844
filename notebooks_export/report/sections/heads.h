/* Heads in one panel: what tells them apart, and those that are multiples of another. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_HEADS_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_HEADS_H

#include "plot.h"

/* Heads that are not drawn, as each is a number times one that is: ALiBi's, say. */
typedef struct heads_left_out {
    int64_t count;
    double least, greatest; /* of these numbers */
} heads_left_out;

/* Marks in dropped[panel->count] the multiples of heads before them, and counts them. */
void szgi_heads_find(const plot_panel *panel, bool *dropped, heads_left_out *out);

/* Takes the marked series out of the panel. */
void szgi_heads_drop(plot_panel *panel, const bool *dropped);

/* Names the series by those of head, order and convention in which they differ, `alone` where they
 * differ in none. More than a few heads keep the grey of the record's outliers. */
void szgi_heads_name(plot_figure *figure, plot_panel *panel, const char *alone);

/* " Left out: 7 heads, 0.0078 to 0.5 times this one." or nothing. */
void szgi_heads_say(words *words, const heads_left_out *of);

#endif
