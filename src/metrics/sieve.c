#include "metrics/sieve.h"

#include "base/array.h"
#include "metrics/kinds.h"

#include <string.h>

#define PICK(p) (1u << PICK_##p)

/* In an export of Nsight Systems the steps are NVTX ranges: those with the first of these prefixes that
 * occurs. All other traces have the profiler's own markers. */
static const char *step_marker(const trace_rank *r)
{
    static const char *const markers[] = {METRIC_STEP_PREFIX, "iteration", "step"};
    size_t n = DSE_COUNT(markers), best = n;

    for (size_t i = 0; i < r->n_events && r->kind == TRACE_NSYS; i++)
        for (size_t m = 0; m < best && r->event[i].category == TRACE_ANNOTATION && r->event[i].dur_ps > 0;
             m++)
            if (metric_begins(METRIC_TEXT_OF(r, &r->event[i]), markers[m]))
                best = m;
    return markers[best < n ? best : 0];
}

/* Properties of a name, determined once per name. */
enum { SAYS_NCCL = 1, SAYS_RANGE = 2, SAYS_STEP = 4 };

static uint8_t said_by(const char *name, const char *marker)
{
    if (metric_begins(name, "nccl:"))
        return strcmp(name, "nccl:coalesced") == 0 ? SAYS_NCCL : SAYS_NCCL | SAYS_RANGE;
    return metric_begins(name, marker) ? SAYS_STEP : 0;
}

static unsigned picks_of(const metric_sieve *s, const trace_event *e)
{
    unsigned said, lasts = e->dur_ps > 0 ? ~0u : 0;

    switch (e->category) {
    case TRACE_KERNEL: return e->instant || e->name == DSE_NONE ? 0 : PICK(KERNELS);
    case TRACE_MEMCPY:
    case TRACE_MEMSET: return e->instant ? 0 : PICK(MEMORY);
    case TRACE_RUNTIME:
    case TRACE_DRIVER: return e->correlation ? PICK(LAUNCHES) : 0;
    case TRACE_CPU_OP:
    case TRACE_ANNOTATION:
    case TRACE_GPU_ANNOTATION: break;
    default: return 0;
    }
    said = e->name == DSE_NONE ? 0 : s->said[e->name];
    if (!said)
        return 0;
    if (e->category == TRACE_GPU_ANNOTATION)
        return lasts & (said & SAYS_NCCL ? PICK(GPU_COMM) : PICK(GPU_STEPS));
    if (e->category == TRACE_CPU_OP)
        return said & SAYS_RANGE ? PICK(RANGES) : said & SAYS_STEP ? lasts & PICK(CPU_STEPS) : 0;
    return (said & SAYS_RANGE ? PICK(RANGES) : 0) |
           (lasts & (said & SAYS_NCCL ? PICK(HOST_COMM) : PICK(STEPS)));
}

void metric_sieve_init(metric_sieve *s, const trace_rank *r, dse_arena *scratch)
{
    uint8_t *said = DSE_ARENA_NEW(scratch, uint8_t, (size_t)r->names.n + 1);
    uint32_t n[PICKS] = {0};

    *s = (metric_sieve){.rank = r, .said = said, .marker = step_marker(r)};
    for (uint32_t i = 0; i < r->names.n; i++)
        said[i] = said_by(r->names.text[i], s->marker);
    for (size_t i = 0; i < r->n_events; i++)
        for (unsigned picks = picks_of(s, &r->event[i]); picks; picks &= picks - 1)
            n[__builtin_ctz(picks)]++;
    for (unsigned p = 0; p < PICKS; p++)
        metric_room(&s->list[p], n[p], scratch);
    for (size_t i = 0; i < r->n_events; i++)
        for (unsigned picks = picks_of(s, &r->event[i]); picks; picks &= picks - 1) {
            metric_events *list = &s->list[__builtin_ctz(picks)];
            list->event[list->n++] = (uint32_t)i;
        }
}
