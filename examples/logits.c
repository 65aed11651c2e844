/* Logits of one's own, dense: how an encoding contracts the spectrum of the content. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

enum { N = 96 };

int main(void) {
    static double content[N * N], coupled[N * N];
    /* The content is all ones; the encoding multiplies entry (i, j) by cos((i - j) / 4). */
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            content[i * N + j] = 1;
            coupled[i * N + j] = cos((i - j) / 4.0);
        }
    }
    szg_context *context;
    szg_contraction contraction;
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    const szg_matrix without = szg_matrix_dense(N, N, content, N);
    const szg_matrix with = szg_matrix_dense(N, N, coupled, N);
    szg_status status = szg_contraction_compute(context, &without, &with, NULL, &contraction);
    if (status == SZG_OK) {
        printf("width %.3f of the content's, spectral norm %.3f, majorised: %s\n",
               contraction.ratios.width, contraction.ratios.norm,
               contraction.ratios.eigenvalues.order == SZG_ORDER_HOLDS ? "yes" : "no");
        szg_contraction_close(&contraction);
    } else {
        fprintf(stderr, "%s\n", szg_context_message(context));
    }
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
