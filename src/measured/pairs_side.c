#include "measured/pairs_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define REASON 128 /* bytes of one, with its numbers */

/* Of an entry's unit, in the pair's. */
static double factor(const char *from, const char *to)
{
    static const struct {
        const char *from, *to;
        double factor;
    } units[] = {{"ms", "s", 1e-3}, {"us", "s", 1e-6}, {"%", "", 0.01}};

    if (strcmp(from, to) == 0)
        return 1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].from, from) == 0 && strcmp(units[i].to, to) == 0)
            return units[i].factor;
    assert(0 && "a pair has a unit that its metric's cannot be told in");
    return NAN;
}

static dse_status ask(msr_pair_side *s, const char *name, const report_measured **out, dse_error *err)
{
    const metric *m;
    dse_status st;

    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->asked[i].name, name) == 0) {
            *out = &s->asked[i].of;
            return DSE_OK;
        }
    if ((st = drv_measure_find(s->recording, name, false, &m, err)) != DSE_OK ||
        (st = drv_measure(s->recording, m, name, s->o, &s->scratch, &s->asked[s->n].of, err)) != DSE_OK)
        return st;
    s->asked[s->n].name = name;
    *out = &s->asked[s->n++].of;
    return DSE_OK;
}

const metric_entry *msr_pair_entry(const metric *m, const char *path)
{
    for (size_t i = 0; i < m->n_entries; i++)
        if (strcmp(m->entry[i].path, path) == 0)
            return &m->entry[i];
    return NULL;
}

static void be_absent(const msr_pair_side *s, msr_pair_figure *f, const char *why)
{
    const char *remedy = strstr(why, "; --"); /* an option of `metrics`: it is none here */

    f->value = NAN;
    f->none = false;
    f->why = dse_arena_strndup(s->a, why, remedy ? (size_t)(remedy - why) : strlen(why));
}

static bool number_of(const metric_value *v, double *out)
{
    if (!v || (v->kind != METRIC_NUMBER && v->kind != METRIC_INTEGER))
        return false;
    *out = v->kind == METRIC_NUMBER ? v->number : (double)v->integer;
    return true;
}

/* Steps of all ranks that the metric takes; 0: *why one has none. */
static double steps_of(const msr_pair_side *s, const metric *m, char why[REASON])
{
    const drv_recording *r = s->recording;
    double n = 0;

    snprintf(why, REASON, "there is no rank");

    for (uint32_t i = 0; i < r->n_views; i++) {
        if (!(m->kinds & METRIC_ON(r->view[i].rank->kind)))
            continue;
        if (!r->view[i].n_steps) {
            snprintf(why, REASON,
                     "rank %" PRIu32 " has no step markers (%s), so that it cannot be said per step",
                     r->view[i].rank->rank, METRIC_STEP_PREFIX);
            return 0;
        }
        n += r->view[i].n_steps;
    }
    return n;
}

static bool is_in_elements(const drv_recording *r)
{
    for (uint32_t i = 0; i < r->record.n_ranks; i++)
        if (r->record.rank[i].kind == TRACE_SIMULATED && r->record.rank[i].in_elements)
            return true;
    return false;
}

/* Whether every communication says its size; a sum over some of them would be too small. */
static dse_status check_sizes(msr_pair_side *s, char why[REASON], bool *good, dse_error *err)
{
    const report_measured *m;
    double without, unknown, calls;
    dse_status st = ask(s, "traffic_distribution", &m, err);

    *good = false;
    if (st != DSE_OK)
        return st;
    if (is_in_elements(s->recording))
        snprintf(why, REASON,
                 "the simulation counts elements, not bytes: its model card has no section 'precision'");
    else if (!m->value || !number_of(metric_get(m->value, "calls_without_size"), &without) ||
             !number_of(metric_get(m->value, "calls_of_unknown_dtype"), &unknown) ||
             !number_of(metric_get(m->value, "total_comm_calls"), &calls))
        *good = true; /* there is no communication */
    else if (without + unknown > 0)
        snprintf(why, REASON, "%.0f of %.0f communications do not say their size (In msg nelems, dtype)",
                 without + unknown, calls);
    else
        *good = true;
    return DSE_OK;
}

