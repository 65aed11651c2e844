/* A program that opens the shared library, closes it while a thread that used it lives, and ends
 * the thread: what the library has done at a thread's end must still be there.
 * usage: unload libszego.so */
#include <dlfcn.h>
#include <semaphore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <szego/szego.h>

static struct {
    void *handle;
    szg_status (*context_open)(const szg_context_options *options, szg_context **out);
    void (*context_close)(szg_context **context);
    szg_status (*encoding_parse)(szg_context *context, const char *spec, szg_encoding **out);
    void (*encoding_close)(szg_encoding **encoding);
    szg_status (*kernel)(szg_context *context, const szg_encoding *encoding, int64_t head,
                         int64_t matrix, int64_t n, szg_toeplitz **out);
    void (*toeplitz_close)(szg_toeplitz **toeplitz);
    szg_status (*range)(szg_context *context, const szg_toeplitz *toeplitz, szg_range *out);
} library;

static sem_t used, closed;

static void *address(const char *name) {
    void *found = dlsym(library.handle, name);
    if (!found) {
        fprintf(stderr, "unload: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    return found;
}

/* ISO C has no cast from an object's address to a function's. */
#define FIND(member, name)                                                                         \
    do {                                                                                           \
        void *found_ = address(name);                                                              \
        memcpy(&library.member, &found_, sizeof found_);                                           \
    } while (0)

static void open_library(const char *path) {
    library.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library.handle) {
        fprintf(stderr, "unload: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    FIND(context_open, "szg_context_open");
    FIND(context_close, "szg_context_close");
    FIND(encoding_parse, "szg_encoding_parse");
    FIND(encoding_close, "szg_encoding_close");
    FIND(kernel, "szg_encoding_kernel");
    FIND(toeplitz_close, "szg_toeplitz_close");
    FIND(range, "szg_symbol_range");
}

static void *use_library(void *failed) {
    szg_context *context = NULL;
    szg_encoding *rope = NULL;
    szg_toeplitz *kernel = NULL;
    szg_range range;
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 2};
    *(bool *)failed = library.context_open(&options, &context) != SZG_OK ||
                      library.encoding_parse(context, "rope:dim=8", &rope) != SZG_OK ||
                      library.kernel(context, rope, 0, 0, 32, &kernel) != SZG_OK ||
                      library.range(context, kernel, &range) != SZG_OK;
    library.toeplitz_close(&kernel);
    library.encoding_close(&rope);
    library.context_close(&context);
    sem_post(&used);
    sem_wait(&closed);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    bool failed;
    if (argc != 2)
        return EXIT_FAILURE;
    sem_init(&used, 0, 0);
    sem_init(&closed, 0, 0);
    for (int repeat = 0; repeat < 2; repeat++) {
        open_library(argv[1]);
        if (pthread_create(&thread, NULL, use_library, &failed) != 0)
            return EXIT_FAILURE;
        sem_wait(&used);
        dlclose(library.handle);
        sem_post(&closed);
        pthread_join(thread, NULL);
        if (failed) {
            fprintf(stderr, "unload: the library could not be used\n");
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
