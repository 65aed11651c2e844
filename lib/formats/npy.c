#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/npy.h"
#include "formats/safetensors.h"
#include "npy_private.h"
#include "safetensors_private.h"

enum {
    BLOCK = 1 << 16,        /* bytes of a file that are read at once; a multiple of each width */
    START = 64,             /* magic, version, length of the header; a Git LFS pointer's line */
    HEADER_LIMIT = 1 << 20, /* bytes; NumPy itself refuses a header of more than 10,000 */
};

struct szgi_npy {
    char *name;
    szgi_source *source;       /* NULL where the caller owns the bytes */
    unsigned char *copy;       /* of a file in Fortran order, whose rows are spread over it */
    const unsigned char *data; /* the elements in memory; NULL: in the source, from `offset` on */
    int64_t offset;
    char kind;   /* b i u f c */
    int width;   /* bytes of an element */
    bool swap;   /* big-endian */
    bool column; /* Fortran order */
    int dims;
    int64_t shape[SZGI_NPY_DIMS], count;
};

/* The header's dictionary, read from left to right. */
typedef struct cursor {
    szg_context *context;
    const szgi_npy *npy;
    const char *at, *end;
} cursor;

static szg_status fail(const cursor *c, const char *what) {
    return szgi_fail(c->context, SZG_EDATA, "%s: npy header: %s", c->npy->name, what);
}

