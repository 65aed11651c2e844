/* One key of a SPEC: its type and range, and its value, read from text or given as a number. */
#ifndef SZEGO_ENCODING_KEY_H
#define SZEGO_ENCODING_KEY_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef enum szgi_key_type {
    SZGI_KEY_INTEGER,
    SZGI_KEY_REAL,
    SZGI_KEY_TEXT,   /* a path; no comma */
    SZGI_KEY_CHOICE, /* one word of `choices` */
    SZGI_KEY_LIST    /* integers and ranges: 0+3+5, 0-3, 0-2+7; ascending, without repeats */
} szgi_key_type;

typedef struct szgi_key {
    const char *name;
    szgi_key_type type;
    const char *fallback; /* the default as it would be written; NULL: none */
    bool required;
    double min, max;     /* inclusive range of integers, reals and list members */
    const char *choices; /* SZGI_KEY_CHOICE: "a|b|c" */
    const char *doc;     /* one clause */
} szgi_key;

/* A value for the key of that name. A key of type SZGI_KEY_REAL takes an integer too. */
typedef struct szgi_key_value {
    const char *key;
    szgi_key_type type;
    int64_t integer;
    double real;
    const char *text; /* SZGI_KEY_TEXT, SZGI_KEY_CHOICE: the word; borrowed */
    const int64_t *list;
    int64_t count; /* SZGI_KEY_LIST: [count], ascending; borrowed */
} szgi_key_value;

/* What a SPEC keeps of a key. */
typedef struct szgi_key_kept {
    bool given;      /* not the default */
    char *text;      /* as it is printed; NULL: neither value nor default */
    int64_t integer; /* SZGI_KEY_CHOICE: index into `choices` */
    double real;
    int64_t *list;
    int64_t count;
} szgi_key_kept;

/* Reads the key's value from the `length` bytes of `text`. `owner`, the SPEC's name, begins the
 * messages. SZG_EINVAL: no number, word or list, or one outside the range. `out` holds nothing
 * before; close it also after a failure. */
SZG_CHECK_RESULT szg_status szgi_key_read(szg_context *context, const char *owner,
                                          const szgi_key *key, const char *text, size_t length,
                                          szgi_key_kept *out);

/* The same from a value; SZG_EINVAL too where it is of another type than the key. */
SZG_CHECK_RESULT szg_status szgi_key_take(szg_context *context, const char *owner,
                                          const szgi_key *key, const szgi_key_value *value,
                                          szgi_key_kept *out);

void szgi_key_close(szgi_key_kept *kept);

SZGI_END_DECLS

#endif
