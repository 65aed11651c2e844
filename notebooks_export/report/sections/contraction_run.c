/* One run's layers, heads and steps. */
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "contraction_run.h"

enum { RESULT_CHARACTERS = 64 };

void szgi_contraction_run_say(words *words, rows run) {
    const char *result = szgi_rows_text(run, 0, "result");
    double seed = szgi_rows_real(run, 0, "seed");
    char number[WHOLE_TEXT];
    szgi_words_run(words, run);
    if (isfinite(seed))
        fprintf(words->stream, ", seed %s", szgi_whole_text(seed, number));
    if (result && strcmp(result, ".") != 0) {
        fputs(", in ", words->stream);
        szgi_words_clipped(words, result, RESULT_CHARACTERS);
    }
}

static void say_name(words *words, const void *of) {
    szgi_contraction_run_say(words, *(const rows *)of);
}

typedef struct titled {
    rows of;
    const char *what;
} titled;

static void say_title(words *words, const void *of) {
    const titled *title = of;
    szgi_words_run(words, title->of);
    fprintf(words->stream, ": %s", title->what);
}

szg_status szgi_contraction_figure_open(szg_context *context, const contraction_run *run,
                                        const char *what, figure_options options, figure **out) {
    titled title = {run->of, what};
    return szgi_figure_open_titled(context, options, say_title, &title, out);
}

static szg_status find_parts(szg_context *context, contraction_run *run) {
    SZG_TRY(szgi_groups_by_number(context, run->of, "layer", &run->layers));
    SZG_TRY(szgi_memory_alloc(context, run->layers.count, &run->heads));
    for (int64_t i = 0; i < run->layers.count; i++) {
        SZG_TRY(szgi_groups_by_number(context, run->layers.group[i], "head", &run->heads[i]));
        run->pairs += run->heads[i].count;
    }
    SZG_TRY(szgi_distinct_numbers(context, run->of, "head", &run->columns, &run->column));
    return szgi_distinct_numbers(context, run->of, "step", &run->steps, &run->step);
}

szg_status szgi_contraction_run_open(szg_context *context, rows of, contraction_run *out) {
    *out = (contraction_run){.of = of};
    szg_status status = szgi_words_say(context, say_name, &out->of, &out->name);
    if (status == SZG_OK)
        status = find_parts(context, out);
    if (status != SZG_OK)
        szgi_contraction_run_close(out);
    return status;
}

void szgi_contraction_run_close(contraction_run *run) {
    for (int64_t i = 0; run->heads && i < run->layers.count; i++)
        szgi_groups_free(&run->heads[i]);
    szgi_memory_free(run->heads);
    szgi_groups_free(&run->layers);
    szgi_memory_free(run->column);
    szgi_memory_free(run->step);
    szgi_words_free(&run->name);
    *run = (contraction_run){0};
}

int64_t szgi_contraction_run_steps(const contraction_run *run) {
    return run->steps > 0 ? run->steps : 1;
}

/* Both ascend. */
static void spread_band(const contraction_run *run, const band *band, double *out) {
    int64_t at = 0;
    for (int64_t s = 0; s < szgi_contraction_run_steps(run); s++) {
        out[s] = NAN;
        while (run->steps > 0 && at < band->count && band->x[at] < run->step[s])
            at++;
        if (at < band->count && (run->steps == 0 || band->x[at] == run->step[s]))
            out[s] = band->mean[at];
    }
}

szg_status szgi_contraction_run_ratios(szg_context *context, const contraction_run *run,
                                       double **out) {
    int64_t count, pair = 0, steps = szgi_contraction_run_steps(run);
    *out = NULL;
    SZG_TRY(szgi_memory_product(context, run->pairs, steps, &count));
    SZG_TRY(szgi_memory_alloc(context, count, out));
    szg_status status = SZG_OK;
    for (int64_t l = 0; status == SZG_OK && l < run->layers.count; l++)
        for (int64_t h = 0; status == SZG_OK && h < run->heads[l].count; h++) {
            band ratios;
            /* rows without steps have one layer here, and so one mean */
            status = szgi_band_open(context, run->heads[l].group[h],
                                    run->steps > 0 ? "step" : "layer", "width_ratio", &ratios);
            if (status == SZG_OK)
                spread_band(run, &ratios, *out + steps * pair++);
            szgi_band_close(&ratios);
        }
    if (status == SZG_OK)
        return SZG_OK;
    szgi_memory_free(*out);
    *out = NULL;
    return status;
}
