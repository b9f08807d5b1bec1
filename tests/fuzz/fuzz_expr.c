/* A constraint: every name once; the same values give the same answer; 'not' of it is the opposite, and so is what
 * fails. The values are the ones that overflow, divide by 0, and are no numbers. */
#include "design/expr.h"
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 64

static const design_value values[] = {
    {DESIGN_INT, {8}},
    {DESIGN_INT, {1}},
    {DESIGN_INT, {0}},
    {DESIGN_INT, {-3}},
    {DESIGN_INT, {INT64_MIN}},
    {DESIGN_INT, {INT64_MAX}},
    {.kind = DESIGN_REAL, .real = 0.1},
    {.kind = DESIGN_REAL, .real = -1e300},
    {.kind = DESIGN_REAL, .real = 0},
    {.kind = DESIGN_TEXT, .text = "Ring"},
    {.kind = DESIGN_TEXT, .text = ""},
};
#define N_VALUES (sizeof values / sizeof values[0])

static void check_names(const design_expr *e)
{
    for (uint32_t i = 0; i < e->n_names; i++) {
        ENSURE(*e->name[i] && strstr(e->text, e->name[i]));
        for (uint32_t k = 0; k < i; k++)
            ENSURE(strcmp(e->name[i], e->name[k]) != 0);
    }
}

/* The opposite has the same names in the same order. */
static void evaluate(const design_expr *e, const design_expr *opposite)
{
    for (size_t first = 0; first < N_VALUES; first++) {
        design_value value[MAX_NAMES];
        dse_error err = DSE_ERROR_INIT, again = DSE_ERROR_INIT;
        bool holds = false, does_not = false;
        dse_status st;

        for (uint32_t i = 0; i < e->n_names; i++)
            value[i] = values[(first + i * 5) % N_VALUES];
        st = design_expr_holds(e, value, &holds, &err);
        fuzz_ok(st, &err);
        ENSURE(st == DSE_OK || st == DSE_E_CONFIG);
        if (!opposite)
            continue;
        ENSURE(opposite->n_names == e->n_names);
        fuzz_ok(design_expr_holds(opposite, value, &does_not, &again), &again);
        ENSURE(again.status == st || strstr(again.text, "too many steps"));
        ENSURE(again.status != DSE_OK || holds == !does_not);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    char *text, *not_text;
    design_expr e, opposite;
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    text = fuzz_string(data, size);
    dse_arena_init(&arena);
    if (fuzz_ok(design_expr_parse(text, &arena, &e, &err), &err) && e.n_names <= MAX_NAMES) {
        check_names(&e);
        not_text = dse_arena_printf(&arena, "not (%s)", text);
        err = (dse_error)DSE_ERROR_INIT;
        if (fuzz_ok(design_expr_parse(not_text, &arena, &opposite, &err), &err))
            evaluate(&e, &opposite);
        else /* too long or too deep by it */
            evaluate(&e, NULL);
    }
    dse_arena_free(&arena);
    free(text);
    return 0;
}
