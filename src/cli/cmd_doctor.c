/* Says what the machine provides, and which features work with it. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "driver/doctor.h"
#include "report/tree.h"

#include <stdio.h>

#define WIDTH 80 /* of the table; what does not fit goes on in the next line */

typedef struct {
    drv_doctor_inputs in;
    bool json;
} doctor_options;

#define FIELD(f) .offset = offsetof(doctor_options, f)

static const option options[] = {
    {"--stage-cmd", OPT_STRING, "COMMAND", "",
     "STAGE's command line, \"python3 PATH/main.py\"; it is run with --help", FIELD(in.stage)},
    {"--astrasim-bin", OPT_STRING, "COMMAND", "",
     "ASTRA-sim's simulator, if it is not in PATH; it is run with --help", FIELD(in.astrasim[DRV_UNAWARE])},
    {"--astrasim-aware-bin", OPT_STRING, "COMMAND", "", "ASTRA-sim's simulator with congestion, likewise",
     FIELD(in.astrasim[DRV_AWARE])},
    {"--timeout", OPT_DOUBLE, "SECONDS", "30", "how long a tool may take to answer", .min = 0.1, .max = 3600,
     FIELD(in.timeout_seconds)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(in.database)},
    {"--json", OPT_FLAG, NULL, "false", "JSON instead of tables", FIELD(json)},
};

/* ---- features ------------------------------------------------------------------------------ */

#define BIT(check) (1u << (check))
#define EXTERNAL_TOOLS                                                                                       \
    BIT(DRV_CHECK_CARDS) | BIT(DRV_CHECK_FOLDER) | BIT(DRV_CHECK_STAGE) | BIT(DRV_CHECK_ASTRASIM)

/* The features that need something which may be absent. The first row decides the exit code. */
static const struct {
    const char *name, *what;
    unsigned needs;  /* must be there */
    unsigned intact; /* may be absent, but not broken */
} features[] = {
    {"sweep", "sweep, simulate", BIT(DRV_CHECK_CORES) | BIT(DRV_CHECK_CARDS) | BIT(DRV_CHECK_RESULTS),
     BIT(DRV_CHECK_DATABASE)},
    {"best", "best, export", BIT(DRV_CHECK_DATABASE), 0},
    {"emit", "simulate --emit, run by ASTRA-sim", BIT(DRV_CHECK_FOLDER) | BIT(DRV_CHECK_ASTRASIM), 0},
    {"astrasim", "sweep --engine astrasim", EXTERNAL_TOOLS | BIT(DRV_CHECK_RESULTS), BIT(DRV_CHECK_DATABASE)},
    {"aware", "--engine astrasim with congestion",
     BIT(DRV_CHECK_CARDS) | BIT(DRV_CHECK_FOLDER) | BIT(DRV_CHECK_STAGE) | BIT(DRV_CHECK_AWARE) |
         BIT(DRV_CHECK_RESULTS),
     BIT(DRV_CHECK_DATABASE)},
    {"verify", "verify", EXTERNAL_TOOLS | BIT(DRV_CHECK_DATABASE), 0},
};
#define N_FEATURES DSE_COUNT(features)

/* Uses of a check beside the features. */
static const char *const other_uses[DRV_N_CHECKS] = {
    [DRV_CHECK_MEMORY] = "some 25 MB a core",
    [DRV_CHECK_DEVICES] = "profile train",
    [DRV_CHECK_TERMINAL] = "progress in one line",
    [DRV_CHECK_PYTHON] = "STAGE",
};

static bool is_missing(size_t feature, drv_check check, const drv_finding *found)
{
    drv_state state = found[check].state;

    return ((features[feature].needs & BIT(check)) && state != DRV_THERE) ||
           ((features[feature].intact & BIT(check)) && state == DRV_BROKEN);
}

static bool works(size_t feature, const drv_finding *found)
{
    for (drv_check c = 0; c < DRV_N_CHECKS; c++)
        if (is_missing(feature, c, found))
            return false;
    return true;
}

/* ---- output -------------------------------------------------------------------------------- */

static const char *const state_words[] = {
    [DRV_THERE] = "ok", [DRV_ABSENT] = "no", [DRV_BROKEN] = "bad", [DRV_UNTRIED] = "?"};
static const char *const state_names[] = {
    [DRV_THERE] = "ok", [DRV_ABSENT] = "absent", [DRV_BROKEN] = "broken", [DRV_UNTRIED] = "untried"};

