/* The list of claims. */
#include <string.h>

#include "theory/claims.h"

#include "claim.h"

static const szgi_claim *const claims[] = {
#define CLAIM(name) &szgi_claim_##name,
#include "list.def"
#undef CLAIM
};

int64_t szg_claim_count(void) {
    return (int64_t)(sizeof claims / sizeof claims[0]);
}

const szgi_claim *szgi_claim_at(int64_t index) {
    return index >= 0 && index < szg_claim_count() ? claims[index] : NULL;
}

const szgi_claim *szgi_claim_find(const char *id) {
    for (int64_t i = 0; id && i < szg_claim_count(); i++)
        if (strcmp(claims[i]->ledger.id, id) == 0)
            return claims[i];
    return NULL;
}

const szg_claim *szg_claim_at(int64_t index) {
    const szgi_claim *one = szgi_claim_at(index);
    return one ? &one->ledger : NULL;
}

bool szgi_claim_is_judged(const char *id) {
    return strcmp(id, "C1") == 0 || strcmp(id, "C2") == 0 || strcmp(id, "C3") == 0;
}

const szg_claim *szg_claim_find(const char *id) {
    const szgi_claim *one = szgi_claim_find(id);
    return one ? &one->ledger : NULL;
}

const refutation *szgi_refutation_find(const char *id, const char *kind, quantity left,
                                       const char *relation, quantity right) {
    const szgi_claim *one = szgi_claim_find(id);
    for (int i = 0; one && i < CLAIM_REFUTATIONS && one->refutations[i].kind; i++) {
        const refutation *rule = &one->refutations[i];
        if (strcmp(rule->kind, kind) == 0 && rule->left == left &&
            strcmp(rule->relation, relation) == 0 && rule->right == right)
            return rule;
    }
    return NULL;
}

const char *szg_verdict_name(szg_verdict verdict) {
    static const char *const names[SZG_VERDICT_COUNT] = {
        "none", "holds", "fails", "vacuous", "conditional", "measured",
    };
    return verdict >= 0 && verdict < SZG_VERDICT_COUNT ? names[verdict] : "none";
}
