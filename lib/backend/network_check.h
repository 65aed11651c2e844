/* Checks that the checked functions of <szego/network.h> share: the arguments of one operation are
 * looked at in turn, and the first that is wrong is recorded, with the operation's name. */
#ifndef SZG_BACKEND_NETWORK_CHECK_H
#define SZG_BACKEND_NETWORK_CHECK_H

#include <szego/ops.h>

typedef struct szg_arguments {
    szg_context *context;
    const char *operation;
    szg_status status; /* SZG_OK until something is wrong */
} szg_arguments;

void szg_argument_size(szg_arguments *arguments, const char *name, int64_t size, int64_t least);
/* The number of elements rows * columns * depth fits the memory's arithmetic. */
void szg_argument_extent(szg_arguments *arguments, int64_t rows, int64_t columns, int64_t depth);
void szg_argument_array(szg_arguments *arguments, const char *name, const void *array);
/* rows x columns at `array` with leading dimension ld. */
void szg_argument_matrix(szg_arguments *arguments, const char *name, const void *array,
                         int64_t rows, int64_t columns, int64_t ld);
/* least <= value <= most. */
void szg_argument_range(szg_arguments *arguments, const char *name, int64_t value, int64_t least,
                        int64_t most);
/* least <= value < below, which NaN is not. */
void szg_argument_number(szg_arguments *arguments, const char *name, double value, double least,
                         double below);
/* A probability and, where something drops out of `elements` numbers, its block and counters. */
void szg_argument_dropout(szg_arguments *arguments, const szg_dropout *dropout, int64_t elements);

/* The table's layers; NULL, with SZG_EBACKEND recorded, where the backend has none. */
const szg_network_ops *szg_network_of(szg_arguments *arguments);
/* SZG_EBACKEND: the backend lacks the operation. */
szg_status szg_network_missing(szg_arguments *arguments);

/* Returns from the checked function: the failure, or what the table's entry returns. */
#define SZG_NETWORK_CALL(arguments, entry, ...)                                                    \
    do {                                                                                           \
        const szg_network_ops *network_ = szg_network_of(arguments);                               \
        if (!network_)                                                                             \
            return (arguments)->status;                                                            \
        if (!network_->entry)                                                                      \
            return szg_network_missing(arguments);                                                 \
        return network_->entry((arguments)->context, __VA_ARGS__);                                 \
    } while (0)

#endif
