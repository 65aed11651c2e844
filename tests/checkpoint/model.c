#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "formats/csv.h"
#include "linalg/linalg.h"
#include "model.h"

void model_open(test_model *model) {
    static uint32_t opened;
    *model = (struct test_model){.seed = ++opened};
    snprintf(model->folder, sizeof model->folder, "%s", scratch_folder());
}

void model_close(test_model *model) {
    for (int i = 0; i < model->tensors; i++)
        free(model->tensor[i].value);
    scratch_remove(model->folder);
}

/* The nearest number of the type that needs few bits: 1/64 steps are exact in all of them. */
static double draw(const test_model *model, int64_t index) {
    szgi_stream stream = {.seed = test_seed(), .purpose = model->seed};
    double value = szgi_random_normal(&stream, (uint64_t)(model->tensors * 1000000 + index));
    return round(value * 16) / 16;
}

static double *allocate(int64_t count) {
    double *value = calloc((size_t)(count > 0 ? count : 1), sizeof *value);
    ck_assert_ptr_nonnull(value);
    return value;
}

model_tensor *model_add(test_model *model, szgi_dtype dtype, int64_t rows, int64_t columns,
                        const char *format, ...) {
    ck_assert_int_lt(model->tensors, MODEL_TENSORS);
    model_tensor *tensor = &model->tensor[model->tensors];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tensor->name, sizeof tensor->name, format, arguments);
    va_end(arguments);
    tensor->dtype = dtype;
    tensor->dims = columns < 0 ? 1 : 2;
    tensor->shape[0] = rows;
    tensor->shape[1] = columns;
    tensor->count = columns < 0 ? rows : rows * columns;
    tensor->value = allocate(tensor->count);
    for (int64_t i = 0; i < tensor->count; i++)
        tensor->value[i] = draw(model, i);
    model->tensors++;
    return tensor;
}

model_tensor *model_find(test_model *model, const char *name) {
    for (int i = 0; i < model->tensors; i++)
        if (strcmp(model->tensor[i].name, name) == 0)
            return &model->tensor[i];
    ck_abort_msg("the test model has no tensor %s", name);
}

const double *model_value(const test_model *model, const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return model_find((test_model *)model, name)->value;
}

szg_status model_head(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                      int64_t head, double *q, double *k) {
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    SZG_TRY(szgi_checkpoint_queries(context, checkpoint, layer, head, q));
    return szgi_checkpoint_keys(context, checkpoint, layer, head / (facts.heads / facts.key_heads),
                                k);
}

const char *model_path(const test_model *model, const char *file) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", model->folder, file);
    return path;
}

