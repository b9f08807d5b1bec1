#include "sim/collective.h"

#include "base/names.h"
#include "sim/collective_list.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(id) extern const sim_algorithm sim_algorithm_##id;
SIM_ALGORITHM_LIST(DECLARE)

#define ROW(id) &sim_algorithm_##id,
static const sim_algorithm *const rows[] = {SIM_ALGORITHM_LIST(ROW)};
#define N_ROWS (sizeof rows / sizeof rows[0])

/* "name" or, where a window is allowed, "name<digits>". */
static bool matches(const char *text, const char *name, bool takes_window, int32_t *window)
{
    size_t n = strlen(name), digits = 0;

    *window = 0;
    if (strncmp(text, name, n))
        return false;
    if (!text[n])
        return true;
    while (isdigit((unsigned char)text[n + digits]))
        digits++;
    if (!takes_window || !digits || digits > 5 || text[n + digits])
        return false;
    *window = (int32_t)strtol(text + n, NULL, 10);
    return *window > 0; /* with a window of 0 nothing would ever be sent */
}

dse_status sim_implementation_parse(const char *text, sim_implementation *out, dse_error *err)
{
    const char *known[2 * N_ROWS], *nearest;
    char list[256];
    size_t n = 0;

    for (size_t i = 0; i < N_ROWS; i++) {
        const char *names[] = {rows[i]->name, rows[i]->one_name};

        for (int one = 0; one < 2; one++) {
            int32_t window;

            if (!names[one])
                continue;
            known[n++] = names[one];
            if (!matches(text, names[one], rows[i]->takes_window, &window))
                continue;
            if (out)
                *out = (sim_implementation){rows[i], one, window};
            return DSE_OK;
        }
    }
    nearest = dse_nearest(text, known, n);
    dse_join(list, sizeof list, known, n);
    if (nearest)
        return dse_fail(err, DSE_E_CONFIG,
                        "unknown collective implementation '%.60s'; did you mean '%s'? known: %s", text,
                        nearest, list);
    return dse_fail(err, DSE_E_CONFIG,
                    "unknown collective implementation '%.60s'; known: %s (direct and oneDirect "
                    "may carry a window: direct4)",
                    text, list);
}

dse_status sim_logical_init(const sim_implementations *impl, const net_network *net, sim_logical *out,
                            dse_error *err)
{
    *out = (sim_logical){0};
    if (impl->n_dims > net->n_dims)
        return dse_fail(err, DSE_E_CONFIG,
                        "a list of %" PRIu32 " collective implementations for a network of %" PRIu32
                        " dimensions",
                        impl->n_dims, net->n_dims);
    for (uint32_t i = 0; i < impl->n_dims; i++) {
        bool all = impl->dim[i].over_all;

        out->dim[i].how = impl->dim[i];
        out->dim[i].n = all ? net->n_npus : net->dim[i].shape.n;
        out->dim[i].stride = all ? 1 : net->dim[i].stride;
        out->n_dims++;
        if (all)
            break;
    }
    return DSE_OK;
}
