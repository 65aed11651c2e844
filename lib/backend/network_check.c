#include <inttypes.h>
#include <math.h>

#include <szego/memory.h>
#include "network_check.h"

void szg_argument_size(szg_arguments *arguments, const char *name, int64_t size, int64_t least) {
    if (arguments->status == SZG_OK && size < least)
        arguments->status =
            szg_fail(arguments->context, SZG_EINVAL, "%s: %s = %" PRId64 " is below %" PRId64,
                     arguments->operation, name, size, least);
}

void szg_argument_range(szg_arguments *arguments, const char *name, int64_t value, int64_t least,
                        int64_t most) {
    szg_argument_size(arguments, name, value, least);
    if (arguments->status == SZG_OK && value > most)
        arguments->status =
            szg_fail(arguments->context, SZG_EINVAL, "%s: %s = %" PRId64 " is above %" PRId64,
                     arguments->operation, name, value, most);
}

void szg_argument_extent(szg_arguments *arguments, int64_t rows, int64_t columns, int64_t depth) {
    if (arguments->status != SZG_OK)
        return;
    int64_t count;
    arguments->status = szg_memory_product(arguments->context, rows, columns, &count);
    if (arguments->status == SZG_OK)
        arguments->status = szg_memory_product(arguments->context, count, depth, &count);
    if (arguments->status != SZG_OK)
        szg_fail_prefix(arguments->context, arguments->status,
                        "%s: %" PRId64 " x %" PRId64 " x %" PRId64, arguments->operation, rows,
                        columns, depth);
}

void szg_argument_array(szg_arguments *arguments, const char *name, const void *array) {
    if (arguments->status == SZG_OK && !array)
        arguments->status =
            szg_fail(arguments->context, SZG_EINVAL, "%s: %s is NULL", arguments->operation, name);
}

void szg_argument_matrix(szg_arguments *arguments, const char *name, const void *array,
                         int64_t rows, int64_t columns, int64_t ld) {
    szg_argument_array(arguments, name, array);
    if (arguments->status == SZG_OK && ld < columns)
        arguments->status =
            szg_fail(arguments->context, SZG_EINVAL,
                     "%s: leading dimension %" PRId64 " of %s is below its %" PRId64 " columns",
                     arguments->operation, ld, name, columns);
    szg_argument_extent(arguments, rows, ld, 1);
}

void szg_argument_number(szg_arguments *arguments, const char *name, double value, double least,
                         double below) {
    if (arguments->status == SZG_OK && !(value >= least && value < below))
        arguments->status =
            szg_fail(arguments->context, SZG_EINVAL, "%s: %s = %g is outside [%g, %g)",
                     arguments->operation, name, value, least, below);
}

void szg_argument_dropout(szg_arguments *arguments, const szg_dropout *dropout, int64_t elements) {
    szg_argument_array(arguments, "dropout", dropout);
    if (arguments->status != SZG_OK)
        return;
    szg_argument_number(arguments, "dropout probability", dropout->probability, 0, 1);
    if (arguments->status != SZG_OK || dropout->probability == 0)
        return;
    szg_argument_array(arguments, "dropout block", dropout->block);
    if (arguments->status == SZG_OK && elements > INT64_C(1) << 34)
        arguments->status = szg_fail(arguments->context, SZG_EINVAL,
                                     "%s: dropout of %" PRId64
                                     " elements is beyond the stream's 2^34: take smaller batches",
                                     arguments->operation, elements);
}

const szg_network_ops *szg_network_of(szg_arguments *arguments) {
    if (arguments->status != SZG_OK)
        return NULL;
    const szg_network_ops *network = szg_ops_of(arguments->context)->network;
    if (!network)
        arguments->status = szg_network_missing(arguments);
    return network;
}

szg_status szg_network_missing(szg_arguments *arguments) {
    return szg_fail(arguments->context, SZG_EBACKEND, "backend %s has no %s: use cpu or reference",
                    szg_ops_of(arguments->context)->name, arguments->operation);
}
