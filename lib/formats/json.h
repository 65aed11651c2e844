/* JSON documents: strict reading with errors that name the path, building, exact writing. */
#ifndef SZEGO_FORMATS_JSON_H
#define SZEGO_FORMATS_JSON_H

#include <stdio.h>
#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* A document that owns its values. */
typedef struct szgi_json szgi_json;

typedef enum szgi_json_kind {
    SZGI_JSON_ABSENT, /* no such member or element */
    SZGI_JSON_NULL,
    SZGI_JSON_BOOLEAN,
    SZGI_JSON_INTEGER,
    SZGI_JSON_REAL,
    SZGI_JSON_TEXT,
    SZGI_JSON_ARRAY,
    SZGI_JSON_OBJECT
} szgi_json_kind;

/* A place in a document, passed by value; valid while the document is open and unchanged, and while
 * the `key` given to szgi_json_member is. It knows its path even if the document has no value
 * there. */
typedef struct szgi_json_value {
    const szgi_json *document;
    const void *node;   /* NULL: absent */
    const void *parent; /* NULL: the root */
    const char *key;    /* in an object; NULL in an array */
    int64_t index;      /* in an array */
} szgi_json_value;

/* Parses `length` bytes of UTF-8. `name` (a file name) begins every message about the document.
 * Strict: SZG_EDATA with line and column for a syntax error, a repeated key, invalid UTF-8, a NUL
 * in a text, a number beyond int64 or double, nesting beyond 2048, or bytes after the value. */
SZG_CHECK_RESULT szg_status szgi_json_parse(szg_context *context, const char *name,
                                            const void *text, int64_t length, szgi_json **out);

/* Parses a file of at most 256 MiB. As szgi_json_parse; SZG_EIO where it cannot be read. */
SZG_CHECK_RESULT szg_status szgi_json_read(szg_context *context, const char *path, szgi_json **out);

/* Frees the document and nulls the pointer; NULL and *json NULL are allowed. */
void szgi_json_close(szgi_json **json);

szgi_json_value szgi_json_root(const szgi_json *json);
szgi_json_kind szgi_json_kind_of(szgi_json_value value);

/* The member `key` of an object, the element `index` of an array. Absent if there is no such
 * member; of an absent value, that value itself, so that a message names the first thing that is
 * missing. */
szgi_json_value szgi_json_member(szgi_json_value object, const char *key);
szgi_json_value szgi_json_element(szgi_json_value array, int64_t index);

/* Members of an object or elements of an array; 0 for anything else. */
int64_t szgi_json_count(szgi_json_value value);

/* Present and not null. */
bool szgi_json_has(szgi_json_value object, const char *key);

/* Steps through an object's members in file order: start with *member zeroed; false at the end.
 * member->key is the name. */
bool szgi_json_next(szgi_json_value object, szgi_json_value *member);

/* ---- Members that nobody reads ----
 * From szgi_json_watch to szgi_json_unwatch a document notes which of the watched members are
 * looked up with szgi_json_member or szgi_json_has, or stepped to where they are objects. One
 * thread at a time may read it then. SZG_EINVAL: there is no such value, or no object around it. */
SZG_CHECK_RESULT szg_status szgi_json_watch(szg_context *context, szgi_json *json,
                                            szgi_json_value member);
/* Whether the watched member `index`, counted from 0, was looked up. */
bool szgi_json_was_read(const szgi_json *json, int64_t index);
/* The path of what was looked up and has nearly its name; NULL: there is none. `text` is room for
 * it. */
const char *szgi_json_nearest(const szgi_json *json, int64_t index, char *text, size_t size);
void szgi_json_unwatch(szgi_json *json);

/* The value as what the caller needs. SZG_EDATA with "FILE: path.to.member: ..." if it is missing
 * or something else. Texts belong to the document. `real` takes integers; `hex` takes a text with a
 * hexadecimal (or decimal) float, as szgi_json_add_hex writes it, or a number. */
