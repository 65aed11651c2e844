/* Which figures of a section are drawn: every group gets one before any gets a second. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "match.h"
#include "plot_private.h"

enum { NAMED = 6, ROWS_SHOWN = 4 };

/* A figure that could be drawn. */
typedef struct candidate {
    const plot *plot;
    rows of;
    const char *group;
    int64_t order, rank; /* rank: of those of its group */
    bool chosen;
} candidate;

typedef struct candidates {
    candidate *one;
    int64_t count, room;
    rows skipped[NAMED]; /* of figures that would show nothing */
    const plot *skipping;
} candidates;

/* ---- Rows ---- */

static const char *missing_number(const szg_table *table, const plot *plot) {
    for (int c = 0; c < PLOT_LIST && plot->needs[c]; c++) {
        int64_t found = szg_table_find(table, plot->needs[c]);
        if (found < 0 || szg_table_column(table, found)->type == SZG_TEXT)
            return plot->needs[c];
    }
    return NULL;
}

/* Says what is not drawn where a needed column is not there, once of several records. */
static bool has_needs(plot_run *run, const plot *plot, rows all) {
    const char *missing = missing_number(all.table, plot);
    if (!missing)
        return true;
    if (run->status == SZG_OK && plot->undone) {
        szgi_page_paragraph(run->page, "The table %s has no column of numbers %s: %s.",
                            szg_table_name(all.table), missing, plot->undone);
        szgi_plot_keep(run, szgi_page_links(run->page, &all, 1));
    }
    return false;
}

static bool is_kept(const plot_run *run, const plot *plot, rows all, int64_t index) {
    if (plot->where.column) {
        const char *text = szgi_rows_text(all, index, plot->where.column);
        if (!text || strcmp(text, plot->where.value) != 0)
            return false;
    }
    return !plot->keeps || plot->keeps(run, all, index);
}

static rows filter(plot_run *run, const plot *plot, rows all) {
    int64_t *row;
    if (!plot->where.column && !plot->keeps)
        return all;
    rows kept = {.table = all.table};
    if (!szgi_plot_new(run, all.count, &row))
        return kept;
    kept.row = row;
    for (int64_t i = 0; i < all.count; i++)
        if (is_kept(run, plot, all, i))
            row[kept.count++] = szgi_rows_at(all, i);
    return kept;
}

/* ---- Candidates ---- */

static void add_candidate(plot_run *run, candidates *all, const plot *plot, rows of) {
    if (plot->skips && plot->skips(of)) {
        if (!plot->skipped)
            return;
        if (run->skipped < NAMED)
            all->skipped[run->skipped] = of;
        all->skipping = plot;
        run->skipped++;
        return;
    }
    szg_status status = szgi_memory_reserve(run->context, &all->one, &all->room, all->count, 1);
    if (!szgi_plot_keep(run, status))
        return;
    all->one[all->count] = (candidate){.plot = plot,
                                       .of = of,
                                       .order = all->count,
                                       .group = szgi_plot_key(run, plot->group_by, of)};
    all->count++;
}

static void find_candidates(plot_run *run, candidates *all, const plot *plot) {
    for (int t = 0; t < PLOT_LIST && plot->tables[t] && run->status == SZG_OK; t++) {
        rows of =
            szgi_match_all(szgi_collection_find(szgi_page_results(run->page), plot->tables[t]));
        if (of.count == 0 || (plot->only && szg_table_find(of.table, plot->only) < 0))
            continue;
        if (!has_needs(run, plot, of))
            continue;
        rows kept = filter(run, plot, of);
        if (kept.count == 0)
            continue;
        groups figures = szgi_plot_split(run, kept, plot->figure_by, plot->figure_key);
        for (int64_t i = 0; i < figures.count && run->status == SZG_OK; i++)
            add_candidate(run, all, plot, figures.group[i]);
    }
}

static int by_group(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    int groups = strcmp(p->group, q->group);
    return groups ? groups : (p->order > q->order) - (p->order < q->order);
}

