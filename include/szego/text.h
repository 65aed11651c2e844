/* Text that grows in memory while it is written to a stream. */
#ifndef SZEGO_TEXT_H
#define SZEGO_TEXT_H

#include <stdio.h>
#include <szego/context.h>

SZG_BEGIN_DECLS

/* Grows in memory of szg_memory_alloc, so that a refusal is told by szg_text_end, whatever the
 * stream's writers noticed. */
typedef struct szg_text {
    FILE *stream; /* print to it; NULL once the text is ended */
    char *text;   /* from szg_text_end on: ends with a NUL that `length` does not count */
    int64_t length;
    struct szg_text_growth *growth;
} szg_text;

/* Opens an empty text. SZG_ENOMEM. Free with szg_text_close, also after a failure. */
SZG_CHECK_RESULT szg_status szg_text_open(szg_context *context, szg_text *out);

/* Ends the text. `written` is the status of the work that printed it. SZG_ENOMEM with a message
 * where memory was refused, else `written`; `text` is NULL unless SZG_OK is returned. */
SZG_CHECK_RESULT szg_status szg_text_end(szg_text *text, szg_status written);

/* Frees an ended or an open text and clears the struct; a struct of zeros is allowed. */
void szg_text_close(szg_text *text);

SZG_END_DECLS

#endif
