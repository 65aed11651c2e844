#include "base/context.h"
#include "cpu.h"

const szgi_linalg_ops szgi_linalg_cpu = {
    .gemm = szgi_cpu_gemm,
    .eigen_symmetric = szgi_cpu_eigen_symmetric,
    .eigen_hermitian = szgi_cpu_eigen_hermitian,
    .eigen_general = szgi_cpu_eigen_general,
    .eigen_general_complex = szgi_cpu_eigen_general_complex,
    .singular = szgi_cpu_singular,
    .singular_complex = szgi_cpu_singular_complex,
    .qr_r = szgi_cpu_qr_r,
    .fft_open = szgi_cpu_fft_open,
    .fft_run = szgi_cpu_fft_run,
    .fft_close = szgi_cpu_fft_close,
};

const szgi_linalg_ops *szgi_linalg_of(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops->linalg : &szgi_linalg_cpu;
}

const char *szgi_backend_name(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops->name : "cpu";
}
