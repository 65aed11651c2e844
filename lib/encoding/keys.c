/* The encodings and their keys as a table: what bindings make functions of. */
#include "base/row.h"
#include "encoding/encoding.h"

#define KEYS(X)                                                                                    \
    X(KEYS_ENCODING, "encoding", SZG_TEXT, "", "encoding", "the name that begins a SPEC")          \
    X(KEYS_ABOUT, "about", SZG_TEXT, "", "about", "what the encoding is")                          \
    X(KEYS_REFERENCE, "reference", SZG_TEXT, "", "reference",                                      \
      "who proposed it; empty: no single source")                                                  \
    X(KEYS_KEY, "key", SZG_TEXT, "", "key", "the key; empty: the encoding has none")               \
    X(KEYS_TYPE, "type", SZG_TEXT, "", "type",                                                     \
      "integer, real, text, choice or list (of integers)")                                         \
    X(KEYS_DEFAULT, "default", SZG_TEXT, "", "default",                                            \
      "its value where a SPEC has none, as a SPEC has it")                                         \
    X(KEYS_REQUIRED, "required", SZG_INTEGER, "1", "required", "1: a SPEC must have it")           \
    X(KEYS_MIN, "min", SZG_REAL, "1", "least value", "least integer, number or list member")       \
    X(KEYS_MAX, "max", SZG_REAL, "1", "largest value", "largest integer, number or list member")   \
    X(KEYS_CHOICES, "choices", SZG_TEXT, "", "choices", "words of a choice, separated by |")       \
    X(KEYS_DOC, "doc", SZG_TEXT, "", "description", "what the key says")
SZGI_SCHEMA(keys_columns, "keys", KEYS, SZGI_NOT_SHOWN);

static szgi_row add_class(szg_context *context, szg_table *table, const szgi_spec_class *class) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, KEYS_ENCODING, class->name);
    szgi_row_text(&row, KEYS_ABOUT, class->doc);
    szgi_row_text(&row, KEYS_REFERENCE, class->reference);
    return row;
}

static szg_status add_key(szg_context *context, szg_table *table, const szgi_spec_class *class,
                          const szgi_key *key) {
    static const char *const types[] = {[SZGI_KEY_INTEGER] = "integer",
                                        [SZGI_KEY_REAL] = "real",
                                        [SZGI_KEY_TEXT] = "text",
                                        [SZGI_KEY_CHOICE] = "choice",
                                        [SZGI_KEY_LIST] = "list"};
    szgi_row row = add_class(context, table, class);
    szgi_row_text(&row, KEYS_KEY, key->name);
    szgi_row_text(&row, KEYS_TYPE, types[key->type]);
    szgi_row_text(&row, KEYS_DEFAULT, key->fallback);
    szgi_row_integer(&row, KEYS_REQUIRED, key->required);
    if (key->type != SZGI_KEY_TEXT && key->type != SZGI_KEY_CHOICE) {
        szgi_row_real(&row, KEYS_MIN, key->min);
        szgi_row_real(&row, KEYS_MAX, key->max);
    }
    szgi_row_text(&row, KEYS_CHOICES, key->choices);
    szgi_row_text(&row, KEYS_DOC, key->doc);
    return row.status;
}

static szg_status add_keys(szg_context *context, szg_table *table, const szgi_spec_class *class) {
    for (int64_t i = 0; i < class->keys; i++)
        SZG_TRY(add_key(context, table, class, &class->key[i]));
    return class->keys > 0 ? SZG_OK : add_class(context, table, class).status;
}

szg_status szg_encoding_keys(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    SZG_TRY(szgi_schema_open(context, &keys_columns_schema, out));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < szgi_encoding_classes() && status == SZG_OK; i++)
        status = add_keys(context, *out, szgi_encoding_class_at(i));
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}
