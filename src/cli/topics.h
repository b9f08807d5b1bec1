/* What `ccldse help TOPIC` explains besides the commands. */
#ifndef DSE_CLI_TOPICS_H
#define DSE_CLI_TOPICS_H

#include "base/strbuf.h"

#include <stddef.h>

typedef struct {
    const char *name, *summary;
    void (*print)(size_t width, dse_strbuf *out); /* appends lines of at most `width` columns */
} topic;

/* Ended by one without a name. */
extern const topic topics[];

/* NULL: there is none of that name. */
const topic *topic_find(const char *name);

/* The words of tables and options, for who meets them for the first time (terms.c). */
void terms_print(size_t width, dse_strbuf *out);

#endif
