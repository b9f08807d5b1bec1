/* A communicator-group file. One that is accepted names every group and each of its ranks once; written, it
 * reads back the same. */
#include "fuzz/fuzz.h"

#include <string.h>

#define N_RANKS    8
#define MAX_GROUPS 200 /* names are compared in pairs */

static void check_groups(const wl_workload *w)
{
    ENSURE(w->n_groups >= 1 && !w->group[0].name[0] && w->group[0].n == N_RANKS);
    for (uint32_t i = 0; i < w->n_groups; i++) {
        uint32_t seen = 0;

        for (uint32_t k = 0; k < w->group[i].n; k++) {
            ENSURE(w->group[i].rank[k] < N_RANKS && !(seen >> w->group[i].rank[k] & 1));
            seen |= 1u << w->group[i].rank[k];
        }
        ENSURE(seen);
        for (uint32_t k = 0; k < i && i < MAX_GROUPS; k++)
            ENSURE(strcmp(w->group[k].name, w->group[i].name) != 0);
    }
}

static void write_and_read(const wl_workload *w, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    wl_workload again = {0};
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    wl_groups_write(w, &text);
    st = wl_groups_parse("again", text.data, text.len, N_RANKS, a, &again, &err);
    ENSURE(fuzz_ok(st, &err));
    ENSURE(again.n_groups == w->n_groups);
    for (uint32_t i = 0; i < w->n_groups; i++) {
        const wl_group *x = &w->group[i], *y = &again.group[i];

        ENSURE(!strcmp(x->name, y->name) && x->n == y->n);
        ENSURE(!memcmp(x->rank, y->rank, x->n * sizeof *x->rank));
    }
    dse_strbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    wl_workload w = {0};
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(wl_groups_parse("groups.json", (const char *)data, size, N_RANKS, &arena, &w, &err), &err)) {
        check_groups(&w);
        write_and_read(&w, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
