/* The configurations of a result's trainings, in its provenance. */
#include <string.h>

#include "base/memory.h"

#include "command.h"

/* Each configuration once, with the runs that have it. */
typedef struct echo {
    const command_call *call;
    char **text;    /* [run_count], the configurations */
    bool *is_first; /* [run_count]: no earlier run has the same one */
    int64_t differ; /* different ones */
} echo;

static szg_status configuration_text(szg_context *context, const szg_train_config *config,
                                     char **out) {
    szgi_json *json;
    SZG_TRY(szgi_train_config_json(context, config, &json));
    szg_status status = szgi_json_text(context, szgi_json_root(json), 0, out);
    szgi_json_close(&json);
    return status;
}

static szg_status compare(echo *self) {
    const command_call *call = self->call;
    szg_context *context = call->context;
    SZG_TRY(szgi_memory_alloc(context, call->run_count, &self->text));
    SZG_TRY(szgi_memory_alloc(context, call->run_count, &self->is_first));
    for (int64_t i = 0; i < call->run_count; i++) {
        SZG_TRY(configuration_text(context, call->runs[i].config, &self->text[i]));
        self->is_first[i] = true;
        for (int64_t j = 0; j < i && self->is_first[i]; j++)
            self->is_first[i] = strcmp(self->text[i], self->text[j]) != 0;
        self->differ += self->is_first[i];
    }
    return SZG_OK;
}

static szg_status add_configuration(szg_context *context, szgi_json *to,
                                    const szg_train_config *config) {
    szgi_json *json;
    SZG_TRY(szgi_train_config_json(context, config, &json));
    return szgi_json_add(context, to, "config", &json);
}

static szg_status add_names(const echo *self, int64_t first, szgi_json *group) {
    szg_context *context = self->call->context;
    szgi_json *names;
    SZG_TRY(szgi_json_open_array(context, &names));
    szg_status status = SZG_OK;
    for (int64_t i = first; i < self->call->run_count && status == SZG_OK; i++)
        if (strcmp(self->text[i], self->text[first]) == 0)
            status = szgi_json_add_text(context, names, NULL, self->call->runs[i].name);
    if (status == SZG_OK)
        return szgi_json_add(context, group, "runs", &names);
    szgi_json_close(&names);
    return status;
}

static szg_status add_group(const echo *self, int64_t first, szgi_json *list) {
    szg_context *context = self->call->context;
    szgi_json *group;
    SZG_TRY(szgi_json_open_object(context, &group));
    szg_status status = add_names(self, first, group);
    if (status == SZG_OK)
        status = add_configuration(context, group, self->call->runs[first].config);
    if (status == SZG_OK)
        return szgi_json_add(context, list, NULL, &group);
    szgi_json_close(&group);
    return status;
}

static szg_status add_groups(const echo *self, szgi_json *provenance) {
    szgi_json *list;
    SZG_TRY(szgi_json_open_array(self->call->context, &list));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < self->call->run_count && status == SZG_OK; i++)
        if (self->is_first[i])
            status = add_group(self, i, list);
    if (status == SZG_OK)
        return szgi_json_add(self->call->context, provenance, "configs", &list);
    szgi_json_close(&list);
    return status;
}

static szg_status add_preset(const command_call *call, szgi_json *provenance) {
    szgi_json *json;
    if (!call->preset)
        return SZG_OK;
    SZG_TRY(szgi_json_parse(call->context, "preset", call->preset, (int64_t)strlen(call->preset),
                            &json));
    return szgi_json_add(call->context, provenance, "preset", &json);
}

szg_status echo_configurations(const command_call *call, szgi_json *provenance) {
    SZG_TRY(add_preset(call, provenance));
    if (call->config)
        return add_configuration(call->context, provenance, call->config);
    if (call->run_count == 0)
        return SZG_OK;
    echo self = {.call = call};
    szg_status status = compare(&self);
    if (status == SZG_OK)
        status = self.differ == 1
                     ? add_configuration(call->context, provenance, call->runs[0].config)
                     : add_groups(&self, provenance);
    for (int64_t i = 0; self.text && i < call->run_count; i++)
        szgi_memory_free(self.text[i]);
    szgi_memory_free(self.is_first);
    szgi_memory_free(self.text);
    return status;
}
