/* The layers' part of a backend: what <szego/backend.h> calls a table. The checked functions of
 * "network/network.h" call its entries; nothing else does. Arguments are checked then. An entry
 * that a backend lacks is NULL. Shapes and meanings are those of the functions of the same name. */
#ifndef SZEGO_NETWORK_OPS_H
#define SZEGO_NETWORK_OPS_H

#include "linalg/ops.h"
#include "network.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_network_ops {
    int64_t real_size; /* bytes of a real number in arrays */
#define LAYER(name, words, arguments)                                                              \
    szg_status (*name)(szg_context * context SZGI_PARAMETERS arguments);
#define MOVE(name, arguments) szg_status (*name)(szg_context * context SZGI_PARAMETERS arguments);
#define SERVICE(group, returns, name, parameters) returns(*name) parameters;
#include "network_ops.def"
} szgi_network_ops;

SZGI_END_DECLS

#endif
