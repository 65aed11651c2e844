/* The words for kinds of spectra and methods. */
#include "spectra/spectra.h"

const char *szg_spectrum_kind_name(szg_spectrum_kind kind) {
    if (kind == SZG_SPECTRUM_EIGENVALUE)
        return "eigenvalue";
    return kind == SZG_SPECTRUM_SINGULAR ? "singular" : NULL;
}

/* "(LAPACK)" stands for the backend's solver; the table `summary` says whose that was. */
static const char *const names[SZG_METHODS] = {
    [SZG_METHOD_LAPACK] = "LAPACK",
    [SZG_METHOD_TALL_QR] = "QR over blocks of rows, then LAPACK",
    [SZG_METHOD_ZERO] = "zero matrix",
    [SZG_METHOD_DIAGONAL] = "diagonal",
    [SZG_METHOD_TRIANGULAR] = "diagonal of a triangular matrix",
    [SZG_METHOD_DENSE] = "dense (LAPACK)",
    [SZG_METHOD_DENSE_SYMMETRIC] = "dense symmetric (LAPACK)",
    [SZG_METHOD_DENSE_HERMITIAN] = "dense Hermitian (LAPACK)",
    [SZG_METHOD_DENSE_GENERAL] = "dense general (LAPACK)",
    [SZG_METHOD_DENSE_COMPLEX] = "dense general complex (LAPACK)",
    [SZG_METHOD_DENSE_SINGULAR] = "dense singular values (LAPACK)",
    [SZG_METHOD_COMPLEX_SINGULAR] = "dense complex singular values (LAPACK)",
    [SZG_METHOD_DENSE_PART] = "Hermitian part: dense symmetric (LAPACK)",
    [SZG_METHOD_DIVIDE] = "divide and conquer on two halves in cosine bases",
    [SZG_METHOD_HALVES] = "two halves (LAPACK)",
    [SZG_METHOD_MAPPED] = "real symmetric matrix of a Hermitian Toeplitz one (LAPACK)",
    [SZG_METHOD_HANKEL] = "eigenvalues of the symmetric Hankel matrix T J (LAPACK)",
    [SZG_METHOD_LANCZOS] = "Lanczos (ARPACK), shift-and-invert where an end is clustered",
    [SZG_METHOD_DIRICHLET] = "two Gram matrices of Dirichlet sums",
    [SZG_METHOD_KMS] = "closed form (Kac, Murdock, Szego)",
    [SZG_METHOD_DISTANCE] = "closed form (path distance matrix)",
    [SZG_METHOD_LOW_RANK] = "eigenvalues of the d x d matrix B^T A (LAPACK)",
    [SZG_METHOD_LOW_RANK_SINGULAR] = "singular values of R_A R_B^T (LAPACK)",
    [SZG_METHOD_LOW_RANK_PART] =
        "Hermitian part: symmetric eigenvalues of R S R^T / 2, [A B] = Q R (LAPACK)",
    [SZG_METHOD_GRAM] = "symmetric eigenvalues of the Gram matrix of the factor",
    [SZG_METHOD_MATRIX_FREE] = "Lanczos (ARPACK), matrix-free",
    [SZG_METHOD_MATRIX_FREE_SINGULAR] = "Lanczos (ARPACK) on L^T L, matrix-free",
    [SZG_METHOD_MATRIX_FREE_PART] = "Hermitian part: Lanczos (ARPACK), matrix-free",
    [SZG_METHOD_DEVICE_SYMMETRIC] = "dense symmetric (device)",
    [SZG_METHOD_DEVICE_PART] = "Hermitian part: dense symmetric (device)",
    [SZG_METHOD_DEVICE_SINGULAR] = "eigenvalues of L^T L (device)",
};

const char *szg_method_name(szg_method method) {
    return (int)method >= 0 && method < SZG_METHODS ? names[method] : NULL;
}
