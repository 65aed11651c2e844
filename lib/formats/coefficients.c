#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/coefficients.h"
#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/npy.h"
#include "npy_private.h"

enum { TOKEN = 128 };

/* Values as they come in; rows are told apart by their lengths, which are all equal. */
typedef struct pile {
    szg_context *context;
    const char *name;
    szg_c64 *value;
    int64_t used, capacity;
    int64_t rows, row; /* finished rows; values in the current one */
    int64_t length;    /* of the first row */
    int64_t line;      /* of the text, from 1 */
    char odd[256];     /* the message of the first number that is not finite; "": none */
    char separator;    /* , or ; once the line has one: 1,5;2,5 holds decimal commas */
} pile;

static szg_status push(pile *p, szg_c64 value) {
    SZG_TRY(szgi_memory_reserve(p->context, &p->value, &p->capacity, p->used, 1));
    p->value[p->used++] = value;
    p->row++;
    return SZG_OK;
}

static szg_status end_row(pile *p) {
    if (p->row == 0)
        return SZG_OK; /* a blank line or a comment */
    if (p->rows == 0)
        p->length = p->row;
    if (p->row != p->length)
        return szgi_fail(p->context, SZG_EDATA,
                         "%s: line %" PRId64 ": %" PRId64
                         " numbers where the first row has %" PRId64 ": every head needs as many",
                         p->name, p->line, p->row, p->length);
    p->rows++;
    p->row = 0;
    return SZG_OK;
}

/* "1.5", "2j", "1.5-2j", "(1.5+-2j)" (as NumPy's savetxt wrote it). */
static bool parse_number(char *text, szg_c64 *out) {
    size_t length = strlen(text);
    if (length > 2 && text[0] == '(' && text[length - 1] == ')') {
        text[length - 1] = 0;
        text++;
        length -= 2;
    }
    *out = (szg_c64){0};
    if (szgi_real_parse(text, &out->re))
        return true;
    if (length < 2 || (text[length - 1] != 'j' && text[length - 1] != 'i'))
        return false;
    text[length - 1] = 0;
    size_t split = length - 2; /* the sign of the imaginary part; 0: there is no real part */
    while (split > 0 &&
           ((text[split] != '+' && text[split] != '-') || strchr("eEpP", text[split - 1])))
        split--;
    if (split == 0)
        return szgi_real_parse(text, &out->im);
    bool both = text[split] == '-' && text[split - 1] == '+' && split > 1;
    bool fine = szgi_real_parse(text + split, &out->im);
    text[both ? split - 1 : split] = 0;
    return fine && szgi_real_parse(text, &out->re);
}

static szg_status add_token(pile *p, const char *from, size_t length) {
    char text[TOKEN] = "", shown[64];
    szg_c64 value;
    memcpy(text, from, length < TOKEN ? length : TOKEN - 1);
    szgi_show(text, shown, sizeof shown);
    if (length >= TOKEN || memchr(from, 0, length) || !parse_number(text, &value))
        return szgi_fail(p->context, SZG_EDATA,
                         "%s: line %" PRId64 ", column %" PRId64 ": \"%s\" is not a number: remove "
                         "headings, use a point as the decimal sign, and stay within a double's "
                         "range",
                         p->name, p->line, p->row + 1, shown);
    if ((!isfinite(value.re) || !isfinite(value.im)) && !p->odd[0])
        szgi_print(p->odd, sizeof p->odd,
                   "%s: line %" PRId64 ", column %" PRId64 ": \"%s\": coefficients are finite",
                   p->name, p->line, p->row + 1, shown);
    return push(p, value);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static szg_status check_separator(pile *p, char separator) {
    if (p->separator && p->separator != separator)
        return szgi_fail(p->context, SZG_EDATA,
                         "%s: line %" PRId64 ", column %" PRId64
                         ": both , and ; separate numbers: use one of them, and a point as the "
                         "decimal sign",
                         p->name, p->line, p->row);
    p->separator = separator;
    return SZG_OK;
}

/* One line without its end. */
static szg_status add_line(pile *p, const char *at, const char *end) {
    const char *comment = memchr(at, '#', (size_t)(end - at));
    end = comment ? comment : end;
    bool expected = false; /* after a comma */
    p->separator = 0;
    for (;;) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end && !expected)
            return end_row(p);
        const char *from = at;
        while (at < end && !is_blank(*at) && *at != ',' && *at != ';')
            at++;
        if (at == from)
            return szgi_fail(p->context, SZG_EDATA,
                             "%s: line %" PRId64 ", column %" PRId64 ": an empty field: write 0",
                             p->name, p->line, p->row + 1);
        SZG_TRY(add_token(p, from, (size_t)(at - from)));
        while (at < end && is_blank(*at))
            at++;
        expected = at < end && (*at == ',' || *at == ';');
        if (expected)
            SZG_TRY(check_separator(p, *at++));
    }
}

