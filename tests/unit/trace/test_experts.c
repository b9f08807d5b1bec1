#include "trace/experts.h"

#include "unit/unit.h"

typedef struct {
    char folder[64];
    dse_arena arena;
    dse_error err;
    trace_experts e;
} fixture;

static void start(fixture *f)
{
    *f = (fixture){0};
    unit_make_folder(f->folder);
    dse_arena_init(&f->arena);
}

static void stop(fixture *f)
{
    dse_arena_free(&f->arena);
    unit_remove_folder(f->folder);
}

static void put_folder(const fixture *f, const char *name)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void put(const fixture *f, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    unit_write_text(path, text);
}

static dse_status load(fixture *f) { return trace_experts_load(f->folder, &f->arena, &f->e, &f->err); }

/* Steps of 2 and 3 experts: 1 + 0, 2 + 1, 0 + 5; the empty step is none. */
CLAIM(loads_are_added_over_steps_and_files)
{
    fixture f;

    start(&f);
    put_folder(&f, "base_gates_logs");
    put_folder(&f, "base_gates_logs/gates_logs_1");
    put(&f, "base_gates_logs/gates_logs_1/gate_logs_0.json", "{\"expert_loads\": [[1, 2], []]}");
    put(&f, "base_gates_logs/gates_logs_1/gate_logs_1.json", "{\"expert_loads\": [[0, 1, 5]]}");
    put(&f, "base_gates_logs/gates_logs_1/notes.json", "no");
    assert_ok(load(&f), &f.err);
    assert_int_equal(f.e.n, 3);
    assert_double(f.e.load[0], 1);
    assert_double(f.e.load[1], 3);
    assert_double(f.e.load[2], 5);
    assert_u64(f.e.n_steps, 2);
    assert_u64(f.e.n_files, 2);
    stop(&f);
}

CLAIM(the_directory_may_hold_the_logs_itself)
{
    fixture f;

    start(&f);
    put_folder(&f, "gates_logs_a");
    put(&f, "gates_logs_a/gate_logs_0.json", "{\"expert_loads\": [[2.5]]}");
    assert_ok(load(&f), &f.err);
    assert_int_equal(f.e.n, 1);
    assert_double(f.e.load[0], 2.5);
    stop(&f);
}

CLAIM(without_logs_there_are_no_files)
{
    fixture f;

    start(&f);
    assert_ok(load(&f), &f.err);
    assert_u64(f.e.n_files, 0);
    put_folder(&f, "gates_logs_a");
    put(&f, "gates_logs_a/gate_logs_0.json", "{}");
    assert_ok(load(&f), &f.err);
    assert_u64(f.e.n_files_without, 1);
    assert_int_equal(f.e.n, 0);
    stop(&f);
}

CLAIM(a_load_that_is_no_count_is_refused)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"{\"expert_loads\": [[1, -2]]}", "the load of an expert is to be a number from 0 on, not '-2'"},
        {"{\"expert_loads\": [[\"many\"]]}", "the load of an expert is to be a number from 0 on, not 'many'"},
        {"{\"expert_loads\": [5]}", "a step of expert_loads is to be a list of numbers, not '5'"},
        {"{\"expert_loads\": {}}", "expert_loads is to be a list of steps, not a mapping"},
    };
    fixture f;

    start(&f);
    put_folder(&f, "gates_logs_a");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(&f, "gates_logs_a/gate_logs_0.json", bad[i].text);
        f.err = (dse_error)DSE_ERROR_INIT;
        assert_says(load(&f), &f.err, DSE_E_CONFIG, bad[i].message);
    }
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_added_over_steps_and_files),
        cmocka_unit_test(the_directory_may_hold_the_logs_itself),
        cmocka_unit_test(without_logs_there_are_no_files),
        cmocka_unit_test(a_load_that_is_no_count_is_refused),
    };

    return RUN_TESTS(tests);
}
