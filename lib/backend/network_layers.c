/* The checked functions of linear layers, normalisation and residual paths. */
#include <math.h>

#include "network_check.h"

static szg_arguments check_linear(szg_context *context, const char *operation,
                                  const szg_linear *linear) {
    szg_arguments check = {context, operation, SZG_OK};
    szg_argument_size(&check, "rows", linear->rows, 0);
    szg_argument_size(&check, "in", linear->in, 1);
    szg_argument_size(&check, "out", linear->out, 0);
    szg_argument_extent(&check, linear->out, linear->in, 1);
    if (check.status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return check;
    szg_argument_matrix(&check, "x", linear->x, linear->rows, linear->in, linear->ldx);
    szg_argument_array(&check, "weight", linear->weight);
    szg_argument_matrix(&check, "y", linear->y, linear->rows, linear->out, linear->ldy);
    szg_argument_number(&check, "activation", (double)linear->activation, SZG_ACTIVATION_NONE,
                        SZG_ACTIVATION_GELU + 1);
    return check;
}

szg_status szg_network_products(szg_context *context, int64_t room, szg_product_fact *out,
                                int64_t *count) {
    szg_arguments check = {context, "products", SZG_OK};
    *count = 0;
    szg_argument_size(&check, "room", room, 0);
    if (room > 0)
        szg_argument_array(&check, "out", out);
    const szg_network_ops *network = szg_network_of(&check);
    if (network && network->products)
        network->products(context, room, out, count);
    return check.status;
}

szg_status szg_network_products_time(szg_context *context, int64_t count,
                                     const szg_product_fact *kept) {
    szg_arguments check = {context, "products", SZG_OK};
    szg_argument_size(&check, "count", count, 0);
    if (count > 0)
        szg_argument_array(&check, "kept", kept);
    const szg_network_ops *network = szg_network_of(&check);
    if (!network || !network->products_time)
        return check.status;
    return network->products_time(context, count, kept);
}

szg_status szg_network_linear(szg_context *context, const szg_linear *linear) {
    szg_arguments check = check_linear(context, "linear", linear);
    if (check.status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, linear, linear);
}

szg_status szg_network_linear_backward(szg_context *context, const szg_linear *linear,
                                       const szg_linear_gradient *gradient) {
    szg_arguments check = check_linear(context, "linear backward", linear);
    if (check.status != SZG_OK || linear->rows == 0 || linear->out == 0)
        return check.status;
    szg_argument_matrix(&check, "dy", gradient->dy, linear->rows, linear->out, gradient->lddy);
    if (gradient->dx)
        szg_argument_matrix(&check, "dx", gradient->dx, linear->rows, linear->in, gradient->lddx);
    if (linear->activation == SZG_ACTIVATION_GELU)
        szg_argument_array(&check, "before", linear->before);
    SZG_NETWORK_CALL(&check, linear_backward, linear, gradient);
}

static szg_arguments check_norm(szg_context *context, const char *operation,
                                const szg_layer_norm *norm) {
    szg_arguments check = {context, operation, SZG_OK};
    szg_argument_size(&check, "rows", norm->rows, 0);
    szg_argument_size(&check, "width", norm->width, 1);
    szg_argument_extent(&check, norm->rows, norm->width, 1);
    szg_argument_number(&check, "eps", norm->eps, 0, INFINITY);
    if (check.status != SZG_OK || norm->rows == 0)
        return check;
    szg_argument_array(&check, "x", norm->x);
    szg_argument_array(&check, "gamma", norm->gamma);
    return check;
}

szg_status szg_network_layer_norm(szg_context *context, const szg_layer_norm *norm) {
    szg_arguments check = check_norm(context, "layer norm", norm);
    if (check.status != SZG_OK || norm->rows == 0)
        return check.status;
    szg_argument_array(&check, "beta", norm->beta);
    szg_argument_array(&check, "y", norm->y);
    SZG_NETWORK_CALL(&check, layer_norm, norm);
}

szg_status szg_network_layer_norm_backward(szg_context *context, const szg_layer_norm *norm,
                                           const szg_layer_norm_gradient *gradient) {
    szg_arguments check = check_norm(context, "layer norm backward", norm);
    if (check.status != SZG_OK || norm->rows == 0)
        return check.status;
    szg_argument_array(&check, "mean", norm->mean);
    szg_argument_array(&check, "inverse", norm->inverse);
    szg_argument_array(&check, "dy", gradient->dy);
    szg_argument_array(&check, "dx", gradient->dx);
    szg_argument_array(&check, "dgamma", gradient->dgamma);
    szg_argument_array(&check, "dbeta", gradient->dbeta);
    if (check.status == SZG_OK && gradient->add_dx && gradient->dx == gradient->dy)
        return szg_fail(context, SZG_EINVAL, "%s: dx is dy and cannot be added to",
                        check.operation);
    SZG_NETWORK_CALL(&check, layer_norm_backward, norm, gradient);
}

static szg_arguments check_dropout(szg_context *context, const char *operation, int64_t rows,
                                   int64_t columns, const szg_dropout *dropout, const void *from,
                                   const void *to) {
    szg_arguments check = {context, operation, SZG_OK};
    szg_argument_size(&check, "rows", rows, 0);
    szg_argument_size(&check, "columns", columns, 0);
    szg_argument_extent(&check, rows, columns, 1);
    if (check.status != SZG_OK || rows == 0 || columns == 0)
        return check;
    szg_argument_dropout(&check, dropout, rows * columns);
    szg_argument_array(&check, "source", from);
    szg_argument_array(&check, "target", to);
    return check;
}

szg_status szg_network_dropout_residual(szg_context *context, int64_t rows, int64_t columns,
                                        const szg_dropout *dropout, const void *x,
                                        const void *residual, void *y) {
    szg_arguments check = check_dropout(context, "dropout", rows, columns, dropout, x, y);
    if (check.status != SZG_OK || rows == 0 || columns == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, dropout_residual, rows, columns, dropout, x, residual, y);
}

szg_status szg_network_dropout_backward(szg_context *context, int64_t rows, int64_t columns,
                                        const szg_dropout *dropout, const void *dy, void *dx) {
    szg_arguments check =
        check_dropout(context, "dropout backward", rows, columns, dropout, dy, dx);
    if (check.status != SZG_OK || rows == 0 || columns == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, dropout_backward, rows, columns, dropout, dy, dx);
}
