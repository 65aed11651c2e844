/* Arrays that belong together, their axes, and whether their shapes agree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dump_private.h"

/* ---- Grouping ---- */

static int compare_integers(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* File, probe, layer, head, then the name; arrays of szgi_dump_add_as first. */
static int compare_arrays(const void *left, const void *right) {
    const dump_array *a = *(const dump_array *const *)left, *b = *(const dump_array *const *)right;
    if (!a->prefix || !b->prefix)
        return (a->prefix != NULL) - (b->prefix != NULL);
    int order = compare_integers(a->file, b->file);
    order = order ? order : compare_integers(a->place.probe, b->place.probe);
    order = order ? order : compare_integers(a->place.layer, b->place.layer);
    order = order ? order : compare_integers(a->place.head, b->place.head);
    return order ? order : strcmp(a->prefix, b->prefix);
}

static szg_status add_to_group(szg_context *context, const szgi_dump *dump, const dump_array *array,
                               dump_group *group) {
    char text[DUMP_TEXT], other[DUMP_TEXT];
    if (group->array[array->role])
        return szgi_fail(context, SZG_EDATA, "%s: %s says the same: leave one out",
                         szgi_dump_array_text(dump, array, text),
                         szgi_dump_array_text(dump, group->array[array->role], other));
    group->array[array->role] = array;
    if (!group->first || group->first->role > array->role)
        group->first = array;
    return SZG_OK;
}

static szg_status fill_groups(szg_context *context, const szgi_dump *dump,
                              const dump_array **sorted, dump_group *groups, int64_t *count) {
    for (int64_t i = 0; i < dump->arrays; i++) {
        if (i == 0 || compare_arrays(&sorted[i - 1], &sorted[i]) != 0)
            groups[(*count)++] = (dump_group){0};
        SZG_TRY(add_to_group(context, dump, sorted[i], &groups[*count - 1]));
    }
    return SZG_OK;
}

/* Groups that hold lengths or gradient norms alone say nothing. */
static void drop_empty(dump_group *groups, int64_t *count) {
    int64_t kept = 0;
    for (int64_t i = 0; i < *count; i++)
        if (groups[i].first->role < SZGI_DUMP_ROLES)
            groups[kept++] = groups[i];
    *count = kept;
}

szg_status szgi_dump_groups(szg_context *context, const szgi_dump *dump, dump_group **out,
                            int64_t *count) {
    const dump_array **sorted;
    *out = NULL;
    *count = 0;
    SZG_TRY(szgi_memory_alloc(context, dump->arrays, &sorted));
    for (int64_t i = 0; i < dump->arrays; i++)
        sorted[i] = &dump->array[i];
    qsort(sorted, (size_t)dump->arrays, sizeof *sorted, compare_arrays);
    szg_status status = szgi_memory_alloc(context, dump->arrays, out);
    if (status == SZG_OK)
        status = fill_groups(context, dump, sorted, *out, count);
    szgi_memory_free(sorted);
    if (status == SZG_OK) {
        drop_empty(*out, count);
        return SZG_OK;
    }
    szgi_memory_free(*out);
    *out = NULL;
    return status;
}

/* ---- Axes ---- */

static szg_status fail(szg_context *context, const szgi_dump *dump, const dump_array *array,
                       szg_status status, const char *what) {
    char text[DUMP_TEXT], shape[128] = "[";
    int dims = szgi_dump_array_dims(dump, array);
    const int64_t *size = szgi_dump_array_shape(dump, array);
    for (int i = 0; i < dims && i < 5; i++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%" PRId64, i ? ", " : "",
                 size[i]);
    return szgi_fail(context, status, "%s: shape %s%s]: %s",
                     szgi_dump_array_text(dump, array, text), shape, dims > 5 ? ", ..." : "", what);
}

/* The axes by their number, without those that the name gives. */
static void default_axes(const dump_place *place, int count, dump_group *group) {
    static const char *const usual[] = {"", "h", "lh", "blh"};
    const char *axes = usual[count];
    if (place->layer >= 0 && place->head >= 0)
        axes = "b";
    else if (place->layer >= 0)
        axes = count == 2 ? "bh" : "h";
    else if (place->head >= 0)
        axes = count == 2 ? "bl" : "l";
    group->axes = (int)strlen(axes);
    memcpy(group->axis, axes, (size_t)group->axes);
    group->axes = count == 0 ? 0 : group->axes;
}

/* Letters of the axes, and the words for them: a matrix of logits has queries and keys. */
static const struct {
    const char *word, *count; /* the second with a number before it; "": it is no index */
    char axis;
    bool of_logits;
} axis_words[] = {{"batch", "sequences", 'b', false},
                  {"layer", "layers", 'l', false},
                  {"head", "heads", 'h', false},
                  {"token", "", 't', false},
                  {"dim", "", 'd', false},
                  {"query", "", 't', true},
                  {"key", "", 'd', true}};
enum { AXIS_WORDS = sizeof axis_words / sizeof *axis_words };

static szg_status bad_axes(szg_context *context, const char *text) {
    return szgi_fail(context, SZG_EINVAL,
                     "axes '%.80s': a list of batch, layer, head, each once at most, is expected, "
                     "with token and dim (of logits query and key) where they are not the last two",
                     text);
}

/* The axes of a list, in its order, and those of a matrix at the end where the list has neither. */
static szg_status read_axes(szg_context *context, const char *text, dump_group *group) {
    int count = 0, of_logits = 0;
    group->order[0] = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        int which = 0;
        while (which < AXIS_WORDS && !(length == strlen(axis_words[which].word) &&
                                       memcmp(at, axis_words[which].word, length) == 0))
            which++;
        if (which == AXIS_WORDS || strchr(group->order, axis_words[which].axis))
            return bad_axes(context, text);
        of_logits += axis_words[which].of_logits;
        group->order[count++] = axis_words[which].axis;
        group->order[count] = 0;
        at += length + (at[length] == ',');
    }
    bool rows = strchr(group->order, 't'), columns = strchr(group->order, 'd');
    if (rows != columns || of_logits == 1)
        return bad_axes(context, text);
    group->of_logits = of_logits;
    if (!rows)
        memcpy(group->order + count, "td", sizeof "td");
    return SZG_OK;
}

