#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"

#include "digest.h"

/* Heads that a table shows, and reasons that are told. */
enum { SHOWN_MOST = 10, REASONS_MOST = 4 };

#define RANKED(X)                                                                                  \
    X(RANKED_STACK, "stack", SZG_TEXT, "", "stack", "of an encoder-decoder")                       \
    X(RANKED_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                   \
    X(RANKED_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                 \
    X(RANKED_SHARE, "share", SZG_REAL, "1", "share", "of the kernel")                              \
    X(RANKED_CHANCE, "chance", SZG_REAL, "1", "share by chance", "quantile 0.95 of random signs")  \
    X(RANKED_SHAPE, "shape", SZG_TEXT, "", "shape", "of the kernel")                               \
    X(RANKED_PEAK, "peak", SZG_INTEGER, "positions", "peak lag", "lag of the largest value")       \
    X(RANKED_WAVELENGTH, "wavelength", SZG_REAL, "positions", "wavelength",                        \
      "of a periodic kernel")                                                                      \
    X(RANKED_VALUES, "values", SZG_TEXT, "", "values", "least and largest value of the kernel")
#define RANKED_SCREEN                                                                              \
    SZGI_SHOW(1, stack)                                                                            \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, share)                                                                            \
    SZGI_SHOW(1, chance)                                                                           \
    SZGI_SHOW(1, shape)                                                                            \
    SZGI_SHOW(1, peak)                                                                             \
    SZGI_SHOW(1, wavelength)                                                                       \
    SZGI_SHOW(1, values)
SZGI_SCHEMA(mean_columns, "mean_kernel", RANKED, RANKED_SCREEN);
SZGI_SCHEMA_OF(self, mean_columns, "self_kernel", RANKED_SCREEN);

typedef struct ranked {
    int64_t row; /* of `heads` */
    double share;
    bool stands_out;
} ranked;

/* The heads that have a share of one kernel. */
typedef struct ranking {
    const szg_table *heads;
    const char *kernel; /* "mean" or "self" */
    int64_t count, tested, standing;
    ranked *head; /* [count], those that stand out first, by their share */
} ranking;

static int64_t column_of(const ranking *all, const char *name) {
    char column[32];
    snprintf(column, sizeof column, "%s_%s", all->kernel, name);
    return szg_table_find(all->heads, column);
}

static double number(const ranking *all, int64_t row, const char *name) {
    return szg_table_get_real(all->heads, row, column_of(all, name));
}

static const char *shape(const ranking *all, int64_t row) {
    const char *found = szg_table_get_text(all->heads, row, column_of(all, "shape"));
    return found ? found : "";
}

static int64_t place(const ranking *all, int64_t row, const char *name) {
    return szg_table_get_integer(all->heads, row, szg_table_find(all->heads, name));
}

/* ---- Which stand out ---- */

static int by_share(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->stands_out != b->stands_out)
        return b->stands_out - a->stands_out;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static szg_status rank(szg_context *context, const szg_table *heads, const char *kernel,
                       ranking *out) {
    int64_t judged = szg_table_find(heads, "stands_out");
    *out = (ranking){.heads = heads, .kernel = kernel};
    SZG_TRY(szgi_memory_alloc(context, szg_table_rows(heads) + 1, &out->head));
    for (int64_t row = 0; row < szg_table_rows(heads); row++) {
        const char *which = szg_table_get_text(heads, row, judged);
        ranked head = {.row = row,
                       .share = number(out, row, "share"),
                       .stands_out = which && strstr(which, kernel)};
        if (__builtin_isnan(head.share))
            continue;
        out->tested += !__builtin_isnan(number(out, row, "p"));
        out->standing += head.stands_out;
        out->head[out->count++] = head;
    }
    if (out->count > 0)
        qsort(out->head, (size_t)out->count, sizeof *out->head, by_share);
    return SZG_OK;
}

/* ---- In a table ---- */

static szg_status add_head(szg_context *context, const ranking *all, int64_t row, szg_table *out) {
    char stack[DIGEST_STACK], values[64];
    szgi_row to = szgi_row_add(context, out);
    if (digest_stack(all->heads, row, stack))
        szgi_row_text(&to, RANKED_STACK, stack);
    szgi_row_integer(&to, RANKED_LAYER, place(all, row, "layer"));
    szgi_row_integer(&to, RANKED_HEAD, place(all, row, "head"));
    szgi_row_number(&to, RANKED_SHARE, digest_rounded(number(all, row, "share")));
    szgi_row_number(&to, RANKED_CHANCE, digest_rounded(number(all, row, "null")));
    szgi_row_text(&to, RANKED_SHAPE, shape(all, row));
    szgi_row_integer(&to, RANKED_PEAK,
                     szg_table_get_integer(all->heads, row, column_of(all, "peak")));
    if (strcmp(shape(all, row), "periodic") == 0)
        szgi_row_number(&to, RANKED_WAVELENGTH, digest_rounded(number(all, row, "wavelength")));
    snprintf(values, sizeof values, "%.3g to %.3g", number(all, row, "min"),
             number(all, row, "max"));
    szgi_row_text(&to, RANKED_VALUES, values);
    return to.status;
}

static szg_status list(szg_context *context, const ranking *all, const szgi_schema *schema,
                       szg_table **out) {
    if (all->standing == 0)
        return SZG_OK;
    SZG_TRY(szgi_schema_open(context, schema, out));
    for (int64_t i = 0; i < all->standing && i < SHOWN_MOST; i++)
        SZG_TRY(add_head(context, all, all->head[i].row, *out));
    return SZG_OK;
}

/* ---- In words ---- */

static void say_shape(const ranking *all, int64_t row, FILE *to) {
    const char *found = shape(all, row);
    int64_t peak = szg_table_get_integer(all->heads, row, column_of(all, "peak"));
    if (strcmp(found, "periodic") == 0)
        fprintf(to, "is periodic with wavelength %.3g", number(all, row, "wavelength"));
    else if (strcmp(found, "decaying") == 0)
        fputs("decays with the distance", to);
    else if (strcmp(found, "rising") == 0)
        fputs("rises with the distance", to);
    else if (strcmp(found, "forward") == 0 || strcmp(found, "backward") == 0)
        fprintf(to, "prefers %s keys", strcmp(found, "forward") == 0 ? "later" : "earlier");
    else
        fprintf(to, "is largest at lag %" PRId64, peak);
}

static void say_strongest(const ranking *all, FILE *to) {
    if (all->standing == 0)
        return;
    char stack[DIGEST_STACK];
    int64_t row = all->head[0].row;
    bool named = digest_stack(all->heads, row, stack);
    fprintf(to, " The strongest, %s%slayer %" PRId64 " head %" PRId64 ", ", named ? stack : "",
            named ? " " : "", place(all, row, "layer"), place(all, row, "head"));
    say_shape(all, row, to);
    fputc('.', to);
}

/* "In 2 of 72 heads", or of the heads that have such a kernel. */
static void say_count(const ranking *all, FILE *to) {
    fprintf(to, "In %" PRId64 " of ", all->standing);
    if (all->count == szg_table_rows(all->heads))
        fprintf(to, "%" PRId64 " heads ", all->count);
    else
        fprintf(to, "the %" PRId64 " heads that have a %s kernel, ", all->count, all->kernel);
}

static void say_heads(const ranking *all, const char *clause, FILE *to) {
    if (all->count == 0)
        return;
    say_count(all, to);
    fprintf(to, "%s%s.", clause,
            all->tested == all->count ? ", beyond chance"
            : all->tested > 0         ? ", beyond chance where that is known"
                                      : "");
    say_strongest(all, to);
    fputc('\n', to);
}

static bool has_share(const szg_table *heads, int64_t row) {
    static const char *const shares[] = {"mean_share", "self_share"};
    for (int i = 0; i < 2; i++)
        if (!isnan(szg_table_get_real(heads, row, szg_table_find(heads, shares[i]))))
            return true;
    return false;
}

/* Why heads have no numbers, or none of one kernel, each reason once. */
static void say_reasons(const szg_table *heads, FILE *to) {
    const char *reason[REASONS_MOST];
    int64_t count[REASONS_MOST] = {0}, others = 0, note = szg_table_find(heads, "note");
    bool one_kernel[REASONS_MOST];
    int reasons = 0;
    for (int64_t row = 0; row < szg_table_rows(heads); row++) {
        const char *found = szg_table_get_text(heads, row, note);
        int i = 0;
        while (found && i < reasons && strcmp(reason[i], found) != 0)
            i++;
        if (!found || i == REASONS_MOST) {
            others += found != NULL;
            continue;
        }
        reasons += i == reasons;
        reason[i] = found;
        one_kernel[i] = has_share(heads, row);
        count[i]++;
    }
    for (int i = 0; i < reasons; i++)
        fprintf(to, "%" PRId64 " of %" PRId64 " heads %s %s%s.\n", count[i], szg_table_rows(heads),
                count[i] == 1 ? "has" : "have", one_kernel[i] ? "" : "no share: ", reason[i]);
    if (others > 0)
        fprintf(to,
                "%" PRId64
                " more %s no share, or one alone: the column `note` of heads.csv (-o DIR/) says "
                "why.\n",
                others, others == 1 ? "head has" : "heads have");
}

static bool share_key_heads(const szg_table *heads) {
    int64_t key = szg_table_find(heads, "key_head"), head = szg_table_find(heads, "head");
    for (int64_t row = 0; row < szg_table_rows(heads); row++)
        if (szg_table_get_integer(heads, row, key) != szg_table_get_integer(heads, row, head))
            return true;
    return false;
}

/* Is a mean kernel that of isotropic tokens: of biases alone? */
static bool assumes_mean(const ranking *mean) {
    int64_t column = szg_table_find(mean->heads, "mean_tokens");
    for (int64_t i = 0; i < mean->count; i++) {
        const char *tokens = szg_table_get_text(mean->heads, mean->head[i].row, column);
        if (tokens && strcmp(tokens, "isotropic") == 0)
            return true;
    }
    return false;
}

/* What the words of the sentences and tables mean. */
static void say_words(const ranking *mean, const ranking *self, FILE *to) {
    fputs("The lag is the position of the query less that of the key. ", to);
    if (mean->count > 0)
        fputs("The mean kernel is the expected logit of two independent tokens by lag. ", to);
    if (self->count > 0)
        fputs("The self kernel is the expected logit of a token and its own copy by lag. ", to);
    fputs("The share is the part of the logits' variance that the lag explains", to);
    fputs(self->count == 0   ? ".\n"
          : mean->count == 0 ? "; for the self kernel it is an index.\n"
                             : "; for the self kernel it is an index on the same scale.\n",
          to);
    if (mean->tested + self->tested > 0)
        fputs("Chance is the share that 95% of draws with random signs of W_K's columns do not "
              "exceed. Heads are beyond it if their p-values pass the rule of Benjamini and "
              "Hochberg: at most 5% of such heads are expected to be false.\n",
              to);
}

static void say_assumptions(const ranking *mean, const ranking *self, FILE *to) {
    bool biases = assumes_mean(mean);
    if (self->count == 0 && !biases)
        return;
    fprintf(to,
            "%s that tokens have no common direction (isotropic). A mean direction or massive "
            "activations void them. To measure your data, save queries and keys with "
            "szego.capture_hf.Capture, and run `szego logits DUMP`.\n",
            self->count == 0 ? "Mean shares of biases alone assume"
            : biases         ? "Self shares, and mean shares of biases alone, assume"
                             : "Self shares assume");
}

static void say_notes(const ranking *mean, const ranking *self, FILE *to) {
    const szg_table *heads = mean->heads;
    int64_t untested = mean->count - mean->tested + self->count - self->tested;
    if (mean->count + self->count == 0)
        return;
    say_words(mean, self, to);
    say_assumptions(mean, self, to);
    if (share_key_heads(heads))
        fputs("Query heads that share a key head depend on each other, and so do their "
              "p-values.\n",
              to);
    if (untested > 0)
        fprintf(to,
                "%" PRId64 " shares have no chance beside them, because biases or tables alone "
                "make their kernels. Their size alone decides.\n",
                untested);
    if (mean->standing > SHOWN_MOST || self->standing > SHOWN_MOST)
        fprintf(to, "Tables show the %d largest shares: -o DIR/ writes heads.csv with all heads.\n",
                SHOWN_MOST);
}

szg_status digest_heads(szg_context *context, const szg_table *heads, digest *out) {
    ranking mean = {0}, self = {0};
    szg_status status = rank(context, heads, "mean", &mean);
    if (status == SZG_OK)
        status = rank(context, heads, "self", &self);
    if (status == SZG_OK)
        status = list(context, &mean, &mean_columns_schema, &out->mean);
    if (status == SZG_OK)
        status = list(context, &self, &self_schema, &out->self);
    if (status == SZG_OK) {
        bool none = mean.count + self.count == 0;
        say_heads(&mean, "position alone explains a tenth or more of the logits' variance",
                  out->said.stream);
        say_heads(&self,
                  "the logit of a token and its own copy depends on the lag, with a share of a "
                  "tenth or more",
                  out->said.stream);
        say_notes(&mean, &self, out->notes.stream);
        say_reasons(heads, none ? out->said.stream : out->notes.stream);
    }
    szgi_memory_free(mean.head);
    szgi_memory_free(self.head);
    return status;
}
