#include "fuzz.h"

#include "../lib/formats/result_private.h"

/* A results folder in one file: manifest.json, a line "%%", and the bytes of every table's file. */
static const char mark[] = "\n%%\n";
static szgi_contents manifest, csv;

static szg_status open_part(szg_context *context, const char *path, int64_t most, const char *kind,
                            szgi_contents *out) {
    (void)context, (void)most, (void)kind;
    FUZZ_PROMISE(strncmp(path, "fuzz/", 5) == 0 && !strchr(path + 5, '/'));
    *out = strcmp(path, "fuzz/manifest.json") == 0 ? manifest : csv;
    return SZG_OK;
}

static void close_part(szgi_contents *part) {
    *part = (szgi_contents){0};
}

static szg_status read_parts(szg_result **out) {
    result_files files = {.open = open_part, .close = close_part};
    return szgi_result_read_from(fuzz_context(), "fuzz", files, out);
}

static char *print(const szg_result *result, szg_format format, size_t *size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    FUZZ_PROMISE(stream != NULL);
    szg_print_options options = {SZG_INIT(szg_print_options), .format = format};
    FUZZ_PROMISE(szg_result_print(fuzz_context(), result, &options, stream) == SZG_OK);
    fclose(stream);
    return text;
}

/* The table written out and read again is the same. */
static void check_again(const szg_result *result) {
    szg_result *again;
    size_t size, sizes[2];
    char *table = print(result, SZG_FORMAT_CSV, &size);
    csv = (szgi_contents){(const unsigned char *)table, (int64_t)size};
    FUZZ_PROMISE(read_parts(&again) == SZG_OK);
    char *left = print(result, SZG_FORMAT_JSON, &sizes[0]);
    char *right = print(again, SZG_FORMAT_JSON, &sizes[1]);
    FUZZ_PROMISE(sizes[0] == sizes[1] && memcmp(left, right, sizes[0]) == 0);
    szg_result_close(&again);
    free(table);
    free(left);
    free(right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *at = size > 0 ? memmem(data, size, mark, sizeof mark - 1) : NULL;
    size_t head = at ? (size_t)(at - data) : size;
    size_t begin = at ? head + sizeof mark - 1 : size;
    manifest = (szgi_contents){data, (int64_t)head};
    csv = (szgi_contents){begin < size ? data + begin : NULL, (int64_t)(size - begin)};
    szg_result *result;
    szg_status status = read_parts(&result);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz/");
        return 0;
    }
    if (szg_result_count(result) == 1)
        check_again(result);
    szg_result_close(&result);
    return 0;
}
