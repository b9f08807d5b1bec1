#include "report/tree.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

report_node *report_tree_begin(report_tree *t)
{
    dse_arena_init(&t->arena);
    t->root = (report_node){.value.kind = REPORT_OBJECT, .arena = &t->arena};
    return &t->root;
}

void report_tree_clear(report_tree *t)
{
    dse_arena_reset(&t->arena);
    t->root.first = t->root.last = NULL;
}

void report_tree_free(report_tree *t) { dse_arena_free(&t->arena); }

report_node *report_add(report_node *to, report_value v)
{
    report_node *n = DSE_ARENA_NEW(to->arena, report_node, 1);

    if ((v.kind == REPORT_TEXT || v.kind == REPORT_CELL) && v.text)
        v.text = dse_arena_strdup(to->arena, v.text);
    *n = (report_node){.value = v, .arena = to->arena};
    *(to->last ? &to->last->next : &to->first) = n;
    to->last = n;
    return n;
}

report_node *report_add_all(report_node *to, const report_value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].kind != REPORT_OMITTED)
            report_add(to, v[i]);
    return to;
}

report_node *report_object(report_node *to, const char *key)
{
    return report_add(to, (report_value){.key = key, .kind = REPORT_OBJECT});
}

report_node *report_list(report_node *to, const char *key)
{
    return report_add(to, (report_value){.key = key, .kind = REPORT_LIST});
}

report_node *report_lines(report_node *to, const char *key)
{
    return report_add(to, (report_value){.key = key, .kind = REPORT_LIST, .line = true});
}

report_node *report_texts(report_node *to, const char *key, const char *const *text, size_t n)
{
    report_node *list = report_list(to, key);

    for (size_t i = 0; i < n; i++)
        report_add(list, V_TEXT(NULL, text[i]));
    return list;
}

/* ---- stored values -------------------------------------------------------------------------- */

report_value report_figure(const store_metrics *m, const store_column *c)
{
    if (!store_has(m, c))
        return V_UNKNOWN(c->name);
    switch (c->type) {
    case STORE_TEXT: return V_TEXT(c->name, store_text(m, c));
    case STORE_REAL: /* a step may cost next to nothing */
        return store_column_is_cost(c) ? V_REAL(c->name, store_value(m, c))
                                       : V_FIXED(c->name, store_value(m, c), 3);
    default: return V_COUNT(c->name, store_count(m, c));
    }
}

void report_put_known(report_node *to, const store_metrics *m, const store_column *c)
{
    if (store_has(m, c))
        report_add(to, report_figure(m, c));
}

void report_put_parameter(report_node *to, const char *key, const strategy_parameter *p, uint32_t value)
{
    char text[STRATEGY_VALUE_MAX];

    switch (p->kind) {
    case STRATEGY_DEGREE: report_put(to, V_COUNT(key, value)); break;
    case STRATEGY_SWITCH: report_put(to, V_BOOL(key, value != 0)); break;
    default: report_put(to, V_TEXT(key, strategy_print(p, value, text)));
    }
}

void report_put_strategy(report_node *to, const strategy *s)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];

        if (!p->omit_default || strategy_get(s, i) != p->fallback)
            report_put_parameter(to, p->name, p, strategy_get(s, i));
    }
}

/* ---- values for people ---------------------------------------------------------------------- */

report_text report_seconds(double s)
{
    report_text t = {"-"};

    if (!isnan(s))
        dse_format_seconds(t.text, sizeof t.text, s);
    return t;
}

report_text report_time(uint64_t ns) { return report_seconds(ns == STORE_ABSENT ? NAN : (double)ns * 1e-9); }

report_text report_size(double bytes)
{
    report_text t = {"-"};

    if (!isnan(bytes))
        dse_format_bytes(t.text, sizeof t.text, bytes);
    return t;
}

report_text report_bytes(uint64_t bytes) { return report_size(bytes == STORE_ABSENT ? NAN : (double)bytes); }

report_text report_signed_percent(double fraction)
{
    return report_format(isnan(fraction) ? "-" : "%+.1f%%", fraction * 100);
}

report_text report_format(const char *fmt, ...)
{
    report_text t;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(t.text, sizeof t.text, fmt, ap);
    va_end(ap);
    return t;
}

report_text report_value_exact(const store_metrics *m, const store_column *c)
{
    const report_value v = report_figure(m, c);
    report_text out = {"-"};

    if (v.kind == REPORT_TEXT)
        snprintf(out.text, sizeof out.text, "%s", v.text);
    else if (v.kind == REPORT_FIXED)
        snprintf(out.text, sizeof out.text, "%.*f", v.decimals, v.real);
    else if (v.kind == REPORT_REAL)
        snprintf(out.text, sizeof out.text, "%.17g", v.real);
    else if (v.kind == REPORT_COUNT)
        snprintf(out.text, sizeof out.text, "%" PRIu64, v.count);
    return out;
}

/* Four digits, or all before the point: "4.874", "581024", "162.7 MWh". */
static report_text cost_text(double v, const char *unit)
{
    const bool is_large = *unit && v >= 1e4; /* kWh */

    v /= is_large ? 1000 : 1;
    return report_format(v < 1000 ? "%.4g%s%s" : "%.0f%s%s", v, *unit ? " " : "", is_large ? "MWh" : unit);
}

report_text report_value_readable(const store_metrics *m, const store_column *c)
{
    report_text out = report_value_exact(m, c);
    const size_t used = strlen(out.text);

    if (store_has(m, c) && store_column_is_cost(c))
        return cost_text(store_value(m, c), c->unit);

    if (!store_has(m, c) || c->type == STORE_TEXT)
        return out;
    if (!strcmp(c->unit, "ns"))
        snprintf(out.text, sizeof out.text, "%s", report_seconds(store_value(m, c) * 1e-9).text);
    else if (!strcmp(c->unit, "B"))
        snprintf(out.text, sizeof out.text, "%s", report_size(store_value(m, c)).text);
    else if (*c->unit)
        snprintf(out.text + used, sizeof out.text - used, " %s", c->unit);
    return out;
}
