/* A file of points over the cards of the tests: what is accepted, written, and read again is the same. */
#include "driver/points_file.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char *const models[] = {"small"}, *const systems[] = {"ring8"};
static const drv_points_context command = {models, systems, 1, 1, NULL}, nothing = {0};

static void write_points(const drv_points *p, dse_strbuf *out)
{
    for (size_t i = 0; i < p->n; i++) {
        drv_point_write_line(p, &p->point[i], out, NULL);
        dse_strbuf_addc(out, '\n');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf text, again;
    drv_points points;
    drv_space space;
    dse_arena arena;
    dse_status st;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    dse_strbuf_init(&text);
    dse_strbuf_init(&again);
    dse_arena_init(&arena);
    st = drv_points_file_parse("points", (const char *)data, size, &command, &arena, &space, &points, &err);
    if (fuzz_ok(st, &err)) {
        ENSURE(points.n > 0);
        write_points(&points, &text);
        st = drv_points_file_parse("again", text.data, text.len, &nothing, &arena, &space, &points, &err);
        ENSURE(fuzz_ok(st, &err));
        write_points(&points, &again);
        ENSURE(!strcmp(text.data, again.data));
    }
    dse_strbuf_free(&text);
    dse_strbuf_free(&again);
    dse_arena_free(&arena);
    return 0;
}
