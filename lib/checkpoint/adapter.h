/* An adapter of peft over the tensors of a base. */
#ifndef SZG_CHECKPOINT_ADAPTER_H
#define SZG_CHECKPOINT_ADAPTER_H

#include "adapter_config.h"
#include "formats/safetensors.h"
#include <szego/checkpoint.h>

SZGI_BEGIN_DECLS

typedef struct checkpoint_adapter {
    char *folder;
    szgi_json *json; /* adapter_config.json */
    adapter_config config;
    szgi_safetensors *tensors;
    int64_t changed, replaced; /* how many tensors of the base */
    int64_t rank[2];           /* the least and the largest */
    double scale[2];
} checkpoint_adapter;

#define ADAPTER_CONFIG "adapter_config.json"

/* A folder with ADAPTER_CONFIG: a model of which one part alone would be read. */
SZG_CHECK_RESULT szg_status szgi_path_is_adapter(szg_context *context, const char *path, bool *out);

/* Opens the adapter in the folder `path`, or what the hub calls so, and changes the tensors of the
 * checkpoint, whose family is known by now: szgi_tensor_read then gives W + scale B A. The
 * checkpoint keeps the adapter. SZG_EDATA that names file, tensor or field, and remedy: no adapter
 * is there, or one that szgi_adapter_config_read refuses; a tensor of no known name, or whose
 * module the base has not, or has in another shape; a rank that is not the configuration's; a half
 * that is missing. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_adapter_apply(szg_context *context, szg_checkpoint *checkpoint,
                                               const char *path);
void szgi_adapter_close(checkpoint_adapter **adapter);

/* "DoRA, rank 4 to 8, scale 2, in 12 tensors". */
const char *szgi_adapter_text(const checkpoint_adapter *adapter, char *text, size_t size);

SZGI_END_DECLS

#endif
