/* The arguments of linear layers, normalisation and residual paths; what products tell. */
#include <inttypes.h>
#include <math.h>

#include "base/context.h"

#include "check.h"

bool szgi_check_linear(szgi_arguments *check, const szgi_linear *linear) {
    szgi_argument_size(check, "rows", linear->rows, 0);
    szgi_argument_size(check, "in", linear->in, 1);
    szgi_argument_size(check, "out", linear->out, 0);
    szgi_argument_extent(check, linear->out, linear->in, 1);
    if (check->status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return false;
    szgi_argument_matrix(check, "x", linear->x, linear->rows, linear->in, linear->ldx);
    szgi_argument_array(check, "weight", linear->weight);
    szgi_argument_matrix(check, "y", linear->y, linear->rows, linear->out, linear->ldy);
    szgi_argument_number(check, "activation", (double)linear->activation, SZG_ACTIVATION_NONE,
                         SZG_ACTIVATION_GELU + 1);
    return check->status == SZG_OK;
}

bool szgi_check_linear_backward(szgi_arguments *check, const szgi_linear *linear,
                                const szgi_linear_gradient *gradient) {
    if (!szgi_check_linear(check, linear))
        return false;
    szgi_argument_matrix(check, "dy", gradient->dy, linear->rows, linear->out, gradient->lddy);
    if (gradient->dx)
        szgi_argument_matrix(check, "dx", gradient->dx, linear->rows, linear->in, gradient->lddx);
    if (linear->activation == SZG_ACTIVATION_GELU)
        szgi_argument_array(check, "before", linear->before);
    return check->status == SZG_OK;
}

szg_status szgi_network_products(szg_context *context, int64_t room, szgi_product_fact *out,
                                 int64_t *count) {
    szgi_arguments check = {context, "products", SZG_OK};
    *count = 0;
    szgi_argument_size(&check, "room", room, 0);
    if (room > 0)
        szgi_argument_array(&check, "out", out);
    const szgi_network_ops *network = szgi_network_of(&check);
    if (network && network->products)
        network->products(context, room, out, count);
    return check.status;
}

szg_status szgi_network_products_begin(szg_context *context, bool timed, int64_t count,
                                       const szgi_product_fact *kept) {
    szgi_arguments check = {context, "products", SZG_OK};
    szgi_argument_size(&check, "count", count, 0);
    if (!timed && count > 0)
        return szgi_fail(context, SZG_EINVAL,
                         "products: %" PRId64 " are given, but none is kept unless they are timed",
                         count);
    if (count > 0)
        szgi_argument_array(&check, "kept", kept);
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network || !network->products_begin)
        return check.status;
    return network->products_begin(context, timed, count, kept);
}

static bool check_norm(szgi_arguments *check, const szgi_layer_norm *norm) {
    szgi_argument_size(check, "rows", norm->rows, 0);
    szgi_argument_size(check, "width", norm->width, 1);
    szgi_argument_extent(check, norm->rows, norm->width, 1);
    szgi_argument_number(check, "eps", norm->eps, 0, INFINITY);
    if (check->status != SZG_OK || norm->rows == 0)
        return false;
    szgi_argument_array(check, "x", norm->x);
    szgi_argument_array(check, "gamma", norm->gamma);
    return check->status == SZG_OK;
}

bool szgi_check_layer_norm(szgi_arguments *check, const szgi_layer_norm *norm) {
    if (!check_norm(check, norm))
        return false;
    szgi_argument_array(check, "beta", norm->beta);
    szgi_argument_array(check, "y", norm->y);
    return check->status == SZG_OK;
}

bool szgi_check_layer_norm_backward(szgi_arguments *check, const szgi_layer_norm *norm,
                                    const szgi_layer_norm_gradient *gradient) {
    if (!check_norm(check, norm))
        return false;
    szgi_argument_array(check, "mean", norm->mean);
    szgi_argument_array(check, "inverse", norm->inverse);
    szgi_argument_array(check, "dy", gradient->dy);
    szgi_argument_array(check, "dx", gradient->dx);
    szgi_argument_array(check, "dgamma", gradient->dgamma);
    szgi_argument_array(check, "dbeta", gradient->dbeta);
    if (check->status == SZG_OK && gradient->add_dx && gradient->dx == gradient->dy)
        check->status = szgi_fail(check->context, SZG_EINVAL, "%s: dx is dy and cannot be added to",
                                  check->operation);
    return check->status == SZG_OK;
}

static bool check_dropout(szgi_arguments *check, int64_t rows, int64_t columns,
                          const szgi_dropout *dropout, const void *from, const void *to) {
    szgi_argument_size(check, "rows", rows, 0);
    szgi_argument_size(check, "columns", columns, 0);
    szgi_argument_extent(check, rows, columns, 1);
    if (check->status != SZG_OK || rows == 0 || columns == 0)
        return false;
    szgi_argument_dropout(check, dropout, rows * columns);
    szgi_argument_array(check, "source", from);
    szgi_argument_array(check, "target", to);
    return check->status == SZG_OK;
}

bool szgi_check_dropout_residual(szgi_arguments *check, int64_t rows, int64_t columns,
                                 const szgi_dropout *dropout, const void *x, const void *residual,
                                 void *y) {
    (void)residual;
    return check_dropout(check, rows, columns, dropout, x, y);
}

bool szgi_check_dropout_backward(szgi_arguments *check, int64_t rows, int64_t columns,
                                 const szgi_dropout *dropout, const void *dy, void *dx) {
    return check_dropout(check, rows, columns, dropout, dy, dx);
}
