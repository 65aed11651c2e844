#include "batch.h"
#include "cpu.h"
#include "cpu_network.h"

static const szg_ops cpu = {
    .name = "cpu",
    .network = &szgi_cpu_network,
    .gemm = szgi_cpu_gemm,
    .gemm_complex = szgi_cpu_gemm_complex,
    .eigen_symmetric = szgi_cpu_eigen_symmetric,
    .eigen_hermitian = szgi_cpu_eigen_hermitian,
    .eigen_general = szgi_cpu_eigen_general,
    .eigen_general_complex = szgi_cpu_eigen_general_complex,
    .eigen_tridiagonal = szgi_cpu_eigen_tridiagonal,
    .singular = szgi_cpu_singular,
    .singular_complex = szgi_cpu_singular_complex,
    .qr_r = szgi_cpu_qr_r,
    .eigen_symmetric_batch = szgi_batch_eigen_symmetric,
    .eigen_hermitian_batch = szgi_batch_eigen_hermitian,
    .eigen_general_batch = szgi_batch_eigen_general,
    .singular_batch = szgi_batch_singular,
    .fft_open = szgi_cpu_fft_open,
    .fft_run = szgi_cpu_fft_run,
    .fft_close = szgi_cpu_fft_close,
};

const szg_ops *szgi_ops_cpu(void) {
    return &cpu;
}
