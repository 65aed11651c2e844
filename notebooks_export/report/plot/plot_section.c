/* A section that is records alone: what they need before they draw, and after. */
#include "plot_private.h"

void szgi_plot_begin(plot_run *run, page *page, const section *section) {
    *run = (plot_run){.page = page, .context = szgi_page_context(page), .section = section};
    run->left = section->figures > 0 ? section->figures : PLOT_FIGURES;
    if (section->intro)
        szgi_page_prose(page, section->intro);
}

szg_status szgi_plot_end(plot_run *run) {
    szgi_plot_release(run, NULL);
    return run->status;
}

szg_status szgi_plot_section(page *page, const section *section) {
    plot_run run;
    szgi_plot_begin(&run, page, section);
    szgi_plot_all(&run, section->plots);
    return szgi_plot_end(&run);
}
