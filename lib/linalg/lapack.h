/* LAPACKE with szg_c64 for its complex type. */
#ifndef SZG_BACKEND_LAPACK_H
#define SZG_BACKEND_LAPACK_H

#include <szego/status.h>

#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float float _Complex
#define lapack_complex_double szg_c64
#include <lapacke.h>

#endif
