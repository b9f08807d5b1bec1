/* The log of an external simulator. What is taken of it can be stored, and printed again as it was. */
#include "driver/astra_log.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void print_all(const drv_astra_log *log)
{
    store_metrics m;
    bool rounded;
    size_t n;
    const store_column *c = store_columns(&n);

    drv_astra_log_metrics(log, &m, &rounded);
    for (size_t i = 0; i < n; i++) {
        const drv_log_value *v = drv_astra_log_value(log, c[i].name);
        char printed[DRV_LOG_TEXT], stored[DRV_LOG_TEXT];

        if (!v)
            continue;
        drv_log_format(v, &c[i], printed);
        drv_log_format_stored(&m, &c[i], v, stored);
        ENSURE(printed[0] && stored[0]);
        /* Exact figures are equal to what is stored of them. */
        ENSURE(v->unit || !strcmp(printed, stored) || !strcmp(stored, "none"));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_arena arena;
    char *text;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    text = malloc(size ? size : 1);
    ENSURE(text != NULL);
    memcpy(text, data, size);
    for (uint32_t i = 0; i < 8; i++) {
        const drv_log_wants wants = {i & 1 ? 2 : 1, (i & 2) != 0, (i & 4) != 0};
        dse_error err = DSE_ERROR_INIT;
        drv_astra_log log;

        if (fuzz_ok(drv_astra_log_parse("log", text, size, &wants, &arena, &log, &err), &err) &&
            log.n_reporting)
            print_all(&log);
    }
    free(text);
    dse_arena_free(&arena);
    return 0;
}
