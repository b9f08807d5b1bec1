/* Strategies of tests, by their names: what a name does not say has its default, so that no test knows how
 * many parameters there are. */
#ifndef DSE_TESTS_UNIT_POINT_H
#define DSE_TESTS_UNIT_POINT_H

#include "strategy/strategy.h"
#include "unit/unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* unit_point("%u_1_8_1_1_ws", dp) */
__attribute__((format(printf, 1, 2))) static inline strategy unit_point(const char *fmt, ...)
{
    char name[STRATEGY_NAME_MAX];
    dse_error err = DSE_ERROR_INIT;
    strategy p;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    assert_ok(strategy_parse_name(name, NULL, &p, NULL, &err), &err);
    return p;
}

/* A message with strategy_names() in the place of "PARAMETERS", until the next call. */
static inline const char *unit_with_parameters(const char *message)
{
    static const char mark[] = "PARAMETERS";
    static char text[1000];
    const char *at = strstr(message, mark);

    if (!at)
        return message;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - message), message, strategy_names(),
             at + sizeof mark - 1);
    return text;
}

#endif
