/* Results of several databases, as shards of a sweep make them, in one. */
#include "cli/command.h"
#include "report/tree.h"

#include <inttypes.h>

typedef struct {
    option_list files;
    const char *db;
    bool json;
} merge_options;

#define FIELD(f) .offset = offsetof(merge_options, f)

static const option options[] = {
    {"FILE", OPT_LIST, NULL, NULL, "a results database, which stays as it is", FIELD(files)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the database that gets all of them", FIELD(db)},
    {"--json", OPT_FLAG, NULL, "false", "print the summary as JSON", FIELD(json)},
};

static dse_status merge_file(const char *path, store *into, store_merged *out, dse_error *err)
{
    store *from;
    dse_status st = store_open(path, STORE_READ, &from, err);

    if (st != DSE_OK)
        return st;
    st = store_merge(into, from, out, err);
    store_close(from);
    return st;
}

/* Every file is looked at before the first is merged. */
static dse_status check_files(const merge_options *o, dse_error *err)
{
    for (size_t i = 0; i < o->files.n; i++) {
        store *from;
        dse_status st = store_open(o->files.item[i], STORE_READ, &from, err);

        if (st != DSE_OK)
            return st;
        store_close(from);
    }
    return DSE_OK;
}

static dse_status merge_files(const merge_options *o, store *into, report_node *list, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < o->files.n; i++) {
        const char *path = o->files.item[i];
        store_merged m;

        if ((st = merge_file(path, into, &m, err)) != DSE_OK)
            return st;
        report_row(list, V_AS("file", V_TEXT("file", path)), V_AS("added", V_COUNT("added", m.added)),
                   V_AS("of them failed", V_COUNT("failed", m.failed)),
                   V_AS("there already", V_COUNT("known", m.known)));
    }
    return st;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const merge_options *o = opts;
    report_tree t;
    report_node *root, *list;
    store *into;
    uint64_t lost;
    dse_status st = check_files(o, err);

    if (st != DSE_OK || (st = store_open(o->db, STORE_WRITE, &into, err)) != DSE_OK)
        return st;
    if (store_was_damaged(into, &lost))
        report_warning("%s: " STORE_DAMAGE_WORDS, o->db, lost);
    root = report_tree_begin(&t);
    report_put(root, V_TEXT("database", o->db));
    list = report_list(root, "merged");
    st = merge_files(o, into, list, err);
    if (st == DSE_OK)
        st = store_finish(into, err);
    else
        store_close(into);
    if (st == DSE_OK && o->json) {
        report_tree_end(&t, r->out);
        return DSE_OK;
    }
    if (st == DSE_OK)
        report_rows_table(list, r->out);
    report_tree_free(&t);
    return st;
}

const command command_merge = {
    .name = "merge",
    .summary = "put the results of several databases into one",
    .details =
        "Adds what the databases have, as shards of one sweep that ran on several machines ('sweep "
        "--shard'), so that the database is what one sweep of all would have made. Of one configuration "
        "a result that is done stays, and takes the place of a failed one. 'best' then ranks what the "
        "last sweep of each asked for.",
    .example = "ccldse merge shard1.db shard2.db shard3.db --db results/ccldse.db",
    COMMAND_OPTIONS(options, merge_options),
    .run = run,
};
