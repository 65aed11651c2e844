/* The SPEC grammar `name` or `name:key=value,key=value`, driven by tables of keys: encodings and
 * content are written in it, and `--help` and the docs list the same tables. A program that has the
 * values opens a SPEC from them, without a text. */
#ifndef SZEGO_ENCODING_SPEC_H
#define SZEGO_ENCODING_SPEC_H

#include "encoding/key.h"

SZGI_BEGIN_DECLS

typedef struct szgi_spec_class {
    const char *name, *doc;
    const char *reference; /* who proposed it: "Su et al. 2021"; NULL */
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

/* The same from a name and values. */
SZG_CHECK_RESULT szg_status szgi_spec_open(szg_context *context, const char *what,
                                           const szgi_spec_class *const *classes, int64_t count,
                                           const char *name, const szgi_key_value *values,
                                           int64_t value_count, szgi_spec **out);

/* Gives keys of an open SPEC that have not been given, in place of their defaults. Close it after a
 * failure. */
SZG_CHECK_RESULT szg_status szgi_spec_add(szg_context *context, szgi_spec *spec,
                                          const szgi_key_value *values, int64_t count);
void szgi_spec_close(szgi_spec **spec);

/* Index into `classes`, the class's name, and the canonical text: the given keys in the table's
 * order. */
int64_t szgi_spec_class_index(const szgi_spec *spec);
const char *szgi_spec_name(const szgi_spec *spec);
const char *szgi_spec_canonical(const szgi_spec *spec);

/* True where the key has been given (its default does not count). `key` must be one of the
 * class's keys in all of these. */
bool szgi_spec_given(const szgi_spec *spec, const char *key);

/* The value given, or the default; 0, NULL or -1 where there is neither. */
int64_t szgi_spec_integer(const szgi_spec *spec, const char *key);
double szgi_spec_real(const szgi_spec *spec, const char *key);
const char *szgi_spec_text(const szgi_spec *spec, const char *key);
int64_t szgi_spec_choice(const szgi_spec *spec, const char *key); /* index into `choices` */
/* Members of a list, ascending; *count = 0 where there is neither value nor default. */
const int64_t *szgi_spec_list(const szgi_spec *spec, const char *key, int64_t *count);

/* Does `text` begin with the name `name`, as a SPEC of that class does? */
bool szgi_spec_names(const char *text, const char *name);

SZGI_END_DECLS

#endif
