/* The checked functions of spectra that a backend computes beside other work. */
#include <inttypes.h>
#include "base/context.h"

#include "check.h"

bool szgi_network_has_spectra(szg_context *context) {
    const szgi_network_ops *network = szgi_network_table(context);
    return network && network->spectra_open;
}

/* The job is there and nothing of it is under way. */
static void check_idle(szgi_arguments *check, const szgi_spectra_job *job) {
    szgi_argument_array(check, "job", job);
    if (check->status == SZG_OK && job->begun >= 0)
        check->status = szgi_fail(check->context, SZG_EINVAL,
                                  "%s: %" PRId64 " matrices are under way: collect them first",
                                  check->operation, job->begun);
}

/* Places first .. first + count - 1 of `room`. */
static void check_places(szgi_arguments *check, const char *what, int64_t first, int64_t count,
                         int64_t room) {
    szgi_argument_size(check, "first", first, 0);
    szgi_argument_size(check, "count", count, 0);
    if (check->status == SZG_OK && (first > room || count > room - first))
        check->status =
            szgi_fail(check->context, SZG_EINVAL,
                      "%s: %" PRId64 " %s from place %" PRId64 " on, opened for %" PRId64,
                      check->operation, count, what, first, room);
}

szg_status szgi_network_spectra_open(szg_context *context, int64_t count, int64_t n, int64_t sums,
                                     szgi_spectra_job **out) {
    szgi_arguments check = {context, "spectra of logits", SZG_OK};
    *out = NULL;
    szgi_argument_size(&check, "count", count, 1);
    szgi_argument_size(&check, "n", n, 1);
    szgi_argument_size(&check, "sums", sums, 0);
    szgi_argument_extent(&check, count, n, n);
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network)
        return check.status;
    if (!network->spectra_open)
        return szgi_network_missing(&check);
    SZG_TRY(network->spectra_open(context, count, n, sums, out));
    (*out)->begun = -1;
    return SZG_OK;
}

void szgi_network_spectra_close(szg_context *context, szgi_spectra_job **job) {
    if (!job || !*job)
        return;
    szgi_network_table(context)->spectra_close(context, *job);
    *job = NULL;
}

szg_status szgi_network_spectra_take(szg_context *context, szgi_spectra_job *job, int64_t first,
                                     int64_t count, int64_t length, const void *logits) {
    szgi_arguments check = {context, "spectra of logits: take", SZG_OK};
    check_idle(&check, job);
    if (check.status != SZG_OK)
        return check.status;
    check_places(&check, "matrices", first, count, job->count);
    szgi_argument_size(&check, "length", length, job->n);
    szgi_argument_extent(&check, count, length, length);
    if (check.status != SZG_OK || count == 0)
        return check.status;
    szgi_argument_array(&check, "logits", logits);
    SZGI_NETWORK_CALL(&check, spectra_take, job, first, count, length, logits);
}

static void check_part(szgi_arguments *check, const szgi_head_part *part, int64_t heads) {
    szgi_argument_array(check, "array of a part", part->array);
    szgi_argument_size(check, "rows of a part", part->rows, 1);
    szgi_argument_size(check, "columns of a part", part->columns, 1);
    szgi_argument_extent(check, part->rows, part->columns, 1);
    int64_t shared = part->by_columns ? part->columns : part->rows;
    if (check->status == SZG_OK && shared % heads != 0)
        check->status =
            szgi_fail(check->context, SZG_EINVAL,
                      "%s: %" PRId64 " %s are not shared out evenly to %" PRId64 " heads",
                      check->operation, shared, part->by_columns ? "columns" : "rows", heads);
}

szg_status szgi_network_spectra_squares(szg_context *context, szgi_spectra_job *job, int64_t first,
                                        int64_t heads, int64_t count, const szgi_head_part *parts) {
    szgi_arguments check = {context, "spectra of logits: squares", SZG_OK};
    check_idle(&check, job);
    if (check.status != SZG_OK)
        return check.status;
    szgi_argument_size(&check, "heads", heads, 1);
    check_places(&check, "sums", first, heads, job->sums);
    szgi_argument_range(&check, "parts", count, 1, SZGI_HEAD_PARTS);
    for (int64_t i = 0; i < count && check.status == SZG_OK; i++)
        check_part(&check, &parts[i], heads);
    SZGI_NETWORK_CALL(&check, spectra_squares, job, first, heads, count, parts);
}

szg_status szgi_network_spectra_begin(szg_context *context, szgi_spectra_job *job, int64_t count) {
    szgi_arguments check = {context, "spectra of logits: begin", SZG_OK};
    check_idle(&check, job);
    if (check.status != SZG_OK)
        return check.status;
    check_places(&check, "matrices", 0, count, job->count);
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network)
        return check.status;
    SZG_TRY(network->spectra_begin(context, job, count));
    job->begun = count;
    return SZG_OK;
}

szg_status szgi_network_spectra_collect(szg_context *context, szgi_spectra_job *job,
                                        szgi_logit_numbers *numbers, double *sums) {
    szgi_arguments check = {context, "spectra of logits: collect", SZG_OK};
    szgi_argument_array(&check, "job", job);
    if (check.status == SZG_OK && job->begun < 0)
        check.status = szgi_fail(context, SZG_EINVAL, "%s: nothing was begun", check.operation);
    if (check.status == SZG_OK && job->begun > 0)
        szgi_argument_array(&check, "numbers", numbers);
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network)
        return check.status;
    szg_status status = network->spectra_collect(context, job, numbers, sums);
    job->begun = -1;
    return status;
}