static void skip_blanks(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

/* Steps over `word` where it stands next. */
static bool take(cursor *c, const char *word) {
    skip_blanks(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A quoted text without escapes, shorter than `size`. */
static bool take_text(cursor *c, char *out, size_t size) {
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    const char *from = c->at;
    while (c->at < c->end && *c->at != quote && *c->at != '\\' && *c->at != 0)
        c->at++;
    size_t length = (size_t)(c->at - from);
    if (c->at == c->end || *c->at != quote || length >= size)
        return false;
    memcpy(out, from, length);
    out[length] = 0;
    c->at++;
    return true;
}

static szg_status read_type(cursor *c, szgi_npy *npy) {
    char text[16] = "";
    skip_blanks(c);
    if (c->at < c->end && *c->at == '[')
        return fail(c, "a structured array: save one field as a plain array, "
                       "np.save(file, a['re'])");
    if (!take_text(c, text, sizeof text))
        return fail(c, "'descr' is not the name of a type");
    int order = text[0], kind = order ? text[1] : 0, width = kind ? atoi(text + 2) : 0;
    bool known = order && strchr("<>|=", order) && kind && text[2] &&
                 text[2 + strspn(text + 2, "0123456789")] == 0;
    if (known && kind == 'f')
        known = width == 2 || width == 4 || width == 8;
    else if (known && kind == 'c')
        known = width == 8 || width == 16;
    else if (known && kind == 'b')
        known = width == 1;
    else
        known = known && (kind == 'i' || kind == 'u') &&
                (width == 1 || width == 2 || width == 4 || width == 8);
    if (!known)
        return szgi_fail(
            c->context, SZG_EDATA,
            "%s: npy header: elements of type '%s' are not numbers of up to 8 bytes (16 "
            "if complex): save a.astype('<f8')",
            npy->name, SHOWN(text));
    npy->kind = (char)kind;
    npy->width = width;
    npy->swap = order == '>';
    return SZG_OK;
}

static szg_status read_shape(cursor *c, szgi_npy *npy) {
    if (!take(c, "("))
        return fail(c, "'shape' is not a tuple");
    while (!take(c, ")")) {
        int64_t size = 0;
        const char *from = c->at;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
            if (__builtin_mul_overflow(size, 10, &size) ||
                __builtin_add_overflow(size, *c->at - '0', &size))
                return fail(c, "a size in 'shape' is beyond 64 bits");
        if (c->at == from)
            return fail(c, "'shape' holds something that is not a size");
        if (npy->dims == SZGI_NPY_DIMS)
            return fail(c, "more than 32 dimensions");
        npy->shape[npy->dims++] = size;
        take(c, "L"); /* Python 2 */
        if (!take(c, ",") && (c->at == c->end || *c->at != ')'))
            return fail(c, "'shape' is not closed");
    }
    return SZG_OK;
}

static szg_status read_entry(cursor *c, szgi_npy *npy, unsigned *seen) {
    char key[16] = "";
    if (!take_text(c, key, sizeof key) || !take(c, ":"))
        return fail(c, "is not the dictionary that NumPy writes");
    unsigned bit = strcmp(key, "descr") == 0           ? 1
                   : strcmp(key, "fortran_order") == 0 ? 2
                   : strcmp(key, "shape") == 0         ? 4
                                                       : 0;
    if (bit == 0 || (*seen & bit))
        return szgi_fail(c->context, SZG_EDATA, "%s: npy header: '%s' is unknown or there twice",
                         npy->name, SHOWN(key));
    *seen |= bit;
    if (bit == 1)
        return read_type(c, npy);
    if (bit == 4)
        return read_shape(c, npy);
    npy->column = take(c, "True");
    return npy->column || take(c, "False") ? SZG_OK
                                           : fail(c, "'fortran_order' is not True or False");
}

static szg_status read_dictionary(cursor *c, szgi_npy *npy) {
    unsigned seen = 0;
    if (!take(c, "{"))
        return fail(c, "is not the dictionary that NumPy writes");
    while (!take(c, "}")) {
        SZG_TRY(read_entry(c, npy, &seen));
        take(c, ",");
        if (c->at == c->end)
            return fail(c, "is not closed");
    }
    skip_blanks(c);
    if (seen != 7)
        return fail(c, "one of 'descr', 'fortran_order', 'shape' is missing");
    return c->at == c->end ? SZG_OK : fail(c, "has text after the dictionary");
}

static szg_status refuse_archive(szg_context *context, const char *file) {
    char names[NPZ_NAMES];
    bool npz = szgi_npz_names(context, file, names);
    return szgi_fail(context, SZG_EDATA,
                     "%s: is not an npy file but an archive%s%s: save one array: python -c "
                     "\"import numpy; numpy.save('array.npy', numpy.load('%s')['NAME'])\"",
                     file, npz ? " of NumPy arrays: " : ", as NumPy's npz is", npz ? names : "",
                     szgi_path_name(file));
}

/* Where the header's text lies, by the file's first bytes, START of them or all. */
static szg_status locate(szg_context *context, const szgi_npy *npy, const unsigned char *start,
                         int64_t size, int64_t *from, int64_t *to) {
    SZG_TRY(szgi_lfs_refuse(context, npy->name, start, size));
    if (size >= 4 && memcmp(start, "PK\3\4", 4) == 0)
        return refuse_archive(context, npy->name);
    if (size < 10 || memcmp(start, SZGI_NPY_MAGIC, 6) != 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: is not an npy file: it does not begin with \\x93NUMPY, or is shorter "
                         "than 10 bytes",
                         npy->name);
    if (start[6] < 1 || start[6] > 3)
        return szgi_fail(context, SZG_EDATA, "%s: npy version %d.%d is unknown: 1 to 3 are read",
                         npy->name, start[6], start[7]);
    bool wide = start[6] > 1;
    *from = wide ? 12 : 10;
    *to = *from + start[8] + 256 * start[9];
    if (wide && size >= 12)
        *to += ((int64_t)start[11] << 24) + ((int64_t)start[10] << 16);
    if (size < *from || *to > size)
        return szgi_fail(context, SZG_EDATA,
                         "%s: byte 8: the header ends at byte %" PRId64 ", the file at %" PRId64
                         ": the file is truncated",
                         npy->name, *to, size);
    if (*to > HEADER_LIMIT)
        return szgi_fail(context, SZG_EDATA,
                         "%s: byte 8: the header ends at byte %" PRId64
                         ": that of one array of numbers ends before byte %d",
                         npy->name, *to, HEADER_LIMIT);
    return SZG_OK;
}

static szg_status check_size(szg_context *context, szgi_npy *npy, int64_t size) {
    int64_t needed;
    bool empty = false;
    npy->count = 1;
    for (int i = 0; i < npy->dims; i++)
        empty = empty || npy->shape[i] == 0;
    if (empty)
        npy->count = 0;
    for (int i = 0; i < npy->dims && !empty; i++)
        if (__builtin_mul_overflow(npy->count, npy->shape[i], &npy->count))
            return szgi_fail(context, SZG_EDATA,
                             "%s: npy header: the sizes multiply beyond 64 bits", npy->name);
    if (__builtin_mul_overflow(npy->count, npy->width, &needed) || needed > size)
        return szgi_fail(context, SZG_EDATA,
                         "%s: is truncated: %" PRId64 " elements of %d bytes need more than the "
                         "%" PRId64 " bytes of data there are",
                         npy->name, npy->count, npy->width, size);
    if (needed < size)
        return szgi_fail(context, SZG_EDATA,
                         "%s: %" PRId64 " bytes follow the array's %" PRId64 " elements: one array "
                         "a file is read",
                         npy->name, size - needed, npy->count);
    return SZG_OK;
}

/* The header; `text` holds bytes from .. to - 1 of `size`. */
static szg_status parse(szg_context *context, szgi_npy *npy, const unsigned char *text,
                        int64_t from, int64_t to, int64_t size) {
    cursor c = {context, npy, (const char *)text, (const char *)text + (to - from)};
    SZG_TRY(read_dictionary(&c, npy));
    return check_size(context, npy, size - to);
}

static szg_status parse_bytes(szg_context *context, szgi_npy *npy, const unsigned char *data,
                              int64_t size) {
    int64_t from = 0, to = 0;
    SZG_TRY(locate(context, npy, data, size, &from, &to));
    npy->data = data + to;
    return parse(context, npy, data + from, from, to, size);
}

static szg_status parse_source(szg_context *context, szgi_npy *npy) {
    unsigned char start[START] = {0}, *text;
    int64_t size = szgi_source_size(npy->source), from = 0, to = 0;
    SZG_TRY(szgi_source_read(context, npy->source, 0, size < START ? size : START, start));
    SZG_TRY(locate(context, npy, start, size, &from, &to));
    SZG_TRY(szgi_memory_alloc(context, to - from, &text));
    szg_status status = szgi_source_read(context, npy->source, from, to - from, text);
    if (status == SZG_OK)
        status = parse(context, npy, text, from, to, size);
    npy->offset = to;
    szgi_memory_free(text);
    return status;
}

/* One read an element would take a call of the system each. */
static szg_status load_columns(szg_context *context, szgi_npy *npy) {
    if (!npy->column || npy->dims < 2)
        return SZG_OK;
    int64_t size = npy->count * npy->width;
    SZG_TRY(szgi_memory_require(context, size, 1, 1, npy->name,
                                "write it in C order (numpy.ascontiguousarray), which is read in "
                                "parts"));
    SZG_TRY(szgi_memory_alloc(context, size, &npy->copy));
    npy->data = npy->copy;
    return szgi_source_read(context, npy->source, npy->offset, size, npy->copy);
}

static szg_status open_named(szg_context *context, const char *name, szgi_npy **out) {
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, out));
    szg_status status = szgi_memory_copy_text(context, name, &(*out)->name);
    if (status != SZG_OK)
        szgi_npy_close(out);
    return status;
}

szg_status szgi_npy_open(szg_context *context, const char *path, szgi_npy **out) {
    SZG_TRY(open_named(context, path, out));
    szg_status status = szgi_source_open(context, path, &(*out)->source);
    if (status == SZG_OK)
        status = parse_source(context, *out);
    if (status == SZG_OK)
        status = load_columns(context, *out);
    if (status != SZG_OK)
        szgi_npy_close(out);
    return status;
}

szg_status szgi_npy_open_bytes(szg_context *context, const char *name, const void *data,
                               int64_t size, szgi_npy **out) {
    SZG_TRY(open_named(context, name, out));
    szg_status status = parse_bytes(context, *out, data, size);
    if (status != SZG_OK)
        szgi_npy_close(out);
    return status;
}

szg_status szgi_npy_check(szg_context *context, const szgi_npy *npy) {
    return npy->source ? szgi_source_check(context, npy->source) : SZG_OK;
}

void szgi_npy_close(szgi_npy **npy) {
    if (!npy || !*npy)
        return;
    szgi_source_close(&(*npy)->source);
    szgi_memory_free((*npy)->copy);
    szgi_memory_free((*npy)->name);
    szgi_memory_free(*npy);
    *npy = NULL;
}

int szgi_npy_dims(const szgi_npy *npy) {
    return npy->dims;
}

const int64_t *szgi_npy_shape(const szgi_npy *npy) {
    return npy->shape;
}

int64_t szgi_npy_count(const szgi_npy *npy) {
    return npy->count;
}

bool szgi_npy_is_complex(const szgi_npy *npy) {
    return npy->kind == 'c';
}

double szgi_npy_roundoff(const szgi_npy *npy) {
    int width = npy->kind == 'c' ? npy->width / 2 : npy->width;
    if (npy->kind != 'f' && npy->kind != 'c')
        return 0;
    return width == 2 ? 0x1p-11 : width == 4 ? 0x1p-24 : 0x1p-53;
}

/* Place in the file of the element that is number `index` in row-major order. */
static int64_t file_index(const szgi_npy *npy, int64_t index) {
    if (!npy->column)
        return index;
    int64_t place = 0, stride = npy->count;
    for (int i = npy->dims - 1; i >= 0; i--) {
        stride /= npy->shape[i];
        place += index % npy->shape[i] * stride;
        index /= npy->shape[i];
    }
    return place;
}

/* `width` bytes in the machine's order. */
static uint64_t load(const unsigned char *at, int width, bool swap) {
    uint64_t bits = 0;
    for (int i = 0; i < width; i++)
        bits |= (uint64_t)at[swap ? width - 1 - i : i] << (8 * i);
    return bits;
}

static double real_of(uint64_t bits, int width) {
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    if (width == 2)
        return szgi_real_from_half((uint16_t)bits);
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return width == 4 ? (double)single : value;
}

/* False where no double equals the integer. */
static bool integer_of(const szgi_npy *npy, uint64_t bits, double *out) {
    int unused = 64 - 8 * npy->width;
    if (npy->kind == 'i') {
        int64_t value = (int64_t)(bits << unused) >> unused;
        *out = (double)value;
        return *out < 0x1p63 && (int64_t)*out == value;
    }
    *out = (double)bits;
    return *out < 0x1p64 && (uint64_t)*out == bits;
}

static szg_status element(szg_context *context, const szgi_npy *npy, int64_t index,
                          const unsigned char *at, szg_c64 *out) {
    int half = npy->width / 2;
    out->im = 0;
    if (npy->kind == 'c') {
        out->re = real_of(load(at, half, npy->swap), half);
        out->im = real_of(load(at + half, half, npy->swap), half);
    } else if (npy->kind == 'f') {
        out->re = real_of(load(at, npy->width, npy->swap), npy->width);
    } else if (!integer_of(npy, load(at, npy->width, npy->swap), &out->re)) {
        return szgi_fail(context, SZG_EDATA,
                         "%s: element %" PRId64 ": an integer beyond 2^53 that no double holds",
                         npy->name, index);
    }
    return SZG_OK;
}

/* Takes elements in row-major order; each call has the next one. */
typedef struct reading {
    szg_context *context;
    const szgi_npy *npy;
    int64_t index, left; /* of the elements that are to come */
    int64_t ready;       /* of them, those in `block` */
    const unsigned char *at;
    unsigned char *block; /* [BLOCK] */
} reading;

static szg_status fill_block(reading *r) {
    int64_t most = BLOCK / r->npy->width, count = r->left < most ? r->left : most;
    SZG_TRY(szgi_context_check_cancel(r->context));
    r->ready = count;
    r->at = r->block;
    if (r->npy->data)
        return SZG_OK;
    return szgi_source_read(r->context, r->npy->source, r->npy->offset + r->index * r->npy->width,
                            count * r->npy->width, r->block);
}

static szg_status next_element(reading *r, szg_c64 *out) {
    const szgi_npy *npy = r->npy;
    if (r->ready == 0)
        SZG_TRY(fill_block(r));
    const unsigned char *at =
        npy->data ? npy->data + file_index(npy, r->index) * npy->width : r->at;
    SZG_TRY(element(r->context, npy, r->index, at, out));
    r->at += npy->width;
    r->index++;
    r->ready--;
    r->left--;
    return SZG_OK;
}

static szg_status check_range(szg_context *context, const szgi_npy *npy, int64_t start,
                              int64_t count) {
    if (start < 0 || count < 0 || start > npy->count || count > npy->count - start)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: %" PRId64 " elements from %" PRId64 " on are not within its %" PRId64,
                         npy->name, count, start, npy->count);
    return SZG_OK;
}

szg_status szgi_npy_read_real(szg_context *context, const szgi_npy *npy, int64_t start,
                              int64_t count, double *out) {
    SZG_TRY(check_range(context, npy, start, count));
    if (npy->kind == 'c')
        return szgi_fail(context, SZG_EINVAL, "%s: the array is complex, real numbers are needed",
                         npy->name);
    unsigned char block[BLOCK];
    reading r = {.context = context, .npy = npy, .index = start, .left = count, .block = block};
    for (int64_t i = 0; i < count; i++) {
        szg_c64 value;
        SZG_TRY(next_element(&r, &value));
        out[i] = value.re;
    }
    return SZG_OK;
}

szg_status szgi_npy_read_complex(szg_context *context, const szgi_npy *npy, int64_t start,
                                 int64_t count, szg_c64 *out) {
    SZG_TRY(check_range(context, npy, start, count));
    unsigned char block[BLOCK];
    reading r = {.context = context, .npy = npy, .index = start, .left = count, .block = block};
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(next_element(&r, &out[i]));
    return SZG_OK;
}