/* Marks the heads that nothing may be computed from. `odd`: the message where every one has numbers
 * that are not finite. */
static szg_status mark_bad(szg_context *context, const char *odd, const szg_c64 *value,
                           szgi_coefficients *c) {
    int64_t bad = 0, not_finite = 0;
    SZG_TRY(szgi_memory_alloc(context, c->heads, &c->bad));
    for (int64_t head = 0; head < c->heads; head++) {
        double sum = 0;
        for (int64_t k = 0; k < c->count; k++)
            sum +=
                2 * fabs(value[head * c->count + k].re) + 2 * fabs(value[head * c->count + k].im);
        c->bad[head] = !(sum <= SZGI_COEFFICIENTS_SUM);
        bad += c->bad[head];
        not_finite += !isfinite(sum);
    }
    if (*odd && not_finite == c->heads)
        return szgi_fail(context, SZG_EDATA, "%s", odd);
    if (bad > 0)
        return SZG_OK;
    szgi_memory_free(c->bad);
    c->bad = NULL;
    return SZG_OK;
}

/* What both kinds of file must satisfy; `value` passes on to `out` or is copied there. */
static szg_status check_values(szg_context *context, const char *name, const szg_c64 *value,
                               const szgi_coefficients *c) {
    if (c->heads == 0 || c->count == 0)
        return szgi_fail(context, SZG_EDATA, "%s: holds no numbers: at least lag 0 is needed",
                         name);
    if (c->lags == SZGI_LAGS_FULL && c->count % 2 == 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: %" PRId64 " values a head: lags=full needs an odd number, 2m-1, with "
                         "lag 0 in the middle",
                         name, c->count);
    for (int64_t head = 0; head < c->heads && c->lags == SZGI_LAGS_HERMITIAN; head++)
        if (isfinite(value[head * c->count].im) && value[head * c->count].im != 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: head %" PRId64 ": lag 0 has the imaginary part %g: a Hermitian "
                             "matrix has a real diagonal; use lags=full for another",
                             name, head, value[head * c->count].im);
    return SZG_OK;
}

/* Moves the values into `out`, as reals where they are. */
static szg_status hand_over(szg_context *context, const char *name, const char *odd,
                            szg_c64 **value, szgi_coefficients *c) {
    SZG_TRY(check_values(context, name, *value, c));
    SZG_TRY(mark_bad(context, odd, *value, c));
    int64_t total = c->heads * c->count;
    for (int64_t i = 0; i < total; i++)
        if ((*value)[i].im != 0) {
            c->z = *value;
            *value = NULL;
            return SZG_OK;
        }
    SZG_TRY(szgi_memory_alloc(context, total, &c->re));
    for (int64_t i = 0; i < total; i++)
        c->re[i] = (*value)[i].re;
    return SZG_OK;
}

