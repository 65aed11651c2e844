/* Files that SPECs name: coefficients, trained tables, content. Input: a line NAME:KEY=VALUE,...
 * with "@" as the path of the file, and behind it the file's bytes (npy, else csv). */
#include <math.h>
#include "coupling/coupling.h"
#include "encoding/encoding.h"
#include "toeplitz/toeplitz.h"

#include "fuzz.h"

enum { LONGEST = 128, ORDER = 3, WIDEST = 64 };

/* Keys with a path: where one names anything but "@", the fuzzer would read files that are not its
 * own. */
static bool names_other_file(const char *spec) {
    static const char *const keys[] = {"path=", "table=", "x=", "wq=", "wk=", "q=", "k="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (const char *at = spec; (at = strstr(at, keys[i])); at++) {
            const char *value = at + strlen(keys[i]);
            if (*value != '@' || (value[1] && value[1] != ','))
                return true;
        }
    return false;
}

/* The SPEC with the path in it. */
static void insert_path(const char *line, const char *path, char out[static 4096]) {
    size_t used = 0;
    for (; *line && used < 3800; line++)
        used += (size_t)(*line == '@' ? sprintf(out + used, "%s", path)
                                      : sprintf(out + used, "%c", *line));
    out[used] = 0;
}

/* What the file is to blame for begins with its path or with the SPEC's name. */
static void check_refusal(szg_status status, const char *spec, const char *path) {
    const char *message = szg_context_message(fuzz_context());
    size_t name = strcspn(spec, ":");
    FUZZ_PROMISE(*message);
    if (status == SZG_EDATA)
        FUZZ_PROMISE(strncmp(message, path, strlen(path)) == 0 ||
                     (strncmp(message, spec, name) == 0 && message[name] == ':'));
    else
        FUZZ_PROMISE(status == SZG_EINVAL || status == SZG_EDOMAIN || status == SZG_ENOMEM);
}

/* Numbers of a file are finite, so those of a kernel are. */
static void check_kernel(const szg_encoding *encoding) {
    szg_context *context = fuzz_context();
    int64_t heads = szg_encoding_heads(encoding);
    FUZZ_PROMISE(heads >= 1);
    szg_kernel_facts facts;
    if (szg_encoding_facts(context, encoding, heads - 1, 0, &facts) != SZG_OK) {
        FUZZ_PROMISE(*szg_context_message(context)); /* a head of the file that has no kernel */
        return;
    }
    FUZZ_PROMISE(facts.line && facts.matrix && facts.rank_bound >= 0);
    szg_toeplitz *kernel;
    szg_status status = szg_encoding_kernel(context, encoding, heads - 1, 0, ORDER, &kernel);
    FUZZ_PROMISE(status == SZG_OK || *szg_context_message(context));
    for (int64_t k = -(ORDER - 1); status == SZG_OK && k < ORDER; k++) {
        szg_c64 value = szg_toeplitz_at(kernel, k);
        FUZZ_PROMISE(isfinite(value.re) && isfinite(value.im));
    }
    szg_toeplitz_close(&kernel);
}

static void try_encoding(const char *spec, const char *path) {
    szg_context *context = fuzz_context();
    szg_encoding *encoding, *again;
    szg_status status = szg_encoding_parse(context, spec, &encoding);
    if (status != SZG_OK) {
        FUZZ_PROMISE(encoding == NULL);
        check_refusal(status, spec, path);
        return;
    }
    FUZZ_PROMISE(szg_encoding_parse(context, szg_encoding_spec(encoding), &again) == SZG_OK);
    FUZZ_PROMISE(strcmp(szg_encoding_spec(encoding), szg_encoding_spec(again)) == 0);
    FUZZ_PROMISE(szg_encoding_heads(encoding) == szg_encoding_heads(again));
    check_kernel(encoding);
    szg_encoding_close(&again);
    szg_encoding_close(&encoding);
}

static void try_content(const char *spec, const char *path) {
    szg_context *context = fuzz_context();
    szg_content *content;
    szg_status status = szg_content_parse(context, spec, 1, &content);
    if (status != SZG_OK) {
        FUZZ_PROMISE(content == NULL);
        check_refusal(status, spec, path);
        return;
    }
    double q[2 * WIDEST], k[2 * WIDEST];
    int64_t d = szgi_content_dimension(content) ? szgi_content_dimension(content) : ORDER;
    if (d <= WIDEST) {
        status = szgi_content_fill(context, content, 0, 2, d, NULL, q, k, NULL, NULL);
        FUZZ_PROMISE(status == SZG_OK || *szg_context_message(context));
    }
    szg_content_close(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\n', size < LONGEST ? size : LONGEST) : NULL;
    char line[LONGEST] = "", spec[4096];
    if (!end)
        return 0;
    memcpy(line, data, (size_t)(end - data));
    if (names_other_file(line))
        return 0;
    size_t rest = size - (size_t)(end + 1 - data);
    bool npy = rest > 0 && end[1] == 0x93;
    const char *path = fuzz_file(npy ? "file.npy" : "file.csv", end + 1, rest);
    insert_path(line, path, spec);
    if (strncmp(spec, "files", 5) == 0)
        try_content(spec, path);
    else
        try_encoding(spec, path);
    fuzz_clean();
    return 0;
}
