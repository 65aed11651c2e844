/* Training step by step, in windows of a given size, on any backend. */
#ifndef SZG_TESTS_WINDOWS_H
#define SZG_TESTS_WINDOWS_H

#include "../../train/run/trainer.h"
#include "tiny.h"

/* An epoch of 47 steps, the last of 5 examples. */
enum { EPOCH = 47 };
static inline szg_train_config *new_long(const char *key) {
    szg_train_config *config = new_tiny(key);
    ck_szg_ok(szg_train_config_set(test_context(), config, "data.examples", "532"));
    ck_szg_ok(szg_train_config_set(test_context(), config, "loop.batch", "8"));
    ck_szg_ok(szg_train_config_set(test_context(), config, "loop.epochs", "2"));
    return config;
}

typedef struct training {
    szg_context *context;
    szg_dataset data;
    trainer parts;
    double *arrays[4]; /* weights, moments, gradient */
    szgi_tally tally;
    szg_status status;
} training;

static inline void read_arrays(training *t) {
    const trainer *p = &t->parts;
    const void *from[] = {szgi_model_arena(p->model), p->moment1, p->moment2, p->gradient};
    for (int i = 0; i < 4; i++) {
        t->arrays[i] = new_numbers(szgi_model_count(p->model));
        ck_szg_ok(szgi_model_read(t->context, p->model, from[i], 0, szgi_model_count(p->model),
                                  t->arrays[i]));
    }
}

/* `steps` steps of the first epoch in windows; stops where one fails. */
static inline void train_windows(training *t, szg_context *context, const szg_train_config *config,
                                 int64_t steps, int64_t window) {
    *t = (training){.context = context};
    ck_szg_ok(szg_dataset_open(context, config, &t->data));
    const szg_train_options options = {SZG_INIT(szg_train_options), .config = config,
                                       .data = &t->data, .seed = 5};
    ck_szg_ok(szgi_trainer_open(context, &options, &t->parts));
    ck_szg_ok(szgi_model_initialise(context, t->parts.model, 5));
    for (int64_t step = 0; step < steps && t->status == SZG_OK; step += window) {
        int64_t left = steps - step;
        t->status =
            szgi_trainer_steps(context, &t->parts, step, left < window ? left : window, &t->tally);
    }
    read_arrays(t);
}

static inline void close_training(training *t) {
    for (int i = 0; i < 4; i++)
        szgi_memory_free(t->arrays[i]);
    szgi_trainer_close(t->context, &t->parts);
    szg_dataset_close(&t->data);
}

/* NaN in the same places counts as the same. */
static inline void ck_same_arrays(const training *a, const training *b) {
    size_t bytes = (size_t)szgi_model_count(a->parts.model) * sizeof(double);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(memcmp(a->arrays[i], b->arrays[i], bytes) == 0, "array %d differs", i);
    ck_assert_mem_eq(&a->tally, &b->tally, sizeof a->tally);
}

#endif
