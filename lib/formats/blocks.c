/* The types of GGUF by their numbers, and tensors of quantised blocks as doubles. */
#include "blocks.h"
#include "safetensors_private.h"

#define PLAIN(type, kind, size)                                                                    \
    { .name = type, .dtype = kind, .elements = 1, .bytes = size }
#define BLOCKS(type, count, size, reader)                                                          \
    { .name = type, .dtype = SZGI_DTYPE_BLOCKS, .elements = count, .bytes = size, .read = reader }
#define UNREAD(type, count, size)                                                                  \
    { .name = type, .dtype = SZGI_DTYPE_OTHER, .elements = count, .bytes = size }

static const szgi_block_type types[] = {
    [0] = PLAIN("F32", SZGI_DTYPE_F32, 4),
    [1] = PLAIN("F16", SZGI_DTYPE_F16, 2),
    [2] = BLOCKS("Q4_0", 32, 18, szgi_block_q4_0),
    [3] = BLOCKS("Q4_1", 32, 20, szgi_block_q4_1),
    [4] = UNREAD("Q4_2", 0, 0), /* withdrawn before version 2 of the format */
    [5] = UNREAD("Q4_3", 0, 0),
    [6] = BLOCKS("Q5_0", 32, 22, szgi_block_q5_0),
    [7] = BLOCKS("Q5_1", 32, 24, szgi_block_q5_1),
    [8] = BLOCKS("Q8_0", 32, 34, szgi_block_q8_0),
    [9] = UNREAD("Q8_1", 0, 0), /* of products only; its two descriptions differ in size */
    [10] = BLOCKS("Q2_K", 256, 84, szgi_block_q2_k),
    [11] = BLOCKS("Q3_K", 256, 110, szgi_block_q3_k),
    [12] = BLOCKS("Q4_K", 256, 144, szgi_block_q4_k),
    [13] = BLOCKS("Q5_K", 256, 176, szgi_block_q5_k),
    [14] = BLOCKS("Q6_K", 256, 210, szgi_block_q6_k),
    [15] = UNREAD("Q8_K", 256, 292),
    [16] = UNREAD("IQ2_XXS", 256, 66),
    [17] = UNREAD("IQ2_XS", 256, 74),
    [18] = UNREAD("IQ3_XXS", 256, 98),
    [19] = UNREAD("IQ1_S", 256, 50),
    [20] = BLOCKS("IQ4_NL", 32, 18, szgi_block_iq4_nl),
    [21] = UNREAD("IQ3_S", 256, 110),
    [22] = UNREAD("IQ2_S", 256, 82),
    [23] = BLOCKS("IQ4_XS", 256, 136, szgi_block_iq4_xs),
    [24] = PLAIN("I8", SZGI_DTYPE_INTEGER, 1),
    [25] = PLAIN("I16", SZGI_DTYPE_INTEGER, 2),
    [26] = PLAIN("I32", SZGI_DTYPE_INTEGER, 4),
    [27] = PLAIN("I64", SZGI_DTYPE_INTEGER, 8),
    [28] = PLAIN("F64", SZGI_DTYPE_F64, 8),
    [29] = UNREAD("IQ1_M", 256, 56),
    [30] = PLAIN("BF16", SZGI_DTYPE_BF16, 2),
    [31] = UNREAD("Q4_0_4_4", 0, 0), /* rows interleaved for one processor; withdrawn */
    [32] = UNREAD("Q4_0_4_8", 0, 0),
    [33] = UNREAD("Q4_0_8_8", 0, 0),
    [34] = BLOCKS("TQ1_0", 256, 54, szgi_block_tq1_0),
    [35] = BLOCKS("TQ2_0", 256, 66, szgi_block_tq2_0),
    [36] = UNREAD("IQ4_NL_4_4", 0, 0),
    [37] = UNREAD("IQ4_NL_4_8", 0, 0),
    [38] = UNREAD("IQ4_NL_8_8", 0, 0),
    [39] = BLOCKS("MXFP4", 32, 17, szgi_block_mxfp4),
    [40] = UNREAD("NVFP4", 64, 36), /* a second scale has a tensor of its own */
    [41] = UNREAD("Q1_0", 128, 18),
};

const szgi_block_type *szgi_block_type_find(uint32_t id) {
    static const szgi_block_type unknown = UNREAD("", 0, 0);
    return id < sizeof types / sizeof *types ? &types[id] : &unknown;
}

const char *szgi_tensor_remedy(const szgi_tensor *tensor) {
    if (tensor->refusal)
        return tensor->refusal;
    return tensor->blocks
               ? "szego reads F64, F32, F16, BF16, Q8_0, Q6_K, Q5_K, Q5_1, Q5_0, Q4_K, Q4_1, Q4_0, "
                 "Q3_K, Q2_K, IQ4_NL, IQ4_XS, MXFP4, TQ1_0 and TQ2_0; take a file of one of these "
                 "types (llama-quantize makes one from an unquantised file)"
               : "szego reads F64, F32, F16 and BF16; convert or dequantise it";
}

szg_status szgi_tensor_read_blocks(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                   int64_t count, double *out) {
    const szgi_block_type *type = tensor->blocks;
    unsigned char buffer[TENSOR_BLOCK];
    float value[BLOCK_ELEMENTS];
    const int64_t end = start + count, most = TENSOR_BLOCK / type->bytes;
    int64_t block = start / type->elements;
    while (start < end) {
        const unsigned char *at;
        int64_t blocks = (end - 1) / type->elements + 1 - block;
        if (blocks > most)
            blocks = most;
        SZG_TRY(szgi_tensor_bytes(context, tensor, block * type->bytes, blocks * type->bytes,
                                  buffer, &at));
        for (int64_t last = block + blocks; block < last; block++, at += type->bytes) {
            int64_t from = block * type->elements;
            type->read(at, value);
            for (; start < end && start < from + type->elements; start++)
                *out++ = (double)value[start - from];
        }
    }
    return SZG_OK;
}
