/* The SPEC grammar `name` or `name:key=value,key=value`, driven by tables of keys: encodings and
 * content are written in it, and `--help` and the docs list the same tables. */
#ifndef SZEGO_SPEC_H
#define SZEGO_SPEC_H

#include <szego/context.h>

SZG_BEGIN_DECLS

typedef enum szg_key_type {
    SZG_KEY_INTEGER,
    SZG_KEY_REAL,
    SZG_KEY_TEXT,   /* a path; no comma */
    SZG_KEY_CHOICE, /* one word of `choices` */
    SZG_KEY_LIST    /* integers and ranges: 0+3+5, 0-3, 0-2+7; ascending, without repeats */
} szg_key_type;

typedef struct szg_key {
    const char *name;
    szg_key_type type;
    const char *fallback; /* the default as it would be written; NULL: none */
    bool required;
    double min, max;     /* inclusive range of integers, reals and list members */
    const char *choices; /* SZG_KEY_CHOICE: "a|b|c" */
    const char *doc;     /* one clause */
} szg_key;

typedef struct szg_spec_class {
    const char *name, *doc;
    const szg_key *key;
    int64_t keys;
} szg_spec_class;

typedef struct szg_spec szg_spec;

/* Parses `text` as one of the classes; `what` ("encoding") begins the messages. SZG_EINVAL: an
 * unknown name or key (the known ones are listed), a repeated key, a missing required one, a value
 * that is no number, word or list, or outside its range. The caller closes it. */
SZG_CHECK_RESULT szg_status szg_spec_parse(szg_context *context, const char *what,
                                           const szg_spec_class *const *classes, int64_t count,
                                           const char *text, szg_spec **out);
void szg_spec_close(szg_spec **spec);

/* Index into `classes`, and the canonical text: the given keys in the table's order. */
int64_t szg_spec_class_index(const szg_spec *spec);
const char *szg_spec_canonical(const szg_spec *spec);

/* True where the key stands in the text (its default does not count). `key` must be one of the
 * class's keys in all of these. */
bool szg_spec_given(const szg_spec *spec, const char *key);

/* The value given, or the default; 0, NULL or -1 where there is neither. */
int64_t szg_spec_integer(const szg_spec *spec, const char *key);
double szg_spec_real(const szg_spec *spec, const char *key);
const char *szg_spec_text(const szg_spec *spec, const char *key);
int64_t szg_spec_choice(const szg_spec *spec, const char *key); /* index into `choices` */
/* Members of a list, ascending; *count = 0 where there is neither value nor default. */
const int64_t *szg_spec_list(const szg_spec *spec, const char *key, int64_t *count);

SZG_END_DECLS

#endif
