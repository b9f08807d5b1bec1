/* The bound of layouts by paths, against steps that are composed pass by pass. */
#include "driver/stage_paths.h"
#include "unit/unit.h"

#define MOST_STAGES 32
#define WHOLE       40

typedef struct {
    dse_arena arena;
    sched_plan plan;
    sched_order order;
    step_stage_floor stage[MOST_STAGES][WHOLE + 1];
    uint64_t bytes[MOST_STAGES][WHOLE + 1];
    double room[MOST_STAGES];
    dse_time *by_rank[MOST_STAGES];
    uint64_t random;
} fixture;

static uint32_t below(fixture *f, uint32_t n) { return (uint32_t)(unit_random(&f->random) % n); }

/* Passes of `each` ns a layer, backward twice that, and up to so much more of each, and as much on the way; a byte a layer. */
static void begin(fixture *f, const char *schedule, uint32_t pp, uint32_t vp, uint32_t micro_batches, uint32_t noise, uint64_t seed)
{
    const sched_options o = {.pp = pp, .vp = vp, .micro_batches = micro_batches};
    const uint32_t each = 1000;

    memset(f, 0, sizeof *f);
    f->random = seed;
    dse_arena_init(&f->arena);
    assert_int_equal(sched_make(sched_find(schedule), &o, &f->arena, &f->plan, NULL), DSE_OK);
    assert_int_equal(sched_order_make(&f->plan, &f->arena, &f->order, NULL), DSE_OK);
    for (uint32_t s = 0; s < f->plan.n_stages; s++) {
        const uint64_t way = s && f->plan.stage_rank[s] != f->plan.stage_rank[s - 1] ? below(f, noise + 1) : 0;

        for (uint32_t k = 0; k <= WHOLE; k++) {
            step_stage_floor *x = &f->stage[s][k];

            x->pass[SCHED_F] = (uint64_t)each * k + below(f, noise + 1);
            x->pass[SCHED_B] = (uint64_t)2 * each * k + below(f, noise + 1);
            x->pass[SCHED_I] = x->pass[SCHED_W] = (uint64_t)each * k + below(f, noise + 1);
            x->receive = x->send_back = way;
            f->bytes[s][k] = (uint64_t)k * (s < pp ? 3 : 1);
        }
    }
    for (uint32_t r = 0; r < pp; r++)
        f->room[r] = NAN;
    for (uint32_t r = 0; r < pp; r++)
        f->by_rank[r] = DSE_ARENA_NEW(&f->arena, dse_time, WHOLE + 1); /* nothing is known */
}

static dse_time step_of(fixture *f, const uint32_t *layout)
{
    sched_costs costs;
    sched_times times;

    sched_costs_init(&costs, &f->plan, &f->arena);
    sched_times_init(&times, &f->plan, &f->arena);
    for (uint32_t s = 0; s < f->plan.n_stages; s++) {
        for (int kind = 0; kind < SCHED_KINDS; kind++)
            for (int place = 0; place < SCHED_PLACES; place++)
                costs.duration[sched_duration_at(s, (sched_kind)kind, (sched_place)place)] =
                    f->stage[s][layout[s]].pass[kind];
        costs.transfer[2 * s] = f->stage[s][0].receive;
        costs.transfer[2 * s + 1] = s + 1 < f->plan.n_stages ? f->stage[s + 1][0].send_back : 0;
    }
    sched_compose(&f->order, &costs, &times);
    return times.makespan;
}

static bool fits(const fixture *f, const uint32_t *layout)
{
    for (uint32_t r = 0; r < f->plan.n_ranks; r++) {
        double held = 0;

        for (uint32_t s = 0; s < f->plan.n_stages; s++)
            held += f->plan.stage_rank[s] == r ? (double)f->bytes[s][layout[s]] : 0;
        if (held > f->room[r])
            return false;
    }
    return true;
}

static void draw(fixture *f, uint32_t *layout)
{
    memset(layout, 0, f->plan.n_stages * sizeof *layout);
    for (uint32_t k = 0; k < WHOLE; k++)
        layout[below(f, f->plan.n_stages)]++;
}

static drv_paths *paths_of(fixture *f)
{
    drv_paths *p = drv_paths_new(&f->plan, WHOLE, &f->arena);

    for (uint32_t s = 0; s < f->plan.n_stages; s++)
        for (uint32_t k = 0; k <= WHOLE; k++)
            drv_paths_set(p, s, k, &f->stage[s][k], f->bytes[s][k]);
    return p;
}

static void whole_box(const fixture *f, design_part *part)
{
    for (uint32_t s = 0; s < f->plan.n_stages; s++)
        part[s] = (design_part){0, WHOLE + 1};
}

