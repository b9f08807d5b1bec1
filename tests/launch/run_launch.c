/* What is written for the launch of strategies, against complete examples and against the programs' options and rules.
 *
 * usage: run_launch [-s SEED] [-n COUNT] [-w FOLDER] REFERENCES
 *
 * REFERENCES has launch_flags.json and examples/. COUNT random strategies of shipped models are written for each program; what
 * drv_launch_job or launch_write refuses counts as refused, all else must have names and values that the program has, break
 * none of its rules, and say the strategy. -w writes them to files, for the programs' own parsers. Exit code 0: all is
 * well; 1; 77: there are no references. */
#include "launch/checks.h"

#include "base/fs.h"
#include "driver/programs.h"
#include "driver/training.h"
#include "shortcuts/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *model, *system, *settings[2];
} studies[] = {
    {"llama-3.1-8b", "hgx_h100", {"network.npus_count[1]=2", "batch=96"}},
    {"llama-3.1-70b", "hgx_h100", {"network.npus_count[1]=16", "batch=256"}},
    {"llama-3.1-405b", "hgx_b200", {"network.npus_count[1]=32", "batch=1024"}},
    {"gpt3-175b", "selene_a100_80gb", {"network.npus_count[1]=24", "batch=192"}},
    {"nemotron-340b", "hgx_h100", {"network.npus_count[1]=48", "batch=768"}},
    {"qwen3-4b", "hgx_b200", {"network.npus_count[1]=2", "batch=64"}},
};
#define N_STUDIES  (sizeof studies / sizeof *studies)
#define N_PROGRAMS 6

typedef struct {
    dse_arena studies, point;
    drv_study study[N_STUDIES];
    flags *flags;
    const char *folder;
    uint64_t written[N_PROGRAMS], refused[N_PROGRAMS];
    int wrong;
} tester;

dse_status checks_point(const char *const *words, const drv_study *s, strategy *out, dse_error *err)
{
    for (; *words; words++) {
        const char *is = strchr(*words, '=');
        char name[64];
        uint32_t parameter, value;
        dse_status st;

        snprintf(name, sizeof name, "%.*s", (int)(is - *words), *words);
        if ((parameter = strategy_find(name)) == STRATEGY_N)
            return dse_fail(err, DSE_E_USAGE, "there is no parameter %s", name);
        if ((st = strategy_parse(&strategy_parameters[parameter], name, is + 1, &value, err)) != DSE_OK)
            return st;
        strategy_set(out, parameter, value);
    }
    drv_training_fill_dp(s, out);
    drv_training_settle(out);
    return DSE_OK;
}

/* Mostly what the program does anyway: few points of random values alone would be accepted. */
static uint32_t draw_value(rng *r, uint32_t parameter, uint32_t usual)
{
    static const uint32_t degrees[] = {1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 16};
    const strategy_parameter *p = &strategy_parameters[parameter];

    if (!strategy_has_profile(parameter, STRATEGY_PROFILE_TRAIN) || p->kind == STRATEGY_SWITCH ||
        parameter == STRATEGY_like ||
        rng_percent(r, p->is_axis || parameter == STRATEGY_vp || parameter == STRATEGY_micro_batch ? 20 : 75))
        return usual;
    if (p->kind == STRATEGY_CHOICE)
        return rng_below(r, strategy_n_values(p));
    return parameter == STRATEGY_zero ? rng_below(r, 4) : RNG_PICK(r, degrees);
}

static strategy draw_point(rng *r, const drv_study *s, const launch_program *program)
{
    strategy p = strategy_default();

    strategy_parse(&strategy_parameters[STRATEGY_like], "like", program->like, &p.like, NULL);
    drv_program_set_defaults(&p, 0);
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        strategy_set(&p, i, draw_value(r, i, strategy_get(&p, i)));
    drv_training_fill_dp(s, &p);
    drv_training_settle(&p);
    return p;
}

static void check_text(tester *t, const launch_job *j, const launch_program *p, const char *text,
                       uint64_t number)
{
    char name[STRATEGY_NAME_MAX], path[4096];
    const char *rule = "it can be read";
    dse_error err = DSE_ERROR_INIT;
    int wrong = 1;
    pairs said;

    if (checks_read(p, text, &t->point, &said)) {
        wrong = check_legal(t->flags, p, &said);
        rule = broken_rule(j, p, &said, text);
    }
    if (wrong || rule) {
        strategy_name(&j->point, NULL, name);
        printf("%s on %u x %u, %s, for %s: %s\n", j->model, j->nodes, j->per_node, name, p->name,
               rule ? rule : "names and values");
        t->wrong++;
    }
    snprintf(path, sizeof path, "%s/%s.%" PRIu64, t->folder ? t->folder : "", p->name, number);
    if (t->folder && dse_write_file(path, text, strlen(text), &err) != DSE_OK)
        printf("%s\n", err.text);
}

static void check_random(tester *t, rng *r, uint32_t k, uint64_t number)
{
    const drv_study *s = &t->study[rng_below(r, N_STUDIES)];
    const launch_program *p = launch_programs[k];
    const strategy point = draw_point(r, s, p);
    dse_strbuf text;
    launch_job job;

    dse_arena_reset(&t->point);
    dse_strbuf_init(&text);
    if (drv_launch_job(s, &point, p, 0, &job, NULL) != DSE_OK ||
        launch_write(&job, p, &text, NULL) != DSE_OK) {
        t->refused[k]++;
    } else {
        t->written[k]++;
        check_text(t, &job, p, text.data, number);
    }
    dse_strbuf_free(&text);
}

static dse_status load(tester *t, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; i < N_STUDIES && st == DSE_OK; i++) {
        const char *words[] = {studies[i].settings[0], studies[i].settings[1]};
        cfg_settings settings;

        if ((st = drv_settings_parse(words, 2, &t->studies, &settings, err)) == DSE_OK)
            st = drv_study_load(studies[i].model, studies[i].system, &settings, &t->studies, &t->study[i],
                                err);
    }
    return st;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 300;
    dse_error err = DSE_ERROR_INIT;
    tester t = {0};

    for (int opt; (opt = getopt(argc, argv, "s:n:w:")) != -1;) {
        if (opt == 'w')
            t.folder = optarg;
        else if (opt == 's' || opt == 'n')
            *(opt == 's' ? &seed : &count) = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    if (optind + 1 != argc)
        return 2;
    if (!(t.flags = flags_load(argv[optind]))) {
        printf("no launch_flags.json in %s: skipped\n", argv[optind]);
        return 77;
    }
    dse_arena_init(&t.studies);
    dse_arena_init(&t.point);
    t.wrong = check_examples(argv[optind]);
    if (load(&t, &err) != DSE_OK) {
        printf("%s: %s\n", err.where, err.text);
        t.wrong++;
    }
    for (uint32_t k = 0; !err.status && k < N_PROGRAMS; k++) {
        for (uint64_t i = 0; t.written[k] < count && i < 1000 * count; i++) {
            rng r = rng_of(seed + k, i);

            check_random(&t, &r, k, i);
        }
        printf("%s: %" PRIu64 " written, %" PRIu64 " refused\n", launch_programs[k]->name, t.written[k],
               t.refused[k]);
        t.wrong += t.written[k] < count;
    }
    flags_free(t.flags);
    dse_arena_free(&t.point);
    dse_arena_free(&t.studies);
    return t.wrong != 0;
}