void model_write_text(const test_model *model, const char *file, const char *text) {
    FILE *stream = fopen(model_path(model, file), "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

__extension__ typedef _Float16 binary16;

/* Element `value` as the file has it; returns its size. */
static size_t encode(szgi_dtype dtype, double value, unsigned char *out) {
    float single = (float)value;
    int64_t integer = (int64_t)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    binary16 half = (binary16)value;
    switch (dtype) {
    case SZGI_DTYPE_F64:
        memcpy(out, &value, sizeof value);
        return sizeof value;
    case SZGI_DTYPE_F32:
        memcpy(out, &single, sizeof single);
        return sizeof single;
    case SZGI_DTYPE_F16:
        memcpy(out, &half, sizeof half);
        return sizeof half;
    case SZGI_DTYPE_BF16:
        bits >>= 16;
        memcpy(out, &bits, 2);
        return 2;
    case SZGI_DTYPE_FLOAT8:
        for (*out = 0; szgi_real_from_e4m3(*out) != value; ++*out)
            ck_assert_int_lt(*out, 255);
        return 1;
    default:
        memcpy(out, &integer, sizeof integer);
        return sizeof integer;
    }
}

static const char *type_name(const model_tensor *tensor) {
    static const char *const names[] = {"F64", "F32",     "F16", "BF16",
                                        "I64", "F8_E4M3", "",    "F8_E4M3"};
    return tensor->dtype_name ? tensor->dtype_name : names[tensor->dtype];
}

/* Written by hand, not by the library: the library's writer is not what is under test. */
void model_write_part(const test_model *model, const char *file, int first, int count) {
    static char header[1 << 16];
    unsigned char element[8];
    size_t at = 0, offset = 0;
    FILE *stream = fopen(model_path(model, file), "wb");
    ck_assert_ptr_nonnull(stream);
    at += (size_t)snprintf(header, sizeof header, "{");
    for (int i = first; i < first + count; i++) {
        const model_tensor *tensor = &model->tensor[i];
        size_t bytes = (size_t)tensor->count * encode(tensor->dtype, 0, element);
        at += (size_t)snprintf(header + at, sizeof header - at,
                               "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i > first ? "," : "",
                               tensor->name, type_name(tensor));
        for (int j = 0; j < tensor->dims; j++)
            at += (size_t)snprintf(header + at, sizeof header - at, "%s%lld", j ? "," : "",
                                   (long long)tensor->shape[j]);
        at += (size_t)snprintf(header + at, sizeof header - at, "],\"data_offsets\":[%zu,%zu]}",
                               offset, offset + bytes);
        offset += bytes;
    }
    at += (size_t)snprintf(header + at, sizeof header - at, "}");
    uint64_t length = at;
    ck_assert_uint_eq(fwrite(&length, 8, 1, stream), 1);
    ck_assert_uint_eq(fwrite(header, 1, at, stream), at);
    for (int i = first; i < first + count; i++)
        for (int64_t j = 0; j < model->tensor[i].count; j++)
            fwrite(element, 1, encode(model->tensor[i].dtype, model->tensor[i].value[j], element),
                   stream);
    ck_assert_int_eq(fclose(stream), 0);
}

void model_write(const test_model *model, const char *config) {
    model_write_part(model, "model.safetensors", 0, model->tensors);
    if (config)
        model_write_text(model, "config.json", config);
}

/* ---- Brute force ---- */

double *oracle_product(const oracle_head *head, int64_t n, const double *p) {
    int64_t d = head->d;
    double *m = allocate(d * d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            for (int64_t r = 0; r < head->e; r++)
                m[i * d + j] += head->q[r * d + i] * head->k[r * d + j];
    if (!p)
        return m;
    double *left = allocate(n * d), *out = allocate(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            for (int64_t r = 0; r < d; r++)
                left[i * d + j] += p[i * d + r] * m[r * d + j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t r = 0; r < d; r++)
                out[i * n + j] += left[i * d + r] * p[j * d + r];
    free(m);
    free(left);
    return out;
}

void oracle_turn(const szgi_rotary *rotary, int64_t e, int64_t d, int64_t k, const double *q,
                 double *out) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    memcpy(out, q, (size_t)(e * d) * sizeof *q);
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t first = (rotary->offset + (half ? t : 2 * t)) * d;
        int64_t second = first + (half ? rotary->pairs : 1) * d;
        long double angle = (long double)k * rotary->theta[t];
        for (int64_t j = 0; j < d; j++) {
            out[first + j] = (double)(q[first + j] * cosl(angle) - q[second + j] * sinl(angle));
            out[second + j] = (double)(q[second + j] * cosl(angle) + q[first + j] * sinl(angle));
        }
    }
}

double oracle_error(const oracle_head *head, int64_t n, const double *p) {
    int64_t e = head->e, d = head->d;
    double size = norm_of(e * d, head->q) * norm_of(e * d, head->k);
    if (p)
        size *= norm_of(n * d, p) * norm_of(n * d, p);
    return 2 * gamma_of((double)(e + (p ? 2 * d : 0))) * size;
}

/* Whether a row is about this layer, head (-1: none) and matrix (NULL: any). */
static bool is_about(const szg_table *table, int64_t row, int64_t layer, int64_t head,
                     const char *matrix) {
    int64_t columns[2] = {szg_table_find(table, "layer"), szg_table_find(table, "head")};
    int64_t wanted[2] = {layer, head};
    bool same = !matrix || strcmp(cell_text(table, row, "matrix"), matrix) == 0;
    for (int i = 0; i < 2; i++)
        same = same && (columns[i] < 0 || szg_table_is_empty(table, row, columns[i])
                            ? wanted[i] < 0
                            : szg_table_get_integer(table, row, columns[i]) == wanted[i]);
    return same;
}

int64_t find_row(const szg_table *table, int64_t layer, int64_t head, const char *matrix) {
    int64_t found = -1;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        if (!is_about(table, row, layer, head, matrix))
            continue;
        ck_assert_msg(found < 0, "two rows for layer %lld, head %lld, %s", (long long)layer,
                      (long long)head, matrix ? matrix : "");
        found = row;
    }
    ck_assert_msg(found >= 0, "no row for layer %lld, head %lld, %s", (long long)layer,
                  (long long)head, matrix ? matrix : "");
    return found;
}

bool is_noted(const szg_checkpoint_tables *tables, int64_t layer, int64_t head, const char *matrix,
              const char *words) {
    for (int64_t row = 0; row < szg_table_rows(tables->notes); row++)
        if (is_about(tables->notes, row, layer, head, matrix) &&
            strstr(cell_text(tables->notes, row, "note"), words))
            return true;
    return false;
}

void ck_noted(const szg_checkpoint_tables *tables, int64_t layer, int64_t head, const char *matrix,
              const char *words) {
    if (is_noted(tables, layer, head, matrix, words))
        return;
    int64_t row = find_row(tables->notes, layer, head, matrix);
    ck_abort_msg("'%s' lacks '%s'", cell_text(tables->notes, row, "note"), words);
}

double cell(const szg_table *table, int64_t row, const char *column) {
    int64_t index = szg_table_find(table, column);
    ck_assert_msg(index >= 0, "no column %s", column);
    return szg_table_get_real(table, row, index);
}

const char *cell_text(const szg_table *table, int64_t row, const char *column) {
    int64_t index = szg_table_find(table, column);
    ck_assert_msg(index >= 0, "no column %s", column);
    const char *text = szg_table_get_text(table, row, index);
    return text ? text : "";
}

/* Copies the listed values of one kind; returns how many. */
static int64_t listed(const szg_table *table, int64_t layer, int64_t head, const char *matrix,
                      const char *kind, szg_c64 *out, int64_t most) {
    int64_t count = 0;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        if ((int64_t)cell(table, row, "layer") != layer ||
            (int64_t)cell(table, row, "head") != head ||
            strcmp(cell_text(table, row, "matrix"), matrix) ||
            strcmp(cell_text(table, row, "kind"), kind))
            continue;
        ck_assert_int_eq((int64_t)cell(table, row, "index"), count);
        ck_assert_int_lt(count, most);
        out[count++] = (szg_c64){cell(table, row, "re"), cell(table, row, "im")};
    }
    return count;
}

