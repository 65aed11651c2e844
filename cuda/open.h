/* Opening and closing of sessions. */
#ifndef SZG_CUDA_OPEN_H
#define SZG_CUDA_OPEN_H

#include "plugin/abi.h"

szg_status session_open(szg_context *context, int index, const szg_device *device,
                        szg_precision precision, szg_ops **out);
void session_close(szg_ops *ops);

#endif
