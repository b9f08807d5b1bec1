#include "driver/doctor.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "base/words.h"
#include "cards/device.h"
#include "cards/locate.h"
#include "exec/jobs.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "report/tree.h"
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAX_ANSWER_BYTES (1u << 20)
#define MAX_PROBES       5

typedef struct doctor doctor;

/* Reads what a program that has run says. */
typedef void read_answer(doctor *d, drv_check check, const char *text);

/* A program to run. */
typedef struct {
    drv_check check;
    const char *const *argv;
    read_answer *read;
    const char *output; /* file */
} probe;

struct doctor {
    const drv_doctor_inputs *in;
    dse_arena *arena;
    drv_finding *finding; /* DRV_N_CHECKS */
    probe probe[MAX_PROBES];
    uint32_t n_probes, next;
    dse_status status; /* a failure that ends the checks */
    dse_error *err;
};

/* ---- findings ------------------------------------------------------------------------------ */

/* Paths and the output of tools may contain any bytes; only printable ones reach the terminal. */
__attribute__((format(printf, 4, 5))) static void found(doctor *d, drv_check check, drv_state state,
                                                        const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (char *p = text; *p && !dse_is_printable(text); p++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
            *p = '?';
    d->finding[check].state = state;
    d->finding[check].found = dse_arena_strdup(d->arena, text);
}

/* ---- the machine --------------------------------------------------------------------------- */

static void check_cores(doctor *d, drv_check check) { found(d, check, DRV_THERE, "%u", exec_cores()); }

static void check_memory(doctor *d, drv_check check)
{
    uint64_t total, available;

    exec_memory(&total, &available);
    if (!total) {
        found(d, check, DRV_UNTRIED, "unknown");
        return;
    }
    found(d, check, DRV_THERE, "%s, %s of it free", report_bytes(total).text, report_bytes(available).text);
}

static void check_terminal(doctor *d, drv_check check)
{
    const char *term = getenv("TERM");
    struct winsize size = {0};

    if (!isatty(STDERR_FILENO))
        found(d, check, DRV_ABSENT, "standard error is none; progress is plain lines");
    else if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        found(d, check, DRV_THERE, "%s, of unknown width", term ? term : "of unknown type");
    else
        found(d, check, DRV_THERE, "%s, %u columns", term ? term : "of unknown type", size.ws_col);
}

/* ---- files --------------------------------------------------------------------------------- */

static const struct {
    card_kind kind;
    const char *one, *many;
} card_kinds[] = {{CARD_MODELS, "model", "models"},
                  {CARD_SYSTEMS, "system", "systems"},
                  {CARD_OPERATORS, "operator file", "operator files"}};

/* Where each kind of card is; configs may lie in several folders, but one of them usually has all kinds. */
static void check_cards(doctor *d, drv_check check)
{
    char text[900] = "", before[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < DSE_COUNT(card_kinds) && used < sizeof text; i++) {
        dse_error err = DSE_ERROR_INIT;
        const char **names, *folder;
        char *path, *slash;
        size_t n;

        if (card_list(card_kinds[i].kind, d->arena, &names, &n, &folder, &err) != DSE_OK) {
            found(d, check, DRV_ABSENT, "%s", err.text);
            return;
        }
        path = realpath(folder, NULL);
        if (path && (slash = strrchr(path, '/')))
            *slash = '\0'; /* the folder of its folder */
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%zu %s", i ? ", " : "",
                                 path && strcmp(path, before) ? path : "",
                                 path && strcmp(path, before) ? ": " : "", n,
                                 n == 1 ? card_kinds[i].one : card_kinds[i].many);
        snprintf(before, sizeof before, "%s", path ? path : "");
        free(path);
    }
    found(d, check, DRV_THERE, "%s", text);
}