static int by_rank(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static int by_order(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    return (p->order > q->order) - (p->order < q->order);
}

static bool is_figure(const candidate *one) {
    return one->plot->marks != PLOT_ROWS;
}

/* Tables for readers are no figures: they have a limit of their own. */
static bool has_room(const plot_run *run, const candidates *all, int64_t index) {
    const candidate *one = &all->one[index];
    int64_t most = one->plot->most, before = 0;
    if (is_figure(one) && run->left == 0)
        return false;
    if (most == 0)
        most = is_figure(one) ? INT64_MAX : ROWS_SHOWN;
    for (int64_t i = 0; i < index && before < most && most < INT64_MAX; i++)
        before += all->one[i].chosen && all->one[i].plot == one->plot;
    return before < most;
}

static void choose(plot_run *run, candidates *all) {
    if (all->count == 0)
        return;
    qsort(all->one, (size_t)all->count, sizeof *all->one, by_group);
    for (int64_t i = 1; i < all->count; i++)
        if (strcmp(all->one[i].group, all->one[i - 1].group) == 0)
            all->one[i].rank = all->one[i - 1].rank + 1;
    qsort(all->one, (size_t)all->count, sizeof *all->one, by_rank);
    for (int64_t i = 0; i < all->count; i++) {
        candidate *one = &all->one[i];
        one->chosen = has_room(run, all, i);
        run->left -= one->chosen && is_figure(one);
        run->left_out += !one->chosen;
    }
    qsort(all->one, (size_t)all->count, sizeof *all->one, by_order);
}

/* ---- What is not drawn ---- */

/* "alibi:heads=8; t5; and 3 more" of what is not drawn. */
typedef struct listed {
    const candidates *all;
    int64_t skipped;
} listed;

static void say_name(words *words, const plot *plot, rows of) {
    if (plot->subject)
        plot->subject(words, of);
    else
        fputs(plot->title ? plot->title : szg_table_name(of.table), words->stream);
}

static void say_left_out(words *words, const void *of) {
    const listed *list = of;
    int64_t named = 0, more = 0;
    const char *last = NULL;
    for (int64_t i = 0; i < list->all->count; i++) {
        const candidate *one = &list->all->one[i];
        if (one->chosen || (last && strcmp(last, one->group) == 0))
            continue;
        last = one->group;
        if (named == NAMED) {
            more++;
            continue;
        }
        fputs(named++ ? "; " : "", words->stream);
        say_name(words, one->plot, one->of);
    }
    if (more > 0)
        fprintf(words->stream, "; and %" PRId64 " more", more);
}

static void say_skipped(words *words, const void *of) {
    const listed *list = of;
    int64_t named = list->skipped < NAMED ? list->skipped : NAMED;
    for (int64_t i = 0; i < named; i++) {
        fputs(i ? "; " : "", words->stream);
        say_name(words, list->all->skipping, list->all->skipped[i]);
    }
    if (list->skipped > named)
        fprintf(words->stream, "; and %" PRId64 " more", list->skipped - named);
}

/* The tables of the figures that were not drawn, linked. */
static void link_left_out(plot_run *run, const candidates *all) {
    rows source[PLOT_LIST];
    int64_t count = 0;
    for (int64_t i = 0; i < all->count && count < PLOT_LIST; i++) {
        bool seen = all->one[i].chosen;
        for (int64_t k = 0; k < count && !seen; k++)
            seen = source[k].table == all->one[i].of.table;
        if (!seen)
            source[count++] = szgi_match_all(all->one[i].of.table);
    }
    szgi_plot_keep(run, szgi_page_links(run->page, source, count));
}

static void say_rest(plot_run *run, const candidates *all) {
    const listed list = {all, run->skipped};
    if (run->skipped > 0) {
        const char *names = szgi_plot_text(run, say_skipped, &list);
        szgi_page_paragraph(run->page, "Not drawn, because %s: %s.", all->skipping->skipped, names);
    }
    if (run->left_out > 0 && run->status == SZG_OK) {
        const char *names = szgi_plot_text(run, say_left_out, &list);
        szgi_page_paragraph(run->page, "Left out: %" PRId64 " figure%s more (%s).", run->left_out,
                            run->left_out == 1 ? "" : "s", names);
        if (run->status == SZG_OK)
            link_left_out(run, all);
    }
}

/* ---- A section's figures ---- */

/* Figures of several records stand side by side, unless something is said between them. */
static void set_grid(plot_run *run, bool wanted) {
    if (wanted && !run->in_grid)
        szgi_page_grid_begin(run->page);
    if (!wanted && run->in_grid)
        szgi_page_grid_end(run->page);
    run->in_grid = wanted;
}

static void draw_record(plot_run *run, const candidates *all, const plot *plot) {
    bool begun = false;
    for (int64_t i = 0; i < all->count && run->status == SZG_OK; i++) {
        const candidate *one = &all->one[i];
        if (!one->chosen || one->plot != plot)
            continue;
        if (!begun && plot->heading) {
            set_grid(run, false);
            szgi_page_heading(run->page, "%s", plot->heading);
        }
        set_grid(run, is_figure(one));
        begun = true;
        if (szgi_plot_keep(run, szgi_context_check_cancel(run->context)))
            szgi_plot_one(run, plot, one->of);
    }
}

void szgi_plot_all(plot_run *run, const plot *const *plots) {
    candidates all = {0};
    block *mark = run->block;
    run->left_out = run->skipped = 0;
    for (const plot *const *one = plots; *one && run->status == SZG_OK; one++)
        find_candidates(run, &all, *one);
    choose(run, &all);
    for (const plot *const *one = plots; *one && run->status == SZG_OK; one++)
        draw_record(run, &all, *one);
    set_grid(run, false);
    if (run->status == SZG_OK)
        say_rest(run, &all);
    szgi_memory_free(all.one);
    szgi_plot_release(run, mark);
}
