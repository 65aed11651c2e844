#include "captioned.h"

szg_status words_say(szg_context *context, say_fn *say, const void *of, words *out) {
    SZG_TRY(words_open(context, out));
    say(out, of);
    return words_end(context, out);
}

szg_status figure_open_titled(szg_context *context, figure_options options, say_fn *title,
                              const void *of, figure **out) {
    words text;
    *out = NULL;
    szg_status status = words_say(context, title, of, &text);
    options.title = text.text;
    if (status == SZG_OK)
        status = figure_open(context, &options, out);
    words_free(&text);
    return status;
}

szg_status page_figure_captioned(page *page, figure **figure, const rows *sources, int64_t count,
                                 say_fn *caption, const void *of) {
    words text;
    szg_status status = words_say(page_context(page), caption, of, &text);
    if (status == SZG_OK)
        status = page_figure(page, figure, sources, count, text.text);
    words_free(&text);
    figure_close(figure);
    return status;
}
