/* What a reader can see in a figure of accuracy by epoch, counted in the data. */
#include "curves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double final_of(const series *one) {
    return one->test.count > 0 ? one->test.mean[one->test.count - 1] : NAN;
}

static double best_of(const curves *self) {
    double best = NAN;
    for (int64_t s = 0; s < self->count; s++)
        for (int64_t i = 0; i < self->one[s].test.count; i++)
            best = fmax(best, self->one[s].test.mean[i]);
    return best;
}

/* The first epoch at which the line is at `level` or above; infinity: never. */
static double reaches(const series *one, double level) {
    for (int64_t i = 0; i < one->test.count; i++)
        if (one->test.mean[i] >= level)
            return one->test.x[i];
    return INFINITY;
}

/* Who is first at 90% of the best accuracy; every one where several are. False: nothing said. */
static bool say_first(FILE *stream, const curves *self) {
    double best = best_of(self), first = INFINITY;
    int64_t said = 0;
    char epoch[WHOLE_TEXT];
    for (int64_t s = 0; s < self->count; s++)
        first = fmin(first, reaches(&self->one[s], 0.9 * best));
    if (!(best > 0) || !isfinite(first))
        return false;
    fputs("90% of the best test accuracy (", stream);
    szgi_print_real(stream, best);
    fputs(") is first reached by ", stream);
    for (int64_t s = 0; s < self->count; s++)
        if (reaches(&self->one[s], 0.9 * best) == first)
            fprintf(stream, "%s%s", said++ ? ", " : "", self->one[s].name);
    fprintf(stream, " in epoch %s; ", szgi_whole_text(first, epoch));
    return true;
}

static void say_finals(FILE *stream, const curves *self, bool opened) {
    int64_t said = 0, least = INT64_MAX, most = 0;
    fprintf(stream, "%s %s at the end: ", opened ? "test" : "Test", self->quantity);
    for (int64_t s = 0; s < self->count; s++) {
        if (self->one[s].test.count == 0)
            continue;
        fprintf(stream, "%s%s ", said++ ? ", " : "", self->one[s].name);
        szgi_print_real(stream, final_of(&self->one[s]));
        least = self->one[s].test.least < least ? self->one[s].test.least : least;
        most = self->one[s].test.most > most ? self->one[s].test.most : most;
    }
    if (said == 0)
        fputs("no rows of the test split.", stream);
    else if (least == most)
        fprintf(stream, " (%" PRId64 " seed%s each).", most, most == 1 ? "" : "s");
    else
        fprintf(stream, " (means over %" PRId64 " to %" PRId64 " seeds).", least, most);
}

void szgi_curves_caption(words *words, const void *of) {
    const curves *self = of;
    bool accuracy = strcmp(self->quantity, "accuracy") == 0;
    say_finals(words->stream, self, accuracy && say_first(words->stream, self));
}
