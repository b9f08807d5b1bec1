#include "report/rows.h"

#include "report/sizes.h"
#include "report/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

strategy report_point(const store_row *r) { return r->strategy; }

const char *report_point_name(const store_row *r, char out[STRATEGY_NAME_MAX])
{
    const strategy p = report_point(r);

    strategy_name(&p, NULL, out);
    return out;
}

int report_compare(const store_row *a, const store_row *b)
{
    int names[] = {strcmp(a->model, b->model), strcmp(a->system, b->system),
                   strcmp(a->settings, b->settings)};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i])
            return names[i];
    return strategy_compare(&a->strategy, &b->strategy);
}

void report_row_fields(const store_row *r, dse_json *j)
{
    const strategy p = report_point(r);
    const store_column *c;
    size_t n;

    dse_json_key_string(j, "model", r->model);
    dse_json_key_string(j, "system", r->system);
    strategy_write_fields(&p, j);
    dse_json_key_string(j, "engine", r->engine);
    if (*r->settings)
        dse_json_key_string(j, "settings", r->settings);
    dse_json_key_string(j, "status", r->done ? "done" : "failed");
    if (!r->done) {
        dse_json_key_string(j, "error", r->error);
        return;
    }
    c = store_columns(&n);
    for (size_t i = 0; i < n; i++) {
        if (!store_has(&r->metrics, &c[i]))
            continue;
        dse_json_key(j, c[i].name);
        report_value_json(&r->metrics, &c[i], j);
    }
    dse_json_key_string(j, "sizes", report_sizes_word(&r->sizes));
    if (r->memory_rounded)
        dse_json_key_bool(j, "memory_rounded", true);
}

void report_rows_json(const store_row *rows, size_t n, bool config, dse_strbuf *out)
{
    dse_strbuf_addc(out, '[');
    for (size_t i = 0; i < n; i++) {
        dse_json j;

        dse_strbuf_adds(out, i ? ",\n" : "\n");
        dse_json_open(&j, out);
        report_row_fields(&rows[i], &j);
        if (config) {
            dse_json_key(&j, "config");
            dse_json_raw(&j);
            dse_strbuf_adds(out, rows[i].config);
        }
        dse_strbuf_addc(out, '}');
    }
    dse_strbuf_adds(out, "\n]\n");
}

/* The parameters of the strategy, those that came later apart: columns are only ever added at the end. NULL: their names. */
static void strategy_csv(const store_row *r, bool later, dse_strbuf *out)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        char text[STRATEGY_VALUE_MAX];

        if (p->omit_default != later)
            continue;
        if (!r)
            dse_strbuf_addf(out, ",%s", p->name);
        else if (strategy_is_number(p))
            dse_strbuf_addf(out, ",%" PRIu32, strategy_get(&r->strategy, i));
        else
            dse_strbuf_addf(out, ",%s", strategy_print(p, strategy_get(&r->strategy, i), text));
    }
}

void report_rows_csv(const store_row *rows, size_t n, dse_strbuf *out)
{
    size_t n_columns;
    const store_column *c = store_columns(&n_columns);

    dse_strbuf_adds(out, "model,system");
    strategy_csv(NULL, false, out);
    dse_strbuf_adds(out, ",engine,status");
    for (size_t i = 0; i < n_columns; i++)
        dse_strbuf_addf(out, ",%s", c[i].name);
    dse_strbuf_adds(out, ",error,settings,memory_rounded,sizes");
    strategy_csv(NULL, true, out);
    dse_strbuf_addc(out, '\n');
    for (size_t k = 0; k < n; k++) {
        const store_row *r = &rows[k];

        dse_strbuf_add_csv(out, r->model);
        dse_strbuf_addc(out, ',');
        dse_strbuf_add_csv(out, r->system);
        strategy_csv(r, false, out);
        dse_strbuf_addc(out, ',');
        dse_strbuf_add_csv(out, r->engine);
        dse_strbuf_adds(out, r->done ? ",done" : ",failed");
        for (size_t i = 0; i < n_columns; i++) {
            char value[REPORT_VALUE_MAX];

            dse_strbuf_addc(out, ',');
            if (!r->done || !store_has(&r->metrics, &c[i]))
                continue;
            report_value_exact(&r->metrics, &c[i], value);
            dse_strbuf_add_csv(out, value);
        }
        dse_strbuf_addc(out, ',');
        dse_strbuf_add_csv(out, r->error);
        dse_strbuf_addc(out, ',');
        dse_strbuf_add_csv(out, r->settings);
        dse_strbuf_addf(out, ",%d,%s", r->memory_rounded, report_sizes_word(&r->sizes));
        strategy_csv(r, true, out);
        dse_strbuf_addc(out, '\n');
    }
}
