/* Content by seed or from files. Random numbers: token i, dimension j is number i d + j of its
 * stream, whatever n is, so that a longer sequence begins with the shorter one. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "content_private.h"

enum kind { GAUSSIAN, LOWRANK, MEAN, FILES, KINDS };
enum { PURPOSE_TOKENS = 0x43540001, PURPOSE_COMMON, PURPOSE_QUERY, PURPOSE_KEY };
enum { ROWS_A_BLOCK = 256 };

#define SEED_KEYS                                                                                  \
    {.name = "dim",                                                                                \
     .type = SZGI_KEY_INTEGER,                                                                     \
     .min = 1,                                                                                     \
     .max = 1048576,                                                                               \
     .doc = "dimension of a token (default: the encoding's, else 64)"},                            \
        {.name = "seed",                                                                           \
         .type = SZGI_KEY_INTEGER,                                                                 \
         .min = 0,                                                                                 \
         .max = 9007199254740992,                                                                  \
         .doc = "seed of the draw (default: --seed)"},                                             \
    {                                                                                              \
        .name = "weights", .type = SZGI_KEY_CHOICE, .fallback = "gaussian",                        \
        .choices = "gaussian|identity",                                                            \
        .doc = "W_Q and W_K: normal(0, 1/dim) entries apart for each head, or the identity"        \
    }

static const szgi_key gaussian_keys[] = {SEED_KEYS};
static const szgi_key lowrank_keys[] = {
    SEED_KEYS,
    {.name = "rank",
     .type = SZGI_KEY_INTEGER,
     .fallback = "8",
     .min = 1,
     .max = 1048576,
     .doc = "dimension of the subspace that holds every token"},
};
static const szgi_key mean_keys[] = {
    SEED_KEYS,
    {.name = "mean",
     .type = SZGI_KEY_REAL,
     .fallback = "0.9",
     .min = 0,
     .max = 1,
     .doc = "share of the common vector: c = mean mu + sqrt(1 - mean^2) z"},
};
static const szgi_key file_keys[] = {
    {.name = "x", .type = SZGI_KEY_TEXT, .doc = "tokens, .npy [n, dim]"},
    {.name = "wq", .type = SZGI_KEY_TEXT, .doc = "W_Q, .npy [dim, dim] or [heads, dim, dim]"},
    {.name = "wk", .type = SZGI_KEY_TEXT, .doc = "W_K, the same"},
    {.name = "q", .type = SZGI_KEY_TEXT, .doc = "queries, .npy [n, dim] or [heads, n, dim]"},
    {.name = "k", .type = SZGI_KEY_TEXT, .doc = "keys, the same"},
};

#define KEYS(array) .key = array, .keys = sizeof array / sizeof *array
static const szgi_spec_class classes[KINDS] = {
    [GAUSSIAN] = {.name = "gaussian",
                  .doc = "independent standard normal tokens",
                  KEYS(gaussian_keys)},
    [LOWRANK] = {.name = "lowrank", .doc = "normal tokens in a subspace", KEYS(lowrank_keys)},
    [MEAN] = {.name = "mean", .doc = "normal tokens around one common vector", KEYS(mean_keys)},
    [FILES] = {.name = "files",
               .doc = "tokens and weights, or queries and keys, from .npy files",
               KEYS(file_keys)},
};

enum { X, WQ, WK, Q, K, ARRAYS };
static const char *const array_key[ARRAYS] = {"x", "wq", "wk", "q", "k"};

struct szg_content {
    enum kind kind;
    szgi_spec *spec; /* NULL: of arrays */
    int64_t dim, rank;
    uint64_t seed;
    bool identity;
    double mean;
    content_array array[ARRAYS];
};

int64_t szgi_content_classes(void) {
    return KINDS;
}

const szgi_spec_class *szgi_content_class_at(int64_t index) {
    return &classes[index];
}

/* ---- Opening ---- */

