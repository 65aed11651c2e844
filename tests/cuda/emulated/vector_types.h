/* CUDA's small vectors and the coordinates of a thread. */
#ifndef EMULATED_VECTOR_TYPES_H
#define EMULATED_VECTOR_TYPES_H

#define EMULATED_VECTORS(type, name, align2, align4)                                               \
    struct name##1 {                                                                               \
        type x;                                                                                    \
    };                                                                                             \
    struct alignas(align2) name##2 {                                                               \
        type x, y;                                                                                 \
    };                                                                                             \
    struct name##3 {                                                                               \
        type x, y, z;                                                                              \
    };                                                                                             \
    struct alignas(align4) name##4 {                                                               \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    inline name##2 make_##name##2(type x, type y) {                                                \
        return {x, y};                                                                             \
    }                                                                                              \
    inline name##3 make_##name##3(type x, type y, type z) {                                        \
        return {x, y, z};                                                                          \
    }                                                                                              \
    inline name##4 make_##name##4(type x, type y, type z, type w) {                                \
        return {x, y, z, w};                                                                       \
    }

EMULATED_VECTORS(unsigned char, uchar, 2, 4)
EMULATED_VECTORS(short, short, 4, 8)
EMULATED_VECTORS(unsigned short, ushort, 4, 8)
EMULATED_VECTORS(int, int, 8, 16)
EMULATED_VECTORS(unsigned int, uint, 8, 16)
EMULATED_VECTORS(long long, longlong, 16, 16)
EMULATED_VECTORS(unsigned long long, ulonglong, 16, 16)
EMULATED_VECTORS(float, float, 8, 16)
EMULATED_VECTORS(double, double, 16, 16)
#undef EMULATED_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {
    }
};

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

#endif
