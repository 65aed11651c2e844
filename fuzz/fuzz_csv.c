#include "base/table.h"
#include "formats/csv.h"
#include "fuzz.h"

static const szg_column columns[] = {
    {"source", SZG_TEXT, ""}, {"n", SZG_INTEGER, ""}, {"re", SZG_REAL, ""}, {"note", SZG_TEXT, ""}};

static szg_status parse(const char *name, const char *text, size_t size, szg_table **out) {
    return szgi_csv_parse(fuzz_context(), name, text, (int64_t)size, columns, 4, NULL, out);
}

static char *print(const szg_table *table, size_t *size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    FUZZ_PROMISE(stream != NULL);
    FUZZ_PROMISE(szgi_csv_print(fuzz_context(), table, stream) == SZG_OK);
    fclose(stream);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_table *table, *again;
    szg_status status = parse("fuzz", (const char *)data, size, &table);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    size_t first_size, second_size;
    char *first = print(table, &first_size);
    FUZZ_PROMISE(parse("again", first, first_size, &again) == SZG_OK);
    char *second = print(again, &second_size);
    FUZZ_PROMISE(first_size == second_size && memcmp(first, second, first_size) == 0);
    FUZZ_PROMISE(szg_table_rows(table) == szg_table_rows(again));
    free(first);
    free(second);
    szg_table_close(&table);
    szg_table_close(&again);
    return 0;
}
