/* The argument lists in rows of "network/network_ops.def", up to six arguments. Each form begins
 * with a comma, because the context precedes them:
 *   szg_status f(szg_context *context SZGI_PARAMETERS arguments)
 *   f(context SZGI_ARGUMENTS arguments) */
#ifndef SZEGO_NETWORK_ARGUMENTS_H
#define SZEGO_NETWORK_ARGUMENTS_H

#define SZGI_PARAMETERS(...) SZGI_EACH(SZGI_PARAMETER_, __VA_ARGS__)
#define SZGI_PARAMETER_VALUE(type, name) , type name
#define SZGI_PARAMETER_STRUCT(type, name) , const type *name

#define SZGI_ARGUMENTS(...) SZGI_EACH(SZGI_ARGUMENT_, __VA_ARGS__)
#define SZGI_ARGUMENT_VALUE(type, name) , name
#define SZGI_ARGUMENT_STRUCT(type, name) , name

/* form##VALUE(type, name) or form##STRUCT(type, name) for each argument. */
#define SZGI_EACH(...)                                                                             \
    SZGI_EACH_COUNTED(__VA_ARGS__, SZGI_EACH_6, SZGI_EACH_5, SZGI_EACH_4, SZGI_EACH_3,             \
                      SZGI_EACH_2, SZGI_EACH_1, none)                                              \
    (__VA_ARGS__)
#define SZGI_EACH_COUNTED(form, a, b, c, d, e, f, each, ...) each
#define SZGI_EACH_1(form, a) form##a
#define SZGI_EACH_2(form, a, ...) form##a SZGI_EACH_1(form, __VA_ARGS__)
#define SZGI_EACH_3(form, a, ...) form##a SZGI_EACH_2(form, __VA_ARGS__)
#define SZGI_EACH_4(form, a, ...) form##a SZGI_EACH_3(form, __VA_ARGS__)
#define SZGI_EACH_5(form, a, ...) form##a SZGI_EACH_4(form, __VA_ARGS__)
#define SZGI_EACH_6(form, a, ...) form##a SZGI_EACH_5(form, __VA_ARGS__)

#endif