SZG_CHECK_RESULT szg_status szgi_json_as_text(szg_context *context, szgi_json_value value,
                                              const char **out);
SZG_CHECK_RESULT szg_status szgi_json_as_integer(szg_context *context, szgi_json_value value,
                                                 int64_t *out);
SZG_CHECK_RESULT szg_status szgi_json_as_real(szg_context *context, szgi_json_value value,
                                              double *out);
SZG_CHECK_RESULT szg_status szgi_json_as_boolean(szg_context *context, szgi_json_value value,
                                                 bool *out);
SZG_CHECK_RESULT szg_status szgi_json_as_hex(szg_context *context, szgi_json_value value,
                                             double *out);
/* SZG_OK if the value is an array, or an object; counts are in szgi_json_count. */
SZG_CHECK_RESULT szg_status szgi_json_as_array(szg_context *context, szgi_json_value value);
SZG_CHECK_RESULT szg_status szgi_json_as_object(szg_context *context, szgi_json_value value);

/* Where the value stands, or would stand: "text_config.rope_theta"; "" for the root. `text` is room
 * for it. */
const char *szgi_json_path(szgi_json_value value, char *text, size_t size);

/* Records SZG_EDATA with "FILE: path: " in front of the sentence: for checks of the caller's own.
 */
SZG_PRINTF(3, 4)
szg_status szgi_json_fail(szg_context *context, szgi_json_value value, const char *format, ...);

/* Open an empty document to build. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_json_open_object(szg_context *context, szgi_json **out);
/* The same for values that come from a file: `name` begins every message about the document. */
SZG_CHECK_RESULT szg_status szgi_json_open_object_named(szg_context *context, const char *name,
                                                        szgi_json **out);
SZG_CHECK_RESULT szg_status szgi_json_open_array(szg_context *context, szgi_json **out);

/* Add to the object `json` under `key`, or to the end of the array `json` (key NULL). An earlier
 * member of that name is replaced. Bytes of a text or key that are not UTF-8 become U+FFFD. A NaN
 * or infinite real becomes null: the caller says why in a note. `hex` writes "%a" as a text ("nan",
 * "inf", "-inf" too): exact, and readable by C, Python and Arb. SZG_EINVAL (key and kind of `json`
 * do not go together), SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_json_add_text(szg_context *context, szgi_json *json,
                                               const char *key, const char *value);
SZG_CHECK_RESULT szg_status szgi_json_add_integer(szg_context *context, szgi_json *json,
                                                  const char *key, int64_t value);
SZG_CHECK_RESULT szg_status szgi_json_add_real(szg_context *context, szgi_json *json,
                                               const char *key, double value);
SZG_CHECK_RESULT szg_status szgi_json_add_hex(szg_context *context, szgi_json *json,
                                              const char *key, double value);
SZG_CHECK_RESULT szg_status szgi_json_add_boolean(szg_context *context, szgi_json *json,
                                                  const char *key, bool value);
/* Moves the whole document *child into `json`, closes it and nulls the pointer, on failure too. */
SZG_CHECK_RESULT szg_status szgi_json_add(szg_context *context, szgi_json *json, const char *key,
                                          szgi_json **child);

/* A document of its own that equals the value. SZG_EDATA where that is absent, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_json_copy(szg_context *context, szgi_json_value value,
                                           szgi_json **out);

/* Writes the value as JSON text: UTF-8, members in order, reals so that they read back exactly.
 * `indent` 0: on one line; else that many spaces a level. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_json_print(szg_context *context, szgi_json_value value, int indent,
                                            FILE *stream);

/* The same into a new text; free it with szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_json_text(szg_context *context, szgi_json_value value, int indent,
                                           char **out);

/* Writes a document to a file, atomically, with a newline at the end. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_json_write(szg_context *context, const szgi_json *json,
                                            const char *path);

SZGI_END_DECLS

#endif