static void check_devices(doctor *d, drv_check check)
{
    const char **names, *folder;
    size_t n = 0;
    dse_strbuf text = dse_strbuf_in(d->arena), sheets = dse_strbuf_in(d->arena);

    if (card_list(CARD_DEVICES, d->arena, &names, &n, &folder, NULL) != DSE_OK || !n) {
        found(d, check, DRV_ABSENT, "no laws of kernels; all last as the roofline says");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        dse_strbuf lacks = dse_strbuf_in(d->arena);
        dse_error err = DSE_ERROR_INIT;
        bool has_laws;

        if (card_device_lacks(names[i], d->arena, &has_laws, &lacks, &err) != DSE_OK) {
            found(d, check, DRV_BROKEN, "%s: %s", names[i], dse_error_say(&err).text);
            return;
        }
        if (!has_laws) {
            dse_strbuf_addf(&sheets, "%s%s", sheets.len ? ", " : "data sheets alone of ", names[i]);
            continue;
        }
        dse_strbuf_addf(&text, "%s%s", text.len ? ", " : "laws of kernels of ", names[i]);
        if (lacks.len)
            dse_strbuf_addf(&text, " (without %s)", lacks.data);
    }
    found(d, check, DRV_THERE, "%s%s%s; %s last as the roofline says", text.len ? text.data : "",
          text.len && sheets.len ? "; " : "", sheets.len ? sheets.data : "",
          sheets.len ? "their kernels, and those of others," : "those of others");
}

static void check_folder(doctor *d, drv_check check)
{
    char path[900];
    bool known = getcwd(path, sizeof path);

    if (access(".", W_OK | X_OK) == 0)
        found(d, check, DRV_THERE, "%s can be written to", known ? path : "it");
    else
        found(d, check, DRV_BROKEN, "%s cannot be written to", known ? path : "it");
}

static void parent_of(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        strcpy(path, ".");
    else
        slash[slash == path] = '\0'; /* "/" stays */
}

/* The folder of the database, or its nearest existing parent, as a sweep makes missing folders. */
static void check_results(doctor *d, drv_check check)
{
    char *folder = dse_arena_printf(d->arena, "%s ", d->in->database); /* with room for "." */
    char *wanted;
    struct statvfs sb;
    bool made;

    parent_of(folder);
    wanted = dse_arena_strdup(d->arena, folder);
    while (access(folder, F_OK) != 0 && strcmp(folder, ".") != 0 && strcmp(folder, "/") != 0)
        parent_of(folder);
    if (!dse_is_dir(folder)) {
        found(d, check, DRV_BROKEN, "%s cannot be made: %s is no folder", wanted, folder);
        return;
    }
    made = strcmp(folder, wanted) != 0;
    if (access(folder, W_OK | X_OK) != 0 || statvfs(folder, &sb) != 0) {
        found(d, check, DRV_BROKEN, "%s%s%s cannot be written to", made ? wanted : "",
              made ? " cannot be made: " : "", folder);
        return;
    }
    found(d, check, sb.f_bavail ? DRV_THERE : DRV_BROKEN, "%s can be %s, %s free", wanted,
          made ? "made" : "written to", report_size((double)sb.f_bavail * (double)sb.f_frsize).text);
}

static void check_database(doctor *d, drv_check check)
{
    dse_error err = DSE_ERROR_INIT;
    store *s = NULL;

    if (access(d->in->database, F_OK) != 0)
        found(d, check, DRV_ABSENT, "no %s yet; a sweep makes it", d->in->database);
    else if (store_open(d->in->database, STORE_READ, &s, &err) != DSE_OK)
        found(d, check, DRV_BROKEN, "%s: %s", d->in->database, err.text);
    else
        found(d, check, DRV_THERE, "%s can be read", d->in->database);
    store_close(s);
}

/* ---- external programs, started briefly to see whether they run ------------------------------ */

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

static void add_probe(doctor *d, drv_check check, const char *const *argv, read_answer *read)
{
    d->probe[d->n_probes++] = (probe){check, argv, read, NULL};
}

