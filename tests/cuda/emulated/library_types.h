/* Types that the vendor's libraries share. */
#ifndef EMULATED_LIBRARY_TYPES_H
#define EMULATED_LIBRARY_TYPES_H

enum cudaDataType_t {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_C_32F = 4,
    CUDA_C_64F = 5,
    CUDA_R_16BF = 14
};
typedef cudaDataType_t cudaDataType;

enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
typedef libraryPropertyType_t libraryPropertyType;

#endif