/* The least singular value of A - value I. */
static double distance_to_singular(int64_t n, const double *dense, szg_c64 value) {
    szg_c64 *shifted = (szg_c64 *)allocate(2 * n * n);
    double *singular = allocate(n), least;
    for (int64_t i = 0; i < n * n; i++)
        shifted[i].re = dense[i];
    for (int64_t i = 0; i < n; i++) {
        shifted[i * (n + 1)].re -= value.re;
        shifted[i * (n + 1)].im = -value.im;
    }
    ck_szg_ok(szgi_singular_complex(test_context(), n, n, shifted, n, singular, NULL, 1, NULL, 1));
    least = singular[n - 1];
    free(shifted);
    free(singular);
    return least;
}

/* The listed values and zeros for the rest are the eigenvalues of A + E, ||E||_2 <= bound: each is
 * one (A + E - value I is singular for an E of that norm if and only if the least singular value of
 * A - value I is below it), and so are their numbers: trace A and trace A^2 move by n ||E|| and
 * n (2 ||A|| + ||E||) ||E||. Their condition numbers do not matter. */
static void check_eigenvalues(int64_t n, const double *dense, double norm, int64_t count,
                              const szg_c64 *got, double bound) {
    double trace = 0, square = 0, sum[2] = {0, 0}, squares[2] = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        trace += dense[i * (n + 1)];
        for (int64_t j = 0; j < n; j++)
            square += dense[i * n + j] * dense[j * n + i];
    }
    for (int64_t i = 0; i < count; i++) {
        ck_close(distance_to_singular(n, dense, got[i]), 0, bound);
        sum[0] += got[i].re;
        sum[1] += got[i].im;
        squares[0] += got[i].re * got[i].re - got[i].im * got[i].im;
        squares[1] += 2 * got[i].re * got[i].im;
    }
    double total = (double)n * bound, twice = total * (2 * norm + bound);
    ck_close(sum[0], trace, total);
    ck_close(sum[1], 0, total);
    ck_close(squares[0], square, twice);
    ck_close(squares[1], 0, twice);
}

static void dense_singular(int64_t n, const double *dense, double *singular) {
    double *work = allocate(n * n);
    memcpy(work, dense, (size_t)(n * n) * sizeof *work);
    ck_szg_ok(szgi_singular(test_context(), n, n, work, n, singular, NULL, 1, NULL, 1));
    free(work);
}

