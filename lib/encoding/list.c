/* The encodings of encodings.def, by index and by name. */
#include "encoding/record.h"

#define ENCODING(name) extern const encoding_record szgi_encoding_##name;
#include "encoding/encodings.def"
#undef ENCODING

static const encoding_record *const records[] = {
#define ENCODING(name) &szgi_encoding_##name,
#include "encoding/encodings.def"
#undef ENCODING
};

/* The same, as the parser takes them. */
static const szgi_spec_class *const classes[] = {
#define ENCODING(name) &szgi_encoding_##name.traits.class,
#include "encoding/encodings.def"
#undef ENCODING
};

enum { RECORDS = sizeof records / sizeof *records };

int64_t szgi_encoding_classes(void) {
    return RECORDS;
}

const szgi_spec_class *szgi_encoding_class_at(int64_t index) {
    return classes[index];
}

const encoding_record *szgi_encoding_record_at(int64_t index) {
    return records[index];
}

const szgi_encoding_traits *szgi_encoding_traits_of(const char *spec) {
    for (int64_t i = 0; i < RECORDS; i++)
        if (szgi_spec_names(spec, classes[i]->name))
            return &records[i]->traits;
    return NULL;
}

szg_status szgi_encoding_spec_parse(szg_context *context, const char *text, szgi_spec **out) {
    return szgi_spec_parse(context, "encoding", classes, RECORDS, text, out);
}

szg_status szgi_encoding_spec_open(szg_context *context, const char *name,
                                   const szgi_key_value *values, int64_t count, szgi_spec **out) {
    return szgi_spec_open(context, "encoding", classes, RECORDS, name, values, count, out);
}