/* How the program ended, and its last line. */
static void report_broken(doctor *d, drv_check check, const exec_outcome *outcome, const char *text)
{
    char how[256];
    const char *line;
    int n = line_of(text, true, &line);

    exec_outcome_text(outcome, how, sizeof how);
    found(d, check, outcome->end == EXEC_CANNOT_START ? DRV_ABSENT : DRV_BROKEN, "%s%s%.*s", how,
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

static void read_python_answer(doctor *d, drv_check check, const char *text)
{
    const char *version, *missing;
    int n = line_of(text, false, &version), n_missing = line_of(text, true, &missing);

    if (missing != version)
        found(d, check, DRV_BROKEN, "%.*s, without %.*s", n, version, n_missing, missing);
    else
        found(d, check, DRV_THERE, "%.*s, with what STAGE imports", n, version);
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

static void check_python(doctor *d, drv_check check)
{
    const char *python = python_of(d), **argv;
    char path[900];

    if (!python)
        return;
    if (!strchr(python, '/') && !exec_find(python, path, sizeof path)) {
        found(d, check, DRV_ABSENT, "no %s in PATH", python);
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
        found(d, check, DRV_ABSENT, "its command line is empty");
        return NULL;
    }
    argv = DSE_ARENA_NEW(d->arena, const char *, n + 2);
    memcpy(argv, words, n * sizeof *argv);
    argv[n] = "--help";
    return argv;
}

/* Which STAGE it is shows in its options; those of a branch that is neither are unknown. */
static void read_stage_answer(doctor *d, drv_check check, const char *text)
{
    const bool is_recomp = strstr(text, "--comm_group_file"), is_main = strstr(text, "--model_type");

    found(d, check, DRV_THERE, "'%s' answers%s", d->in->stage,
          is_recomp && is_main ? ", as any branch"
          : is_recomp          ? ", branch recomp, for models with stage.version recomp, the default"
          : is_main            ? ", branch main, for models with stage.version main"
                               : "");
}

static void check_stage(doctor *d, drv_check check)
{
    const char *const *argv;

    if (!d->in->stage)
        found(d, check, DRV_UNTRIED, "not tried; say --stage-cmd \"python3 PATH/main.py\"");
    else if ((argv = with_help(d, check, d->in->stage)))
        add_probe(d, check, argv, read_stage_answer);
}

#define MAX_PROGRAM_BYTES ((size_t)512 << 20)

/* Between any zeros. */
static bool has_text(const dse_strbuf *bytes, const char *text)
{
    for (const char *at = bytes->data; at < bytes->data + bytes->len; at += strlen(at) + 1)
        if (strstr(at, text))
            return true;
    return false;
}

/* Which ASTRA-sim a program is, as far as texts in it show; "" if they do not, as of a script. */
static const char *branch_of(const char *program)
{
    static const struct {
        const char *text, *branch;
    } marks[] = {{"--astrasim-version", ", as any branch"}, /* this program */
                 {"Total compute-communication overlap", ", branch master"},
                 {"Average compute utilization", ", branch stage"}};
    const char *out = "";
    char path[900];
    dse_strbuf bytes;

    if (!strchr(program, '/') && exec_find(program, path, sizeof path))
        program = path;
    dse_strbuf_init(&bytes);
    if (dse_read_file(program, MAX_PROGRAM_BYTES, &bytes, NULL) == DSE_OK)
        for (size_t i = DSE_COUNT(marks); i-- > 0;)
            if (has_text(&bytes, marks[i].text))
                out = marks[i].branch;
    dse_strbuf_free(&bytes);
    return out;
}

static void read_astrasim_answer(doctor *d, drv_check check, const char *text)
{
    const char *program = "";

    (void)text;
    for (uint32_t i = 0; i < d->n_probes; i++)
        if (d->probe[i].check == check)
            program = d->probe[i].argv[0];
    found(d, check, DRV_THERE, "%s starts%s", d->finding[check].found, branch_of(program));
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
        found(d, check, DRV_UNTRIED, "%s", command);
    else if (exec_find(argv[0], path, sizeof path))
        found(d, check, DRV_UNTRIED, "%s", path);
    else {
        found(d, check, DRV_ABSENT, "%s is not in PATH", argv[0]);
        return;
    }
    if (command)
        argv = with_help(d, check, command);
    if (argv)
        add_probe(d, check, argv, read_astrasim_answer);
}

static void check_astrasim(doctor *d, drv_check check) { check_simulator(d, check, DRV_UNAWARE); }

static void check_aware(doctor *d, drv_check check) { check_simulator(d, check, DRV_AWARE); }

static void read_slurm_answer(doctor *d, drv_check check, const char *text)
{
    const char *line;
    int n = line_of(text, false, &line);

    found(d, check, DRV_THERE, "%.*s", n, line);
}

static void check_slurm(doctor *d, drv_check check)
{
    static const char *const programs[] = {"sbatch", "srun", "sinfo"};
    static const char *const argv[] = {"sbatch", "--version", NULL};
    char path[900], missing[64] = "";
    size_t used = 0;

    for (size_t i = 0; i < DSE_COUNT(programs); i++)
        if (!exec_find(programs[i], path, sizeof path))
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                                     programs[i]);
    if (used)
        found(d, check, DRV_ABSENT, "no %s in PATH", missing);
    else
        add_probe(d, check, argv, read_slurm_answer);
}

/* ---- running them -------------------------------------------------------------------------- */

static dse_status next_probe(void *user, exec_job *job, uint64_t *task, bool *any, dse_error *err)
{
    doctor *d = user;
    const probe *p = &d->probe[d->next];

    (void)err;
    *any = d->next < d->n_probes;
    if (!*any)
        return DSE_OK;
    *task = d->next++;
    *job = (exec_job){1, {{p->argv, ".", p->output, d->in->timeout_seconds}}};
    return DSE_OK;
}

/* ASTRA-sim has no --help: it exits with 255 because options are missing, which shows that it starts. Exit
 * codes 126 and 127, of a shell or the loader, show that it does not. */
static bool has_run(const probe *p, const exec_outcome *outcome)
{
    return outcome->end == EXEC_DONE || (p->read == read_astrasim_answer && outcome->end == EXEC_EXITED &&
                                         outcome->code != 126 && outcome->code != 127);
}

static dse_status probe_done(void *user, uint64_t task, const exec_outcome *outcome, dse_error *err)
{
    doctor *d = user;
    const probe *p = &d->probe[task];
    dse_strbuf text;

    (void)err;
    dse_strbuf_init(&text);
    if (outcome->end != EXEC_CANNOT_START) /* output that is too long counts as none */
        (void)dse_read_file(p->output, MAX_ANSWER_BYTES, &text, NULL);
    if (has_run(p, outcome))
        p->read(d, p->check, text.data);
    else
        report_broken(d, p->check, outcome, text.data);
    dse_strbuf_free(&text);
    return DSE_OK;
}

static void no_tick(void *user) { (void)user; }

static dse_status run_probes(doctor *d)
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

/* ---- all of it ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(doctor *d, drv_check check);
} checks[DRV_N_CHECKS] = {
    [DRV_CHECK_CORES] = {"cores", check_cores},
    [DRV_CHECK_MEMORY] = {"memory", check_memory},
    [DRV_CHECK_CARDS] = {"cards", check_cards},
    [DRV_CHECK_DEVICES] = {"devices", check_devices},
    [DRV_CHECK_FOLDER] = {"this folder", check_folder},
    [DRV_CHECK_RESULTS] = {"results", check_results},
    [DRV_CHECK_DATABASE] = {"database", check_database},
    [DRV_CHECK_TERMINAL] = {"terminal", check_terminal},
    [DRV_CHECK_PYTHON] = {"python3", check_python},
    [DRV_CHECK_STAGE] = {"STAGE", check_stage},
    [DRV_CHECK_ASTRASIM] = {"ASTRA-sim", check_astrasim},
    [DRV_CHECK_AWARE] = {"ASTRA-sim aware", check_aware},
    [DRV_CHECK_SLURM] = {"Slurm", check_slurm},
};

dse_status drv_doctor(const drv_doctor_inputs *in, dse_arena *a, drv_finding out[DRV_N_CHECKS],
                      dse_error *err)
{
    doctor d = {.in = in, .arena = a, .finding = out, .err = err};

    for (drv_check i = 0; i < DRV_N_CHECKS && d.status == DSE_OK; i++) {
        out[i] = (drv_finding){checks[i].name, DRV_UNTRIED, ""};
        checks[i].run(&d, i);
    }
    return d.status == DSE_OK ? run_probes(&d) : d.status;
}
