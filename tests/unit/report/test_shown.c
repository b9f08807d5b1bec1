/* Which of many points are shown, against a look at all of them. */
#include "report/shown.h"
#include "report/sweep_page.h"
#include "unit/point.h"
#include "unit/unit.h"

#define MOST 400

static store_row rows[MOST];
static size_t study_of[MOST];
static unsigned is[MOST];
static report_study studies[4];
static size_t n;

/* Rows of four studies, with few different figures, so that there are ties; some failed, or do not fit. */
static void draw(uint64_t seed, size_t many)
{
    uint64_t random = seed;

    n = many;
    for (size_t i = 0; i < n; i++) {
        store_row *r = &rows[i];
        const size_t study = i * 4 / n;

        *r = (store_row){.model = "m", .system = "s", .engine = "native-1", .settings = "", .error = ""};
        store_metrics_clear(&r->metrics);
        r->strategy = unit_point("8_1_1_1_0");
        r->study = study;
        r->done = unit_random(&random) % 8 != 0;
        if (r->done && unit_random(&random) % 16)
            r->metrics.wall_time = 1 + unit_random(&random) % 60;
        if (r->done && unit_random(&random) % 16)
            r->metrics.peak_memory = 1 + unit_random(&random) % 60;
        if (unit_random(&random) % 4)
            r->metrics.step_idle = 1;
        study_of[i] = study;
        if (!i || study_of[i] != study_of[i - 1]) {
            studies[study] = (report_study){
                .row = r, .by = store_column_find("wall_time"), .hbm_bytes = study % 2 ? 40 : NAN};
            report_rank_begin(&studies[study]);
        }
        is[i] = report_rank_row(&studies[study], r);
    }
}

static void show(report_shown *s)
{
    for (size_t i = 0; i < n; i++)
        report_shown_add(s, &studies[study_of[i]], study_of[i], &rows[i], is[i]);
    report_shown_end(s);
}

static bool has_figure(const store_row *r) { return r->metrics.wall_time != STORE_ABSENT; }

/* Those that fit first, then by their time, ties in their order. */
static bool comes_before(size_t i, size_t k)
{
    const int a = is[i] & REPORT_RANKED  ? 0
                  : has_figure(&rows[i]) ? 1
                                         : 2,
              b = is[k] & REPORT_RANKED  ? 0
                  : has_figure(&rows[k]) ? 1
                                         : 2;

    if (a != b)
        return a < b;
    if (a < 2 && rows[i].metrics.wall_time != rows[k].metrics.wall_time)
        return rows[i].metrics.wall_time < rows[k].metrics.wall_time;
    return i < k;
}

static bool is_among_the_best(size_t i, size_t most)
{
    size_t before = 0;

    for (size_t k = 0; k < n; k++)
        before += rows[k].done && k != i && comes_before(k, i);
    return before < most;
}

static bool is_best_of_its_study(size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (rows[k].done && k != i && study_of[k] == study_of[i] && comes_before(k, i))
            return false;
    return true;
}

static bool is_on_the_front(size_t i)
{
    const store_metrics *m = &rows[i].metrics;

    if (m->wall_time == STORE_ABSENT || m->peak_memory == STORE_ABSENT)
        return false;
    for (size_t k = 0; k < n; k++) {
        const store_metrics *o = &rows[k].metrics;
        const bool equal = o->wall_time == m->wall_time && o->peak_memory == m->peak_memory;

        if (rows[k].done && k != i && o->wall_time <= m->wall_time && o->peak_memory <= m->peak_memory &&
            (!equal || k < i))
            return false;
    }
    return true;
}

CLAIM(the_best_are_shown_with_the_front_and_the_best_of_each_study)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        report_shown s = {.most = seed % 7 * 5 + 1};
        const size_t most = s.most;
        size_t at = 0;

        draw(seed, 40 + seed * 5);
        show(&s);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(report_shown_has(&s, i, &at),
                             rows[i].done && (is_among_the_best(i, most) || is_best_of_its_study(i) ||
                                              is_on_the_front(i)));
        report_shown_free(&s);
    }
}

CLAIM(of_few_points_all_are_shown)
{
    report_shown s = {.most = MOST};
    size_t at = 0;

    draw(5, MOST);
    show(&s);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(report_shown_has(&s, i, &at), rows[i].done);
    report_shown_free(&s);
}

CLAIM(bars_are_of_points_that_fit_and_whose_step_is_known)
{
    report_shown s = {.most = 10, .steps_alone = true};
    size_t at = 0, shown = 0;

    draw(6, MOST);
    show(&s);
    for (size_t i = 0; i < n; i++)
        if (report_shown_has(&s, i, &at)) {
            size_t before = 0;

            assert_true((is[i] & REPORT_RANKED) && store_has_step(&rows[i].metrics));
            for (size_t k = 0; k < n; k++)
                before += (is[k] & REPORT_RANKED) && store_has_step(&rows[k].metrics) && k != i &&
                          comes_before(k, i);
            assert_true(before < 10);
            shown++;
        }
    assert_int_equal(shown, 10);
    report_shown_free(&s);
}

CLAIM(a_page_that_lacks_points_says_so)
{
    const store_row *row = &rows[0];
    const uint32_t of = 0;
    const char *band = NULL;
    report_reasons failed = {0};
    report_points p;
    dse_arena a;
    dse_strbuf out;

    dse_arena_init(&a);
    dse_strbuf_init(&out);
    draw(7, 40);
    rows[0].done = true;
    rows[0].metrics.wall_time = 5;
    studies[0].n = 1;
    studies[0].ranked = &row;
    studies[0].n_ranked = 1;
    p = report_points_of(studies, 1, &a);
    p.row = &row;
    p.of = &of;
    p.n = 1;
    for (p.n_done = 1; p.n_done <= 2; p.n_done++) {
        dse_strbuf_clear(&out);
        report_sweep_html(&(report_sweep){.title = "t",
                                          .made_by = "",
                                          .points = &p,
                                          .failed = &failed,
                                          .by = store_column_find("wall_time"),
                                          .band = &band},
                          &a, &out);
        assert_int_equal(strstr(out.data, "Ranking and charts have 1 of 2 points: ") != NULL, p.n_done == 2);
    }
    dse_strbuf_free(&out);
    dse_arena_free(&a);
}

CLAIM(failures_are_counted_by_reason)
{
    char why[20];
    report_reasons r = {0};
    dse_arena a;

    dse_arena_init(&a);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k <= i; k++) {
            snprintf(why, sizeof why, "reason %d", i);
            report_reasons_add(&r, why, &a);
        }
    assert_int_equal(r.n, REPORT_REASONS);
    assert_string_equal(r.reason[9].why, "reason 9");
    assert_u64(r.reason[9].n, 10);
    assert_u64(r.n_others, 11 + 12);
    dse_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_are_shown_with_the_front_and_the_best_of_each_study),
        cmocka_unit_test(of_few_points_all_are_shown),
        cmocka_unit_test(bars_are_of_points_that_fit_and_whose_step_is_known),
        cmocka_unit_test(a_page_that_lacks_points_says_so),
        cmocka_unit_test(failures_are_counted_by_reason),
    };
    return RUN_TESTS(tests);
}
