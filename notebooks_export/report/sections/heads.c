#include "heads.h"

#include <inttypes.h>
#include <math.h>

#include "match.h"

enum { FEW = 4, CONVENTION = 24 };
/* Of the greatest value: above what eigenvalue solvers leave, below what a figure shows. */
static const double rounding = 1e-9;

static bool is_same(const plot_series *a, const plot_series *b, const char *column) {
    return szgi_match_cells(a->of, 0, b->of, 0, column);
}

static int64_t greatest_place(const plot_series *of) {
    int64_t most = 0;
    for (int64_t i = 1; i < of->count; i++)
        most = fabs(of->y[i]) > fabs(of->y[most]) ? i : most;
    return most;
}

/* Whether y of `of` is a number > 0 times that of `head`, up to rounding, over the same x, at the
 * same order and convention. */
static bool are_multiples(const plot_series *head, const plot_series *of, double *times) {
    *times = 1;
    if (head->count != of->count || head->count == 0 || !is_same(head, of, "n") ||
        !is_same(head, of, "convention"))
        return false;
    int64_t most = greatest_place(head);
    if (head->y[most] != 0)
        *times = of->y[most] / head->y[most];
    double near = rounding * fabs(of->y[greatest_place(of)]);
    if (!(*times > 0) || isinf(*times))
        return false;
    for (int64_t i = 0; i < of->count; i++)
        if (of->x[i] != head->x[i] || !(fabs(of->y[i] - *times * head->y[i]) <= near))
            return false;
    return true;
}

void szgi_heads_find(const plot_panel *panel, bool *dropped, heads_left_out *out) {
    for (int64_t i = 0; i < panel->count; i++) {
        double times = 1;
        for (int64_t k = 0; k < i && !dropped[i]; k++)
            dropped[i] = !dropped[k] && !is_same(&panel->series[k], &panel->series[i], "head") &&
                         are_multiples(&panel->series[k], &panel->series[i], &times);
        if (!dropped[i])
            continue;
        out->least = out->count > 0 ? fmin(out->least, times) : times;
        out->greatest = out->count > 0 ? fmax(out->greatest, times) : times;
        out->count++;
    }
}

void szgi_heads_drop(plot_panel *panel, const bool *dropped) {
    int64_t kept = 0;
    for (int64_t i = 0; i < panel->count; i++)
        if (!dropped[i])
            panel->series[kept++] = panel->series[i];
    panel->count = kept;
}

/* ---- Names ---- */

typedef struct named {
    const plot_series *series;
    bool head, n, convention; /* what the series differ in */
    const char *alone;
} named;

static void say_name(words *words, const void *of) {
    const named *self = of;
    rows from = self->series->of;
    const char *convention = szgi_rows_text(from, 0, "convention"), *before = "";
    double head = szgi_rows_real(from, 0, "head"), n = szgi_rows_real(from, 0, "n");
    if (self->head && !isnan(head)) {
        fprintf(words->stream, "head %.0f", head);
        before = ", ";
    }
    if (self->n && !isnan(n)) {
        fprintf(words->stream, "%sn = %.0f", before, n);
        before = ", ";
    }
    if (self->convention && convention) {
        fputs(before, words->stream);
        szgi_words_clipped(words, convention, CONVENTION);
        before = ", ";
    }
    if (!*before)
        fputs(self->alone, words->stream);
}

void szgi_heads_name(plot_figure *figure, plot_panel *panel, const char *alone) {
    named self = {.alone = alone};
    for (int64_t i = 1; i < panel->count; i++) {
        self.head |= !is_same(&panel->series[0], &panel->series[i], "head");
        self.n |= !is_same(&panel->series[0], &panel->series[i], "n");
        self.convention |= !is_same(&panel->series[0], &panel->series[i], "convention");
    }
    for (int64_t i = 0; i < panel->count; i++) {
        self.series = &panel->series[i];
        panel->series[i].name = szgi_plot_text(figure->run, say_name, &self);
        if (panel->count <= FEW || !self.head) {
            panel->series[i].colour = (int)i;
            panel->series[i].unlisted = false;
        }
    }
}

void szgi_heads_say(words *words, const heads_left_out *of) {
    if (of->count == 0)
        return;
    fputs(" Left out: ", words->stream);
    szgi_plot_count(words, of->count, "head, ", "heads, ");
    szgi_plot_number(words, of->least);
    if (of->least != of->greatest) {
        fputs(" to ", words->stream);
        szgi_plot_number(words, of->greatest);
    }
    fputs(" times the one drawn.", words->stream);
}
