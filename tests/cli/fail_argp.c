/* Preloaded: the options cannot be parsed for want of memory. */
#include <argp.h>
#include <errno.h>

__attribute__((visibility("default"))) error_t argp_parse(const struct argp *restrict argp,
                                                          int count, char **restrict texts,
                                                          unsigned flags, int *restrict index,
                                                          void *restrict input) {
    (void)argp, (void)count, (void)texts, (void)flags, (void)index, (void)input;
    return ENOMEM;
}
