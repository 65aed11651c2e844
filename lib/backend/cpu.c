#include "batch.h"
#include "cpu.h"
#include "cpu_network.h"

static const szg_ops cpu = {
    .name = "cpu",
    .network = &szg_cpu_network,
    .gemm = szg_cpu_gemm,
    .gemm_complex = szg_cpu_gemm_complex,
    .eigen_symmetric = szg_cpu_eigen_symmetric,
    .eigen_hermitian = szg_cpu_eigen_hermitian,
    .eigen_general = szg_cpu_eigen_general,
    .eigen_general_complex = szg_cpu_eigen_general_complex,
    .eigen_tridiagonal = szg_cpu_eigen_tridiagonal,
    .singular = szg_cpu_singular,
    .singular_complex = szg_cpu_singular_complex,
    .qr_r = szg_cpu_qr_r,
    .eigen_symmetric_batch = szg_batch_eigen_symmetric,
    .eigen_hermitian_batch = szg_batch_eigen_hermitian,
    .eigen_general_batch = szg_batch_eigen_general,
    .singular_batch = szg_batch_singular,
    .fft_open = szg_cpu_fft_open,
    .fft_run = szg_cpu_fft_run,
    .fft_close = szg_cpu_fft_close,
};

const szg_ops *szg_ops_cpu(void) {
    return &cpu;
}
