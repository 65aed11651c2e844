/* Around declarations that the house shares: C linkage for the plugin's C++, and no more, so that
 * the shared library does not export them. Public headers have SZG_BEGIN_DECLS. */
#ifndef SZEGO_BASE_DECLS_H
#define SZEGO_BASE_DECLS_H

#ifdef __cplusplus
#define SZGI_BEGIN_DECLS extern "C" {
#define SZGI_END_DECLS }
#else
#define SZGI_BEGIN_DECLS
#define SZGI_END_DECLS
#endif

#endif
