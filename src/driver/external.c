#include "driver/external.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/words.h"
#include "driver/emit.h"
#include "driver/stage_main.h"
#include "report/rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ASTRA-sim takes a group file with this in its path for none at all (Workload.cc). */
#define NO_GROUPS "empty"

/* ---- the tools ----------------------------------------------------------------------------- */

static dse_status split_command(const char *option, const char *text, dse_arena *a, drv_command *out,
                                dse_error *err)
{
    dse_status st = dse_split_words(text, a, &out->word, &out->n, err);

    if (st == DSE_OK && (out->n == 0 || !*out->word[0]))
        st = dse_fail(err, DSE_E_USAGE, "%s names no program", option);
    return st;
}

static const char *absolute(const char *folder, const char *word, dse_arena *a)
{
    return *word == '/' ? word : dse_arena_printf(a, "%s/%s", folder, word);
}

/* A simulator runs in another folder. */
static dse_status split_simulator(const char *option, const char *text, const char *folder, dse_arena *a,
                                  drv_command *out, dse_error *err)
{
    dse_status st = split_command(option, text, a, out, err);

    for (size_t i = 0; st == DSE_OK && i < out->n; i++)
        if (strchr(out->word[i], '/') && (i == 0 || access(out->word[i], F_OK) == 0))
            out->word[i] = absolute(folder, out->word[i], a);
    return st;
}

/* The folder of STAGE's script, in which its branch main runs, as it reads its tables from there. */
static const char *script_folder(const drv_command *stage, const char *current, dse_arena *a)
{
    for (size_t i = 0; i < stage->n; i++) {
        const char *word = stage->word[i], *slash = strrchr(word, '/');
        const size_t n = strlen(word);

        if (slash && n > 3 && !strcmp(word + n - 3, ".py") && access(word, F_OK) == 0) {
            stage->word[i] = absolute(current, word, a);
            return dse_arena_printf(a, "%.*s", (int)(strrchr(stage->word[i], '/') - stage->word[i]),
                                    stage->word[i]);
        }
    }
    return NULL;
}

dse_status drv_external_init(const drv_external_options *o, dse_arena *a, drv_external *out, dse_error *err)
{
    char folder[PATH_MAX];
    dse_status st;

    *out = (drv_external){.timeout_seconds = o->timeout_seconds, .discard_workloads = o->discard_workloads};
    if (!getcwd(folder, sizeof folder))
        return dse_fail_errno(err, DSE_E_IO, "cannot find the current folder");
    if (strstr(folder, NO_GROUPS))
        return dse_fail(err, DSE_E_CONFIG,
                        "ASTRA-sim does not read communicator groups below '%.300s', as there is '" NO_GROUPS
                        "' in it; run in another folder",
                        folder);
    out->folder = dse_arena_strdup(a, folder);
    st = o->stage ? split_command("--stage-cmd", o->stage, a, &out->stage, err) : DSE_OK;
    if (st == DSE_OK && o->stage && strchr(out->stage.word[0], '/'))
        out->stage.word[0] = absolute(out->folder, out->stage.word[0], a);
    if (st == DSE_OK && o->stage)
        out->stage_folder = script_folder(&out->stage, out->folder, a);
    for (drv_simulator i = 0; st == DSE_OK && i < DRV_N_SIMULATORS; i++)
        if (o->simulator[i])
            st = split_simulator(drv_simulators[i].option, o->simulator[i], out->folder, a,
                                 &out->simulator[i], err);
    return st;
}

