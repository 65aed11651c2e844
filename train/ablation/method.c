#include <string.h>

#include "base/context.h"
#include "base/suggest.h"
#include "ablation_private.h"

const char *szgi_ablation_method_name(szg_ablation_method method) {
    static const char *const names[] = {[SZG_ABLATE_OUTPUT] = "output",
                                        [SZG_ABLATE_VALUES] = "values",
                                        [SZG_ABLATE_LATENT_COLUMNS] = "latent_columns",
                                        [SZG_ABLATE_CUMULATIVE] = "cumulative",
                                        [SZG_ABLATE_ROTATION] = "rotation"};
    return names[method];
}

szg_status szg_ablation_method_parse(szg_context *context, const char *name,
                                     szg_ablation_method *out) {
    for (int i = 0; i < SZG_ABLATION_METHODS; i++)
        if (strcmp(name, szgi_ablation_method_name((szg_ablation_method)i)) == 0) {
            *out = (szg_ablation_method)i;
            return SZG_OK;
        }
    static const char choices[] = "output|values|latent_columns|cumulative|rotation";
    return szgi_fail(context, SZG_EINVAL, "ablation method '%.40s' is unknown: %s %s", name,
                     SZGI_DID_YOU_CHOOSE(name, choices, "one of"), choices);
}
