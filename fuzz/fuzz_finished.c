/* finished.json of a run: what is accepted is written out and read again as the same facts. Input
 * that is no JSON object is members behind the configuration that belongs to the run. */
#include "base/memory.h"
#include "../train/reproduce/reproduce_private.h"
#include "fuzz.h"

static const szg_train_config *config_of_run(void) {
    static szg_train_config config;
    static bool read;
    if (!read)
        FUZZ_PROMISE(szg_train_config_read(fuzz_context(), NULL, NULL, 0, &config) == SZG_OK);
    read = true;
    return &config;
}

/* {"config": of the run, "seed": 7, and the members of the input}. */
static size_t complete(const uint8_t *data, size_t size, char **out) {
    char *config;
    size_t length;
    FUZZ_PROMISE(szgi_train_config_text(fuzz_context(), config_of_run(), 0, &config) == SZG_OK);
    FILE *stream = open_memstream(out, &length);
    FUZZ_PROMISE(stream != NULL);
    fprintf(stream, "{\"config\": %s, \"seed\": 7, ", config);
    fwrite(data, 1, size, stream);
    fputc('}', stream);
    FUZZ_PROMISE(fclose(stream) == 0);
    szgi_memory_free(config);
    return length;
}

static reproduction_run new_run(void) {
    return (reproduction_run){.shown = {.name = "a run", .seed = 7},
                              .name = (char *)"a run",
                              .folder = (char *)fuzz_folder(),
                              .config = (szg_train_config *)config_of_run()};
}

static void check_again(const reproduction_run *run) {
    reproduction_run again = new_run();
    FUZZ_PROMISE(run->shown.finished);
    FUZZ_PROMISE(szgi_facts_write(fuzz_context(), run) == SZG_OK);
    FUZZ_PROMISE(szgi_facts_read(fuzz_context(), &again) == SZG_OK && again.shown.finished);
    FUZZ_PROMISE(memcmp(&run->facts, &again.facts, offsetof(run_facts, version)) == 0);
    FUZZ_PROMISE(strcmp(run->facts.version, again.facts.version) == 0);
    FUZZ_PROMISE(strcmp(run->facts.commit, again.facts.commit) == 0);
    FUZZ_PROMISE(strcmp(run->facts.backend, again.facts.backend) == 0);
    FUZZ_PROMISE(strcmp(run->facts.device, again.facts.device) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = NULL;
    bool document = size > 0 && *data == '{';
    size_t length = document ? size : complete(data, size, &text);
    const char *path = fuzz_file("finished.json", document ? (const char *)data : text, length);
    reproduction_run run = new_run();
    szg_status status = szgi_facts_read(fuzz_context(), &run);
    if (status == SZG_OK) {
        check_again(&run);
    } else {
        FUZZ_PROMISE(!run.shown.finished);
        FUZZ_REFUSED(status, path);
    }
    free(text);
    fuzz_clean();
    return 0;
}