dse_status drv_external_check(const drv_external *x, const drv_study *s, dse_error *err)
{
    const drv_simulator_row *row = &drv_simulators[drv_simulator_of(&s->system)];
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (s->training && !x->unrolls)
        return dse_fail(err, DSE_E_CONFIG,
                        "STAGE does not have the step of profile train, as %s has it; 'ccldse verify' has "
                        "ASTRA-sim run it",
                        s->model_name);
    if (!s->training && !x->stage.n)
        return dse_fail(err, DSE_E_USAGE, "%s has profile stage, whose traces STAGE writes; give --stage-cmd",
                        s->model_name);
    st = drv_simulator_check(&s->system, &why);
    if (st != DSE_OK)
        return dse_fail(err, st, "%s: %s", s->system_name, why.text);
    if (!x->simulator[row - drv_simulators].n)
        return dse_fail(err, DSE_E_USAGE,
                        "%s has the backend %s, for which ASTRA-sim has a program of its own; give %s",
                        s->system_name, row->backend, row->option);
    return DSE_OK;
}

/* ---- the folders --------------------------------------------------------------------------- */

/* A part of a folder's name: letters, digits and "._-" of at most 60; nothing that a tool could take for a
 * pattern, and no word that ASTRA-sim takes for another. */
static void add_name(dse_strbuf *out, const char *name)
{
    size_t start = out->len;

    for (size_t i = 0; i < 60 && name[i]; i++) {
        bool plain = (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'z') ||
                     (name[i] >= 'A' && name[i] <= 'Z') || strchr("._-", name[i]);

        dse_strbuf_addc(out, plain ? name[i] : '-');
    }
    for (char *p; (p = strstr(out->data + start, NO_GROUPS));)
        *p = '-';
}

static const char *point_name(const drv_study *s, const strategy *p, dse_arena *a)
{
    drv_study external = *s;
    dse_strbuf config = dse_strbuf_in(a), text = dse_strbuf_in(a);

    external.engine = DRV_EXTERNAL_ENGINE;
    drv_study_write_config(&external, p, &config);
    add_name(&text, s->model_name);
    dse_strbuf_addc(&text, '_');
    add_name(&text, s->system_name);
    dse_strbuf_addf(&text, "_%s_%08" PRIx32, report_strategy_name(p).text,
                    (uint32_t)(dse_hash_bytes(config.data, config.len) & UINT32_MAX));
    return text.data;
}

static void name_folders(const drv_study *s, const strategy *p, dse_arena *a, drv_external_point *out)
{
    out->name = point_name(s, p, a);
    out->workload = dse_arena_printf(a, "workloads/%s", out->name);
    out->configs = dse_arena_printf(a, "astrasim_configs/%s", out->name);
    out->results = dse_arena_printf(a, "results/astrasim/%s", out->name);
    out->groups = card_model_is_main(&s->model) ? "workload.json" : "comm_group.json";
    out->stage_log = dse_arena_printf(a, "%s/stage.log", out->results);
    out->simulator_log = dse_arena_printf(a, "%s/astrasim.log", out->results);
    out->own_log = dse_arena_printf(a, "%s/log/log.log", out->results);
}

dse_status drv_external_make_folders(const drv_external_point *p, dse_arena *a, dse_error *err)
{
    dse_status st;

    if ((st = dse_remove_tree(p->workload, err)) != DSE_OK ||
        (st = dse_remove_tree(p->results, err)) != DSE_OK ||
        (st = drv_emit_system(&p->system, p->configs, a, err)) != DSE_OK ||
        (st = dse_mkdirs(p->workload, err)) != DSE_OK || (st = dse_mkdirs(p->results, err)) != DSE_OK)
        return st;
    return p->unrolled ? drv_emit_traces(&p->unrolled->workload, p->workload, a, err) : DSE_OK;
}

/* ---- the commands -------------------------------------------------------------------------- */

typedef struct {
    const char **word;
    size_t n;
} command_line;

static void begin(command_line *l, const drv_command *program, size_t more, dse_arena *a)
{
    *l = (command_line){.word = DSE_ARENA_NEW(a, const char *, program->n + more + 1)};
    for (size_t i = 0; i < program->n; i++)
        l->word[l->n++] = program->word[i];
}

static void add(command_line *l, const char *word) { l->word[l->n++] = word; }

