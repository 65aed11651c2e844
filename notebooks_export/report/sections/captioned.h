/* Figures whose title and caption a function prints. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_CAPTIONED_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_CAPTIONED_H

#include "section.h"
#include "words.h"

/* Prints a text about what `of` points to. */
typedef void say_fn(words *words, const void *of);

/* The text, ended. SZG_ENOMEM; words_free on failure too. */
SZG_CHECK_RESULT szg_status szgi_words_say(szg_context *context, say_fn *say, const void *of,
                                           words *out);

/* Opens a figure as figure_open does; options.title is not read. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_figure_open_titled(szg_context *context, figure_options options,
                                                    say_fn *title, const void *of, figure **out);

/* Puts the figure on the page as page_figure does, and closes it, on failure too. */
SZG_CHECK_RESULT szg_status szgi_page_figure_captioned(page *page, figure **figure,
                                                       const rows *sources, int64_t count,
                                                       say_fn *caption, const void *of);

#endif
