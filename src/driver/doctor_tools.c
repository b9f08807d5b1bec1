/* External programs, started briefly to see whether they run. */
#include "driver/doctor_tools.h"

#include "base/fs.h"
#include "base/words.h"
#include "exec/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ANSWER_BYTES (1u << 20)

/* A line of text, the first or the last that is not blank; "" if there is none. Returns its bytes. */
static int line_of(const char *text, bool last, const char **line)
{
    int n = 0;

    *line = "";
    while (*text) {
        size_t length = strcspn(text, "\n");

        if (strspn(text, " \t\r") < length && (!n || last)) {
            *line = text;
            n = (int)length;
        }
        text += length + (text[length] == '\n');
    }
    return n;
}

static void add_probe(doctor *d, drv_check check, const char *const *argv,
                      void (*read_answer)(doctor *, drv_check, const exec_outcome *, const char *))
{
    d->probe[d->n_probes++] = (doctor_probe){check, argv, read_answer, NULL};
}

/* How the program ended, and its last line. */
static void report_broken(doctor *d, drv_check check, const exec_outcome *outcome, const char *text)
{
    char how[256];
    const char *line;
    int n = line_of(text, true, &line);

    exec_outcome_text(outcome, how, sizeof how);
    doctor_found(d, check, outcome->end == EXEC_CANNOT_START ? DRV_ABSENT : DRV_BROKEN, "%s%s%.*s", how,
                 n ? ": " : "", n, line);
}

/* Prints the version, then the missing ones of the modules that STAGE's main.py and its own modules
 * import. */
static const char python_script[] = "import importlib.util, sys\n"
                                    "def there(m):\n"
                                    "    try:\n"
                                    "        return importlib.util.find_spec(m) is not None\n"
                                    "    except ImportError:\n"
                                    "        return False\n"
                                    "print(sys.version.split()[0])\n"
                                    "print(', '.join(m for m in ('sympy', 'numpy', 'pandas', 'graphviz', "
                                    "'google.protobuf') if not there(m)))\n";

static void read_python_answer(doctor *d, drv_check check, const exec_outcome *outcome, const char *text)
{
    const char *version, *missing;
    int n = line_of(text, false, &version), n_missing = line_of(text, true, &missing);

    if (outcome->end != EXEC_DONE)
        report_broken(d, check, outcome, text);
    else if (missing != version)
        doctor_found(d, check, DRV_BROKEN, "%.*s, without %.*s", n, version, n_missing, missing);
    else
        doctor_found(d, check, DRV_THERE, "%.*s, with what STAGE imports", n, version);
}

/* The python at the start of STAGE's command line; python3 if there is none. NULL with d->status set. */
static const char *python_of(doctor *d)
{
    const char **words, *name;
    size_t n;

    if (!d->in->stage)
        return "python3";
    if ((d->status = dse_split_words(d->in->stage, d->arena, &words, &n, d->err)) != DSE_OK)
        return NULL;
    if (!n)
        return "python3";
    name = strrchr(words[0], '/');
    name = name ? name + 1 : words[0];
    return strncmp(name, "python", 6) == 0 ? words[0] : "python3";
}

void doctor_check_python(doctor *d, drv_check check)
{
    const char *python = python_of(d), **argv;
    char path[900];

    if (!python)
        return;
    if (!strchr(python, '/') && !exec_find(python, path, sizeof path)) {
        doctor_found(d, check, DRV_ABSENT, "no %s in PATH", python);
        return;
    }
    argv = DSE_ARENA_NEW(d->arena, const char *, 4);
    argv[0] = python;
    argv[1] = "-c";
    argv[2] = python_script;
    add_probe(d, check, argv, read_python_answer);
}

/* A command line followed by --help; NULL after a failure or a finding. */
static const char *const *with_help(doctor *d, drv_check check, const char *command)
{
    const char **words, **argv;
    size_t n;

    if ((d->status = dse_split_words(command, d->arena, &words, &n, d->err)) != DSE_OK)
        return NULL;
    if (!n) {
        doctor_found(d, check, DRV_ABSENT, "its command line is empty");
        return NULL;
    }
    argv = DSE_ARENA_NEW(d->arena, const char *, n + 2);
    memcpy(argv, words, n * sizeof *argv);
    argv[n] = "--help";
    return argv;
}

static void read_stage_answer(doctor *d, drv_check check, const exec_outcome *outcome, const char *text)
{
    if (outcome->end == EXEC_DONE)
        doctor_found(d, check, DRV_THERE, "'%s' answers", d->in->stage);
    else
        report_broken(d, check, outcome, text);
}

void doctor_check_stage(doctor *d, drv_check check)
{
    const char *const *argv;

    if (!d->in->stage)
        doctor_found(d, check, DRV_UNTRIED, "not tried; say --stage-cmd \"python3 PATH/main.py\"");
    else if ((argv = with_help(d, check, d->in->stage)))
        add_probe(d, check, argv, read_stage_answer);
}

