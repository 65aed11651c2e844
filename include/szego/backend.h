/* The backend: which code computes the dense linear algebra, the FFT and the layers of a context.
 */
#ifndef SZEGO_BACKEND_H
#define SZEGO_BACKEND_H

#include <szego/context.h>

SZG_BEGIN_DECLS

/* Selects the backend of a context: "cpu" (OpenBLAS, LAPACKE, FFTW), "reference" (plain C, the
 * oracle, for small sizes), "cuda" (a GPU, through the plugin libszego-cuda.so; network layers in
 * TF32), "cuda:tf32", "cuda:f32", "cuda:bf16" (the same with that precision of their products),
 * "mpi" (cpu, and spectra shared by the processes that a launcher has started, through the plugin
 * libszego-mpi.so: all of them make the same calls, one context at a time, from the thread that
 * selected it, and close it before they end), or "auto" (cuda where a device can be used, else cpu;
 * a note says which, and why). Dense linear algebra is double precision everywhere. SZG_EINVAL:
 * another name; SZG_EBACKEND: no plugin, a plugin of another version, no driver, no device or one
 * that is too old, its memory refused. Not while work runs in the context, nor while it holds
 * memory of the former backend. */
SZG_CHECK_RESULT szg_status szg_backend_select(szg_context *context, const char *name);

/* ---- Devices ---- */

typedef struct szg_device {
    char name[256];
    int major, minor;          /* compute capability */
    int processors;            /* streaming multiprocessors */
    int64_t memory, available; /* bytes; available: now, -1 where the device was not opened */
    bool usable;               /* not older than the plugin's code */
} szg_device;

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

/* The kernels that OpenBLAS chose when it was loaded, by its name of a processor ("SkylakeX"). */
const char *szg_backend_blas_core(void);

/* NULL, or the value of the environment variable OPENBLAS_CORETYPE with which OpenBLAS would use
 * this processor's vector instructions: it knows processors by their model number, and gives its
 * oldest kernels to one that is newer than itself. It reads the variable while it is loaded, so a
 * program sets it before that, or sets it and executes itself anew. NULL also where the variable
 * names other kernels. The first BLAS call of a context with a message callback warns of it, once
 * in a process. */
const char *szg_backend_blas_remedy(void);

/* The instructions that the cpu table's network layers and batches of small symmetric matrices use
 * here: baseline, avx2 or avx512; the best of the processor, or the lower ones that the environment
 * variable SZEGO_SIMD names. */
const char *szg_backend_simd(void);

SZG_END_DECLS

#endif
