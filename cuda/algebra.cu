/* Dense linear algebra and FFT: which entries the device has. Arrays are the host's; the library
 * decides by their sizes whether the way to the device is worth it (lib/plugin/dispatch.c).
 * Missing here, and the cpu's: QR, batches of general eigenvalues (Xgeev takes one matrix at a
 * time), cosine transforms. */
#include "spectra_device.h"
#include "table.h"

void algebra_fill(szgi_linalg_ops *ops) {
    gemm_fill(ops);
    eigen_fill(ops);
    eigen_general_fill(ops);
    eigen_batch_fill(ops);
    singular_fill(ops);
    singular_batch_fill(ops);
    transform_fill(ops);
}
