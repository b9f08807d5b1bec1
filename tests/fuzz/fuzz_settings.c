/* Words of a command line that change what the cards, a recording or a schedule say: a line each of "path=value" (--set),
 * "network=2" (whatif --scale) and "1,2,1,1" (schedule --costs). */
#include "cards/model.h"
#include "cards/system.h"
#include "driver/study.h"
#include "fuzz/fuzz.h"
#include "schedule/compose.h"
#include "schedule/schedule.h"
#include "whatif/question.h"

#include <math.h>
#include <string.h>

#define MOST_WORDS 16

static void check_settings(const char *const *word, size_t n, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    cfg_settings settings = {0};

    if (!fuzz_ok(drv_settings_parse(word, n, a, &settings, &err), &err))
        return;
    ENSURE(settings.n <= n);
    for (size_t i = 0; i < settings.n; i++) {
        const cfg_setting *s = &settings.item[i];
        card_system *system = dse_arena_zero(a, 1, sizeof *system);
        card_model *model = dse_arena_zero(a, 1, sizeof *model);

        ENSURE(*s->path && s->value && (!i || strcmp(s[-1].path, s->path) < 0));
        err = (dse_error)DSE_ERROR_INIT;
        fuzz_ok(drv_path_check(s->path, &err), &err);
        cfg_table_fill_lists(&card_system_table, system);
        err = (dse_error)DSE_ERROR_INIT;
        if (fuzz_ok(cfg_table_set(&card_system_table, s, system, &err), &err))
            ENSURE(cfg_table_has(&card_system_table, s->path));
        err = (dse_error)DSE_ERROR_INIT;
        if (fuzz_ok(cfg_table_set(&card_model_table, s, model, &err), &err))
            ENSURE(cfg_table_has(&card_model_table, s->path));
    }
}

static void check_question(const char *word)
{
    whatif_question q = whatif_no_change();
    dse_error err = DSE_ERROR_INIT;

    if (!fuzz_ok(whatif_scale(&q, word, &err), &err))
        return;
    for (int i = 0; i < METRIC_PARALLELS; i++)
        ENSURE(q.network[i] > 0);
    for (int i = 0; i < WHATIF_KINDS; i++)
        ENSURE(isfinite(q.run[i]) && q.run[i] >= 0);
    ENSURE(isfinite(q.host) && q.host >= 0 && isfinite(q.pattern_time) && q.pattern_time >= 0);
}

static void check_costs(const char *word, dse_arena *a)
{
    static const char plan_text[] = "F0,B0\nF0,B0\n";
    dse_error err = DSE_ERROR_INIT;
    sched_plan plan;
    sched_costs costs;

    if (fuzz_ok(sched_read_csv(plan_text, strlen(plan_text), "plan", a, &plan, &err), &err))
        fuzz_ok(sched_costs_parse(word, &plan, a, &costs, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *word[MOST_WORDS];
    char *rest = NULL, *text;
    dse_arena arena;
    size_t n = 0;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    text = dse_arena_printf(&arena, "%.*s", (int)size, (const char *)data);
    for (char *w = strtok_r(text, "\n", &rest); w && n < MOST_WORDS; w = strtok_r(NULL, "\n", &rest)) {
        word[n++] = w;
        check_question(w);
        check_costs(w, &arena);
    }
    check_settings(word, n, &arena);
    dse_arena_free(&arena);
    return 0;
}