/* STAGE's branch main, which has other options, and runs in its own folder. */
static dse_status plan_stage_main(const drv_external *x, const drv_study *s, const strategy *p, dse_arena *a,
                                  drv_external_point *out, dse_error *err)
{
    wl_main_options o;
    command_line l;
    dse_status st = drv_stage_main_options(s, p, &o, err);

    if (st != DSE_OK)
        return st;
    begin(&l, &x->stage, 4 + DRV_STAGE_MAIN_WORDS, a);
    add(&l, "--output_dir");
    add(&l, absolute(x->folder, out->workload, a));
    add(&l, "--output_name");
    add(&l, "workload");
    l.n += drv_stage_main_words(&o, a, l.word + l.n);
    out->job.command[out->job.n++] =
        (exec_command){l.word, x->stage_folder ? x->stage_folder : ".", out->stage_log, x->timeout_seconds};
    return DSE_OK;
}

/* The options of STAGE's main.py (branch recomp, 0b44904). */
static const struct {
    const char *symbol, *option;
} size_options[] = {{"Din", "--din"},     {"Dout", "--dout"}, {"Dmodel", "--dmodel"}, {"Dff", "--dff"},
                    {"Batch", "--batch"}, {"Seq", "--seq"},   {"Head", "--head"}};
#define N_SIZES DSE_COUNT(size_options)

static dse_status add_sizes(command_line *l, const drv_study *s, dse_arena *a, dse_error *err)
{
    wl_symbols symbols;
    dse_status st = card_model_symbols(&s->model, &s->operators, &symbols, err);

    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < symbols.n; i++) {
        size_t k = 0;

        while (k < N_SIZES && strcmp(size_options[k].symbol, symbols.name[i]) != 0)
            k++;
        if (k == N_SIZES)
            return dse_fail_at(err, DSE_E_CONFIG, s->operators.path,
                               "STAGE has no option for the symbol '%.40s'", symbols.name[i]);
        add(l, size_options[k].option);
        add(l, dse_arena_printf(a, "%" PRId64, symbols.value[i]));
    }
    return DSE_OK;
}

/* It runs in the current folder, so that a script is found where the user sees it. */
static dse_status plan_stage(const drv_external *x, const drv_study *s, const strategy *p, dse_arena *a,
                             drv_external_point *out, dse_error *err)
{
    const struct {
        const char *option;
        int64_t v;
    } numbers[] = {{"--dp", p->dp},
                   {"--tp", p->tp},
                   {"--sp", p->sp},
                   {"--pp", p->pp},
                   {"--num_stacks", s->model.layers}};
    const size_t n_numbers = DSE_COUNT(numbers);
    const char *const texts[] = {"--output_dir",
                                 out->workload,
                                 "--output_name",
                                 "workload",
                                 "--comm_group_file",
                                 "comm_group.json",
                                 "--chakra_schema_version",
                                 "v0.0.4",
                                 "--weight_sharded",
                                 p->weight_sharded ? "true" : "false",
                                 "--activation_recompute",
                                 p->recompute ? "true" : "false"};
    const size_t n_texts = DSE_COUNT(texts);
    command_line l;
    dse_status st;

    begin(&l, &x->stage, n_texts + 2 * (n_numbers + N_SIZES), a);
    for (size_t i = 0; i < n_texts; i++)
        add(&l, texts[i]);
    for (size_t i = 0; i < n_numbers; i++) {
        add(&l, numbers[i].option);
        add(&l, dse_arena_printf(a, "%" PRId64, numbers[i].v));
    }
    st = add_sizes(&l, s, a, err);
    out->job.command[out->job.n++] = (exec_command){l.word, ".", out->stage_log, x->timeout_seconds};
    return st;
}

