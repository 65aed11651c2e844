/* Where files are that come with the program. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

#include "command.h"

bool place_find(const char *const *places, const char *name, char path[PATH_MAX]) {
    char folder[PATH_MAX];
    szgi_folder_of_code(command_table, folder);
    for (const char *const *place = places; *place; place++) {
        const char *from = **place == '/' ? "" : folder;
        int size = snprintf(path, PATH_MAX, "%s%s%s%s", from, *from ? "/" : "", *place, name);
        if ((*from || **place == '/') && size < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}
