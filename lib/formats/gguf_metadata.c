/* The metadata of a GGUF file as one JSON object. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "gguf_private.h"

/* Keys, and numbers in arrays, far beyond any model's; what a hostile file may take of memory. */
enum { KEYS_MOST = 1 << 16, ARRAY_MOST = 4096, NUMBERS_MOST = 1 << 20, TEXT_MOST = 1 << 16 };

enum value_type {
    VALUE_U8,
    VALUE_I8,
    VALUE_U16,
    VALUE_I16,
    VALUE_U32,
    VALUE_I32,
    VALUE_F32,
    VALUE_BOOL,
    VALUE_TEXT,
    VALUE_ARRAY,
    VALUE_U64,
    VALUE_I64,
    VALUE_F64,
    VALUES
};

/* Bytes of a value; a text and an array have lengths of their own. */
static const int sizes[VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static szg_status fail_value(gguf_reader *reader, const char *key, const char *problem) {
    return szgi_fail(reader->context, SZG_EDATA, "%s: %s: %s: the file is damaged", reader->file,
                     SHOWN(key), problem);
}

static szg_status read_type(gguf_reader *reader, const char *key, uint32_t *type) {
    char problem[64];
    SZG_TRY(szgi_gguf_u32(reader, type));
    if (*type < VALUES)
        return SZG_OK;
    snprintf(problem, sizeof problem, "has a value of type %" PRIu32 ", which GGUF does not have",
             *type);
    return fail_value(reader, key, problem);
}

static szg_status add_real(gguf_reader *reader, szgi_json *json, const char *key, double value) {
    return isfinite(value) ? szgi_json_add_real(reader->context, json, key, value)
                           : szgi_json_add_hex(reader->context, json, key, value);
}

static szg_status add_unsigned(gguf_reader *reader, szgi_json *json, const char *key,
                               uint64_t value) {
    char digits[24];
    if (value <= INT64_MAX)
        return szgi_json_add_integer(reader->context, json, key, (int64_t)value);
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return szgi_json_add_text(reader->context, json, key, digits);
}

/* A number or a truth value of `bits`, its bytes followed by zeros. */
static szg_status add_number(gguf_reader *reader, szgi_json *json, const char *key, uint32_t type,
                             uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float single;
    double real;
    switch (type) {
    case VALUE_I8:
        return szgi_json_add_integer(reader->context, json, key, (int8_t)bits);
    case VALUE_I16:
        return szgi_json_add_integer(reader->context, json, key, (int16_t)bits);
    case VALUE_I32:
        return szgi_json_add_integer(reader->context, json, key, (int32_t)bits);
    case VALUE_I64:
        return szgi_json_add_integer(reader->context, json, key, (int64_t)bits);
    case VALUE_F32:
        memcpy(&single, &low, sizeof single);
        return add_real(reader, json, key, (double)single);
    case VALUE_F64:
        memcpy(&real, &bits, sizeof real);
        return add_real(reader, json, key, real);
    case VALUE_BOOL:
        return szgi_json_add_boolean(reader->context, json, key, bits != 0);
    default:
        return add_unsigned(reader, json, key, bits);
    }
}

/* `member` is the key in `json`, NULL in an array. */
static szg_status read_number(gguf_reader *reader, szgi_json *json, const char *key,
                              const char *member, uint32_t type) {
    const unsigned char *at;
    uint64_t bits = 0;
    SZG_TRY(szgi_gguf_take(reader, sizes[type], &at));
    memcpy(&bits, at, (size_t)sizes[type]);
    if (type == VALUE_BOOL && bits > 1)
        return fail_value(reader, key, "is neither true nor false");
    return add_number(reader, json, member, type, bits);
}

/* A text without its NULs; only as much as a model's name or type takes, for others are not asked
 * for (a chat template, a licence). */
static szg_status read_text(gguf_reader *reader, szgi_json *json, const char *key) {
    uint64_t length;
    const unsigned char *at;
    SZG_TRY(szgi_gguf_u64(reader, &length));
    SZG_TRY(szgi_gguf_expect(reader, length, 1, "bytes of text"));
    int64_t kept = length < TEXT_MOST ? (int64_t)length : 0;
    SZG_TRY(szgi_gguf_take(reader, kept, &at));
    reader->at += (int64_t)length - kept;
    char *text;
    SZG_TRY(szgi_memory_alloc(reader->context, kept + 1, &text));
    for (int64_t i = 0; i < kept; i++)
        text[i] = at[i] ? (char)at[i] : (char)0xFF; /* what is not UTF-8 is shown as U+FFFD */
    szg_status status = szgi_json_add_text(reader->context, json, key, text);
    szgi_memory_free(text);
    return status;
}

/* Passes over the texts of a vocabulary: none is kept. */
static szg_status skip_texts(gguf_reader *reader, uint64_t count) {
    uint64_t length;
    SZG_TRY(szgi_gguf_expect(reader, count, sizeof length, "texts"));
    for (uint64_t i = 0; i < count; i++) {
        SZG_TRY(szgi_gguf_u64(reader, &length));
        SZG_TRY(szgi_gguf_skip(reader, length, 1, "bytes of text"));
    }
    return SZG_OK;
}

static szg_status read_array(gguf_reader *reader, szgi_json *json, const char *key,
                             int64_t *numbers) {
    uint32_t type;
    uint64_t count;
    szgi_json *list;
    SZG_TRY(read_type(reader, key, &type));
    SZG_TRY(szgi_gguf_u64(reader, &count));
    if (type == VALUE_ARRAY)
        return fail_value(reader, key, "is an array of arrays, which no model has");
    SZG_TRY(szgi_json_open_array(reader->context, &list));
    szg_status status;
    if (type == VALUE_TEXT) {
        status = skip_texts(reader, count);
    } else if (count > ARRAY_MOST || (int64_t)count > NUMBERS_MOST - *numbers) {
        status = szgi_gguf_skip(reader, count, sizes[type], "numbers");
    } else {
        *numbers += (int64_t)count;
        status = szgi_gguf_expect(reader, count, sizes[type], "numbers");
        for (uint64_t i = 0; i < count && status == SZG_OK; i++)
            status = read_number(reader, list, key, NULL, type);
    }
    if (status == SZG_OK)
        return szgi_json_add(reader->context, json, key, &list);
    szgi_json_close(&list);
    return status;
}

static szg_status read_entry(gguf_reader *reader, szgi_json *json, int64_t *numbers) {
    char key[GGUF_NAME + 1];
    uint32_t type;
    SZG_TRY(szgi_gguf_name(reader, key));
    szgi_show(key, reader->what, sizeof reader->what);
    if (szgi_json_kind_of(szgi_json_member(szgi_json_root(json), key)) != SZGI_JSON_ABSENT)
        return fail_value(reader, key, "is there twice");
    SZG_TRY(read_type(reader, key, &type));
    if (type == VALUE_TEXT)
        return read_text(reader, json, key);
    if (type == VALUE_ARRAY)
        return read_array(reader, json, key, numbers);
    return read_number(reader, json, key, key, type);
}

szg_status szgi_gguf_read_metadata(gguf_reader *reader, uint64_t count, szgi_json *out) {
    /* A key's length, one byte of it, the type and one byte of the value. */
    const int64_t least = 8 + 1 + 4 + 1;
    int64_t numbers = 0;
    snprintf(reader->what, sizeof reader->what, "the metadata");
    SZG_TRY(szgi_gguf_expect(reader, count, least, "keys"));
    if (count > KEYS_MOST)
        return szgi_fail(reader->context, SZG_EDATA,
                         "%s: byte 16: %" PRIu64 " keys of metadata are more than %d: the file is "
                         "damaged",
                         reader->file, count, KEYS_MOST);
    for (uint64_t i = 0; i < count; i++) {
        snprintf(reader->what, sizeof reader->what,
                 "key %" PRIu64 " of %" PRIu64 " of the metadata", i + 1, count);
        SZG_TRY(read_entry(reader, out, &numbers));
    }
    return SZG_OK;
}
