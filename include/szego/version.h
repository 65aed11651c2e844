/* Which szego this is. */
#ifndef SZEGO_VERSION_H
#define SZEGO_VERSION_H

#include <szego/status.h>

SZG_BEGIN_DECLS

/* "MAJOR.MINOR.PATCH" (semantic versioning, 2.0.0). */
const char *szg_version(void);

/* The commit that was built, "-dirty" where the tree differed; "unknown" outside a repository. */
const char *szg_commit(void);

SZG_END_DECLS

#endif