/* What the user says, and the file; both, if they agree. */
static szg_status named_axes(szg_context *context, const char *given, const dump_file *file,
                             dump_group *group) {
    dump_group other = {0};
    if (given)
        SZG_TRY(read_axes(context, given, group));
    if (file->axes) {
        szg_status status = read_axes(context, file->axes, &other);
        if (status != SZG_OK)
            return szgi_fail_prefix(context, status, "%s: metadata", file->path);
    }
    if (given && file->axes && strcmp(group->order, other.order) != 0)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: its metadata says axes %.80s, the option %.80s: leave the option out",
                         file->path, file->axes, given);
    if (!given) {
        memcpy(group->order, other.order, sizeof group->order);
        group->of_logits = other.of_logits;
    }
    group->named = true;
    group->axes = 0;
    for (const char *at = group->order; *at; at++)
        if (*at != 't' && *at != 'd')
            group->axis[group->axes++] = *at;
    return SZG_OK;
}

static szg_status find_axes(szg_context *context, const szgi_dump *dump,
                            const szgi_dump_options *options, dump_group *group) {
    int count = szgi_dump_array_dims(dump, group->first) - 2;
    const dump_place *place = &group->first->place;
    const dump_file *file = &dump->file[group->first->file];
    if (count < 0)
        return fail(context, dump, group->first, SZG_EDATA,
                    "at least the two axes of a matrix are needed");
    if (count > DUMP_AXES)
        return fail(context, dump, group->first, SZG_EDATA,
                    "a matrix has two axes, and only batch, layer and head may stand beside them");
    if (options->axes || file->axes) {
        SZG_TRY(named_axes(context, options->axes, file, group));
    } else {
        default_axes(place, count, group);
        snprintf(group->order, sizeof group->order, "%.*std", group->axes, group->axis);
    }
    if (group->axes != count)
        return fail(context, dump, group->first, SZG_EDATA,
                    group->named
                        ? "another number of axes than --axes names, or the file's metadata"
                        : "more axes than the name leaves open: say which with --axes");
    for (int i = 0; i < count; i++) {
        bool named = (group->axis[i] == 'l' && place->layer >= 0) ||
                     (group->axis[i] == 'h' && place->head >= 0);
        if (named)
            return fail(context, dump, group->first, SZG_EDATA,
                        "an axis counts what the name gives already: say which with --axes");
        group->size[i] = szgi_dump_extent(dump, group, group->first, group->axis[i]);
    }
    return SZG_OK;
}

static bool is_sides(int role) {
    return role >= SZGI_DUMP_QUERIES && role <= SZGI_DUMP_COUPLED_KEYS;
}

/* Where the axis stands: what the order does not speak of has its matrix in the last two. */
static int place_of_axis(const dump_group *group, const dump_array *array, char axis) {
    if (is_sides(array->role) != group->of_logits)
        return (int)(strchr(group->order, axis) - group->order);
    if (axis == 't' || axis == 'd')
        return group->axes + (axis == 'd');
    return (int)((const char *)memchr(group->axis, axis, (size_t)group->axes) - group->axis);
}

