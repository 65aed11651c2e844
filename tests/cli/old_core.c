/* An OpenBLAS that does not know the processor, put before the real one by LD_PRELOAD; with the
 * variable CORE_OBEYS it takes the core that OPENBLAS_CORETYPE names, as the real one does. Each
 * start of the program adds a line to the file that the variable STARTS names. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) char *openblas_get_corename(void);

char *openblas_get_corename(void) {
    static char name[] = "Prescott";
    char *core = getenv("OPENBLAS_CORETYPE");
    return getenv("CORE_OBEYS") && core ? core : name;
}

__attribute__((constructor)) static void count_start(void) {
    const char *path = getenv("STARTS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    const char *core = getenv("OPENBLAS_CORETYPE");
    fprintf(file, "%s\n", core ? "with a core" : "without");
    fclose(file);
}
