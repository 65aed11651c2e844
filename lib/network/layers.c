/* The checked functions of linear layers, normalisation and residual paths. */
#include <math.h>
#include "base/context.h"

#include "check.h"

static szgi_arguments check_linear(szg_context *context, const char *operation,
                                   const szgi_linear *linear) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "rows", linear->rows, 0);
    szgi_argument_size(&check, "in", linear->in, 1);
    szgi_argument_size(&check, "out", linear->out, 0);
    szgi_argument_extent(&check, linear->out, linear->in, 1);
    if (check.status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return check;
    szgi_argument_matrix(&check, "x", linear->x, linear->rows, linear->in, linear->ldx);
    szgi_argument_array(&check, "weight", linear->weight);
    szgi_argument_matrix(&check, "y", linear->y, linear->rows, linear->out, linear->ldy);
    szgi_argument_number(&check, "activation", (double)linear->activation, SZG_ACTIVATION_NONE,
                         SZG_ACTIVATION_GELU + 1);
    return check;
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
    if (!timed) /* there is nothing to keep */
        szgi_argument_number(&check, "count", (double)count, 0, 1);
    if (count > 0)
        szgi_argument_array(&check, "kept", kept);
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network || !network->products_begin)
        return check.status;
    return network->products_begin(context, timed, count, kept);
}

szg_status szgi_network_linear(szg_context *context, const szgi_linear *linear) {
    szgi_arguments check = check_linear(context, "linear", linear);
    if (check.status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, linear, linear);
}

szg_status szgi_network_linear_backward(szg_context *context, const szgi_linear *linear,
                                        const szgi_linear_gradient *gradient) {
    szgi_arguments check = check_linear(context, "linear backward", linear);
    if (check.status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return check.status;
    szgi_argument_matrix(&check, "dy", gradient->dy, linear->rows, linear->out, gradient->lddy);
    if (gradient->dx)
        szgi_argument_matrix(&check, "dx", gradient->dx, linear->rows, linear->in, gradient->lddx);
    if (linear->activation == SZG_ACTIVATION_GELU)
        szgi_argument_array(&check, "before", linear->before);
    SZG_NETWORK_CALL(&check, linear_backward, linear, gradient);
}

static szgi_arguments check_norm(szg_context *context, const char *operation,
                                 const szgi_layer_norm *norm) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "rows", norm->rows, 0);
    szgi_argument_size(&check, "width", norm->width, 1);
    szgi_argument_extent(&check, norm->rows, norm->width, 1);
    szgi_argument_number(&check, "eps", norm->eps, 0, INFINITY);
    if (check.status != SZG_OK || norm->rows == 0)
        return check;
    szgi_argument_array(&check, "x", norm->x);
    szgi_argument_array(&check, "gamma", norm->gamma);
    return check;
}

szg_status szgi_network_layer_norm(szg_context *context, const szgi_layer_norm *norm) {
    szgi_arguments check = check_norm(context, "layer norm", norm);
    if (check.status != SZG_OK || norm->rows == 0)
        return check.status;
    szgi_argument_array(&check, "beta", norm->beta);
    szgi_argument_array(&check, "y", norm->y);
    SZG_NETWORK_CALL(&check, layer_norm, norm);
}

szg_status szgi_network_layer_norm_backward(szg_context *context, const szgi_layer_norm *norm,
                                            const szgi_layer_norm_gradient *gradient) {
    szgi_arguments check = check_norm(context, "layer norm backward", norm);
    if (check.status != SZG_OK || norm->rows == 0)
        return check.status;
    szgi_argument_array(&check, "mean", norm->mean);
    szgi_argument_array(&check, "inverse", norm->inverse);
    szgi_argument_array(&check, "dy", gradient->dy);
    szgi_argument_array(&check, "dx", gradient->dx);
    szgi_argument_array(&check, "dgamma", gradient->dgamma);
    szgi_argument_array(&check, "dbeta", gradient->dbeta);
    if (check.status == SZG_OK && gradient->add_dx && gradient->dx == gradient->dy)
        return szgi_fail(context, SZG_EINVAL, "%s: dx is dy and cannot be added to",
                         check.operation);
    SZG_NETWORK_CALL(&check, layer_norm_backward, norm, gradient);
}

static szgi_arguments check_dropout(szg_context *context, const char *operation, int64_t rows,
                                    int64_t columns, const szgi_dropout *dropout, const void *from,
                                    const void *to) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "rows", rows, 0);
    szgi_argument_size(&check, "columns", columns, 0);
    szgi_argument_extent(&check, rows, columns, 1);
    if (check.status != SZG_OK || rows == 0 || columns == 0)
        return check;
    szgi_argument_dropout(&check, dropout, rows * columns);
    szgi_argument_array(&check, "source", from);
    szgi_argument_array(&check, "target", to);
    return check;
}

szg_status szgi_network_dropout_residual(szg_context *context, int64_t rows, int64_t columns,
                                         const szgi_dropout *dropout, const void *x,
                                         const void *residual, void *y) {
    szgi_arguments check = check_dropout(context, "dropout", rows, columns, dropout, x, y);
    if (check.status != SZG_OK || rows == 0 || columns == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, dropout_residual, rows, columns, dropout, x, residual, y);
}

szg_status szgi_network_dropout_backward(szg_context *context, int64_t rows, int64_t columns,
                                         const szgi_dropout *dropout, const void *dy, void *dx) {
    szgi_arguments check =
        check_dropout(context, "dropout backward", rows, columns, dropout, dy, dx);
    if (check.status != SZG_OK || rows == 0 || columns == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, dropout_backward, rows, columns, dropout, dy, dx);
}
