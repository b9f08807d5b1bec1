/* What a text that starts a training says, as names with values: options, KEY=VALUE, keys of TOML, Python and JSON. */
#ifndef TESTS_LAUNCH_TEXT_H
#define TESTS_LAUNCH_TEXT_H

#include "base/alloc.h"

#include <stdint.h>

#define MAX_PAIRS 160

typedef struct {
    const char *name;  /* with its dashes; of a key the last part, "tensor_parallel_degree" */
    const char *value; /* without quotes; "" of an option that takes none; products computed */
} pair;

typedef struct {
    uint32_t n;
    pair item[MAX_PAIRS];
} pairs;

/* Adds what a text says; everything is in the arena. */
void text_of_shell(const char *text, const char *script, dse_arena *a, pairs *out); /* behind that word */
void text_of_keys(const char *text, dse_arena *a, pairs *out); /* TOML, Python; assignments of a shell */
bool text_of_json(const char *text, dse_arena *a, pairs *out);

/* The value; NULL: the text does not say it. */
const char *pairs_find(const pairs *p, const char *name);

/* The same as a number. */
long pairs_number(const pairs *p, const char *name, long missing);
bool pairs_has(const pairs *p, const char *name);

#endif
