/* Results in the keyed format. What is accepted is written as the export writes it and read again: nothing of it is
 * refused, and from then on the bytes stay the same (before, a figure may have more than three decimals). */
#include "driver/import.h"
#include "fuzz/fuzz.h"
#include "report/keyed.h"

#include <string.h>

static const drv_import_as named = {"m", "s", "imported"}, unnamed = {NULL, NULL, "imported"};

static void check_rows(const drv_import *io)
{
    for (size_t i = 0; i < io->n; i++) {
        const store_row *r = &io->row[i];

        ENSURE(r->done && !r->strategy.weight_sharded && r->strategy.dp && r->strategy.tp && r->strategy.sp &&
               r->strategy.pp && *r->model && *r->system);
        ENSURE(r->metrics.wall_time != STORE_ABSENT && r->metrics.nodes == STORE_ABSENT);
        ENSURE(!i || strcmp(r->config, r[-1].config));
    }
    ENSURE(!io->n_unknown == !io->unknown);
}

/* Appends what the export makes of the rows. */
static void write(drv_import *io, dse_arena *a, dse_strbuf *out, bool *nested)
{
    dse_error err = DSE_ERROR_INIT;
    report_keyed k;
    dse_status st;

    drv_import_sort(io);
    st = report_keyed_select(io->row, io->n, a, &k, &err);
    ENSURE(fuzz_ok(st, &err));
    ENSURE(!k.n_failed && !k.n_sharded);
    *nested = k.n != 1;
    report_keyed_print_all(&k, out);
}

/* Reads `text` and writes it again into `out`. */
static void again(const dse_strbuf *text, bool *nested, dse_arena *a, dse_strbuf *out)
{
    dse_error err = DSE_ERROR_INIT;
    drv_import io = {0};
    dse_status st =
        drv_import_parse("again", text->data, text->len, *nested ? &unnamed : &named, a, &io, &err);

    ENSURE(fuzz_ok(st, &err));
    write(&io, a, out, nested);
    drv_import_free(&io);
}

static void check(const char *text, size_t n, const drv_import_as *as)
{
    dse_strbuf first, second, third;
    dse_error err = DSE_ERROR_INIT;
    drv_import io = {0};
    dse_arena arena;
    bool nested;

    dse_arena_init(&arena);
    dse_strbuf_init(&first);
    dse_strbuf_init(&second);
    dse_strbuf_init(&third);
    if (fuzz_ok(drv_import_parse("results.json", text, n, as, &arena, &io, &err), &err)) {
        check_rows(&io);
        if (io.n) {
            write(&io, &arena, &first, &nested);
            again(&first, &nested, &arena, &second);
            again(&second, &nested, &arena, &third);
            ENSURE(!strcmp(second.data, third.data));
        }
    }
    drv_import_free(&io);
    dse_strbuf_free(&first);
    dse_strbuf_free(&second);
    dse_strbuf_free(&third);
    dse_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX_BYTES)
        return 0;
    check((const char *)data, size, &named);
    check((const char *)data, size, &unnamed);
    return 0;
}
