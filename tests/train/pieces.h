/* A preset of nine runs that is trained in pieces. */
#ifndef SZG_TESTS_PIECES_H
#define SZG_TESTS_PIECES_H

#include <szego/reproduce.h>
#include "toy.h"

/* Two encodings, a switch, and a second seed of its own after it. */
static const char pieced[] =
    "{\"name\": \"pieced\", \"about\": \"for a test\", \"seeds\": [3],\n"
    " \"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"
    " \"heads\": 2, \"max_length\": 16, \"latent_query\": 4, \"latent_kv\": 4},"
    " \"loop\": {\"batch\": 16, \"epochs\": 3, \"learning_rate\": 0.01}},\n"
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 60, \"between_max\": 4, \"side_max\": 2,"
    " \"longest\": 10}}},\n"
    " \"experiments\": [{\"name\": \"base\", \"profile\": \"released\", \"encodings\": [\"mla\","
    " \"rope\"], \"ablation\": [\"output\", \"latent_columns\"],"
    " \"config\": {\"loop\": {\"decay\": 0.001}}},\n"
    "  {\"name\": \"plain\", \"like\": \"base\", \"encodings\": [\"rope\", \"nope\"],"
    " \"config\": {\"model\": {\"added_sinusoid\": \"none\", \"mask\": \"causal\"}}},\n"
    "  {\"name\": \"base\", \"seeds\": [5], \"encodings\": [\"rope\"]},\n"
    "  {\"name\": \"plain\", \"seeds\": [5, 6], \"encodings\": [\"rope\"],"
    " \"rotated_heads\": [1]}]}\n";
enum { PIECED_RUNS = 9 };

static inline szg_reproduction *open_pieced(const char *folder) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, pieced, NULL, 0, &runs));
    ck_assert_int_eq(szg_reproduction_count(runs), PIECED_RUNS);
    return runs;
}

static inline int64_t count_finished(const szg_reproduction *runs) {
    int64_t finished = 0;
    for (int64_t i = 0; i < PIECED_RUNS; i++)
        finished += szg_reproduction_run_at(runs, i).finished;
    return finished;
}

static inline bool holds(const char *folder, const char *run, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/runs/%s/%s", folder, run, name);
    return access(path, F_OK) == 0;
}

static inline void check_same(const char *folder, const char *other) {
    char *want = tables_text(folder, pieced), *got = tables_text(other, pieced);
    ck_assert_str_eq(got, want);
    free(want);
    free(got);
}

/* A clock that the test alone moves, and what the context says meanwhile. */
typedef struct test_clock {
    double now;
    double end;    /* the process is killed when the clock says so; 0: never */
    double tick;   /* seconds that pass with each look at the clock */
    int64_t calls; /* of progress until `seconds` pass at once */
    double seconds;
    char text[4096]; /* notes */
} test_clock;

static inline double look_at_clock(void *user) {
    test_clock *own = user;
    own->now += own->tick;
    if (own->end > 0 && own->now >= own->end)
        raise(SIGKILL);
    return own->now;
}

static inline void pass_time(void *user, const char *what, int64_t done, int64_t total) {
    test_clock *own = user;
    (void)what, (void)done, (void)total;
    if (--own->calls == 0)
        own->now += own->seconds;
}

static inline void keep_note(void *user, szg_severity severity, const char *text) {
    test_clock *own = user;
    (void)severity;
    size_t used = strlen(own->text);
    snprintf(own->text + used, sizeof own->text - used, "%s\n", text);
}

/* Trains for `seconds` of the test's clock in a new process's stead; how many runs are finished. */
static inline int64_t train_by(test_clock *own, const char *folder, double seconds) {
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note,          .progress = pass_time,
                                   .clock = look_at_clock,        .user = own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, pieced, NULL, 0, &runs));
    szg_status status = szg_reproduction_train(context, runs, seconds);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    ck_szg_ok(szgi_context_check_cancel(context)); /* no deadline is left behind */
    int64_t finished = count_finished(runs);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    return finished;
}

/* Trains until the work has looked at its clock `looks` times; whether everything is finished. */
static inline bool train_piece(const char *folder, int64_t looks) {
    test_clock own = {.tick = 1};
    return train_by(&own, folder, (double)looks) == PIECED_RUNS;
}

/* A process that is killed when it has looked at its clock `looks` times, and may end before. */
static inline bool train_until_killed(const char *folder, int64_t looks) {
    test_clock own = {.tick = 1, .end = (double)looks};
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .clock = look_at_clock, .user = &own};
    /* Beyond its end: without a deadline it would look less often. */
    return was_killed(train_apart(folder, pieced, &options, 1e9));
}

#endif
