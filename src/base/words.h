/* A command line in one text, split into words as a shell would, without a shell: nothing is expanded. */
#ifndef DSE_BASE_WORDS_H
#define DSE_BASE_WORDS_H

#include "base/alloc.h"

/* Blanks separate words. 'single quotes' take everything as it stands; in "double quotes" a backslash takes
 * the next '"', '\' or '$' literally; outside of quotes it takes any character literally. *words is
 * NULL-terminated, in the arena; there may be none. DSE_E_USAGE if a quote is not closed. */
dse_status dse_split_words(const char *text, dse_arena *a, const char ***words, size_t *n, dse_error *err);

#endif
