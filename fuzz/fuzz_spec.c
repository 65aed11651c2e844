/* SPECs of encodings and of content. What parses has a canonical form that parses to itself, and
 * yields facts and a small kernel, or a refusal with a message. */
#include "coupling/coupling.h"
#include "encoding/encoding.h"
#include "base/memory.h"
#include "fuzz.h"

/* A SPEC that names files would read whatever the fuzzer names: those stay outside. */
static bool names_file(const char *spec) {
    static const char *const keys[] = {"path=", "table=", "x=", "wq=", "wk=", "q=", "k="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strstr(spec, keys[i]))
            return true;
    return false;
}

static void check_encoding(szg_context *context, const szg_encoding *encoding) {
    int64_t heads = szg_encoding_heads(encoding);
    FUZZ_PROMISE(heads >= 1);
    for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++) {
        szg_kernel_facts facts;
        FUZZ_PROMISE(szg_encoding_facts(context, encoding, heads - 1, matrix, &facts) == SZG_OK);
        FUZZ_PROMISE(facts.line && facts.matrix && facts.rank_bound >= 0);
        if (facts.pairs > 4096)
            continue; /* slow, and nothing new */
        szg_toeplitz *toeplitz;
        szg_status status = szg_encoding_kernel(context, encoding, heads - 1, matrix, 5, &toeplitz);
        FUZZ_PROMISE(status == SZG_OK || *szg_context_message(context));
        szg_toeplitz_close(&toeplitz);
    }
}

static void try_encoding(szg_context *context, const char *spec) {
    szg_encoding *encoding, *again;
    if (szg_encoding_parse(context, spec, &encoding) != SZG_OK) {
        FUZZ_PROMISE(encoding == NULL && *szg_context_message(context));
        return;
    }
    FUZZ_PROMISE(szg_encoding_parse(context, szg_encoding_spec(encoding), &again) == SZG_OK);
    FUZZ_PROMISE(strcmp(szg_encoding_spec(encoding), szg_encoding_spec(again)) == 0);
    check_encoding(context, encoding);
    szg_encoding_close(&again);
    szg_encoding_close(&encoding);
}

static void try_content(szg_context *context, const char *spec) {
    szg_content *content;
    if (szg_content_parse(context, spec, 1, &content) != SZG_OK) {
        FUZZ_PROMISE(content == NULL && *szg_context_message(context));
        return;
    }
    int64_t d = szgi_content_dimension(content) ? szgi_content_dimension(content) : 3;
    double q[2 * 64], k[2 * 64];
    if (d <= 64 && szgi_content_fill(context, content, 0, 2, d, NULL, q, k, NULL, NULL) != SZG_OK)
        FUZZ_PROMISE(*szg_context_message(context));
    szg_content_close(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { LONGEST = 4096 };
    char spec[LONGEST + 1];
    if (size > LONGEST)
        return 0;
    memcpy(spec, data, size);
    spec[size] = 0;
    if (names_file(spec))
        return 0;
    try_encoding(fuzz_context(), spec);
    try_content(fuzz_context(), spec);
    return 0;
}