static void open_seeded(szg_content *content, uint64_t seed) {
    const szgi_spec *spec = content->spec;
    content->dim = szgi_spec_integer(spec, "dim");
    content->seed =
        szgi_spec_given(spec, "seed") ? (uint64_t)szgi_spec_integer(spec, "seed") : seed;
    content->identity = szgi_spec_choice(spec, "weights") == 1;
    if (content->kind == LOWRANK)
        content->rank = szgi_spec_integer(spec, "rank");
    if (content->kind == MEAN)
        content->mean = szgi_spec_real(spec, "mean");
}

/* Either x (with wq and wk, or neither), or q and k. */
static szg_status check_files(szg_context *context, const szgi_spec *spec) {
    bool x = szgi_spec_given(spec, "x"), q = szgi_spec_given(spec, "q");
    bool wq = szgi_spec_given(spec, "wq");
    if (x == q || q != szgi_spec_given(spec, "k") || wq != szgi_spec_given(spec, "wk") || (wq && q))
        return szgi_fail(context, SZG_EINVAL,
                         "files: give x=FILE, x=FILE,wq=FILE,wk=FILE, or q=FILE,k=FILE");
    return SZG_OK;
}

static szg_status open_files(szg_context *context, szg_content *content) {
    SZG_TRY(check_files(context, content->spec));
    for (int i = 0; i < ARRAYS; i++) {
        if (!szgi_spec_given(content->spec, array_key[i]))
            continue;
        content_array *array = &content->array[i];
        SZG_TRY(
            szgi_content_array_read(context, szgi_spec_text(content->spec, array_key[i]), array));
        if (!content->dim)
            content->dim = array->columns;
        bool square = i != WQ && i != WK;
        if (array->columns != content->dim || (!square && array->rows != content->dim))
            return szgi_fail(context, SZG_EDATA,
                             "files: %s= is %" PRId64 " x %" PRId64
                             ", but the dimension is %" PRId64,
                             array_key[i], array->rows, array->columns, content->dim);
    }
    content->identity = !szgi_spec_given(content->spec, "wq");
    return SZG_OK;
}

szg_status szg_content_parse(szg_context *context, const char *spec, uint64_t seed,
                             szg_content **out) {
    *out = NULL;
    SZGI_ENTER(context);
    const szgi_spec_class *known[KINDS];
    for (int i = 0; i < KINDS; i++)
        known[i] = &classes[i];
    szg_content *content;
    SZG_TRY(szgi_memory_alloc(context, 1, &content));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_spec_parse(context, "content", known, KINDS, spec, &content->spec),
                 fail);
    content->kind = (enum kind)szgi_spec_class_index(content->spec);
    if (content->kind == FILES)
        SZG_TRY_GOTO(status, open_files(context, content), fail);
    else
        open_seeded(content, seed);
    *out = content;
    return SZG_OK;
fail:
    szg_content_close(&content);
    return status;
}

szg_status szg_content_open_qk(szg_context *context, int64_t n, int64_t d, const double *q,
                               int64_t ldq, const double *k, int64_t ldk, szg_content **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_content *content;
    SZG_TRY(szgi_memory_alloc(context, 1, &content));
    *content = (szg_content){.kind = FILES, .dim = d, .identity = true};
    szg_status status = szgi_content_array_copy(context, "q", n, d, q, ldq, &content->array[Q]);
    if (status == SZG_OK)
        status = szgi_content_array_copy(context, "k", n, d, k, ldk, &content->array[K]);
    if (status == SZG_OK)
        *out = content;
    else
        szg_content_close(&content);
    return status;
}

void szg_content_close(szg_content **content) {
    if (!content || !*content)
        return;
    for (int i = 0; i < ARRAYS; i++)
        szgi_memory_free((*content)->array[i].data);
    szgi_spec_close(&(*content)->spec);
    szgi_memory_free(*content);
    *content = NULL;
}

const char *szg_content_spec(const szg_content *content) {
    return content->spec ? szgi_spec_canonical(content->spec) : "q and k";
}

bool szgi_content_is_given(const szg_content *content) {
    return content->kind == FILES;
}

int64_t szgi_content_dimension(const szg_content *content) {
    return content->dim;
}

/* ---- Drawing ---- */

typedef struct draw_job {
    szgi_stream stream;
    int64_t rows, columns;
    double scale;
    const double *shift; /* [columns], added to every row; NULL: none */
    double *out;
} draw_job;

