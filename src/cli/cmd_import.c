/* Results that others made, into the database. */
#include "cards/locate.h"
#include "cli/command.h"
#include "driver/import.h"
#include "measured/board.h"
#include "report/tree.h"

#include <string.h>

typedef struct {
    option_list files;
    drv_import_as as;
    const char *db, *format;
    bool json;
} import_options;

#define FIELD(f) .offset = offsetof(import_options, f)

static const char *const format_names[] = {"keyed", "ccl-bench", NULL};

static const option options[] = {
    {"FILE", OPT_LIST, NULL, NULL, "results in the keyed format of 'ccldse export --format keyed'",
     FIELD(files)},
    {"--format", OPT_STRING, "FORMAT", "keyed",
     "what FILE is (ccl-bench: benchmark_data.json of CCL-Bench's public board)", .choices = format_names,
     FIELD(format)},
    {"--model", OPT_STRING, "NAME", "",
     "whose points these are; not with files that name models and systems themselves", FIELD(as.model)},
    {"--system", OPT_STRING, "NAME", "", "on what; likewise", FIELD(as.system)},
    {"--engine", OPT_STRING, "NAME", "imported", "a name for who made the results", FIELD(as.engine)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(db)},
    {"--json", OPT_FLAG, NULL, "false", "print the summary as JSON", FIELD(json)},
};

/* Who made a board's figures, unless the user names somebody. */
static const char *engine_of(const import_options *o)
{
    return !strcmp(o->format, "ccl-bench") && !strcmp(o->as.engine, "imported") ? "ccl-bench" : o->as.engine;
}

static dse_status read_board(const char *path, const drv_import_as *as, dse_arena *a, drv_import *io,
                             dse_error *err)
{
    msr_board board = {0};
    dse_status st = msr_board_import(path, as, a, io, &board, err);

    for (size_t i = 0; st == DSE_OK && i < board.n_left; i++)
        report_warning("%zu row%s left out: %s, as %s", board.left[i].n, board.left[i].n == 1 ? "" : "s",
                       board.left[i].reason, board.left[i].first);
    return st;
}

static dse_status read_files(const import_options *o, dse_arena *a, drv_import *io, dse_error *err)
{
    drv_import_as as = {o->as.model, o->as.system, engine_of(o)};
    dse_status st = drv_import_check_engine(as.engine, err);

    if (st == DSE_OK && as.model)
        st = card_name(as.model, a, &as.model, err);
    if (st == DSE_OK && as.system)
        st = card_name(as.system, a, &as.system, err);
    for (size_t i = 0; st == DSE_OK && i < o->files.n; i++)
        st = !strcmp(o->format, "ccl-bench") ? read_board(o->files.item[i], &as, a, io, err)
                                             : drv_import_file(o->files.item[i], &as, a, io, err);
    if (st == DSE_OK)
        drv_import_sort(io);
    return st;
}

/* `best` ranks them beside the last sweep. */
static dse_status ask(store *s, const drv_import *io, dse_error *err)
{
    uint64_t *hashes = dse_calloc(io->n + 1, sizeof *hashes);
    dse_status st;

    for (size_t i = 0; i < io->n; i++)
        hashes[i] = io->row[i].hash;
    st = store_ask(s, hashes, io->n, err);
    dse_free(hashes);
    return st;
}

static dse_status put(const import_options *o, const drv_import *io, dse_error *err)
{
    store *s;
    uint64_t lost;
    dse_status st = store_open(o->db, STORE_WRITE, &s, err);

    if (st != DSE_OK)
        return st;
    if (store_was_damaged(s, &lost))
        report_warning("%s: " STORE_DAMAGE_WORDS, o->db, lost);
    if ((st = store_put_all(s, io->row, io->n, err)) == DSE_OK && (st = ask(s, io, err)) == DSE_OK)
        return store_finish(s, err);
    store_close(s);
    return st;
}

/* The number of rows, from the first on, that have one model and system. */
static size_t pair_length(const store_row *row, size_t n)
{
    size_t i = 1;

    while (i < n && !strcmp(row[i].model, row->model) && !strcmp(row[i].system, row->system))
        i++;
    return i;
}

static void print_summary(const import_options *o, const drv_import *io, dse_strbuf *out)
{
    for (size_t i = 0, n; i < io->n; i += n) {
        n = pair_length(&io->row[i], io->n - i);
        dse_strbuf_addf(out, "%zu point%s of %s on %s imported into %s as '%s'\n", n, n == 1 ? "" : "s",
                        io->row[i].model, io->row[i].system, o->db, engine_of(o));
    }
}

static void print_json(const import_options *o, const drv_import *io, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *list;

    report_put(root, V_TEXT("engine", engine_of(o)));
    list = report_list(root, "imported");
    for (size_t i = 0, n; i < io->n; i += n) {
        n = pair_length(&io->row[i], io->n - i);
        report_row(list, V_TEXT("model", io->row[i].model), V_TEXT("system", io->row[i].system),
                   V_COUNT("points", n));
    }
    report_tree_end(&t, out);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const import_options *o = opts;
    drv_import io = {0};
    dse_status st = read_files(o, r->arena, &io, err);

    if (st == DSE_OK && io.n_unknown)
        report_warning("%.600s%s is not a field of the keyed format; passed over", io.unknown,
                       io.n_unknown > 1 ? " (and others)" : "");
    if (st == DSE_OK)
        st = put(o, &io, err);
    if (st == DSE_OK && o->json)
        print_json(o, &io, r->out);
    else if (st == DSE_OK)
        print_summary(o, &io, r->out);
    drv_import_free(&io);
    return st;
}

const command command_import = {
    .name = "import",
    .summary = "take results that others made, to rank and compare them",
    .details =
        "Reads what 'ccldse export --format keyed' writes: an object of points, keys "
        "dp_tp_sp_pp_recompute, of one model and system, or objects within objects that name them. "
        "Everything is checked before anything is stored, and all of it is stored or nothing. A point "
        "that is imported again replaces the first. 'best' ranks imported results by themselves, "
        "'diff' compares them with others. Of CCL-Bench's board each row with a training step and its "
        "degrees is a point, with all that the board says of it: 'compare --measured results/ccldse.db' "
        "simulates them.",
    .example = "ccldse import theirs.json --model llama70b --system system1 --engine astrasim-2024",
    COMMAND_OPTIONS(options, import_options),
    .run = run,
};
