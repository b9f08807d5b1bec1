#include "driver/doctor.h"

#include "base/fs.h"
#include "base/names.h"
#include "cards/locate.h"
#include "driver/doctor_tools.h"
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

/* ---- findings ------------------------------------------------------------------------------ */

/* Paths and the output of tools may contain any bytes; only printable ones reach the terminal. */
void doctor_found(doctor *d, drv_check check, drv_state state, const char *fmt, ...)
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

static void check_cores(doctor *d, drv_check check) { doctor_found(d, check, DRV_THERE, "%u", exec_cores()); }

static void check_memory(doctor *d, drv_check check)
{
    uint64_t total, available;

    exec_memory(&total, &available);
    if (!total) {
        doctor_found(d, check, DRV_UNTRIED, "unknown");
        return;
    }
    doctor_found(d, check, DRV_THERE, "%s, %s of it free", report_bytes(total).text,
                 report_bytes(available).text);
}

static void check_terminal(doctor *d, drv_check check)
{
    const char *term = getenv("TERM");
    struct winsize size = {0};

    if (!isatty(STDERR_FILENO))
        doctor_found(d, check, DRV_ABSENT, "standard error is none; progress is plain lines");
    else if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        doctor_found(d, check, DRV_THERE, "%s, of unknown width", term ? term : "of unknown type");
    else
        doctor_found(d, check, DRV_THERE, "%s, %u columns", term ? term : "of unknown type", size.ws_col);
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

    for (size_t i = 0; i < sizeof card_kinds / sizeof card_kinds[0] && used < sizeof text; i++) {
        dse_error err = DSE_ERROR_INIT;
        const char **names, *folder;
        char *path, *slash;
        size_t n;

        if (card_list(card_kinds[i].kind, d->arena, &names, &n, &folder, &err) != DSE_OK) {
            doctor_found(d, check, DRV_ABSENT, "%s", err.text);
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
    doctor_found(d, check, DRV_THERE, "%s", text);
}

static void check_folder(doctor *d, drv_check check)
{
    char path[900];
    bool known = getcwd(path, sizeof path);

    if (access(".", W_OK | X_OK) == 0)
        doctor_found(d, check, DRV_THERE, "%s can be written to", known ? path : "it");
    else
        doctor_found(d, check, DRV_BROKEN, "%s cannot be written to", known ? path : "it");
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
        doctor_found(d, check, DRV_BROKEN, "%s cannot be made: %s is no folder", wanted, folder);
        return;
    }
    made = strcmp(folder, wanted) != 0;
    if (access(folder, W_OK | X_OK) != 0 || statvfs(folder, &sb) != 0) {
        doctor_found(d, check, DRV_BROKEN, "%s%s%s cannot be written to", made ? wanted : "",
                     made ? " cannot be made: " : "", folder);
        return;
    }
    doctor_found(d, check, sb.f_bavail ? DRV_THERE : DRV_BROKEN, "%s can be %s, %s free", wanted,
                 made ? "made" : "written to", report_size((double)sb.f_bavail * (double)sb.f_frsize).text);
}

static void check_database(doctor *d, drv_check check)
{
    dse_error err = DSE_ERROR_INIT;
    store *s = NULL;

    if (access(d->in->database, F_OK) != 0)
        doctor_found(d, check, DRV_ABSENT, "no %s yet; a sweep makes it", d->in->database);
    else if (store_open(d->in->database, STORE_READ, &s, &err) != DSE_OK)
        doctor_found(d, check, DRV_BROKEN, "%s: %s", d->in->database, err.text);
    else
        doctor_found(d, check, DRV_THERE, "%s can be read", d->in->database);
    store_close(s);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(doctor *d, drv_check check);
} checks[DRV_N_CHECKS] = {
    [DRV_CHECK_CORES] = {"cores", check_cores},
    [DRV_CHECK_MEMORY] = {"memory", check_memory},
    [DRV_CHECK_CARDS] = {"cards", check_cards},
    [DRV_CHECK_FOLDER] = {"this folder", check_folder},
    [DRV_CHECK_RESULTS] = {"results", check_results},
    [DRV_CHECK_DATABASE] = {"database", check_database},
    [DRV_CHECK_TERMINAL] = {"terminal", check_terminal},
    [DRV_CHECK_PYTHON] = {"python3", doctor_check_python},
    [DRV_CHECK_STAGE] = {"STAGE", doctor_check_stage},
    [DRV_CHECK_ASTRASIM] = {"ASTRA-sim", doctor_check_astrasim},
    [DRV_CHECK_AWARE] = {"ASTRA-sim aware", doctor_check_aware},
    [DRV_CHECK_SLURM] = {"Slurm", doctor_check_slurm},
};

dse_status drv_doctor(const drv_doctor_inputs *in, dse_arena *a, drv_finding out[DRV_N_CHECKS],
                      dse_error *err)
{
    doctor d = {.in = in, .arena = a, .finding = out, .err = err};

    for (drv_check i = 0; i < DRV_N_CHECKS && d.status == DSE_OK; i++) {
        out[i] = (drv_finding){checks[i].name, DRV_UNTRIED, ""};
        checks[i].run(&d, i);
    }
    return d.status == DSE_OK ? doctor_run_probes(&d) : d.status;
}
