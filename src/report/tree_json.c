/* The values of a tree that have keys, as JSON. */
#include "report/tree.h"

#include <math.h>

bool report_has_value(const report_value *v)
{
    switch (v->kind) {
    case REPORT_UNKNOWN: return false;
    case REPORT_TEXT: return v->text;
    case REPORT_TIME:
    case REPORT_BYTES: return v->count != STORE_ABSENT;
    case REPORT_REAL: return isfinite(v->real);
    default: return true;
    }
}

/* What is for people alone has no key; the items of a list have none. */
void report_items_json(const report_node *of, dse_json *j)
{
    const bool list = of->value.kind == REPORT_LIST;

    for (const report_node *i = of->first; i; i = i->next) {
        if (!list && !i->value.key)
            continue;
        if ((list ? of : i)->value.line && (list || i->value.kind != REPORT_LIST))
            dse_json_newline(j);
        report_node_json(i, j);
    }
}

void report_scalar_json(const report_value *v, dse_json *j)
{
    if (!report_has_value(v)) {
        dse_json_null(j);
        return;
    }
    switch (v->kind) {
    case REPORT_BOOL: dse_json_bool(j, v->yes); break;
    case REPORT_COUNT:
    case REPORT_TIME:
    case REPORT_BYTES: dse_json_uint(j, v->count); break;
    case REPORT_INTEGER: dse_json_int(j, v->integer); break;
    case REPORT_REAL: dse_json_double(j, v->real); break;
    case REPORT_FIXED: dse_json_fixed(j, v->real, v->decimals); break;
    case REPORT_RAW:
        dse_json_raw(j);
        dse_strbuf_adds(j->out, v->text);
        break;
    default: dse_json_string(j, v->text);
    }
}

void report_node_json(const report_node *n, dse_json *j)
{
    if (n->value.key)
        dse_json_key(j, n->value.key);
    if (n->value.kind == REPORT_OBJECT) {
        dse_json_begin_object(j);
        report_items_json(n, j);
        dse_json_end_object(j);
    } else if (n->value.kind == REPORT_LIST) {
        dse_json_begin_array(j);
        report_items_json(n, j);
        dse_json_end_array(j);
    } else {
        report_scalar_json(&n->value, j);
    }
}

void report_tree_write(report_tree *t, dse_strbuf *out)
{
    dse_json j;

    dse_json_init(&j, out);
    report_node_json(&t->root, &j);
    report_tree_free(t);
}

void report_tree_end(report_tree *t, dse_strbuf *out)
{
    report_tree_write(t, out);
    dse_strbuf_addc(out, '\n');
}
