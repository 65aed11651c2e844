/* A claim of the paper, tried: its verdict, and what is true in its place. */
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

int main(void) {
    szg_context *context;
    szg_claims_report report;
    const char *id = "B3h"; /* docs/explanation/theory.md lists them all */
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = szg_claims_verify(context, NULL, 1, &id, &report);
    if (status == SZG_OK) {
        const szg_table *claims = report.claims;
        printf("%s: %s\n%s %s\n%d certificates\n", id, szg_claim_find(id)->statement,
               szg_table_get_text(claims, 0, szg_table_find(claims, "verdict")),
               szg_table_get_text(claims, 0, szg_table_find(claims, "true_statement")),
               (int)szg_table_rows(report.certificates));
        szg_claims_report_close(&report);
    } else {
        fprintf(stderr, "%s\n", szg_context_message(context));
    }
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