int64_t szgi_dump_extent(const szgi_dump *dump, const dump_group *group, const dump_array *array,
                         char axis) {
    return szgi_dump_array_shape(dump, array)[place_of_axis(group, array, axis)];
}

int64_t szgi_dump_stride(const szgi_dump *dump, const dump_group *group, const dump_array *array,
                         char axis) {
    int64_t stride = 1;
    for (int i = place_of_axis(group, array, axis) + 1; i < group->axes + 2; i++)
        stride *= szgi_dump_array_shape(dump, array)[i];
    return stride;
}

const char *szgi_dump_group_text(const szgi_dump *dump, const dump_group *group,
                                 char text[DUMP_TEXT]) {
    bool logits = !is_sides(group->first->role), own = logits == group->of_logits;
    char order[DUMP_AXES + 2 + 1];
    size_t used = 0;
    if (own)
        memcpy(order, group->order, sizeof order);
    else
        snprintf(order, sizeof order, "%.*std", group->axes, group->axis);
    for (int i = 0; i < group->axes; i++)
        for (int w = 0; w < AXIS_WORDS; w++)
            if (axis_words[w].axis == group->axis[i])
                used += (size_t)snprintf(text + used, DUMP_TEXT - used, "%" PRId64 " %s, ",
                                         group->size[i], axis_words[w].count);
    used += (size_t)snprintf(text + used, DUMP_TEXT - used, "%" PRId64 " tokens", group->n);
    if (!logits)
        used += (size_t)snprintf(text + used, DUMP_TEXT - used, ", dimension %" PRId64,
                                 szgi_dump_extent(dump, group, group->first, 'd'));
    used += (size_t)snprintf(text + used, DUMP_TEXT - used, " (axes ");
    for (const char *at = order; *at; at++)
        for (int w = 0; w < AXIS_WORDS; w++)
            if (axis_words[w].axis == *at &&
                (axis_words[w].of_logits == logits || (*at != 't' && *at != 'd')))
                used += (size_t)snprintf(text + used, DUMP_TEXT - used, "%s%s",
                                         at > order ? "," : "", axis_words[w].word);
    snprintf(text + used, DUMP_TEXT - used, ")");
    return text;
}

/* ---- Shapes ---- */

/* The axes beside the matrix are the group's; keys may have fewer heads, each for as many queries.
 */
static szg_status check_leading(szg_context *context, const szgi_dump *dump,
                                const dump_group *group, const dump_array *array) {
    bool keys = array->role == SZGI_DUMP_KEYS || array->role == SZGI_DUMP_COUPLED_KEYS;
    for (int i = 0; i < group->axes; i++) {
        int64_t size = szgi_dump_extent(dump, group, array, group->axis[i]);
        bool grouped = keys && group->axis[i] == 'h' && size > 0 && group->size[i] % size == 0;
        if (size != group->size[i] && !grouped)
            return fail(context, dump, array, SZG_EDATA,
                        "its leading axes are not those of the arrays that it belongs to");
    }
    return SZG_OK;
}

static bool is_empty(int dims, const int64_t *shape) {
    for (int i = 0; i < dims; i++)
        if (shape[i] < 1)
            return true;
    return false;
}

static szg_status check_array(szg_context *context, const szgi_dump *dump, dump_group *group,
                              const dump_array *array) {
    if (szgi_dump_array_dims(dump, array) != group->axes + 2)
        return fail(context, dump, array, SZG_EDATA,
                    "another number of axes than the arrays that it belongs to");
    const int64_t *shape = szgi_dump_array_shape(dump, array);
    SZG_TRY(check_leading(context, dump, group, array));
    if (is_empty(group->axes + 2, shape))
        return fail(context, dump, array, SZG_EDATA, "there are no matrices in it");
    int64_t rows = szgi_dump_extent(dump, group, array, 't');
    if (!is_sides(array->role) && rows != szgi_dump_extent(dump, group, array, 'd'))
        return fail(context, dump, array, SZG_EDATA,
                    "the axes of its matrices differ: logits are square, [N, N]");
    if (group->n == 0)
        group->n = rows;
    if (rows != group->n)
        return fail(context, dump, array, SZG_EDATA,
                    "another number of positions than the arrays that it belongs to");
    return SZG_OK;
}

