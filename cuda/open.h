/* Opening and closing of sessions. */
#ifndef SZG_CUDA_OPEN_H
#define SZG_CUDA_OPEN_H

#include "plugin/abi.h"

szg_status session_open(szg_context *context, int index, const szg_device *device,
                        szgi_precision precision, szgi_ops **out);
void session_close(szgi_ops *ops);

#endif