szg_status szgi_coefficients_parse(szg_context *context, const char *name, const char *text,
                                   int64_t length, szgi_lags lags, szgi_coefficients *out) {
    *out = (szgi_coefficients){.lags = lags};
    pile p = {.context = context, .name = name, .line = 1};
    const char *at = length > 0 ? text : "", *end = at + length; /* an empty file has no address */
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        at += 3; /* a byte order mark */
    szg_status status = SZG_OK;
    for (; status == SZG_OK && at < end; p.line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        status = add_line(&p, at, stop);
        at = stop < end ? stop + 1 : end;
        if (status == SZG_OK && p.line % 65536 == 0)
            status = szgi_context_check_cancel(context);
    }
    bool column = p.length == 1; /* one number a line: one head */
    out->heads = column ? 1 : p.rows;
    out->count = column ? p.rows : p.length;
    if (status == SZG_OK)
        status = hand_over(context, name, p.odd, &p.value, out);
    szgi_memory_free(p.value);
    if (status != SZG_OK)
        szgi_coefficients_close(out);
    return status;
}

static szg_status read_npy_values(szg_context *context, const char *path, const szgi_npy *npy,
                                  szgi_coefficients *out) {
    int dims = szgi_npy_dims(npy);
    const int64_t *shape = szgi_npy_shape(npy);
    if (dims != 1 && dims != 2)
        return szgi_fail(
            context, SZG_EDATA,
            "%s: has %d dimensions: coefficients are a list, or a matrix with one row a "
            "head",
            path, dims);
    out->heads = dims == 2 ? shape[0] : 1;
    out->count = shape[dims - 1];
    szg_c64 *value;
    int64_t total = szgi_npy_count(npy);
    SZG_TRY(szgi_memory_alloc(context, total, &value));
    szg_status status = szgi_npy_read_complex(context, npy, 0, total, value);
    char odd[256] = "";
    for (int64_t i = 0; i < total && status == SZG_OK && !odd[0]; i++)
        if (!isfinite(value[i].re) || !isfinite(value[i].im))
            szgi_print(odd, sizeof odd,
                       "%s: head %" PRId64 ", value %" PRId64 " is NaN or infinite: coefficients "
                       "are finite",
                       path, i / out->count, i % out->count);
    if (status == SZG_OK)
        status = hand_over(context, path, odd, &value, out);
    szgi_memory_free(value);
    return status;
}

static szg_status read_npy(szg_context *context, const char *path, szgi_coefficients *out) {
    szgi_npy *npy;
    SZG_TRY(szgi_npy_open(context, path, &npy));
    szg_status status = read_npy_values(context, path, npy, out);
    if (status == SZG_OK)
        status = szgi_npy_check(context, npy);
    szgi_npy_close(&npy);
    if (status != SZG_OK)
        szgi_coefficients_close(out);
    return status;
}

/* Whether it is an npy file, which its first bytes say, or its name where they do not. */
static szg_status is_npy(szg_context *context, const char *path, bool *out) {
    char first[sizeof SZGI_NPY_MAGIC - 1];
    szgi_source *source;
    SZG_TRY(szgi_source_open(context, path, &source));
    szg_status status = SZG_OK;
    *out = szgi_path_ends(path, ".npy") || szgi_path_ends(path, ".npz"); /* refused there */
    if (!*out && szgi_source_size(source) >= (int64_t)sizeof first) {
        status = szgi_source_read(context, source, 0, sizeof first, first);
        *out = status == SZG_OK && memcmp(first, SZGI_NPY_MAGIC, sizeof first) == 0;
    }
    szgi_source_close(&source);
    return status;
}

szg_status szgi_coefficients_read(szg_context *context, const char *path, szgi_lags lags,
                                  szgi_coefficients *out) {
    *out = (szgi_coefficients){.lags = lags};
    szgi_contents contents;
    bool npy = false;
    SZG_TRY(is_npy(context, path, &npy));
    if (npy)
        return read_npy(context, path, out);
    SZG_TRY(szgi_contents_open(context, path, &contents));
    szg_status status = szgi_coefficients_parse(context, path, (const char *)contents.data,
                                                contents.size, lags, out);
    szgi_contents_close(&contents);
    return status;
}

void szgi_coefficients_close(szgi_coefficients *coefficients) {
    szgi_memory_free(coefficients->re);
    szgi_memory_free(coefficients->z);
    szgi_memory_free(coefficients->bad);
    *coefficients = (szgi_coefficients){0};
}
