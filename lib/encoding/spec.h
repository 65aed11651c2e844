/* The SPEC grammar `name` or `name:key=value,key=value`, driven by tables of keys: encodings and
 * content are written in it, and `--help` and the docs list the same tables. */
#ifndef SZEGO_ENCODING_SPEC_H
#define SZEGO_ENCODING_SPEC_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef enum szgi_key_type {
    SZG_KEY_INTEGER,
    SZG_KEY_REAL,
    SZG_KEY_TEXT,   /* a path; no comma */
    SZG_KEY_CHOICE, /* one word of `choices` */
    SZG_KEY_LIST    /* integers and ranges: 0+3+5, 0-3, 0-2+7; ascending, without repeats */
} szgi_key_type;

typedef struct szgi_key {
    const char *name;
    szgi_key_type type;
    const char *fallback; /* the default as it would be written; NULL: none */
    bool required;
    double min, max;     /* inclusive range of integers, reals and list members */
    const char *choices; /* SZG_KEY_CHOICE: "a|b|c" */
    const char *doc;     /* one clause */
} szgi_key;

typedef struct szgi_spec_class {
    const char *name, *doc;
    const szgi_key *key;
    int64_t keys;
} szgi_spec_class;

typedef struct szgi_spec szgi_spec;

/* Parses `text` as one of the classes; `what` ("encoding") begins the messages. SZG_EINVAL: an
 * unknown name or key (the known ones are listed), a repeated key, a missing required one, a value
 * that is no number, word or list, or outside its range. The caller closes it. */
SZG_CHECK_RESULT szg_status szgi_spec_parse(szg_context *context, const char *what,
                                            const szgi_spec_class *const *classes, int64_t count,
                                            const char *text, szgi_spec **out);
void szgi_spec_close(szgi_spec **spec);

/* Index into `classes`, and the canonical text: the given keys in the table's order. */
int64_t szgi_spec_class_index(const szgi_spec *spec);
const char *szgi_spec_canonical(const szgi_spec *spec);

/* True where the key stands in the text (its default does not count). `key` must be one of the
 * class's keys in all of these. */
bool szgi_spec_given(const szgi_spec *spec, const char *key);

/* The value given, or the default; 0, NULL or -1 where there is neither. */
int64_t szgi_spec_integer(const szgi_spec *spec, const char *key);
double szgi_spec_real(const szgi_spec *spec, const char *key);
const char *szgi_spec_text(const szgi_spec *spec, const char *key);
int64_t szgi_spec_choice(const szgi_spec *spec, const char *key); /* index into `choices` */
/* Members of a list, ascending; *count = 0 where there is neither value nor default. */
const int64_t *szgi_spec_list(const szgi_spec *spec, const char *key, int64_t *count);

SZGI_END_DECLS

#endif
