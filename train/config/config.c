/* Profiles, files and overrides: what wins over what. */
#include <stdio.h>
#include <string.h>

#include "config_private.h"

bool szgi_config_spec_gives(const char *spec, const char *key) {
    size_t length = strlen(key);
    for (const char *at = strpbrk(spec, ":,"); at; at = strpbrk(at + 1, ":,"))
        if (strncmp(at + 1, key, length) == 0 && at[1 + length] == '=')
            return true;
    return false;
}

/* The released code adds sinusoidal rows to the embeddings beside this encoding. */
static bool released_adds_rows(const szgi_encoding_traits *traits, const char *encoding) {
    if (!traits || !traits->released.sinusoid)
        return false;
    const char *unless = traits->released.unless;
    return !unless || !szgi_config_spec_gives(encoding, unless);
}

static const char *profile_value(const szgi_config_key *key, szg_profile profile,
                                 const char *encoding, szg_task task) {
    const char *count = profile == SZG_PROFILE_TEXT ? key->text_count : key->released_count;
    if (task == SZG_TASK_COUNT && count)
        return count;
    const szgi_encoding_traits *traits = szgi_encoding_traits_of(encoding);
    if (traits && traits->attaches & SZGI_ATTACH_DECOUPLED)
        return profile == SZG_PROFILE_TEXT ? key->text_mla : key->released_mla;
    if (profile == SZG_PROFILE_TEXT)
        return key->text;
    return released_adds_rows(traits, encoding) ? key->released_rope : key->released;
}

static szg_status set_row(szg_context *context, const config_row *row, const char *value,
                          szg_train_config *config) {
    char sentence[CONFIG_SENTENCE];
    if (szgi_config_set(row, value, config, sentence))
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s=%.80s: %s", row->key.name, value, sentence);
}

/* Where the SPEC does not choose, the released profile gives a key the released code's value
 * (alibi: slopes=exp). */
static szg_status set_encoding(szg_context *context, szg_train_config *config,
                               const char *encoding) {
    char spec[2 * SZG_CONFIG_TEXT];
    const config_row *row = szgi_config_row_find("model.encoding");
    const szgi_encoding_traits *traits = szgi_encoding_traits_of(encoding);
    const char *key = traits ? traits->released.key : NULL;
    if (config->profile != SZG_PROFILE_RELEASED || !key || szgi_config_spec_gives(encoding, key))
        return set_row(context, row, encoding, config);
    int length = snprintf(spec, sizeof spec, "%s%c%s=%s", encoding,
                          strchr(encoding, ':') ? ',' : ':', key, traits->released.value);
    return set_row(context, row, length < (int)sizeof spec ? spec : encoding, config);
}

szg_status szgi_config_profile(szg_context *context, szg_profile profile, const char *encoding,
                               szg_task task, szg_train_config *out) {
    memset(out, 0, sizeof *out);
    const config_row *row;
    for (int64_t i = 0; (row = szgi_config_row_at(i)); i++)
        SZG_TRY(set_row(context, row, profile_value(&row->key, profile, encoding, task), out));
    return set_encoding(context, out, encoding);
}

szg_status szgi_train_config_profile(szg_context *context, szg_profile profile,
                                     const char *encoding, szg_train_config *out) {
    return szgi_config_profile(context, profile, encoding, SZG_TASK_DISTANCE, out);
}

szg_status szg_train_config_set(szg_context *context, szg_train_config *config, const char *key,
                                const char *value) {
    SZGI_ENTER(context);
    char sentence[CONFIG_SENTENCE];
    const config_row *row = szgi_config_row_find(key);
    if (!row) {
        szgi_config_unknown(key, sentence);
        return szgi_fail(context, SZG_EINVAL, "%.80s %s", key, sentence);
    }
    if (strcmp(key, "profile") == 0)
        return szgi_fail(context, SZG_EINVAL,
                         "profile=%.80s: a profile sets every other key: give it where the "
                         "configuration is read",
                         value);
    return strcmp(key, "model.encoding") == 0 ? set_encoding(context, config, value)
                                              : set_row(context, row, value, config);
}