static void add_uses(drv_check check, dse_strbuf *out)
{
    size_t before = out->len;

    for (size_t i = 0; i < N_FEATURES; i++)
        if (features[i].needs & BIT(check))
            dse_strbuf_addf(out, "%s%s", out->len > before ? ", " : "", features[i].name);
    if (out->len == before)
        dse_strbuf_adds(out, other_uses[check] ? other_uses[check] : "nothing so far");
}

static void print_checks(const drv_finding *found, dse_arena *a, dse_strbuf *out)
{
    enum { NAME_COLUMN = 4, USES_COLUMN = 21, FOUND_COLUMN = 45 };
    dse_strbuf uses = dse_strbuf_in(a);

    dse_strbuf_addf(out, "%-*s%-*s%s\n", USES_COLUMN, "    what", FOUND_COLUMN - USES_COLUMN, "needed for",
                    "found");
    for (drv_check c = 0; c < DRV_N_CHECKS; c++) {
        dse_strbuf_clear(&uses);
        add_uses(c, &uses);
        dse_strbuf_addf(out, "%-*s%-*s%-*s", NAME_COLUMN, state_words[found[c].state],
                        USES_COLUMN - NAME_COLUMN, found[c].name, FOUND_COLUMN - USES_COLUMN, uses.data);
        if (uses.len >= FOUND_COLUMN - USES_COLUMN)
            dse_strbuf_addf(out, "\n%*s", FOUND_COLUMN, "");
        dse_strbuf_add_wrapped(out, found[c].found, FOUND_COLUMN, WIDTH);
        dse_strbuf_addc(out, '\n');
    }
}

static report_node *list_checks(const drv_finding *found, report_node *to)
{
    report_node *list = report_list(to, "checks");

    for (drv_check c = 0; c < DRV_N_CHECKS; c++) {
        report_node *uses = report_list(report_row(list, V_TEXT("check", found[c].name),
                                                   V_TEXT("state", state_names[found[c].state]),
                                                   V_TEXT("found", found[c].found)),
                                        "needed_for");

        for (size_t i = 0; i < N_FEATURES; i++)
            if (features[i].needs & BIT(c))
                report_put(uses, V_TEXT(NULL, features[i].name));
    }
    return list;
}

static report_node *list_features(const drv_finding *found, report_node *to)
{
    report_node *list = report_list(to, "features");
    dse_strbuf names = dse_strbuf_in(list->arena);

    for (size_t i = 0; i < N_FEATURES; i++) {
        report_node *row = report_row(
            list, V_NOTE("works", works(i, found) ? "yes" : "no"), V_TEXT("feature", features[i].name),
            V_AS("feature", V_TEXT("commands", features[i].what)), V_BOOL("works", works(i, found)));
        report_node *missing = report_list(row, "missing");

        dse_strbuf_clear(&names);
        for (drv_check c = 0; c < DRV_N_CHECKS; c++)
            if (is_missing(i, c, found)) {
                report_put(missing, V_TEXT(NULL, found[c].name));
                dse_strbuf_addf(&names, "%s%s", names.len ? ", " : "", found[c].name);
            }
        report_put(row, V_NOTE("missing", names.len ? names.data : "-"));
    }
    return list;
}

static void print_json(const drv_finding *found, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    report_put(root, V_TEXT("version", CCLDSE_VERSION));
    list_checks(found, root);
    list_features(found, root);
    report_tree_end(&t, out);
}

static void print_text(const drv_finding *found, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    print_checks(found, &t.arena, out);
    dse_strbuf_addc(out, '\n');
    report_rows_table(list_features(found, root), out);
    report_tree_free(&t);
}

/* ---- the command --------------------------------------------------------------------------- */

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const doctor_options *o = opts;
    drv_finding found[DRV_N_CHECKS];
    dse_status st = drv_doctor(&o->in, r->arena, found, err);

    if (st != DSE_OK)
        return st;
    (o->json ? print_json : print_text)(found, r->out);
    if (!works(0, found))
        r->code = EXIT_NO;
    return DSE_OK;
}

const command command_doctor = {
    .name = "doctor",
    .summary = "say what is there to work with, and what works with it",
    .details =
        "Looks at the machine, the cards, the current folder, the results and other people's tools, and says "
        "for each feature whether it works here and what is missing. Changes nothing; tools are run with "
        "--help or --version, and stopped if they do not answer. Exit code 1 if a sweep would not work.",
    .example = "ccldse doctor --stage-cmd \"python3 stage/main.py\"",
    COMMAND_OPTIONS(options, doctor_options),
    .run = run,
};
