/* Tensors that an adapter changes: W + scale B A of LoRA, with DoRA's lengths. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "safetensors_private.h"

struct szgi_update {
    szgi_low_rank change;
    pthread_mutex_t lock;
    double *factor; /* [outputs] magnitude / length, made when they are first needed; NULL: not yet,
                       or there is no magnitude */
};

/* A part of a stored matrix. */
typedef struct box {
    int64_t row, rows, column, columns;
} box;

static int64_t rank_of(const szgi_low_rank *change) {
    return change->down->shape[0];
}

static int64_t outputs_of(const szgi_tensor *tensor, const szgi_low_rank *change) {
    return tensor->shape[change->turned ? 1 : 0];
}

/* ---- B A ---- */

/* B's rows first .. first + count - 1, [count, rank]; with `across` [rank, count]. */
static szg_status read_up(szg_context *context, const szgi_low_rank *change, int64_t first,
                          int64_t count, bool across, double *out) {
    int64_t rank = rank_of(change);
    double *rows = out;
    if (across)
        SZG_TRY(szgi_memory_alloc(context, count * rank, &rows));
    szg_status status = szgi_tensor_read(context, change->up, first * rank, count * rank, rows);
    for (int64_t i = 0; across && i < count && status == SZG_OK; i++)
        for (int64_t t = 0; t < rank; t++)
            out[t * count + i] = rows[i * rank + t];
    if (across)
        szgi_memory_free(rows);
    return status;
}

/* A's columns first .. first + count - 1, [rank, count]; with `across` [count, rank]. */
static szg_status read_down(szg_context *context, const szgi_low_rank *change, int64_t first,
                            int64_t count, bool across, double *out) {
    int64_t rank = rank_of(change), inputs = change->down->shape[1];
    double *line = NULL;
    if (across)
        SZG_TRY(szgi_memory_alloc(context, count, &line));
    szg_status status = SZG_OK;
    for (int64_t t = 0; t < rank && status == SZG_OK; t++) {
        status = szgi_tensor_read(context, change->down, t * inputs + first, count,
                                  across ? line : out + t * count);
        for (int64_t j = 0; across && j < count && status == SZG_OK; j++)
            out[j * rank + t] = line[j];
    }
    szgi_memory_free(line);
    return status;
}

/* out += scale left right, of left [rows, rank] and right [rank, columns]. */
static void add_product(const box *part, int64_t rank, double scale, const double *left,
                        const double *right, double *out) {
    for (int64_t i = 0; i < part->rows; i++, out += part->columns)
        for (int64_t t = 0; t < rank; t++) {
            const double factor = scale * left[i * rank + t], *row = right + t * part->columns;
            for (int64_t j = 0; j < part->columns; j++)
                out[j] += factor * row[j];
        }
}

static szg_status add_change(szg_context *context, const szgi_low_rank *change, const box *part,
                             double *out) {
    int64_t rank = rank_of(change), size;
    double *left = NULL, *right = NULL;
    szg_status status;
    SZG_TRY(szgi_memory_product(context, rank, part->rows, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &left));
    SZG_TRY_GOTO(status, szgi_memory_product(context, rank, part->columns, &size), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, size, &right), done);
    SZG_TRY_GOTO(status,
                 change->turned ? read_down(context, change, part->row, part->rows, true, left)
                                : read_up(context, change, part->row, part->rows, false, left),
                 done);
    SZG_TRY_GOTO(status,
                 change->turned
                     ? read_up(context, change, part->column, part->columns, true, right)
                     : read_down(context, change, part->column, part->columns, false, right),
                 done);
    add_product(part, rank, change->scale, left, right, out);
done:
    szgi_memory_free(left);
    szgi_memory_free(right);
    return status;
}

/* ---- Parts of a matrix ---- */

static szg_status read_stored(szg_context *context, const szgi_tensor *tensor, const box *part,
                              double *out) {
    int64_t width = tensor->shape[1];
    if (part->columns == width)
        return szgi_tensor_read_stored(context, tensor, part->row * width, part->rows * width, out);
    for (int64_t i = 0; i < part->rows; i++)
        SZG_TRY(szgi_tensor_read_stored(context, tensor, (part->row + i) * width + part->column,
                                        part->columns, out + i * part->columns));
    return SZG_OK;
}

/* The part before DoRA's lengths. */
static szg_status read_sum(szg_context *context, const szgi_tensor *tensor, const box *part,
                           double *out) {
    SZG_TRY(read_stored(context, tensor, part, out));
    return add_change(context, &tensor->update->change, part, out);
}

