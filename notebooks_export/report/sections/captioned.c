#include "captioned.h"

szg_status szgi_words_say(szg_context *context, say_fn *say, const void *of, words *out) {
    SZG_TRY(szgi_words_open(context, out));
    say(out, of);
    return szgi_words_end(context, out);
}

szg_status szgi_figure_open_titled(szg_context *context, figure_options options, say_fn *title,
                                   const void *of, figure **out) {
    words text;
    *out = NULL;
    szg_status status = szgi_words_say(context, title, of, &text);
    options.title = text.text;
    if (status == SZG_OK)
        status = szgi_figure_open(context, &options, out);
    szgi_words_free(&text);
    return status;
}

szg_status szgi_page_figure_captioned(page *page, figure **figure, const rows *sources,
                                      int64_t count, say_fn *caption, const void *of) {
    words text;
    szg_status status = szgi_words_say(szgi_page_context(page), caption, of, &text);
    if (status == SZG_OK)
        status = szgi_page_figure(page, figure, sources, count, text.text);
    szgi_words_free(&text);
    szgi_figure_close(figure);
    return status;
}