double check_listed(const szg_table *spectra, int64_t layer, int64_t head, const char *matrix,
                    int64_t n, const double *dense, double error) {
    double *singular = allocate(n);
    szg_c64 *got = (szg_c64 *)allocate(2 * n);
    dense_singular(n, dense, singular);
    double norm = singular[0], bound = error + weyl(n, norm_of(n * n, dense));
    int64_t count = listed(spectra, layer, head, matrix, "singular", got, n);
    for (int64_t i = 0; i < n; i++)
        ck_close(i < count ? got[i].re : 0, singular[i], bound);
    count = listed(spectra, layer, head, matrix, "eigenvalue", got, n);
    check_eigenvalues(n, dense, norm, count, got, bound);
    free(singular);
    free(got);
    return norm;
}

void check_rank(const szg_checkpoint_tables *tables, int64_t layer, int64_t head,
                const char *matrix, int64_t n, int64_t e, int64_t key_head, const double *dense,
                double error) {
    double *singular = allocate(n);
    int64_t row = find_row(tables->summary, layer, head, matrix);
    double sigma = cell(tables->summary, row, "sigma_e");
    double condition = cell(tables->summary, row, "condition_e");
    dense_singular(n, dense, singular);
    ck_close(sigma, singular[(e < n ? e : n) - 1], error + weyl(n, norm_of(n * n, dense)));
    if (sigma > 0)
        ck_close(condition * sigma, cell(tables->summary, row, "sigma_max"),
                 gamma_of(2) * singular[0]);
    else
        ck_assert(isinf(condition) == (cell(tables->summary, row, "sigma_max") > 0));
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "key_head"), key_head);
    free(singular);
}

void check_spectra(const szg_checkpoint_tables *tables, int64_t layer, int64_t head,
                   const char *matrix, int64_t n, const double *dense, double error) {
    szg_c64 *got = (szg_c64 *)allocate(2 * n);
    int64_t row = find_row(tables->summary, layer, head, matrix);
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "n"), n);

    double norm = check_listed(tables->spectra, layer, head, matrix, n, dense, error);
    double bound = error + weyl(n, norm_of(n * n, dense));
    int64_t count = listed(tables->spectra, layer, head, matrix, "singular", got, n);
    ck_close(cell(tables->summary, row, "sigma_max"), norm, bound);
    int64_t rank = 0; /* docs/reference/checkpoints.md: those above n eps sigma_max */
    while (rank < count && got[rank].re > (double)n * DBL_EPSILON * got[0].re)
        rank++;
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "rank"), rank);

    count = listed(tables->spectra, layer, head, matrix, "eigenvalue", got, n);
    double radius = 0;
    for (int64_t i = 0; i < count; i++)
        radius = fmax(radius, hypot(got[i].re, got[i].im));
    ck_close(cell(tables->summary, row, "radius"), radius, gamma_of(4) * radius);
    free(got);
}

const char model_bert[] = "{\"model_type\":\"bert\",\"num_hidden_layers\":3,"
                          "\"num_attention_heads\":2,\"hidden_size\":6}";

void model_add_bert(test_model *model) {
    model_add(model, SZGI_DTYPE_F32, 5, 6, "embeddings.position_embeddings.weight");
    for (int i = 0; i < 3; i++) {
        model_add(model, SZGI_DTYPE_F32, 6, 6, "encoder.layer.%d.attention.self.query.weight", i);
        model_add(model, SZGI_DTYPE_F32, 6, 6, "encoder.layer.%d.attention.self.key.weight", i);
    }
}

szg_status model_try(const char *folder, const szg_checkpoint_options *options) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    SZG_TRY(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, options, &tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

void model_analyse(const test_model *model, szg_checkpoint **checkpoint,
                   szg_checkpoint_tables *tables) {
    ck_szg_ok(szg_checkpoint_open(test_context(), model->folder, NULL, checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), *checkpoint, NULL, tables));
}

char *model_print(const szg_checkpoint_tables *tables) {
    const szg_table *const all[] = {
        tables->summary,      tables->notes,   tables->spectra, tables->frequencies, tables->kernel,
        tables->range,        tables->samples, tables->tensors, tables->bounds,      tables->heads,
        tables->architecture, tables->top,     tables->layers,  tables->circuits};
    szgi_text text;
    ck_szg_ok(szgi_text_open(test_context(), &text));
    szg_status status = SZG_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == SZG_OK; i++)
        status = all[i] ? szgi_csv_print(test_context(), all[i], text.stream) : SZG_OK;
    fprintf(text.stream, "%lld bad, %lld unconverged", (long long)tables->bad,
            (long long)tables->unconverged);
    ck_szg_ok(szgi_text_end(&text, status));
    char *copy = strdup(text.text);
    szgi_text_close(&text);
    return copy;
}