static dse_time bound_of(drv_paths *p, const fixture *f, const design_part *part, dse_time least)
{
    const drv_paths_box box = {part, f->room, f->by_rank, least};

    return drv_paths_least(p, &box);
}

static const struct {
    const char *schedule;
    uint32_t pp, vp, micro_batches;
} cases[] = {{"interleaved", 4, 2, 8}, {"interleaved", 2, 4, 6}, {"interleaved", 4, 4, 16}, {"looped_bfs", 4, 2, 8}, {"zbv", 4, 2, 8}, {"zero_bubble", 4, 2, 8}};

/* Around a layout that fits, of any ranges: the bound is at most its step. */
CLAIM(no_layout_of_a_box_takes_less_than_its_bound)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < 6 * 20; c++) {
        fixture f;
        drv_paths *p;

        begin(&f, cases[c % 6].schedule, cases[c % 6].pp, cases[c % 6].vp, cases[c % 6].micro_batches, c % 3 * 700, c);
        p = paths_of(&f);
        for (uint32_t r = 0; r < f.plan.n_ranks && c % 2; r++)
            f.room[r] = 15 + below(&f, 60);
        for (int i = 0; i < 50; i++) {
            uint32_t layout[MOST_STAGES];
            design_part part[MOST_STAGES];

            draw(&f, layout);
            if (c % 2 && !fits(&f, layout))
                continue;
            for (uint32_t s = 0; s < f.plan.n_stages; s++)
                part[s] = (design_part){layout[s] - below(&f, layout[s] + 1), layout[s] + 1 + below(&f, WHOLE - layout[s] + 1)};
            assert_true(design_parts_tighten(WHOLE, part, f.plan.n_stages));
            assert_true(bound_of(p, &f, part, 1000) <= step_of(&f, layout));
            n++;
        }
        dse_arena_free(&f.arena);
    }
    assert_true(n > 2000);
}

/* Of one layout alone: some paths are as long as the step, none is longer. */
CLAIM(a_layout_takes_what_its_longest_path_takes_or_more)
{
    double most = 0;

    for (uint32_t c = 0; c < 6 * 5; c++) {
        fixture f;
        design_part part[MOST_STAGES];
        uint32_t layout[MOST_STAGES];
        dse_time step, least;

        begin(&f, cases[c % 6].schedule, cases[c % 6].pp, cases[c % 6].vp, cases[c % 6].micro_batches, c % 3 * 700, c);
        for (uint32_t s = 0; s < f.plan.n_stages; s++) {
            layout[s] = WHOLE / f.plan.n_stages + (s < WHOLE % f.plan.n_stages);
            part[s] = (design_part){layout[s], layout[s] + 1};
        }
        step = step_of(&f, layout);
        least = bound_of(paths_of(&f), &f, part, step / 2);
        assert_true(least <= step);
        most = fmax(most, (double)least / (double)step);
        dse_arena_free(&f.arena);
    }
    assert_true(most > 0.98);
}

/* 40 layers on 4 ranks: 10 for each of 8 micro-batches take 240 us, and an even layout 285. */
CLAIM(the_bubble_counts_however_layers_are_laid_out)
{
    fixture f;
    design_part part[MOST_STAGES];
    uint32_t layout[MOST_STAGES];
    drv_paths *p;
    dse_time least;

    begin(&f, "interleaved", 4, 2, 8, 0, 1);
    p = paths_of(&f);
    whole_box(&f, part);
    least = bound_of(p, &f, part, 240000);
    assert_true(least > 250000 && least < 285000);
    assert_true(drv_paths_lay_out(p, &(drv_paths_box){part, f.room, f.by_rank, 240000}, layout));
    assert_true(step_of(&f, layout) >= least && step_of(&f, layout) < least * 6 / 5);
    dse_arena_free(&f.arena);
}

/* With the room for few layers in their first stages ranks have most in their second ones. */
CLAIM(memory_that_is_short_makes_the_bound_higher)
{
    fixture f;
    design_part part[MOST_STAGES];
    dse_time least;

    begin(&f, "interleaved", 4, 2, 8, 0, 1);
    whole_box(&f, part);
    least = bound_of(paths_of(&f), &f, part, 240000);
    for (uint32_t r = 0; r < 4; r++)
        f.room[r] = 11;
    assert_true(bound_of(paths_of(&f), &f, part, 240000) > least * 105 / 100);
    dse_arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_layout_of_a_box_takes_less_than_its_bound),
        cmocka_unit_test(a_layout_takes_what_its_longest_path_takes_or_more),
        cmocka_unit_test(the_bubble_counts_however_layers_are_laid_out),
        cmocka_unit_test(memory_that_is_short_makes_the_bound_higher),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
