/* A user of the library in several processes: one context after the other, a batch of matrices, a
 * process that leaves, and an end that is no failure. The launcher starts it twice; it prints what
 * is wrong. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <szego/szego.h>

enum { COUNT = 3, THREADS = 2 };
static const int64_t orders[COUNT] = {300, 301, 302};

#define CHECK(context, condition)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition,                             \
                    szg_context_message(context));                                                 \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

static szg_context *open_context(const char *backend) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = THREADS};
    szg_context *context;
    if (szg_context_open(&options, &context) != SZG_OK)
        exit(EXIT_FAILURE);
    CHECK(context, szg_backend_select(context, backend) == SZG_OK);
    return context;
}

static void open_matrices(szg_context *context, szg_toeplitz *toeplitz[COUNT],
                          szg_matrix matrices[COUNT]) {
    double lags[300];
    for (int k = 0; k < 300; k++)
        lags[k] = pow(0.9, k) * (1 + k % 3);
    for (int i = 0; i < COUNT; i++) {
        CHECK(context,
              szg_toeplitz_open_symmetric(context, orders[i], 300, lags, &toeplitz[i]) == SZG_OK);
        matrices[i] = szg_matrix_toeplitz(toeplitz[i]);
    }
}

/* All eigenvalues of each; their order in the pool would be another one in each process. */
static void try_batch(szg_context *shared, const szg_matrix *matrices) {
    szg_context *alone = open_context("cpu");
    szg_spectrum found[COUNT], expected[COUNT];
    CHECK(shared, szg_spectrum_batch(shared, COUNT, matrices, SZG_QUESTION_EIGENVALUES, NULL,
                                     found) == SZG_OK);
    CHECK(alone, szg_spectrum_batch(alone, COUNT, matrices, SZG_QUESTION_EIGENVALUES, NULL,
                                    expected) == SZG_OK);
    for (int i = 0; i < COUNT; i++) {
        int64_t n = orders[i];
        CHECK(shared, found[i].method == SZG_METHOD_SHARED_HALVES && found[i].count == n);
        for (int64_t j = 0; j < n; j++) /* each is off by n eps ||T|| at most: Weyl */
            CHECK(shared, fabs(found[i].re[j] - expected[i].re[j]) <=
                              2 * (double)n * DBL_EPSILON * expected[i].re[n - 1]);
        szg_spectrum_close(&found[i]);
        szg_spectrum_close(&expected[i]);
    }
    szg_context_close(&alone);
}

typedef struct elsewhere {
    szg_context *context;
    const szg_matrix *matrix;
    szg_status status;
} elsewhere;

static void *compute_elsewhere(void *argument) {
    elsewhere *self = argument;
    szg_spectrum out;
    self->status =
        szg_spectrum_compute(self->context, self->matrix, SZG_QUESTION_EIGENVALUES, NULL, &out);
    return NULL;
}

static void try_refusals(szg_context *context, const szg_matrix *matrix) {
    pthread_t thread;
    elsewhere job = {.context = context, .matrix = matrix};
    CHECK(context, pthread_create(&thread, NULL, compute_elsewhere, &job) == 0);
    pthread_join(thread, NULL);
    CHECK(context, job.status == SZG_EDOMAIN &&
                       strstr(szg_context_message(context), "this thread did not start MPI"));
    szg_context *second = open_context("cpu");
    CHECK(second, szg_backend_select(second, "mpi") == SZG_EBACKEND &&
                      strstr(szg_context_message(second), "another context has the processes"));
    szg_context_close(&second);
    CHECK(context, szg_backend_select(context, "mpi") == SZG_OK); /* it has them */
}

/* One closes its context while the other computes, which is told. */
static void leave(szg_context *context, const szg_matrix *matrix, bool first) {
    szg_spectrum out;
    if (first)
        CHECK(context, szg_spectrum_compute(context, matrix, SZG_QUESTION_EIGENVALUES, NULL,
                                            &out) == SZG_EDATA &&
                           strstr(szg_context_message(context), "do not compute the same"));
}

int main(int argc, char **argv) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    bool first = rank && strcmp(rank, "0") == 0;
    bool closes = argc < 2 || strcmp(argv[1], "open") != 0;
    szg_toeplitz *toeplitz[COUNT];
    szg_matrix matrices[COUNT];
    szg_context *context = open_context("mpi");
    open_matrices(context, toeplitz, matrices);
    try_batch(context, matrices);
    if (!closes)
        return EXIT_SUCCESS; /* with an open context: who says that the others are done? */
    try_refusals(context, &matrices[0]);
    szg_context_close(&context);
    context = open_context("mpi");
    leave(context, &matrices[0], first);
    szg_context_close(&context);
    context = open_context("mpi");
    try_batch(context, matrices);
    szg_context_close(&context);
    for (int i = 0; i < COUNT; i++)
        szg_toeplitz_close(&toeplitz[i]);
    return EXIT_SUCCESS;
}
