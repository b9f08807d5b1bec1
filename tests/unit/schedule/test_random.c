/* What holds of every plan that is accepted, whatever its sizes. */
#include "unit/schedule/plans.h"

static uint32_t below(uint64_t *seed, uint32_t n) { return (uint32_t)(unit_random(seed) % n); }

static size_t slot(const sched_plan *p, const sched_action *x)
{
    return (size_t)x->stage * p->n_micro_batches + x->micro_batch;
}

/* F once; B once, or I and W once: on the rank of the stage. */
static void check_complete(const sched_plan *p)
{
    size_t n = (size_t)p->n_directions * p->n_stages * p->n_micro_batches;
    uint8_t *seen = dse_calloc(n, 1);

    for (uint32_t r = 0; r < p->n_ranks; r++) {
        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i++) {
            uint8_t *had = &seen[slot(p, &p->action[i])], bit = (uint8_t)(1u << p->action[i].kind);

            assert_int_equal(p->stage_rank[p->action[i].stage], r);
            assert_false(*had & bit);
            *had |= bit;
        }
    }
    for (size_t i = 0; i < n; i++)
        assert_true(seen[i] == (1 << SCHED_F | 1 << SCHED_B) ||
                    seen[i] == (1 << SCHED_F | 1 << SCHED_I | 1 << SCHED_W));
    dse_free(seen);
}

/* An action starts after those that it needs, later by the transfer if they are on another rank; and on
 * its rank after the one before it. */
static void check_times(const sched_plan *p, const sched_times *t, uint64_t transfer)
{
    size_t n = (size_t)p->n_directions * p->n_stages * p->n_micro_batches;
    uint64_t *forward = dse_calloc(n, sizeof *forward), *backward = dse_calloc(n, sizeof *backward);

    for (uint32_t i = 0; i < sched_n_actions(p); i++) {
        const sched_action *x = &p->action[i];

        if (x->kind != SCHED_W)
            (x->kind == SCHED_F ? forward : backward)[slot(p, x)] = t->end[i];
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint64_t busy = 0;

        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i++) {
            const sched_action *x = &p->action[i];
            uint32_t place = x->stage % p->n_stages;
            size_t at = slot(p, x), m = p->n_micro_batches;

            busy += t->end[i] - t->start[i];
            if (i > p->first[r])
                assert_true(t->start[i] >= t->end[i - 1]);
            if (x->kind == SCHED_F && place > 0)
                assert_true(t->start[i] >=
                            forward[at - m] + (p->stage_rank[x->stage - 1u] == r ? 0 : transfer));
            if ((x->kind == SCHED_B || x->kind == SCHED_I) && place + 1 < p->n_stages)
                assert_true(t->start[i] >=
                            backward[at + m] + (p->stage_rank[x->stage + 1u] == r ? 0 : transfer));
            if (x->kind == SCHED_B || x->kind == SCHED_I)
                assert_true(t->start[i] >= forward[at]);
            if (x->kind == SCHED_W)
                assert_true(t->start[i] >= backward[at]);
        }
        assert_u64(t->busy[r], busy);
        assert_true(t->last[r] <= t->makespan);
    }
    dse_free(forward);
    dse_free(backward);
}

/* Yields whether the plan was accepted. */
static bool check_plan(const char *name, sched_options o)
{
    sched_costs costs;
    sched_order order;
    sched_times times;
    made m;

    make_plan(&m, name, o);
    if (m.status == DSE_OK) {
        check_complete(&m.plan);
        assert_ok(sched_order_make(&m.plan, &m.arena, &order, &m.err), &m.err);
        assert_ok(sched_costs_parse("5,7,3,4", &m.plan, &m.arena, &costs, &m.err), &m.err);
        sched_times_init(&times, &m.plan, &m.arena);
        sched_compose(&order, &costs, &times);
        check_times(&m.plan, &times, 4);
    } else {
        assert_int_equal(m.status, DSE_E_RANGE);
    }
    dse_arena_free(&m.arena);
    return m.status == DSE_OK;
}

CLAIM(accepted_plans_are_complete_and_free_of_deadlocks)
{
    uint64_t seed = 1;

    for (size_t s = 0; sched_names[s]; s++) {
        bool groups =
            strcmp(sched_names[s], "interleaved") == 0 || strcmp(sched_names[s], "zero_bubble") == 0;
        uint32_t n_accepted = 0;

        for (int i = 0; i < 400; i++) {
            sched_options o = {.pp = 1 + below(&seed, 12), .micro_batches = 1 + below(&seed, 48)};

            if (below(&seed, 4))
                o.vp = 1 + below(&seed, 4);
            if (groups && below(&seed, 2))
                o.group_size = 1 + below(&seed, 24);
            o.overlap_moe = groups && below(&seed, 4) == 0;
            o.like = below(&seed, SCHED_LIKES);
            n_accepted += check_plan(sched_names[s], o);
        }
        assert_true(n_accepted > 5);
    }
}

/* Groups of pp micro-batches or more, or one group, are refused by no deadlock. */
CLAIM(full_groups_never_wait)
{
    for (uint32_t pp = 1; pp <= 8; pp++)
        for (uint32_t vp = 1; vp <= 4; vp++)
            for (uint32_t m = 1; m <= 20; m++)
                for (uint32_t g = 1; g <= m; g++) {
                    sched_options o = {.pp = pp, .micro_batches = m, .vp = vp, .group_size = g};

                    if ((g < pp && g < m) || (m % g && m % g < pp))
                        continue;
                    assert_true(check_plan("interleaved", o));
                    assert_true(check_plan("zero_bubble", o));
                    o.overlap_moe = true;
                    assert_true(check_plan("interleaved", o));
                    o.overlap_pairs = true;
                    assert_true(check_plan("interleaved", o));
                }
}

/* Written and read again, a plan is the same. */
CLAIM(a_plan_survives_its_file)
{
    for (size_t s = 0; sched_names[s]; s++) {
        made m, again;
        dse_strbuf text;

        make_plan(&m, sched_names[s], (sched_options){.pp = 4, .micro_batches = 8});
        assert_ok(m.status, &m.err);
        dse_strbuf_init(&text);
        for (uint32_t r = 0; r < m.plan.n_ranks; r++) {
            sched_add_row(&m.plan, r, &text);
            dse_strbuf_addc(&text, '\n');
        }
        read_plan(&again, text.data);
        assert_ok(again.status, &again.err);
        assert_int_equal(again.plan.n_stages, m.plan.n_stages);
        assert_int_equal(again.plan.n_micro_batches, m.plan.n_micro_batches);
        assert_int_equal(sched_n_actions(&again.plan), sched_n_actions(&m.plan));
        assert_memory_equal(again.plan.action, m.plan.action,
                            sched_n_actions(&m.plan) * sizeof *m.plan.action);
        dse_strbuf_free(&text);
        dse_arena_free(&again.arena);
        dse_arena_free(&m.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_plans_are_complete_and_free_of_deadlocks),
        cmocka_unit_test(full_groups_never_wait),
        cmocka_unit_test(a_plan_survives_its_file),
    };

    return RUN_TESTS(tests);
}
