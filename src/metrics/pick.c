#include "metrics/pick.h"

#include "base/array.h"

static uint32_t rows_of_word(const metric_pick *pick, const char *word)
{
    uint32_t rows = 0;

    for (size_t i = 0; i < pick->n; i++)
        if (!pick->row[i].words || metric_is_among(pick->row[i].words, word ? word : ""))
            rows |= 1u << i;
    return rows;
}

metric_picker metric_picker_of(const trace_rank *r, const metric_pick *pick, dse_arena *a)
{
    metric_picker p = {
        .pick = pick, .rank = r, .by_name = DSE_ARENA_NEW(a, metric_picker_name, (size_t)r->names.n + 1)};
    uint32_t missing = rows_of_word(pick, "");

    for (uint32_t w = 0; w < DSE_COUNT(p.by_word); w++)
        p.by_word[w] = w < r->n_words ? rows_of_word(pick, TRACE_NAME(r, r->word[w])) : missing;
    for (size_t i = 0; i < pick->n; i++)
        for (unsigned c = 0; c <= TRACE_OTHER; c++)
            if (!pick->row[i].categories || pick->row[i].categories >> c & 1)
                p.by_category[c] |= 1u << i;
    return p;
}

/* Whether its ts is above 0 in the file. base_ns times a thousand need not fit: what is left of the event in
 * nanoseconds does. */
static bool is_timed(const trace_rank *rank, const trace_event *e)
{
    int64_t ns = e->start_ps / TRACE_PS_PER_NS;

    return rank->base_ns > 0
               ? ns > -rank->base_ns || (ns == -rank->base_ns && e->start_ps % TRACE_PS_PER_NS > 0)
               : ns + rank->base_ns > 0 || e->start_ps + rank->base_ns * TRACE_PS_PER_NS > 0;
}

/* Whether a row's words are in a name of the rank; asked when it matters. */
static bool meets(metric_picker *p, uint32_t name, unsigned i)
{
    const metric_pick_row *row = &p->pick->row[i];
    metric_picker_name *said = &p->by_name[name == DSE_NONE ? p->rank->names.n : name];
    const char *text;

    if (!(said->asked >> i & 1)) {
        said->asked |= 1u << i;
        text = name == DSE_NONE ? "" : p->rank->names.text[name];
        if ((!row->names || metric_says(text, row->names)) && (!row->is || row->is(text)))
            said->met |= 1u << i;
    }
    return said->met >> i & 1;
}

uint32_t metric_picker_rows(metric_picker *p, uint32_t name)
{
    uint32_t rows = 0;

    for (unsigned i = 0; i < p->pick->n; i++)
        rows |= (uint32_t)meets(p, name, i) << i;
    return rows;
}

uint8_t metric_picker_ask(metric_picker *p, const trace_event *e)
{
    const metric_pick *pick = p->pick;
    uint32_t left = p->by_word[e->word] & p->by_category[e->category];
    const metric_picker_name *said;
    uint32_t met;

    if (!left || (e->instant && !(pick->which & METRIC_INSTANTS)) ||
        (e->dur_ps <= 0 && (pick->which & METRIC_LASTING)) ||
        ((pick->which & METRIC_TIMED) && !is_timed(p->rank, e)))
        return METRIC_NOT_PICKED;
    said = &p->by_name[e->name == DSE_NONE ? p->rank->names.n : e->name];
    met = said->met & left;
    met &= 0 - met; /* the first row that it is known to meet */
    if (met && !(left & (met - 1) & ~said->asked))
        return pick->row[__builtin_ctz(met)].class;
    for (; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        if (meets(p, e->name, i))
            return pick->row[i].class;
    }
    return METRIC_NOT_PICKED;
}

metric_picked metric_pick_of(const trace_rank *r, const metric_events *list, const metric_pick *pick,
                             dse_arena *a)
{
    size_t most = list ? list->n : r->n_events, n = 0;
    metric_picker picker = metric_picker_of(r, pick, a);
    metric_picked p = {.rank = r};
    uint8_t *class = dse_realloc(NULL, most + 1);

    for (size_t i = 0; i < most; i++) {
        class[i] = metric_picker_ask(&picker, &r->event[list ? list->event[i] : i]);
        n += class[i] != METRIC_NOT_PICKED;
    }
    metric_room(&p.list, (uint32_t)n, a);
    p.class = DSE_ARENA_NEW(a, uint8_t, n);
    for (size_t i = 0; p.list.n < n; i++) {
        if (class[i] == METRIC_NOT_PICKED)
            continue;
        p.class[p.list.n] = class[i];
        p.list.event[p.list.n++] = list ? list->event[i] : (uint32_t)i;
    }
    dse_free(class);
    return p;
}

void metric_picked_sort(metric_picked *p, dse_arena *scratch)
{
    uint8_t *class_of = DSE_ARENA_RAW(scratch, uint8_t, p->rank->n_events); /* by event */

    for (uint32_t i = 0; i < p->list.n; i++)
        class_of[p->list.event[i]] = p->class[i];
    metric_sort_by_start(p->rank, &p->list, scratch);
    for (uint32_t i = 0; i < p->list.n; i++)
        p->class[i] = class_of[p->list.event[i]];
}

metric_spans metric_picked_time(const metric_picked *p, uint8_t class, dse_arena *a)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, p->list.n);
    size_t n = 0;

    for (uint32_t i = 0; i < p->list.n; i++) {
        const trace_event *e = metric_picked_at(p, i);

        if (class == METRIC_ANY_CLASS || p->class[i] == class)
            span[n++] = (metric_span){metric_start(e), metric_end(e)};
    }
    return metric_spans_merge_any(span, n);
}

void metric_sums_add(metric_sums *s, int64_t dur_ps)
{
    s->least_ps = !s->n || dur_ps < s->least_ps ? dur_ps : s->least_ps;
    s->most_ps = !s->n || dur_ps > s->most_ps ? dur_ps : s->most_ps;
    s->sum_ps += dur_ps;
    s->n++;
}

void metric_picked_sum(const metric_picked *p, metric_sums *by_class)
{
    for (uint32_t i = 0; i < p->list.n; i++)
        metric_sums_add(&by_class[p->class[i]], metric_picked_at(p, i)->dur_ps);
}

void metric_pick_sum(const trace_rank *r, const metric_pick *pick, dse_arena *scratch, metric_sums *by_class)
{
    metric_picker picker = metric_picker_of(r, pick, scratch);

    for (size_t i = 0; i < r->n_events; i++) {
        uint8_t class = metric_picker_ask(&picker, &r->event[i]);

        if (class != METRIC_NOT_PICKED)
            metric_sums_add(&by_class[class], r->event[i].dur_ps);
    }
}

metric_span metric_pick_span(const trace_rank *r, const metric_pick *pick, dse_arena *scratch)
{
    metric_picker picker = metric_picker_of(r, pick, scratch);
    metric_span s = METRIC_NO_SPAN;

    for (size_t i = 0; i < r->n_events; i++)
        if (metric_picker_ask(&picker, &r->event[i]) != METRIC_NOT_PICKED)
            metric_span_extend(&s, metric_start(&r->event[i]), metric_end(&r->event[i]));
    return s;
}
