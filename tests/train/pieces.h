/* A preset of nine runs that is trained in pieces. */
#ifndef SZG_TESTS_PIECES_H
#define SZG_TESTS_PIECES_H

#include <math.h>

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

/* Trains for `seconds` in a new process's stead; whether everything is finished. */
static inline bool train_piece(const char *folder, double seconds) {
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_train(test_context(), runs, seconds));
    bool all = count_finished(runs) == PIECED_RUNS;
    szg_reproduction_close(&runs);
    return all;
}

static inline void check_same(const char *folder, const char *other) {
    char *want = tables_text(folder, pieced), *got = tables_text(other, pieced);
    ck_assert_str_eq(got, want);
    free(want);
    free(got);
}

typedef struct sleeper {
    int64_t calls; /* of progress until it sleeps */
    double seconds;
    char text[4096]; /* notes */
} sleeper;

static inline void sleep_once(void *user, const char *what, int64_t done, int64_t total) {
    sleeper *own = user;
    (void)what, (void)done, (void)total;
    if (--own->calls == 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)own->seconds,
                                     .tv_nsec = (long)(fmod(own->seconds, 1) * 1e9)},
                  NULL);
}

static inline void keep_note(void *user, szg_severity severity, const char *text) {
    sleeper *own = user;
    (void)severity;
    size_t used = strlen(own->text);
    snprintf(own->text + used, sizeof own->text - used, "%s\n", text);
}

static inline int64_t train_sleeping(const char *folder, sleeper *own, double seconds) {
    szg_context *context;
    szg_context_options options = {
        .threads = 1, .message = keep_note, .progress = sleep_once, .user = own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, pieced, NULL, 0, &runs));
    szg_status status = szg_reproduction_train(context, runs, seconds);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    ck_szg_ok(szg_context_check_cancel(context)); /* no deadline is left behind */
    int64_t finished = count_finished(runs);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    return finished;
}

#endif
