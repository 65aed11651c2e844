/* Git LFS pointers, which replace files that were not fetched. */
#include <string.h>

#include "safetensors_private.h"

szg_status szgi_lfs_refuse(szg_context *context, const char *file, const unsigned char *start,
                           int64_t size) {
    static const char words[] = "version https://git-lfs.github.com/spec/";
    if (size < (int64_t)sizeof words || memcmp(start, words, sizeof words - 1) != 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: is a Git LFS pointer, not the file itself: git lfs pull, in its "
                     "repository, fetches that",
                     file);
}
