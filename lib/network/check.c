#include <inttypes.h>

#include "base/memory.h"
#include "check.h"
#include "cpu_network.h"

void szgi_argument_size(szgi_arguments *arguments, const char *name, int64_t size, int64_t least) {
    if (arguments->status == SZG_OK && size < least)
        arguments->status =
            szgi_fail(arguments->context, SZG_EINVAL, "%s: %s = %" PRId64 " is below %" PRId64,
                      arguments->operation, name, size, least);
}

void szgi_argument_range(szgi_arguments *arguments, const char *name, int64_t value, int64_t least,
                         int64_t most) {
    szgi_argument_size(arguments, name, value, least);
    if (arguments->status == SZG_OK && value > most)
        arguments->status =
            szgi_fail(arguments->context, SZG_EINVAL, "%s: %s = %" PRId64 " is above %" PRId64,
                      arguments->operation, name, value, most);
}

void szgi_argument_extent(szgi_arguments *arguments, int64_t rows, int64_t columns, int64_t depth) {
    if (arguments->status != SZG_OK)
        return;
    int64_t count;
    arguments->status = szgi_memory_product(arguments->context, rows, columns, &count);
    if (arguments->status == SZG_OK)
        arguments->status = szgi_memory_product(arguments->context, count, depth, &count);
    if (arguments->status != SZG_OK)
        szgi_fail_prefix(arguments->context, arguments->status,
                         "%s: %" PRId64 " x %" PRId64 " x %" PRId64, arguments->operation, rows,
                         columns, depth);
}

void szgi_argument_array(szgi_arguments *arguments, const char *name, const void *array) {
    if (arguments->status == SZG_OK && !array)
        arguments->status =
            szgi_fail(arguments->context, SZG_EINVAL, "%s: %s is NULL", arguments->operation, name);
}

void szgi_argument_matrix(szgi_arguments *arguments, const char *name, const void *array,
                          int64_t rows, int64_t columns, int64_t ld) {
    szgi_argument_array(arguments, name, array);
    if (arguments->status == SZG_OK && ld < columns)
        arguments->status =
            szgi_fail(arguments->context, SZG_EINVAL,
                      "%s: leading dimension %" PRId64 " of %s is below its %" PRId64 " columns",
                      arguments->operation, ld, name, columns);
    szgi_argument_extent(arguments, rows, ld, 1);
}

void szgi_argument_number(szgi_arguments *arguments, const char *name, double value, double least,
                          double below) {
    if (arguments->status == SZG_OK && !(value >= least && value < below))
        arguments->status =
            szgi_fail(arguments->context, SZG_EINVAL, "%s: %s = %g is outside [%g, %g)",
                      arguments->operation, name, value, least, below);
}

void szgi_argument_dropout(szgi_arguments *arguments, const szgi_dropout *dropout,
                           int64_t elements) {
    szgi_argument_array(arguments, "dropout", dropout);
    if (arguments->status != SZG_OK)
        return;
    szgi_argument_number(arguments, "dropout probability", dropout->probability, 0, 1);
    if (arguments->status != SZG_OK || dropout->probability == 0)
        return;
    szgi_argument_array(arguments, "dropout block", dropout->block);
    if (arguments->status == SZG_OK && elements > INT64_C(1) << 34)
        arguments->status = szgi_fail(arguments->context, SZG_EINVAL,
                                      "%s: dropout of %" PRId64
                                      " elements is beyond the stream's 2^34: take smaller batches",
                                      arguments->operation, elements);
}

const szgi_network_ops *szgi_network_table(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops->network : &szgi_cpu_network;
}

const szgi_network_ops *szgi_network_of(szgi_arguments *arguments) {
    if (arguments->status != SZG_OK)
        return NULL;
    const szgi_network_ops *network = szgi_network_table(arguments->context);
    if (!network)
        arguments->status = szgi_network_missing(arguments);
    return network;
}

szg_status szgi_network_missing(szgi_arguments *arguments) {
    return szgi_fail(arguments->context, SZG_EBACKEND, "backend %s has no %s: use cpu or reference",
                     szgi_backend_name(arguments->context), arguments->operation);
}
