/* The checked functions of the layers: arguments are looked at, then the table's entry is called.
 */
#include "check.h"

#define LAYER(name, words, arguments)                                                              \
    szg_status szgi_network_##name(szg_context *context SZGI_PARAMETERS arguments) {               \
        szgi_arguments check = {context, words, SZG_OK};                                           \
        if (!szgi_check_##name(&check SZGI_ARGUMENTS arguments))                                   \
            return check.status;                                                                   \
        const szgi_network_ops *network = szgi_network_of(&check);                                 \
        if (!network)                                                                              \
            return check.status;                                                                   \
        return network->name ? network->name(context SZGI_ARGUMENTS arguments)                     \
                             : szgi_network_missing(&check);                                       \
    }
#include "network_ops.def"
