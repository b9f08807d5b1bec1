/* Plans for the tests of schedules: made by name, compared with rows that were written by hand. */
#ifndef UNIT_SCHEDULE_PLANS_H
#define UNIT_SCHEDULE_PLANS_H

#include "schedule/compose.h"
#include "unit/unit.h"

typedef struct {
    dse_arena arena;
    sched_plan plan;
    dse_error err;
    dse_status status;
} made;

static inline void make_plan(made *m, const char *name, sched_options o)
{
    m->err = (dse_error)DSE_ERROR_INIT;
    dse_arena_init(&m->arena);
    m->status = sched_make(sched_find(name), &o, &m->arena, &m->plan, &m->err);
}

static inline void read_plan(made *m, const char *text)
{
    m->err = (dse_error)DSE_ERROR_INIT;
    dse_arena_init(&m->arena);
    m->status = sched_read_csv(text, strlen(text), "f.csv", &m->arena, &m->plan, &m->err);
}

static inline void check_row(const sched_plan *p, uint32_t rank, const char *expected)
{
    dse_strbuf row;

    dse_strbuf_init(&row);
    sched_add_row(p, rank, &row);
    assert_string_equal(row.data, expected);
    dse_strbuf_free(&row);
}

/* The plan has these rows, NULL-terminated, and no more. */
static inline void check_rows(made *m, const char *const *rows)
{
    uint32_t n = 0;

    assert_ok(m->status, &m->err);
    for (; rows[n]; n++)
        check_row(&m->plan, n, rows[n]);
    assert_int_equal(m->plan.n_ranks, n);
    dse_arena_free(&m->arena);
}
#define ROWS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
