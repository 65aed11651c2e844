/* The words for kinds of spectra and methods. */
#include "spectra/spectra.h"

const char *szg_spectrum_kind_name(szg_spectrum_kind kind) {
    if (kind == SZG_SPECTRUM_EIGENVALUE)
        return "eigenvalue";
    return kind == SZG_SPECTRUM_SINGULAR ? "singular" : NULL;
}

/* Where the backend's solver did the work, the words are there without the library too. */
#define BY_BACKEND(words, solver)                                                                  \
    { words " (LAPACK)", words, solver }
#define BY_SZEGO(words, solver)                                                                    \
    { words, NULL, solver }

static const struct {
    const char *name, *words, *solver;
} methods[SZG_METHODS] = {
    [SZG_METHOD_LAPACK] = BY_SZEGO("LAPACK", "dense"),
    [SZG_METHOD_TALL_QR] = BY_SZEGO("QR over blocks of rows, then LAPACK", "reduced"),
    [SZG_METHOD_ZERO] = BY_SZEGO("zero matrix", "zero"),
    [SZG_METHOD_DIAGONAL] = BY_SZEGO("diagonal", "diagonal"),
    [SZG_METHOD_TRIANGULAR] = BY_SZEGO("diagonal of a triangular matrix", "triangular"),
    [SZG_METHOD_DENSE] = BY_BACKEND("dense", "dense"),
    [SZG_METHOD_DENSE_SYMMETRIC] = BY_BACKEND("dense symmetric", "dense"),
    [SZG_METHOD_DENSE_HERMITIAN] = BY_BACKEND("dense Hermitian", "dense"),
    [SZG_METHOD_DENSE_GENERAL] = BY_BACKEND("dense general", "dense"),
    [SZG_METHOD_DENSE_COMPLEX] = BY_BACKEND("dense general complex", "dense"),
    [SZG_METHOD_DENSE_SINGULAR] = BY_BACKEND("dense singular values", "dense"),
    [SZG_METHOD_COMPLEX_SINGULAR] = BY_BACKEND("dense complex singular values", "dense"),
    [SZG_METHOD_DENSE_PART] = BY_BACKEND("Hermitian part: dense symmetric", "dense"),
    [SZG_METHOD_DIVIDE] =
        BY_SZEGO("divide and conquer on two halves in cosine bases", "divide_and_conquer"),
    [SZG_METHOD_HALVES] = BY_BACKEND("two halves", "halves"),
    [SZG_METHOD_MAPPED] = BY_BACKEND("real symmetric matrix of a Hermitian Toeplitz one", "mapped"),
    [SZG_METHOD_HANKEL] = BY_BACKEND("eigenvalues of the symmetric Hankel matrix T J", "mapped"),
    [SZG_METHOD_LANCZOS] =
        BY_SZEGO("Lanczos (ARPACK), shift-and-invert where an end is clustered", "lanczos"),
    [SZG_METHOD_DIRICHLET] = BY_SZEGO("two Gram matrices of Dirichlet sums", "reduced"),
#define SZG_CLOSED_FORM(NAME, name, words, method)                                                 \
    [SZG_METHOD_##NAME] = BY_SZEGO(method, "closed_form"),
#include <szego/closed_forms.def>
    [SZG_METHOD_LOW_RANK] = BY_BACKEND("eigenvalues of the d x d matrix B^T A", "reduced"),
    [SZG_METHOD_LOW_RANK_SINGULAR] = BY_BACKEND("singular values of R_A R_B^T", "reduced"),
    [SZG_METHOD_LOW_RANK_PART] =
        BY_BACKEND("Hermitian part: symmetric eigenvalues of R S R^T / 2, [A B] = Q R", "reduced"),
    [SZG_METHOD_GRAM] =
        BY_SZEGO("symmetric eigenvalues of the Gram matrix of the factor", "reduced"),
    [SZG_METHOD_MATRIX_FREE] = BY_SZEGO("Lanczos (ARPACK), matrix-free", "lanczos"),
    [SZG_METHOD_MATRIX_FREE_SINGULAR] =
        BY_SZEGO("Lanczos (ARPACK) on L^T L, matrix-free", "lanczos"),
    [SZG_METHOD_MATRIX_FREE_PART] =
        BY_SZEGO("Hermitian part: Lanczos (ARPACK), matrix-free", "lanczos"),
    [SZG_METHOD_DEVICE_SYMMETRIC] = BY_SZEGO("dense symmetric (device)", "dense"),
    [SZG_METHOD_DEVICE_PART] = BY_SZEGO("Hermitian part: dense symmetric (device)", "dense"),
    [SZG_METHOD_DEVICE_SINGULAR] = BY_SZEGO("eigenvalues of L^T L (device)", "squares"),
    [SZG_METHOD_RANDOMISED] =
        BY_SZEGO("random block, Chebyshev-filtered, over rows that pass by", "randomised"),
    [SZG_METHOD_RANDOMISED_GRAM] =
        BY_SZEGO("random block, Chebyshev-filtered, of the Gram matrix", "randomised"),
    [SZG_METHOD_SHARED_DENSE] = BY_SZEGO("dense (ELPA, MPI)", "dense"),
    [SZG_METHOD_SHARED_HALVES] = BY_SZEGO("two halves (ELPA, MPI)", "halves"),
    [SZG_METHOD_SHARED_MAPPED] =
        BY_SZEGO("real symmetric matrix of a Hermitian Toeplitz one (ELPA, MPI)", "mapped"),
    [SZG_METHOD_SHARED_LANCZOS] =
        BY_SZEGO("Lanczos (PARPACK, MPI) with products by FFTW-MPI", "lanczos"),
};

static bool is_known(szg_method method) {
    return (int)method >= 0 && method < SZG_METHODS;
}

const char *szg_method_name(szg_method method) {
    return is_known(method) ? methods[method].name : NULL;
}

const char *szg_method_solver(szg_method method) {
    return is_known(method) ? methods[method].solver : NULL;
}

const char *szgi_method_words(szg_method method) {
    return is_known(method) ? methods[method].words : NULL;
}
