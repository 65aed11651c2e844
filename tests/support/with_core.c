/* Becomes COMMAND; where OpenBLAS does not know the processor, with the kernels that the program
 * restarts itself for. Tells the kernels in the test's log. usage: with_core COMMAND ARGUMENT... */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <szego/backend.h>

int main(int argc, char **argv) {
    const char *remedy = szg_backend_blas_remedy(), *given = getenv("OPENBLAS_CORETYPE");
    if (argc < 2)
        return 2;
    fprintf(stderr, "# OpenBLAS core %s%s\n", remedy ? remedy : szg_backend_blas_core(),
            remedy && !given ? ", by OPENBLAS_CORETYPE" : "");
    if (remedy && !given && setenv("OPENBLAS_CORETYPE", remedy, 0) != 0)
        return 2;
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 2;
}