static szg_status draw_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const draw_job *draw = job;
    int64_t end = (block + 1) * ROWS_A_BLOCK;
    for (int64_t i = block * ROWS_A_BLOCK; i < end && i < draw->rows; i++) {
        double *row = draw->out + i * draw->columns;
        szgi_random_fill_normal(&draw->stream, (uint64_t)(i * draw->columns), draw->columns, row);
        for (int64_t j = 0; j < draw->columns; j++)
            row[j] = draw->scale * row[j] + (draw->shift ? draw->shift[j] : 0);
    }
    return SZG_OK;
}

static szg_status draw(szg_context *context, draw_job *job) {
    if (job->rows > ((int64_t)1 << 32) / job->columns)
        return szgi_fail(context, SZG_ENOMEM,
                         "%" PRId64 " x %" PRId64 " random numbers exceed one stream (2^32)",
                         job->rows, job->columns);
    return szgi_pool_run(context, (job->rows + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, draw_block, job);
}

static szgi_stream stream_of(const szg_content *content, uint32_t purpose, int64_t head) {
    return (szgi_stream){.seed = content->seed, .step = (uint32_t)head, .purpose = purpose};
}

static szg_status draw_lowrank(szg_context *context, const szg_content *content, int64_t n,
                               int64_t d, double *tokens) {
    int64_t rank = content->rank, size;
    double *coordinates = NULL, *basis = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_product(context, n, rank, &size), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, size, &coordinates), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, rank * d, &basis), done);
    draw_job z = {.stream = stream_of(content, PURPOSE_TOKENS, 0),
                  .rows = n,
                  .columns = rank,
                  .scale = 1,
                  .out = coordinates};
    draw_job v = {.stream = stream_of(content, PURPOSE_COMMON, 0),
                  .rows = rank,
                  .columns = d,
                  .scale = 1 / sqrt((double)rank),
                  .out = basis};
    SZG_TRY_GOTO(status, draw(context, &z), done);
    SZG_TRY_GOTO(status, draw(context, &v), done);
    status = szgi_gemm(context, 'n', 'n', n, d, rank, 1, coordinates, rank, basis, d, 0, tokens, d);
done:
    szgi_memory_free(coordinates);
    szgi_memory_free(basis);
    return status;
}

static szg_status draw_mean(szg_context *context, const szg_content *content, int64_t n, int64_t d,
                            double *tokens) {
    double *common;
    SZG_TRY(szgi_memory_alloc(context, d, &common));
    draw_job mu = {.stream = stream_of(content, PURPOSE_COMMON, 0),
                   .rows = 1,
                   .columns = d,
                   .scale = content->mean,
                   .out = common};
    draw_job z = {.stream = stream_of(content, PURPOSE_TOKENS, 0),
                  .rows = n,
                  .columns = d,
                  .scale = sqrt((1 - content->mean) * (1 + content->mean)),
                  .shift = common,
                  .out = tokens};
    szg_status status = draw(context, &mu);
    if (status == SZG_OK)
        status = draw(context, &z);
    szgi_memory_free(common);
    return status;
}

static szg_status fill_tokens(szg_context *context, const szg_content *content, int64_t head,
                              int64_t n, int64_t d, double *tokens) {
    draw_job z = {.stream = stream_of(content, PURPOSE_TOKENS, 0),
                  .rows = n,
                  .columns = d,
                  .scale = 1,
                  .out = tokens};
    const double *rows;
    switch (content->kind) {
    case GAUSSIAN:
        return draw(context, &z);
    case LOWRANK:
        return draw_lowrank(context, content, n, d, tokens);
    case MEAN:
        return draw_mean(context, content, n, d, tokens);
    default:
        SZG_TRY(szgi_content_array_rows(context, &content->array[X], "x", head, n, &rows));
        memcpy(tokens, rows, (size_t)(n * d) * sizeof *rows);
        return SZG_OK;
    }
}

/* ---- Queries and keys ---- */

