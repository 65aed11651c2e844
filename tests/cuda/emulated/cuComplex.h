/* Complex numbers as pairs. */
#ifndef EMULATED_CUCOMPLEX_H
#define EMULATED_CUCOMPLEX_H

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

inline cuDoubleComplex make_cuDoubleComplex(double re, double im) {
    return {re, im};
}
inline double cuCreal(cuDoubleComplex z) {
    return z.x;
}
inline double cuCimag(cuDoubleComplex z) {
    return z.y;
}

#endif
