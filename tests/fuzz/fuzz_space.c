/* A space file over the small cards of the tests, if it has few variants: as many points are made as are counted, and
 * what a dry run writes of them reads back to the same. */
#include "driver/points_file.h"
#include "driver/space_file.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VARIANTS 24
#define MAX_POINTS   400

static const char *const models[] = {"small"}, *const systems[] = {"ring8"};

static uint64_t count_variants(const drv_space *s)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < s->n_axes && n <= MAX_VARIANTS; i++)
        n *= s->axis[i].n;
    return n;
}

static void write_points(const drv_points *p, dse_strbuf *out)
{
    for (size_t i = 0; i < p->n; i++) {
        drv_point_write_line(p, &p->point[i], out, NULL);
        dse_strbuf_addc(out, '\n');
    }
}

static void read_back(const drv_points *p, dse_arena *a)
{
    const drv_points_context nothing = {0};
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf text, again;
    drv_points points;
    drv_space space;
    dse_status st;

    dse_strbuf_init(&text);
    dse_strbuf_init(&again);
    write_points(p, &text);
    st = drv_points_file_parse("d", text.data, text.len, &nothing, a, &space, &points, &err);
    ENSURE(fuzz_ok(st, &err));
    write_points(&points, &again);
    ENSURE(points.n == p->n && !strcmp(text.data, again.data));
    dse_strbuf_free(&text);
    dse_strbuf_free(&again);
}

static void make_points(const drv_space *s, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    drv_points points;
    uint64_t n;

    if (!fuzz_ok(drv_space_count(s, &n, &err), &err))
        return;
    ENSURE(n > 0);
    err = (dse_error)DSE_ERROR_INIT; /* a value that was not looked at may fail by now */
    if (n > MAX_POINTS || !fuzz_ok(drv_space_points(s, a, &points, &err), &err))
        return;
    ENSURE(points.n == n);
    read_back(&points, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    drv_space_file file;
    drv_space space;
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    dse_arena_init(&arena);
    if (fuzz_ok(drv_space_file_parse("s.yaml", (const char *)data, size, &arena, &file, &err), &err) &&
        count_variants(&file.space) <= MAX_VARIANTS) {
        space = file.space;
        if (fuzz_ok(drv_space_load(models, 1, systems, 1, &file.settings, &arena, &space, &err), &err))
            make_points(&space, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