/* W_Q or W_K of a head into `scratch` (d x d), or borrowed from a file. */
static szg_status weights(szg_context *context, const szg_content *content, bool key, int64_t head,
                          int64_t d, double *scratch, const double **out) {
    if (content->kind == FILES)
        return szgi_content_array_rows(context, &content->array[key ? WK : WQ], key ? "wk" : "wq",
                                       head, d, out);
    draw_job w = {.stream = stream_of(content, key ? PURPOSE_KEY : PURPOSE_QUERY, head),
                  .rows = d,
                  .columns = d,
                  .scale = 1 / sqrt((double)d),
                  .out = scratch};
    *out = scratch;
    return draw(context, &w);
}

/* out = rows W^T for each of the two row blocks that is wanted. */
static szg_status project(szg_context *context, const double *w, int64_t n, int64_t d,
                          const double *rows, double *out) {
    return szgi_gemm(context, 'n', 't', n, d, d, 1, rows, d, w, d, 0, out, d);
}

typedef struct fill_target {
    int64_t head, n, d;
    const double *tokens, *p;
} fill_target;

static szg_status project_side(szg_context *context, const szg_content *content,
                               const fill_target *target, bool key, double *scratch, double *out,
                               double *out_p) {
    const double *w;
    SZG_TRY(weights(context, content, key, target->head, target->d, scratch, &w));
    SZG_TRY(project(context, w, target->n, target->d, target->tokens, out));
    if (!target->p)
        return SZG_OK;
    return project(context, w, target->n, target->d, target->p, out_p);
}

static void copy_rows(int64_t n, int64_t d, const double *from, double *to) {
    if (from)
        memcpy(to, from, (size_t)n * (size_t)d * sizeof *from);
}

static szg_status fill_projected(szg_context *context, const szg_content *content, int64_t head,
                                 int64_t n, int64_t d, const double *p, double *q, double *k,
                                 double *qp, double *kp) {
    double *tokens = NULL, *scratch = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n * d, &tokens), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, d * d, &scratch), done);
    SZG_TRY_GOTO(status, fill_tokens(context, content, head, n, d, tokens), done);
    fill_target target = {head, n, d, tokens, p};
    SZG_TRY_GOTO(status, project_side(context, content, &target, false, scratch, q, qp), done);
    status = project_side(context, content, &target, true, scratch, k, kp);
done:
    szgi_memory_free(tokens);
    szgi_memory_free(scratch);
    return status;
}

/* Queries and keys as the files give them, or equal to the tokens. */
static szg_status fill_plain(szg_context *context, const szg_content *content, int64_t head,
                             int64_t n, int64_t d, double *q, double *k) {
    if (!content->array[Q].data) {
        SZG_TRY(fill_tokens(context, content, head, n, d, q));
        copy_rows(n, d, q, k);
        return SZG_OK;
    }
    const double *queries, *keys;
    SZG_TRY(szgi_content_array_rows(context, &content->array[Q], "q", head, n, &queries));
    SZG_TRY(szgi_content_array_rows(context, &content->array[K], "k", head, n, &keys));
    copy_rows(n, d, queries, q);
    copy_rows(n, d, keys, k);
    return SZG_OK;
}

szg_status szgi_content_fill(szg_context *context, const szg_content *content, int64_t head,
                             int64_t n, int64_t d, const double *p, double *q, double *k,
                             double *qp, double *kp) {
    int64_t size;
    if (n < 1 || d < 1 || head < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "content of head %" PRId64 ", %" PRId64 " tokens, dimension %" PRId64
                         ": sizes are at least 1",
                         head, n, d);
    if (content->dim && content->dim != d)
        return szgi_fail(context, SZG_EINVAL,
                         "the content %s has dimension %" PRId64 ", the encoding %" PRId64,
                         szg_content_spec(content), content->dim, d);
    SZG_TRY(szgi_memory_product(context, n, d, &size));
    if (!content->identity)
        return fill_projected(context, content, head, n, d, p, q, k, qp, kp);
    SZG_TRY(fill_plain(context, content, head, n, d, q, k));
    copy_rows(n, d, p, qp);
    copy_rows(n, d, p, kp);
    return SZG_OK;
}
