/* Training configurations: what is accepted echoes to a document that reads back bit for bit. Input
 * that is no JSON object is taken as an override, "key=value". */
#include "base/memory.h"
#include "formats/json.h"
#include "train/config/train_config.h"
#include "fuzz.h"

static void check_echo(const szg_train_config *config) {
    szg_context *context = fuzz_context();
    szg_train_config again;
    szgi_json *json;
    char *text;
    FUZZ_PROMISE(szg_train_config_check(context, config) == SZG_OK);
    FUZZ_PROMISE(szgi_train_config_json(context, config, &json) == SZG_OK);
    FUZZ_PROMISE(szgi_json_text(context, szgi_json_root(json), 0, &text) == SZG_OK);
    FUZZ_PROMISE(szgi_train_config_parse(context, "again", text, &again) == SZG_OK);
    FUZZ_PROMISE(memcmp(config, &again, sizeof again) == 0);
    szgi_memory_free(text);
    szgi_json_close(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_train_config config;
    char *text = malloc(size + 1);
    FUZZ_PROMISE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    bool document = text[0] == '{';
    const char *const overrides[] = {text};
    szg_status status = document
                            ? szgi_train_config_parse(fuzz_context(), "fuzz", text, &config)
                            : szg_train_config_read(fuzz_context(), NULL, overrides, 1, &config);
    if (status == SZG_OK)
        check_echo(&config);
    else if (status == SZG_EIO || status == SZG_ENOMEM)
        ; /* a SPEC may name a file, and sizes of any magnitude */
    else if (document)
        FUZZ_REFUSED(status, "fuzz: ");
    else
        FUZZ_PROMISE((status == SZG_EINVAL || status == SZG_EDATA) &&
                     *szg_context_message(fuzz_context()));
    free(text);
    return 0;
}
