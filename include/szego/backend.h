/* The backend: which code computes the dense linear algebra, the FFT and the layers of a context.
 */
#ifndef SZEGO_BACKEND_H
#define SZEGO_BACKEND_H

#include <szego/context.h>

SZG_BEGIN_DECLS

typedef struct szgi_ops szgi_ops;

/* Selects the backend of a context: "cpu" (OpenBLAS, LAPACKE, FFTW), "reference" (plain C, the
 * oracle, for small sizes), "cuda" (a GPU, through the plugin libszego-cuda.so; network layers in
 * TF32), "cuda:tf32", "cuda:f32", "cuda:bf16" (the same with that precision of their products), or
 * "auto" (cuda where a device can be used, else cpu; a note says which, and why). Dense linear
 * algebra is double precision everywhere. SZG_EINVAL: another name; SZG_EBACKEND: no plugin, a
 * plugin of another version, no driver, no device or one that is too old, its memory refused. Not
 * while work runs in the context, nor while it holds memory of the former backend. */
SZG_CHECK_RESULT szg_status szg_backend_select(szg_context *context, const char *name);

/* ---- Devices ---- */

typedef struct szg_device {
    char name[256];
    int major, minor;          /* compute capability */
    int processors;            /* streaming multiprocessors */
    int64_t memory, available; /* bytes; available: now, -1 where the device was not opened */
    bool usable;               /* not older than the plugin's code */
} szg_device;

/* Precision of matrix products in network layers; sums are always single precision or better. */
typedef enum szgi_precision {
    SZGI_PRECISION_TF32, /* operands rounded to 11 significant bits */
    SZGI_PRECISION_F32,
    SZGI_PRECISION_BF16, /* operands rounded to 8 significant bits */
    SZGI_PRECISIONS
} szgi_precision;

/* What a linear layer of a decoder applies to its sums. */
typedef enum szg_activation {
    SZG_ACTIVATION_NONE,
    SZG_ACTIVATION_RELU,
    SZG_ACTIVATION_GELU /* x (1 + erf(x / sqrt 2)) / 2 */
} szg_activation;

/* The devices of the cuda backend: their number, and the first `room` of them. libraries: versions
 * of what the plugin is built on; NULL where there is no plugin. SZG_EBACKEND as above; not for a
 * device that is too old, which is listed. */
SZG_CHECK_RESULT szg_status szg_backend_devices(szg_context *context, int room, szg_device *out,
                                                int *count, const char **libraries);

/* ---- Libraries ---- */

/* Versions and build options of the libraries behind the cpu table, as they report themselves. */
const char *szg_backend_blas(void);
const char *szg_backend_fft(void);

/* The instructions that the cpu table's network layers use here: baseline, avx2 or avx512; the best
 * of the processor, or the lower ones that the environment variable SZEGO_SIMD names. */
const char *szg_backend_simd(void);

/* ---- Products ---- */

/* ---- Eigenvalues. Each destroys a. Backward stable: the computed values are the exact ones of
 * a + E, ||E||_2 <= c(n) eps ||a||_2, c a small polynomial (LAPACK Users' Guide, 3rd ed., 4.7).
 * ---- */

/* ---- Singular values and QR. Each destroys a. ---- */

/* ---- Many small matrices: one matrix a worker of the pool, BLAS single-threaded inside, or all at
 * once on a device. Matrix i stands at a + i * stride without gaps between its rows, its values at
 * row i of the result. A failure names the matrix. ---- */

/* ---- Fourier and cosine transforms, unnormalised ---- */

typedef enum szgi_fft_kind {
    SZGI_FFT_FORWARD,       /* n complex -> n complex: y_j = sum_k x_k e^{-2 pi i jk/n} */
    SZGI_FFT_BACKWARD,      /* the same with e^{+2 pi i jk/n}; the two in turn multiply by n */
    SZGI_FFT_REAL,          /* n real -> n/2 + 1 complex: the first half of FORWARD */
    SZGI_FFT_REAL_BACKWARD, /* n/2 + 1 complex -> n real: BACKWARD of a Hermitian sequence;
                              imaginary parts of entry 0 and, n even, of entry n/2 are ignored */
    SZGI_FFT_COSINE_2,      /* n real -> n real: y_j = 2 sum_k x_k cos(pi j (k + 1/2) / n) */
    SZGI_FFT_COSINE_3,      /* y_j = x_0 + 2 sum_{k>=1} x_k cos(pi (j + 1/2) k / n) */
    SZGI_FFT_COSINE_4,      /* y_j = 2 sum_k x_k cos(pi (j + 1/2)(k + 1/2) / n) */
    SZGI_FFT_KINDS
} szgi_fft_kind;

typedef struct szgi_fft szgi_fft;

SZG_END_DECLS

#endif