/* ASTRA-sim has no --help: it exits with 255 because options are missing, which shows that it starts. Exit
 * codes 126 and 127, of a shell or the loader, show that it does not. */
static void read_astrasim_answer(doctor *d, drv_check check, const exec_outcome *outcome, const char *text)
{
    bool starts = outcome->end == EXEC_DONE ||
                  (outcome->end == EXEC_EXITED && outcome->code != 126 && outcome->code != 127);

    if (starts)
        doctor_found(d, check, DRV_THERE, "%s starts", d->finding[check].found);
    else
        report_broken(d, check, outcome, text);
}

static void check_simulator(doctor *d, drv_check check, drv_simulator which)
{
    static const char *const in_path[DRV_N_SIMULATORS][3] = {
        [DRV_UNAWARE] = {DRV_UNAWARE_PROGRAM, "--help", NULL},
        [DRV_AWARE] = {DRV_AWARE_PROGRAM, "--help", NULL}};
    const char *command = d->in->astrasim[which];
    const char *const *argv = in_path[which];
    char path[900];

    if (command)
        doctor_found(d, check, DRV_UNTRIED, "%s", command);
    else if (exec_find(argv[0], path, sizeof path))
        doctor_found(d, check, DRV_UNTRIED, "%s", path);
    else {
        doctor_found(d, check, DRV_ABSENT, "%s is not in PATH", argv[0]);
        return;
    }
    if (command)
        argv = with_help(d, check, command);
    if (argv)
        add_probe(d, check, argv, read_astrasim_answer);
}

void doctor_check_astrasim(doctor *d, drv_check check) { check_simulator(d, check, DRV_UNAWARE); }

void doctor_check_aware(doctor *d, drv_check check) { check_simulator(d, check, DRV_AWARE); }

static void read_slurm_answer(doctor *d, drv_check check, const exec_outcome *outcome, const char *text)
{
    const char *line;
    int n = line_of(text, false, &line);

    if (outcome->end != EXEC_DONE)
        report_broken(d, check, outcome, text);
    else
        doctor_found(d, check, DRV_THERE, "%.*s", n, line);
}

void doctor_check_slurm(doctor *d, drv_check check)
{
    static const char *const programs[] = {"sbatch", "srun", "sinfo"};
    static const char *const argv[] = {"sbatch", "--version", NULL};
    char path[900], missing[64] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (!exec_find(programs[i], path, sizeof path))
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                                     programs[i]);
    if (used)
        doctor_found(d, check, DRV_ABSENT, "no %s in PATH", missing);
    else
        add_probe(d, check, argv, read_slurm_answer);
}

/* ---- running them -------------------------------------------------------------------------- */

static dse_status next_probe(void *user, exec_job *job, uint64_t *task, bool *any, dse_error *err)
{
    doctor *d = user;
    const doctor_probe *p = &d->probe[d->next];

    (void)err;
    *any = d->next < d->n_probes;
    if (!*any)
        return DSE_OK;
    *task = d->next++;
    *job = (exec_job){1, {{p->argv, ".", p->output, d->in->timeout_seconds}}};
    return DSE_OK;
}

static dse_status probe_done(void *user, uint64_t task, const exec_outcome *outcome, dse_error *err)
{
    doctor *d = user;
    const doctor_probe *p = &d->probe[task];
    dse_strbuf text;

    (void)err;
    dse_strbuf_init(&text);
    if (outcome->end != EXEC_CANNOT_START) /* output that is too long counts as none */
        (void)dse_read_file(p->output, MAX_ANSWER_BYTES, &text, NULL);
    p->read_answer(d, p->check, outcome, text.data);
    dse_strbuf_free(&text);
    return DSE_OK;
}

static void no_tick(void *user) { (void)user; }

dse_status doctor_run_probes(doctor *d)
{
    const exec_job_calls calls = {next_probe, probe_done, no_tick, d};
    const char *tmp = getenv("TMPDIR");
    char *folder = dse_arena_printf(d->arena, "%s/ccldse-doctor.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    dse_status st, removed;

    if (!d->n_probes)
        return DSE_OK;
    if (!mkdtemp(folder))
        return dse_fail_errno(d->err, DSE_E_IO, "cannot make the folder '%s' for what tools say; set TMPDIR",
                              folder);
    for (uint32_t i = 0; i < d->n_probes; i++)
        d->probe[i].output = dse_arena_printf(d->arena, "%s/%u", folder, i);
    st = exec_jobs_run(d->n_probes, &calls, d->err);
    removed = dse_remove_tree(folder, st == DSE_OK ? d->err : NULL);
    return st == DSE_OK ? removed : st;
}
