/* GGUF files, versions 2 and 3: tensors and metadata of llama.cpp's models. */
#ifndef SZEGO_FORMATS_GGUF_H
#define SZEGO_FORMATS_GGUF_H

#include "formats/json.h"
#include "formats/safetensors.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Does `path` name a GGUF model? A file that begins with GGUF; a folder without safetensors that
 * holds one .gguf file, or the parts of one model. *out: the file to open (szgi_memory_free), NULL
 * if it is no model. SZG_EDATA: a folder with several models. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_gguf_find(szg_context *context, const char *path, char **out);

/* Opens a GGUF file, and the other parts where it is one of several (NAME-00001-of-00003.gguf), as
 * a set that the functions of "formats/safetensors.h" read. Shapes are row-major: the file's sizes
 * in reverse. Types of quantised blocks are read as float32, exactly as gguf-py does; a type that
 * is not read is an error for its tensor alone. Only headers are read here, and long arrays of the
 * metadata are passed over. Every message names file, key or tensor, and remedy. SZG_EDATA:
 * versions 1 and beyond 3, big-endian, truncated, counts or lengths beyond the file, a repeated
 * key or tensor, a name that is not UTF-8, nested arrays, an alignment that is no power of two,
 * impossible sizes, offsets that are not aligned or out of range, overlapping or with holes, parts
 * that do not belong together. SZG_EIO, SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_gguf_open(szg_context *context, const char *path,
                                           szgi_safetensors **out);

/* As above for one file's bytes, which the caller keeps; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_gguf_open_bytes(szg_context *context, const char *name,
                                                 const void *data, int64_t size,
                                                 szgi_safetensors **out);

/* The metadata of a set that szgi_gguf_open made: an object with one member for each key. An array
 * of texts, or one too long for the number of a model's layers, is an empty array; a number that
 * JSON does not have (NaN, infinite, beyond 2^63 - 1) is a text. */
szgi_json_value szgi_gguf_metadata(const szgi_safetensors *set);

SZGI_END_DECLS

#endif
