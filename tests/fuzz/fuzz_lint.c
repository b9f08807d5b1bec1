/* What lint says of any document: twice the same, with a place for every finding and, of a kind that is known, a row
 * for every key; and of any text as options of a command line. */
#include "fuzz/fuzz.h"
#include "lint/parts.h"

#include <stdlib.h>
#include <string.h>

static void run(const char *text, size_t size, bool json, dse_arena *a, lint_result *out)
{
    lint l = {.out = out, .arena = a};
    dse_error why = DSE_ERROR_INIT;
    char *arguments = fuzz_string((const uint8_t *)text, size);
    cfg_doc doc = {0};

    *out = (lint_result){0};
    if (fuzz_ok((json ? cfg_parse_json : cfg_parse_yaml)("file", text, size, a, &doc, &why), &why))
        lint_document(&l, &doc);
    lint_arguments(&l, arguments);
    free(arguments);
}

static void check(const lint_result *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n_files; i++) {
        ENSURE(l->file[i].first_key == n);
        n += l->file[i].n_keys;
    }
    ENSURE(n == l->n_keys);
    for (size_t i = 0; i < l->n_keys; i++)
        ENSURE(l->key[i].key && l->key[i].value && l->key[i].unit && l->key[i].meaning);
    n = 0;
    for (size_t i = 0; i < l->n_findings; i++)
        ENSURE(*l->finding[i].where && *l->finding[i].text);
    for (int i = 0; i < LINT_N_LEVELS; i++)
        n += l->n_level[i];
    ENSURE(n == l->n_findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX_BYTES)
        return 0;
    for (int json = 0; json < 2; json++) {
        dse_arena arena;
        lint_result first = {0}, second = {0};

        dse_arena_init(&arena);
        run((const char *)data, size, json, &arena, &first);
        run((const char *)data, size, json, &arena, &second);
        check(&first);
        ENSURE(first.n_findings == second.n_findings && first.n_keys == second.n_keys);
        for (size_t i = 0; i < first.n_findings; i++)
            ENSURE(!strcmp(first.finding[i].text, second.finding[i].text));
        dse_arena_free(&arena);
    }
    return 0;
}