/* ---- DoRA's lengths ---- */

static szg_status add_squares(szg_context *context, const szgi_tensor *tensor, const box *part,
                              double *room, long double *squares) {
    bool turned = tensor->update->change.turned;
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(read_sum(context, tensor, part, room));
    for (int64_t i = 0; i < part->rows; i++)
        for (int64_t j = 0; j < part->columns; j++) {
            long double value = room[i * part->columns + j];
            squares[turned ? j : part->row + i] += value * value;
        }
    return SZG_OK;
}

/* Rows of at most so many numbers are read at once. */
enum { ROOM = 1 << 18 };

static szg_status sum_squares(szg_context *context, const szgi_tensor *tensor,
                              long double *squares) {
    int64_t rows = tensor->shape[0], width = tensor->shape[1];
    int64_t most = width < ROOM ? ROOM / width : 1;
    double *room;
    SZG_TRY(szgi_memory_alloc(context, (most < rows ? most : rows) * width, &room));
    szg_status status = SZG_OK;
    for (int64_t row = 0; row < rows && status == SZG_OK; row += most) {
        const box part = {row, rows - row < most ? rows - row : most, 0, width};
        status = add_squares(context, tensor, &part, room, squares);
    }
    szgi_memory_free(room);
    return status;
}

static szg_status divide(szg_context *context, const szgi_tensor *tensor,
                         const long double *squares, double *factor) {
    const szgi_low_rank *change = &tensor->update->change;
    int64_t outputs = outputs_of(tensor, change);
    SZG_TRY(szgi_tensor_read(context, change->magnitude, 0, outputs, factor));
    for (int64_t i = 0; i < outputs; i++) {
        factor[i] = (double)(factor[i] / sqrtl(squares[i]));
        if (!isfinite(factor[i]))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: DoRA divides by the length of %s %" PRId64
                             " of W + scale B A, which is %Lg, in tensor %s of %s: the adapter is "
                             "damaged, or of another base",
                             change->magnitude->file, SHOWN(change->magnitude->name),
                             change->turned ? "column" : "row", i, sqrtl(squares[i]),
                             SHOWN(tensor->name), tensor->file);
    }
    return SZG_OK;
}

static szg_status make_factor(szg_context *context, const szgi_tensor *tensor, double **out) {
    int64_t outputs = outputs_of(tensor, &tensor->update->change);
    long double *squares;
    double *factor = NULL;
    SZG_TRY(szgi_memory_alloc(context, outputs, &squares));
    szg_status status = szgi_memory_alloc(context, outputs, &factor);
    if (status == SZG_OK)
        status = sum_squares(context, tensor, squares);
    if (status == SZG_OK)
        status = divide(context, tensor, squares, factor);
    szgi_memory_free(squares);
    if (status != SZG_OK)
        szgi_memory_free(factor);
    else
        *out = factor;
    return status;
}

/* Threads that need the lengths of one tensor wait for the first of them. */
static szg_status apply_magnitude(szg_context *context, const szgi_tensor *tensor, const box *part,
                                  double *out) {
    szgi_update *update = tensor->update;
    if (!update->change.magnitude)
        return SZG_OK;
    pthread_mutex_lock(&update->lock);
    szg_status status = update->factor ? SZG_OK : make_factor(context, tensor, &update->factor);
    pthread_mutex_unlock(&update->lock);
    SZG_TRY(status);
    for (int64_t i = 0; i < part->rows; i++)
        for (int64_t j = 0; j < part->columns; j++)
            out[i * part->columns + j] *=
                update->factor[update->change.turned ? part->column + j : part->row + i];
    return SZG_OK;
}

static szg_status read_box(szg_context *context, const szgi_tensor *tensor, const box *part,
                           double *out) {
    if (part->rows == 0 || part->columns == 0)
        return SZG_OK;
    if (!tensor->update)
        return read_stored(context, tensor, part, out);
    SZG_TRY(read_sum(context, tensor, part, out));
    return apply_magnitude(context, tensor, part, out);
}

/* ---- Reading ---- */

szg_status szgi_tensor_read_part(szg_context *context, const szgi_tensor *tensor, int64_t row,
                                 int64_t rows, int64_t column, int64_t columns, double *out) {
    const box part = {row, rows, column, columns};
    if (tensor->dims != 2 || row < 0 || rows < 0 || rows > tensor->shape[0] - row || column < 0 ||
        columns < 0 || columns > tensor->shape[1] - column)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: tensor %s: has no part of %" PRId64 " rows from %" PRId64
                         " on and %" PRId64 " columns from %" PRId64 " on",
                         tensor->file, SHOWN(tensor->name), rows, row, columns, column);
    return read_box(context, tensor, &part, out);
}

