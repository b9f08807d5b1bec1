#include "cli/topics.h"

#include "cli/strategy_options.h"

#include <string.h>

const topic topics[] = {{"terms", "the words of tables and options", terms_print},
                        {"strategy", "the parameters of a strategy", strategy_options_explain},
                        {NULL, NULL, NULL}};

const topic *topic_find(const char *name)
{
    for (const topic *t = topics; t->name; t++)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}
