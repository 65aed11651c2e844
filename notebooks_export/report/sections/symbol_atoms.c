/* The point masses of almost periodic kernels, as stems. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "captioned.h"
#include "needs.h"
#include "symbol.h"

enum { STEM_POINTS = 3 };
static const double wide = 50; /* the ratio of angles from which on a log axis shows them */

typedef struct masses {
    double *theta, *mass;
    int64_t count, at_zero;
    double least, greatest, total, zero_mass; /* of the angles above 0; sums of masses */
} masses;

static void masses_free(masses *of) {
    szgi_memory_free(of->theta);
    szgi_memory_free(of->mass);
}

static szg_status read_masses(szg_context *context, rows atoms, masses *out) {
    *out = (masses){.count = atoms.count, .least = INFINITY};
    SZG_TRY(szgi_rows_reals(context, atoms, "theta", &out->theta));
    szg_status status = szgi_rows_reals(context, atoms, "mass", &out->mass);
    if (status != SZG_OK)
        masses_free(out);
    for (int64_t i = 0; status == SZG_OK && i < atoms.count; i++) {
        double theta = out->theta[i];
        out->total += isfinite(out->mass[i]) ? out->mass[i] : 0;
        if (theta > 0 && isfinite(theta)) {
            out->least = fmin(out->least, theta);
            out->greatest = fmax(out->greatest, theta);
        } else if (theta == 0) {
            out->at_zero++;
            out->zero_mass += out->mass[i];
        }
    }
    return status;
}

/* Whether only a logarithmic axis shows the angles apart. */
static bool is_wide(const masses *of) {
    return of->greatest > wide * of->least;
}

/* One line, up and down at each mass, so that no gap has to be marked. */
static szg_status add_stems(szg_context *context, figure *figure, const masses *of) {
    const figure_style line = {.name = NULL, .colour = 0},
                       point = {.name = "point mass", .colour = 0};
    double *x, *y = NULL;
    SZG_TRY(szgi_memory_alloc(context, STEM_POINTS * of->count, &x));
    szg_status status = szgi_memory_alloc(context, STEM_POINTS * of->count, &y);
    for (int64_t i = 0; status == SZG_OK && i < STEM_POINTS * of->count; i++) {
        x[i] = of->theta[i / STEM_POINTS];
        y[i] = i % STEM_POINTS == 1 ? of->mass[i / STEM_POINTS] : 0;
    }
    if (status == SZG_OK)
        status = szgi_figure_line(context, figure, &line, STEM_POINTS * of->count, x, y);
    if (status == SZG_OK)
        status = szgi_figure_points(context, figure, &point, of->count, of->theta, of->mass, NULL);
    szgi_memory_free(x);
    szgi_memory_free(y);
    return status;
}

static void describe(words *words, const void *user) {
    const masses *of = user;
    fprintf(words->stream, "%" PRId64 " point masses, ", of->count);
    szgi_html_number(words->stream, of->total);
    fputs(" in sum, half of each at theta and half at -theta (one at 0 is whole): such a kernel "
          "has no "
          "symbol that is a function, and no limit theorem for its eigenvalues; a truncated symbol "
          "bounds them at its own n alone",
          words->stream);
    if (is_wide(of) && of->at_zero > 0) {
        fputs("; the mass ", words->stream);
        szgi_html_number(words->stream, of->zero_mass);
        fputs(" at theta = 0 has no place on the logarithmic axis", words->stream);
    }
    fputs(".", words->stream);
}

static void say_title(words *words, const void *of) {
    szgi_words_key(words, *(const rows *)of);
    fputs(": point masses", words->stream);
}

static szg_status draw_masses(page *page, const masses *of, rows atoms) {
    figure_options options = {.x = {.label = "theta, radians", .logarithmic = is_wide(of)},
                              .y = {.label = "mass at +theta and -theta together"}};
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(szgi_page_context(page), options, say_title, &atoms, &figure));
    szg_status status = add_stems(szgi_page_context(page), figure, of);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &atoms, 1, describe, of);
    szgi_figure_close(&figure);
    return status;
}

static szg_status draw_source(page *page, rows atoms) {
    masses of;
    SZG_TRY(read_masses(szgi_page_context(page), atoms, &of));
    szg_status status = draw_masses(page, &of, atoms);
    masses_free(&of);
    return status;
}

szg_status szgi_symbol_draw_atoms(page *page, rows atoms, budget *budget) {
    static const char *const needed[] = {"theta", "mass", NULL};
    groups sources;
    bool met;
    SZG_TRY(szgi_needs_numbers(page, atoms, needed, "the point masses are not drawn", &met));
    if (!met)
        return SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), atoms, szgi_spectrum_order, &sources));
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < sources.count && status == SZG_OK; i++)
        if (szgi_budget_take(budget))
            status = draw_source(page, sources.group[i]);
    szgi_page_grid_end(page);
    szgi_groups_free(&sources);
    return status;
}
