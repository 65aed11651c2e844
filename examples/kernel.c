/* The spectrum of a kernel of one's own: the ends, what their residual means, and the Szego bound.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

enum { N = 1024, LAGS = 64 };

static szg_status run(szg_context *context, szg_toeplitz **kernel, szg_spectrum *spectrum) {
    double a[LAGS]; /* a_k = a_{-k} = e^{-k^2 / 8}; 0 from lag 64 on */
    for (int k = 0; k < LAGS; k++)
        a[k] = exp(-k * k / 8.0);
    szg_range range;
    SZG_TRY(szg_toeplitz_open_symmetric(context, N, LAGS, a, kernel));
    const szg_matrix matrix = szg_matrix_toeplitz(*kernel);
    SZG_TRY(szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, NULL, spectrum));
    SZG_TRY(szg_symbol_range(context, *kernel, &range));
    printf("%d eigenvalues from %.17g to %.17g\n", (int)spectrum->count, spectrum->re[0],
           spectrum->re[spectrum->count - 1]);
    printf("residual %.1e: %s\n", spectrum->residual, spectrum->residual_meaning);
    printf("the symbol lies in [%.17g, %.17g], and so does every eigenvalue\n", range.min.lo,
           range.max.hi);
    return SZG_OK;
}

int main(void) {
    szg_context *context;
    szg_toeplitz *kernel = NULL;
    szg_spectrum spectrum = {0};
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = run(context, &kernel, &spectrum);
    if (status != SZG_OK)
        fprintf(stderr, "%s\n", szg_context_message(context));
    szg_spectrum_close(&spectrum);
    szg_toeplitz_close(&kernel);
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