/* The number that a source names, as it stands in the metric's result. */
static void look_up(const msr_pair_side *s, const msr_pair_source *source, const report_measured *m,
                    msr_pair_figure *f)
{
    const metric_value *v = metric_get(m->value, source->entry);

    if (v && v->kind == METRIC_OBJECT && source->member) {
        v = metric_get(v, source->member);
        f->none = !v;
    }
    if (f->none)
        f->value = 0;
    else if (!number_of(v, &f->value))
        be_absent(s, f, v && v->text ? v->text : "the trace does not say it");
}

/* Its entries exist for every degree; without communication along a degree they are 0. */
static bool is_degree(const msr_pair_row *row)
{
    return strcmp(row->source[0].metric, "traffic_distribution") == 0;
}

/* Whether the trace or its card say which degree every communication is along; a guess by the kind of
 * collective is no measurement. */
static bool knows_degrees(const report_measured *m, char why[REASON])
{
    double low, unknown_ms, calls;

    if (!number_of(metric_get(m->value, "low_confidence_calls"), &low) ||
        !number_of(metric_get(m->value, "unknown_time_ms"), &unknown_ms) ||
        !number_of(metric_get(m->value, "total_comm_calls"), &calls))
        snprintf(why, REASON, "the trace does not say it");
    else if (unknown_ms > 0)
        snprintf(why, REASON, "neither trace nor card say which ranks %.6g ms of communication are between",
                 unknown_ms);
    else if (low > 0)
        snprintf(why, REASON, "of %.0f of %.0f communications the parallel dimension could only be guessed",
                 low, calls);
    else
        return true;
    return false;
}

static dse_status scale(msr_pair_side *s, const msr_pair_row *row, msr_pair_rule rule,
                        const report_measured *m, msr_pair_figure *f, dse_error *err)
{
    char why[REASON];
    double steps = 0;
    bool good = true;
    dse_status st;

    f->value *= factor(f->entry->unit, row->unit);
    f->none = f->none || (is_degree(row) && f->value == 0);
    if (rule == PAIR_AS_IT_IS)
        return DSE_OK;
    if (rule == PAIR_OF_BYTES && (st = check_sizes(s, why, &good, err)) != DSE_OK)
        return st;
    if (good && (!is_degree(row) || knows_degrees(m, why)))
        steps = steps_of(s, m->row, why);
    if (steps > 0)
        f->value /= steps;
    else
        be_absent(s, f, why);
    return DSE_OK;
}

static bool has_posted_receives(const drv_recording *r)
{
    for (uint32_t i = 0; i < r->record.n_ranks; i++) {
        const trace_rank *rank = &r->record.rank[i];

        for (uint32_t k = 0; k < rank->n_args && rank->kind == TRACE_SIMULATED; k++) {
            const char *what = TRACE_NAME(rank, rank->args[k].collective);

            if (what && strcmp(what, "recv") == 0)
                return true;
        }
    }
    return false;
}

static dse_status measure_source(msr_pair_side *s, const msr_pair_row *row, const msr_pair_source *source,
                                 msr_pair_figure *f, dse_error *err)
{
    const report_measured *m;
    dse_status st = ask(s, source->metric, &m, err);

    if (st != DSE_OK)
        return st;
    *f = (msr_pair_figure){.entry = msr_pair_entry(m->row, source->entry)};
    if (!m->value)
        be_absent(s, f, m->why);
    else if (!f->entry) /* a row of the same name, of reports */
        be_absent(s, f, "these traces have totals alone, no steps");
    else
        look_up(s, source, m, f);
    if (isnan(f->value))
        return DSE_OK;
    if (row->condition == PAIR_UNLESS_POSTED && has_posted_receives(s->recording)) {
        be_absent(s, f, "simulated stages post their receives at the start, which covers all else");
        return DSE_OK;
    }
    return scale(s, row, source->rule, m, f, err);
}

static bool is_xla(const drv_recording *r)
{
    return r->record.n_ranks && r->record.rank[0].kind == TRACE_XLA;
}

dse_status msr_pair_measure(msr_pair_side *s, const msr_pair_row *row, msr_pair_figure *f, dse_error *err)
{
    bool second = is_xla(s->recording) && row->source[1].metric;

    return measure_source(s, row, &row->source[second], f, err);
}
