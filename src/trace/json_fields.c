#include "trace/json_fields.h"

#include "base/array.h"

const trace_json_key_row *trace_json_row(const trace_json *j, const trace_json_key_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (trace_json_is(j, row[i].key))
            return &row[i];
    return NULL;
}

uint32_t trace_json_name(trace_json *j, trace_names *names)
{
    trace_json_kind kind = trace_json_value(j);

    if (kind == TRACE_JSON_ARRAY)
        return trace_json_list_name(j, TRACE_WINDOW_BYTES, names);
    return trace_json_scalar(j, kind) ? trace_names_add(names, j->text, j->length) : DSE_NONE;
}

uint64_t trace_json_whole(trace_json *j, uint64_t max)
{
    trace_decimal d;

    trace_json_peek(j);
    if (trace_json_decimal(j, &d))
        return !d.millionths && (uint64_t)d.whole <= max ? (uint64_t)d.whole : UINT64_MAX;
    return trace_json_scalar(j, trace_json_value(j)) ? trace_whole_of(j->text, j->length, max) : UINT64_MAX;
}

uint32_t trace_json_small(trace_json *j)
{
    uint64_t v = trace_json_whole(j, DSE_NONE - 1);

    return v == UINT64_MAX ? 0 : (uint32_t)v;
}

bool trace_json_next_object(trace_json *j)
{
    while (trace_json_item(j))
        if (trace_json_enter(j, TRACE_JSON_OBJECT))
            return true;
    return false;
}

void trace_json_fields(trace_json *j, trace_names *names, const trace_json_key_row *row, size_t n, void *to)
{
    while (trace_json_key(j)) {
        const trace_json_key_row *found = trace_json_row(j, row, n);
        void *field = found ? (char *)to + found->offset : NULL;
        uint64_t v;

        switch (found ? found->what : UINT8_MAX) {
        case TRACE_FIELD_NAME: *(uint32_t *)field = trace_json_name(j, names); break;
        case TRACE_FIELD_SMALL: *(uint32_t *)field = trace_json_small(j); break;
        case TRACE_FIELD_WHOLE:
            v = trace_json_whole(j, UINT64_MAX - 1);
            *(uint64_t *)field = v == UINT64_MAX ? 0 : v;
            break;
        default: trace_json_skip(j);
        }
    }
}

void trace_json_groups(trace_json *j, trace_rank *rank)
{
    static const trace_json_key_row rows[] = {{"pg_name", TRACE_FIELD_NAME, offsetof(trace_group, name)},
                                              {"pg_desc", TRACE_FIELD_NAME, offsetof(trace_group, desc)},
                                              {"pg_size", TRACE_FIELD_SMALL, offsetof(trace_group, size)},
                                              {"ranks", TRACE_FIELD_NAME, offsetof(trace_group, ranks)}};

    while (trace_json_next_object(j)) {
        trace_group g = {DSE_NONE, DSE_NONE, DSE_NONE, 0};

        trace_json_fields(j, &rank->names, rows, DSE_COUNT(rows), &g);
        DSE_GROW(rank->group, rank->cap_groups, rank->n_groups + 1);
        rank->group[rank->n_groups++] = g;
    }
}