static dse_status plan_unrolled(const drv_study *s, const strategy *p, dse_arena *a, drv_external_point *out,
                                dse_error *err)
{
    drv_unrolled *u = DSE_ARENA_NEW(a, drv_unrolled, 1);
    step_result step;
    dse_status st = drv_training_on(s, p, STEP_UNITS, a, &step, err);

    out->unrolled = u;
    if (st == DSE_OK && (st = drv_unrolled_make(s, p, &step, a, u, err)) == DSE_OK)
        out->system = u->system;
    return st;
}

/* It runs in a folder of its own, as it leaves logs and memory traces where it runs. */
static void plan_simulator(const drv_external *x, const drv_study *s, dse_arena *a, drv_external_point *out)
{
    const struct {
        const char *option, *folder, *file;
    } files[] = {{"--workload-configuration", out->workload, "workload"},
                 {"--comm-group-configuration", out->workload, out->groups},
                 {"--system-configuration", out->configs, "system.json"},
                 {"--network-configuration", out->configs, "network.yml"},
                 {"--remote-memory-configuration", out->configs, "remote_memory.json"}};
    const size_t n_files = DSE_COUNT(files);
    command_line l;

    begin(&l, &x->simulator[drv_simulator_of(&s->system)], n_files, a);
    for (size_t i = 0; i < n_files; i++)
        add(&l,
            dse_arena_printf(a, "%s=%s/%s/%s", files[i].option, x->folder, files[i].folder, files[i].file));
    out->job.command[out->job.n++] =
        (exec_command){l.word, out->results, out->simulator_log, x->timeout_seconds};
}

/* Whether STAGE can generate it. */
static dse_status check_study(const drv_study *s, dse_error *err)
{
    const wl_precision precision = card_model_precision(&s->model);
    const bool is_main = card_model_is_main(&s->model); /* which says itself what it lacks */

    if (!is_main && strcmp(s->model.operators, "transformer") != 0)
        return dse_fail(err, DSE_E_CONFIG,
                        "%s has the operators '%s', and STAGE has only those of 'transformer'", s->model_name,
                        s->model.operators);
    if (!is_main && wl_in_bytes(&precision))
        return dse_fail(err, DSE_E_CONFIG,
                        "%s has a precision, and STAGE counts elements, not bytes; give --set precision=none",
                        s->model_name);
    if (s->tag_base != WL_TAG_BASE)
        return dse_fail(err, DSE_E_CONFIG,
                        "STAGE draws the tags of its messages; tag base %" PRIu32 " cannot be given to it",
                        s->tag_base);
    return DSE_OK;
}

/* STAGE has one value of each parameter that came later than it. */
static dse_status check_point(const strategy *p, dse_error *err)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *parameter = &strategy_parameters[i];
        char text[2][STRATEGY_VALUE_MAX];

        if (parameter->omit_default && strategy_get(p, i) != parameter->fallback)
            return dse_fail(err, DSE_E_CONFIG, "the point has %s %s, and STAGE has only %s", parameter->name,
                            strategy_print(parameter, strategy_get(p, i), text[0]),
                            strategy_print(parameter, parameter->fallback, text[1]));
    }
    return DSE_OK;
}

dse_status drv_external_plan(const drv_external *x, const drv_study *s, const strategy *p, dse_arena *a,
                             drv_external_point *out, dse_error *err)
{
    dse_status st = DSE_OK;

    *out = (drv_external_point){.system = s->system};
    if (!s->training && (st = check_study(s, err)) == DSE_OK && !card_model_is_main(&s->model))
        st = check_point(p, err);
    if (st != DSE_OK || (st = drv_external_check(x, s, err)) != DSE_OK ||
        (st = drv_point_check(s, p, err)) != DSE_OK)
        return st;
    name_folders(s, p, a, out);
    st = s->training                     ? plan_unrolled(s, p, a, out, err)
         : card_model_is_main(&s->model) ? plan_stage_main(x, s, p, a, out, err)
                                         : plan_stage(x, s, p, a, out, err);
    if (st == DSE_OK)
        plan_simulator(x, s, a, out);
    return st;
}