/* Queries and keys come in pairs of one dimension. */
static szg_status check_pair(szg_context *context, const szgi_dump *dump, const dump_group *group,
                             int queries, int keys) {
    const dump_array *q = group->array[queries], *k = group->array[keys];
    if (!q && !k)
        return SZG_OK;
    if (!q || !k)
        return fail(context, dump, q ? q : k, SZG_EDATA,
                    q ? "queries without their keys" : "keys without their queries");
    if (szgi_dump_extent(dump, group, q, 'd') != szgi_dump_extent(dump, group, k, 'd'))
        return fail(context, dump, k, SZG_EDATA, "keys of another dimension than the queries");
    return SZG_OK;
}

/* What is coupled must be known, and from one source only. */
static szg_status check_roles(szg_context *context, const szgi_dump *dump,
                              const szgi_dump_options *options, const dump_group *group) {
    bool sides = group->array[SZGI_DUMP_QUERIES] != NULL;
    bool coupled = group->array[SZGI_DUMP_COUPLED] || group->array[SZGI_DUMP_COUPLED_QUERIES];
    if (group->array[SZGI_DUMP_COUPLED] && group->array[SZGI_DUMP_COUPLED_QUERIES])
        return fail(context, dump, group->array[SZGI_DUMP_COUPLED_QUERIES], SZG_EDATA,
                    "coupled logits are there beside it: leave one out");
    if (group->array[SZGI_DUMP_CONTENT] && sides)
        return fail(context, dump, group->array[SZGI_DUMP_CONTENT], SZG_EDATA,
                    "queries and keys are there beside it: leave one out");
    if (coupled || (sides && options->encoding))
        return SZG_OK;
    return fail(
        context, dump, group->first, SZG_EINVAL,
        sides ? "queries and keys without what couples them: give --pe SPEC (nope if nothing does)"
              : "content without coupled logits");
}

static szg_status check_numbers(szg_context *context, const szgi_dump *dump,
                                const dump_group *group, int role) {
    const dump_array *array = group->array[role];
    if (!array)
        return SZG_OK;
    int dims = szgi_dump_array_dims(dump, array);
    bool same = dims == group->axes;
    for (int i = 0; i < group->axes && same; i++)
        same = szgi_dump_array_shape(dump, array)[i] == group->size[i];
    if (group->axes == 0 && dims == 1) /* one number of one matrix, as a list of it */
        same = szgi_dump_array_shape(dump, array)[0] == 1;
    return same ? SZG_OK : fail(context, dump, array, SZG_EDATA, "one number a matrix is expected");
}

static szg_status check_lengths(szg_context *context, const szgi_dump *dump,
                                const szgi_dump_options *options, const dump_group *group) {
    const dump_array *array = group->array[DUMP_LENGTHS];
    int64_t batch = 1;
    for (int i = 0; i < group->axes; i++)
        if (group->axis[i] == 'b')
            batch = group->size[i];
    if (array && (szgi_dump_array_dims(dump, array) > 1 || array->tensor->count != batch))
        return fail(context, dump, array, SZG_EDATA, "one length a batch entry is expected");
    if (options->lengths > 1 && options->lengths != batch) {
        char text[DUMP_TEXT];
        return szgi_fail(context, SZG_EINVAL,
                         "%s: %" PRId64 " lengths for %" PRId64 " batch entries",
                         szgi_dump_array_text(dump, group->first, text), options->lengths, batch);
    }
    return SZG_OK;
}

szg_status szgi_dump_group_check(szg_context *context, const szgi_dump *dump,
                                 const szgi_dump_options *options, dump_group *group) {
    SZG_TRY(find_axes(context, dump, options, group));
    for (int role = 0; role < SZGI_DUMP_ROLES; role++)
        if (group->array[role])
            SZG_TRY(check_array(context, dump, group, group->array[role]));
    SZG_TRY(check_pair(context, dump, group, SZGI_DUMP_QUERIES, SZGI_DUMP_KEYS));
    SZG_TRY(check_pair(context, dump, group, SZGI_DUMP_COUPLED_QUERIES, SZGI_DUMP_COUPLED_KEYS));
    SZG_TRY(check_roles(context, dump, options, group));
    SZG_TRY(check_numbers(context, dump, group, DUMP_GRAD_NORM));
    SZG_TRY(check_numbers(context, dump, group, DUMP_GRAD_NORM_QK));
    SZG_TRY(check_numbers(context, dump, group, DUMP_SINK_LOGIT));
    SZG_TRY(check_lengths(context, dump, options, group));
    group->matrices = 1;
    for (int i = 0; i < group->axes; i++)
        SZG_TRY(szgi_memory_product(context, group->matrices, group->size[i], &group->matrices));
    return SZG_OK;
}
