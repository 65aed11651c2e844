/* Checks that the checked functions of "network/network.h" share: the arguments of one operation
 * are looked at in turn, and the first that is wrong is recorded, with the operation's name. */
#ifndef SZG_NETWORK_CHECK_H
#define SZG_NETWORK_CHECK_H

#include "network/ops.h"

typedef struct szgi_arguments {
    szg_context *context;
    const char *operation;
    szg_status status; /* SZG_OK until something is wrong */
} szgi_arguments;

void szgi_argument_size(szgi_arguments *arguments, const char *name, int64_t size, int64_t least);
/* The number of elements rows * columns * depth fits the memory's arithmetic. */
void szgi_argument_extent(szgi_arguments *arguments, int64_t rows, int64_t columns, int64_t depth);
void szgi_argument_array(szgi_arguments *arguments, const char *name, const void *array);
/* rows x columns at `array` with leading dimension ld. */
void szgi_argument_matrix(szgi_arguments *arguments, const char *name, const void *array,
                          int64_t rows, int64_t columns, int64_t ld);
/* least <= value <= most. */
void szgi_argument_range(szgi_arguments *arguments, const char *name, int64_t value, int64_t least,
                         int64_t most);
/* least <= value < below, which NaN is not. */
void szgi_argument_number(szgi_arguments *arguments, const char *name, double value, double least,
                          double below);
/* A probability and, where something drops out of `elements` numbers, its block and counters. */
void szgi_argument_dropout(szgi_arguments *arguments, const szgi_dropout *dropout,
                           int64_t elements);

/* The layers of the context's table, the cpu's where none was selected; NULL where it has none. */
const szgi_network_ops *szgi_network_table(szg_context *context);
/* The table's layers; NULL, with SZG_EBACKEND recorded, where the backend has none. */
const szgi_network_ops *szgi_network_of(szgi_arguments *arguments);
/* SZG_EBACKEND: the backend lacks the operation. */
szg_status szgi_network_missing(szgi_arguments *arguments);

/* Returns from the checked function: the failure, or what the table's entry returns. */
#define SZGI_NETWORK_CALL(arguments, entry, ...)                                                   \
    do {                                                                                           \
        const szgi_network_ops *network_ = szgi_network_of(arguments);                             \
        if (!network_)                                                                             \
            return (arguments)->status;                                                            \
        if (!network_->entry)                                                                      \
            return szgi_network_missing(arguments);                                                \
        return network_->entry((arguments)->context, __VA_ARGS__);                                 \
    } while (0)

/* Looks at the arguments of szgi_network_NAME and records what is wrong with them. Whether there is
 * anything to do: false for sizes of zero. */
#define LAYER(name, words, arguments)                                                              \
    bool szgi_check_##name(szgi_arguments *check SZGI_PARAMETERS arguments);
#include "network_ops.def"

#endif
