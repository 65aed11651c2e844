/* Results whose tables a test writes as CSV, and what their pages say. */
#ifndef SZG_TESTS_SECTIONS_CSV_H
#define SZG_TESTS_SECTIONS_CSV_H

#include <inttypes.h>
#include <math.h>
#include "formats/csv.h"
#include "formats/result.h"

#include "sections_support.h"

enum { MOST_COLUMNS = 24 };

static char *folder; /* of the test's results */

static inline void begin_folder(void) {
    folder = new_results();
}

static inline void end_folder(void) {
    remove_results(folder);
}

/* The first line of `csv` names the columns, each with its type after a colon: t, i or r. */
static inline szg_table *table_of(const char *name, const char *csv) {
    szg_column columns[MOST_COLUMNS];
    char *text = strdup(csv), *end = strchr(text, '\n'), header[1024] = "", *rest = NULL, *full;
    int64_t count = 0;
    szg_table *table;
    *end = 0;
    for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        char *type = strchr(at, ':');
        *type++ = 0;
        ck_assert_int_lt(count, MOST_COLUMNS);
        strcat(strcat(header, count ? "," : ""), at);
        columns[count++] = (szg_column){at,
                                        *type == 't'   ? SZG_TEXT
                                        : *type == 'i' ? SZG_INTEGER
                                                       : SZG_REAL,
                                        ""};
    }
    ck_assert_int_gt(asprintf(&full, "%s\n%s", header, csv + (end - text) + 1), 0);
    ck_szg_ok(szgi_csv_parse(test_context(), name, full, (int64_t)strlen(full), columns, count,
                             NULL, &table));
    free(full);
    free(text);
    return table;
}

/* A result of `command` in the folder PATH below the test's, with up to two tables (NULL: one). */
static inline void write_csv(const char *path, const char *command, const char *name,
                             const char *csv, const char *other, const char *other_csv) {
    szg_result *result;
    szg_table *table = table_of(name, csv);
    ck_szg_ok(szg_result_open(test_context(), command, &result));
    ck_szg_ok(szg_result_add(test_context(), result, &table));
    if (other) {
        table = table_of(other, other_csv);
        ck_szg_ok(szg_result_add(test_context(), result, &table));
    }
    write_result(result, folder, path);
}

/* A table's text that grows row by row. */
typedef struct csv_text {
    FILE *stream;
    char *text;
    size_t size;
} csv_text;

static inline void begin_csv(csv_text *csv, const char *header) {
    csv->stream = open_memstream(&csv->text, &csv->size);
    fprintf(csv->stream, "%s\n", header);
}

static inline const char *end_csv(csv_text *csv) {
    fclose(csv->stream);
    return csv->text;
}

/* The marks that figure `number` (from 1) of the section says it has. */
static inline int64_t marks_of(const char *text, const char *section, int64_t number) {
    char id[64];
    snprintf(id, sizeof id, "<figure id=\"%s-%" PRId64 "\" data-marks=\"", section, number);
    const char *at = strstr(text, id);
    ck_assert_msg(at, "no figure %s", id);
    return strtoll(at + strlen(id), NULL, 10);
}

/* For messages of failures: what the figures say, the figures left out. */
static inline const char *captions(const char *text) {
    static char found[1500];
    size_t used = 0;
    for (const char *at = text; (at = strstr(at, "<figcaption>")); at++)
        if (used + 310 < sizeof found)
            used += (size_t)sprintf(found + used, "%.300s\n", at + 12);
    return found;
}

#define ck_says(text, ...)                                                                         \
    do {                                                                                           \
        char ck_words_[1024];                                                                      \
        snprintf(ck_words_, sizeof ck_words_, __VA_ARGS__);                                        \
        ck_assert_msg(strstr((text), ck_words_), "lacks: %s\nin: %.1500s", ck_words_,              \
                      captions(text));                                                             \
    } while (0)

/* Three digits as a reader sees them: through a text and back, as captions must not do it. */
static inline const char *shown(double value, char out[32]) {
    double scale = pow(10, 2 - floor(log10(fabs(value))));
    snprintf(out, 32, "%.10g", round(value * scale) / scale);
    return out;
}

/* ---- Columns of the tables of trained models ---- */

#define CURVES "run:t,encoding:t,task:t,seed:i,epoch:i,step:i,split:t,loss:r,accuracy:r,note:t"
#define ABLATION                                                                                   \
    "run:t,encoding:t,task:t,seed:i,layer:i,head:i,accuracy:r,drop:r,label_ceiling:r,"             \
    "experiment:t,method:t,note:t"
#define DEPOSIT                                                                                    \
    "run:t,encoding:t,task:t,seed:i,layer:i,runs:i,worst_head:i,total_drop:r,largest_drop:r,"      \
    "index:r,uniform_index:r,index_least:r,index_greatest:r,index_t_low:r,index_t_high:r,"         \
    "experiment:t,method:t,note:t"
#define CONTRACTION                                                                                \
    "run:t,encoding:t,task:t,seed:i,source:t,step:i,layer:i,head:i,probe:t,n:i,content_kind:t,"    \
    "width_ratio:r,norm_ratio:r,nuclear_ratio:r,majorised:i,margin:r,toeplitzness_content:r,"      \
    "toeplitzness_coupled:r,note:t"
#define SWITCHES                                                                                   \
    "experiment:t,like:t,encoding:t,task:t,with:t,without:t,accuracy:r,spread:r,seeds:i,"          \
    "accuracy_without:r,spread_without:r,seeds_without:i,difference:r,difference_spread:r,"        \
    "pairs:i,note:t"
#define HYPOTHESES                                                                                 \
    "hypothesis:t,primary:t,measure:t,layer:i,arm:t,minus:t,seeds:i,pairs:i,failed:i,missing:i,"   \
    "difference:r,t_low:r,t_high:r,p:r,p_holm:r,decision:t,statement:t,note:t"
#define PAIRS                                                                                      \
    "hypothesis:t,primary:t,measure:t,layer:i,arm:t,minus:t,seed:i,arm_value:r,minus_value:r,"     \
    "difference:r,note:t"
#define RELATION "relation:t,x:t,x_layer:i,x_step:i,y:t,y_layer:i,y_step:i,"
#define RELATIONS                                                                                  \
    RELATION "kind:t,n:i,arms:i,seeds:i,runs:i,failed:i,missing:i,correlation:r,lo:r,hi:r,"        \
             "method:t,statement:t,note:t"
#define RELATION_ARMS RELATION "arm:t,runs:i,x_mean:r,x_lo:r,x_hi:r,y_mean:r,y_lo:r,y_hi:r,note:t"
#define RELATION_RUNS RELATION "arm:t,seed:i,x_value:r,y_value:r,note:t"
#define ARMS                                                                                       \
    "run:t,encoding:t,task:t,seed:i,experiment:t,arm:t,layer:i,total_drop:r,index:r,"              \
    "dirichlet_mean:r,dirichlet_95:r,equal_95:r,method:t,note:t"

#endif
