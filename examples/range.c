/* Eigenvalue bounds of a rotary kernel, from its symbol, with a proof. */
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

static szg_status run(szg_context *context, szg_encoding **rope, szg_toeplitz **kernel) {
    szg_range range;
    SZG_TRY(szg_encoding_parse(context, "rope:dim=64", rope));
    SZG_TRY(szg_encoding_kernel(context, *rope, 0, 0, 512, kernel)); /* head 0, matrix 0, N = 512 */
    SZG_TRY(szg_symbol_range(context, *kernel, &range));
    printf("every eigenvalue lies in [%.17g, %.17g]\n", range.min.lo, range.max.hi);
    return SZG_OK;
}

int main(void) {
    szg_context *context;
    szg_encoding *rope = NULL;
    szg_toeplitz *kernel = NULL;
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = run(context, &rope, &kernel);
    if (status != SZG_OK)
        fprintf(stderr, "%s\n", szg_context_message(context));
    szg_toeplitz_close(&kernel);
    szg_encoding_close(&rope);
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
