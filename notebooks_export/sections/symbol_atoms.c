/* The point masses of almost periodic kernels, as stems. */
#include <inttypes.h>
#include <math.h>

#include <szego/memory.h>
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
    szg_memory_free(of->theta);
    szg_memory_free(of->mass);
}

static szg_status read_masses(szg_context *context, rows atoms, masses *out) {
    *out = (masses){.count = atoms.count, .least = INFINITY};
    SZG_TRY(rows_reals(context, atoms, "theta", &out->theta));
    szg_status status = rows_reals(context, atoms, "mass", &out->mass);
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
    const figure_style line = {NULL, 0}, point = {"point mass", 0};
    double *x, *y = NULL;
    SZG_TRY(szg_memory_alloc(context, STEM_POINTS * of->count, sizeof *x, &x));
    szg_status status = szg_memory_alloc(context, STEM_POINTS * of->count, sizeof *y, &y);
    for (int64_t i = 0; status == SZG_OK && i < STEM_POINTS * of->count; i++) {
        x[i] = of->theta[i / STEM_POINTS];
        y[i] = i % STEM_POINTS == 1 ? of->mass[i / STEM_POINTS] : 0;
    }
    if (status == SZG_OK)
        status = figure_line(context, figure, &line, STEM_POINTS * of->count, x, y);
    if (status == SZG_OK)
        status = figure_points(context, figure, &point, of->count, of->theta, of->mass, NULL);
    szg_memory_free(x);
    szg_memory_free(y);
    return status;
}

static void describe(words *words, const void *user) {
    const masses *of = user;
    fprintf(words->stream, "%" PRId64 " point masses, ", of->count);
    html_number(words->stream, of->total);
    fputs(" in sum, half of each at theta and half at -theta (one at 0 is whole): such a kernel "
          "has no "
          "symbol that is a function, and no limit theorem for its eigenvalues; a truncated symbol "
          "bounds them at its own n alone",
          words->stream);
    if (is_wide(of) && of->at_zero > 0) {
        fputs("; the mass ", words->stream);
        html_number(words->stream, of->zero_mass);
        fputs(" at theta = 0 has no place on the logarithmic axis", words->stream);
    }
    fputs(".", words->stream);
}

static void say_title(words *words, const void *of) {
    words_key(words, *(const rows *)of);
    fputs(": point masses", words->stream);
}

static szg_status draw_masses(page *page, const masses *of, rows atoms) {
    figure_options options = {.x = {.label = "theta, radians", .logarithmic = is_wide(of)},
                              .y = {.label = "mass at +theta and -theta together"}};
    figure *figure;
    SZG_TRY(figure_open_titled(page_context(page), options, say_title, &atoms, &figure));
    szg_status status = add_stems(page_context(page), figure, of);
    if (status == SZG_OK)
        status = page_figure_captioned(page, &figure, &atoms, 1, describe, of);
    figure_close(&figure);
    return status;
}

static szg_status draw_source(page *page, rows atoms) {
    masses of;
    SZG_TRY(read_masses(page_context(page), atoms, &of));
    szg_status status = draw_masses(page, &of, atoms);
    masses_free(&of);
    return status;
}

szg_status symbol_draw_atoms(page *page, rows atoms, budget *budget) {
    static const char *const needed[] = {"theta", "mass", NULL};
    groups sources;
    bool met;
    SZG_TRY(needs_numbers(page, atoms, needed, "the point masses are not drawn", &met));
    if (!met)
        return SZG_OK;
    SZG_TRY(groups_split(page_context(page), atoms, spectrum_order, &sources));
    szg_status status = SZG_OK;
    page_grid_begin(page);
    for (int64_t i = 0; i < sources.count && status == SZG_OK; i++)
        if (budget_take(budget))
            status = draw_source(page, sources.group[i]);
    page_grid_end(page);
    groups_free(&sources);
    return status;
}
