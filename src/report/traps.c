#include "report/traps.h"

static bool met(uint64_t count) { return count && count != STORE_ABSENT; }

void report_traps_add(report_traps *t, uint64_t undercharged_messages, uint64_t flat_ring_collectives)
{
    if (undercharged_messages == STORE_ABSENT && flat_ring_collectives == STORE_ABSENT) {
        t->n_silent++;
        return;
    }
    t->n_points++;
    t->n_undercharged += met(undercharged_messages);
    t->n_flat_rings += met(flat_ring_collectives);
}

void report_traps_join(report_traps *t, const report_traps *others)
{
    t->n_points += others->n_points;
    t->n_silent += others->n_silent;
    t->n_undercharged += others->n_undercharged;
    t->n_flat_rings += others->n_flat_rings;
}

static void print_note(const report_traps *t, size_t n, const char *system, const char *words,
                       dse_strbuf *out)
{
    if (!n)
        return;
    dse_strbuf_adds(out, "note: ");
    if (system)
        dse_strbuf_addf(out, "on %s, ", system);
    if (t->n_silent)
        dse_strbuf_addf(out, "in %zu of %zu point%s (%zu more do%s not say) ", n, t->n_points,
                        t->n_points == 1 ? "" : "s", t->n_silent, t->n_silent == 1 ? "es" : "");
    else if (t->n_points > 1 && n == t->n_points)
        dse_strbuf_addf(out, "in all %zu points ", n);
    else if (t->n_points > 1)
        dse_strbuf_addf(out, "in %zu of %zu points ", n, t->n_points);
    dse_strbuf_addf(out, "%s\n", words);
}

void report_traps_print(const report_traps *t, const char *system, dse_strbuf *out)
{
    print_note(t, t->n_undercharged, system,
               "messages between NPUs that differ in several dimensions pay for the lowest one alone, as in "
               "ASTRA-sim; network.multi_hop=full charges all ('ccldse help terms': multi-hop)",
               out);
    print_note(t, t->n_flat_rings, system,
               "collectives of groups smaller than the system run as flat rings, as in ASTRA-sim, not as the "
               "card's implementations say ('ccldse help terms': flat ring)",
               out);
}

void report_traps_print_point(const store_metrics *m, dse_strbuf *out)
{
    report_traps t = {0};

    report_traps_add(&t, m->undercharged_messages, m->flat_ring_collectives);
    report_traps_print(&t, NULL, out);
}
