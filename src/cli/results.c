#include "cli/results.h"

#include "driver/locate.h"

dse_status results_read(const char *db, const char *model, const char *system, dse_arena *a, store_row **rows,
                        size_t *n, dse_error *err)
{
    store *s;
    dse_status st;

    if ((model && (st = drv_card_name(model, a, &model, err)) != DSE_OK) ||
        (system && (st = drv_card_name(system, a, &system, err)) != DSE_OK) ||
        (st = store_open(db, STORE_READ, &s, err)) != DSE_OK)
        return st;
    st = store_list(s, model, system, a, rows, n, err);
    store_close(s);
    return st;
}