static szg_status read_vector(szg_context *context, const szgi_tensor *tensor, int64_t start,
                              int64_t count, double *out) {
    const szgi_low_rank *change = &tensor->update->change;
    double *added;
    SZG_TRY(szgi_tensor_read_stored(context, tensor, start, count, out));
    SZG_TRY(szgi_memory_alloc(context, count, &added));
    szg_status status = szgi_tensor_read(context, change->up, start, count, added);
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        out[i] += change->scale * added[i];
    szgi_memory_free(added);
    return status;
}

/* The rest of a row, whole rows, and the beginning of one. */
szg_status szgi_tensor_read_updated(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                    int64_t count, double *out) {
    SZG_TRY(szgi_tensor_check_range(context, tensor, start, count));
    if (tensor->dims == 1)
        return read_vector(context, tensor, start, count, out);
    while (count > 0) {
        int64_t width = tensor->shape[1], column = start % width, left = width - column;
        box part = {start / width, 1, column, left < count ? left : count};
        if (column == 0 && count >= width)
            part.rows = count / width;
        SZG_TRY(read_box(context, tensor, &part, out));
        start += part.rows * part.columns;
        count -= part.rows * part.columns;
        out += part.rows * part.columns;
    }
    return SZG_OK;
}

szg_status szgi_update_check(szg_context *context, const szgi_tensor *tensor) {
    const szgi_low_rank *change = &tensor->update->change;
    const szgi_tensor *const parts[] = {change->down, change->up, change->magnitude};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            SZG_TRY(szgi_tensor_check(context, parts[i]));
    return SZG_OK;
}

/* ---- Who has which ---- */

static bool has_shape(const szgi_tensor *tensor, int64_t rows, int64_t columns) {
    return columns < 0
               ? tensor->dims == 1 && tensor->shape[0] == rows
               : tensor->dims == 2 && tensor->shape[0] == rows && tensor->shape[1] == columns;
}

static bool fits(const szgi_tensor *tensor, const szgi_low_rank *change) {
    if (!change->down)
        return tensor->dims == 1 && !change->magnitude &&
               has_shape(change->up, tensor->shape[0], -1);
    if (tensor->dims != 2 || change->down->dims != 2)
        return false;
    int64_t outputs = outputs_of(tensor, change), inputs = tensor->shape[change->turned ? 0 : 1];
    return has_shape(change->down, rank_of(change), inputs) &&
           has_shape(change->up, outputs, rank_of(change)) &&
           (!change->magnitude || has_shape(change->magnitude, outputs, -1));
}

szg_status szgi_safetensors_update(szg_context *context, szgi_safetensors *set, int64_t index,
                                   const szgi_low_rank *change) {
    szgi_tensor *tensor = &set->tensor[index];
    if (tensor->update || !fits(tensor, change))
        return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: %s", tensor->file,
                         SHOWN(tensor->name),
                         tensor->update ? "an adapter changes it already"
                                        : "the adapter's tensors have other shapes");
    szgi_update *update;
    SZG_TRY(szgi_memory_alloc(context, 1, &update));
    update->change = *change;
    pthread_mutex_init(&update->lock, NULL);
    tensor->update = update;
    return SZG_OK;
}

void szgi_update_close(szgi_update **update) {
    if (!*update)
        return;
    pthread_mutex_destroy(&(*update)->lock);
    szgi_memory_free((*update)->factor);
    szgi_memory_free(*update);
    *update = NULL;
}

const szgi_low_rank *szgi_tensor_low_rank(const szgi_tensor *tensor) {
    return tensor->update ? &tensor->update->change : NULL;
}

szg_status szgi_safetensors_replace(szg_context *context, szgi_safetensors *set, int64_t index,
                                    const szgi_tensor *other) {
    szgi_tensor *tensor = &set->tensor[index];
    const char *name = tensor->name;
    struct szgi_coded *coded = tensor->coded; /* which owns the name of a packed weight */
    bool same = tensor->dims == other->dims;
    for (int i = 0; same && i < tensor->dims; i++)
        same = tensor->shape[i] == other->shape[i];
    if (!same || tensor->update)
        return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: another one of another shape",
                         tensor->file, SHOWN(name));
    szgi_memory_free(tensor->refusal);
    *tensor = *other;
    tensor->name = name;
    tensor->coded = coded;
    tensor->refusal = NULL; /* which its own set frees */
    return SZG_OK;
}
