/* Explains every key of cards and of ASTRA-sim's files. */
#include "cli/command.h"
#include "cli/exit.h"
#include "lint/lint.h"
#include "report/tree.h"

typedef struct {
    option_list names;
    lint_inputs in; /* without the names */
    bool json;
} lint_options;

#define FIELD(f) .offset = offsetof(lint_options, f)

static const option options[] = {
    {"FILE", OPT_LIST, NULL, "",
     "cards by path or name, ASTRA-sim's system.json, network.yml and remote_memory.json or a folder of "
     "them, Hugging Face configs; known by their content",
     FIELD(names)},
    {"--groups", OPT_STRING, "FILE", "", "communicator groups of a workload on the system given",
     FIELD(in.groups)},
    {"--workload", OPT_STRING, "PREFIX", "", "traces PREFIX.<rank>.et of every NPU of the system given",
     FIELD(in.workload)},
    {"--astrasim-args", OPT_STRING, "TEXT", "", "options of ASTRA-sim's command line, in quotes",
     FIELD(in.arguments)},
    {"--json", OPT_FLAG, NULL, "false", "print the same as JSON", FIELD(json)},
};

static const char *const levels[LINT_N_LEVELS] = {
    [LINT_NOTE] = "note", [LINT_WARNING] = "warning", [LINT_ERROR] = "error"};

/* ---- keys ---------------------------------------------------------------------------------- */

static report_node *list_keys(const lint_result *l, const lint_file *f, report_node *to)
{
    report_node *list = report_list(to, "keys");

    for (size_t i = 0; i < f->n_keys; i++) {
        const lint_key *k = &l->key[f->first_key + i];
        const char *effect = lint_effect_name(k->effect);

        report_row(list, V_AS("line", V_KNOWN(k->line, NULL, V_COUNT(NULL, k->line))),
                   V_AS("key", V_TEXT("key", k->key)), V_GIVEN(k->line, V_COUNT("line", k->line)),
                   V_GIVEN(*k->value, V_TEXT(k->line ? "value" : "default", k->value)),
                   V_NOTE("value", k->value), V_GIVEN(*k->unit, V_TEXT("unit", k->unit)),
                   V_NOTE("unit", k->unit), V_AS("effect", V_TEXT("effect", effect)),
                   V_GIVEN(*k->meaning, V_TEXT("meaning", k->meaning)), V_NOTE("meaning", k->meaning));
    }
    return list;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void print_json(const lint_result *l, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *files = report_list(root, "files"),
                *findings = report_list(root, "findings");

    for (size_t i = 0; i < l->n_files; i++) {
        const lint_file *f = &l->file[i];

        list_keys(l, f, report_row(files, V_TEXT("path", f->path), V_TEXT("kind", f->kind)));
    }
    for (size_t i = 0; i < l->n_findings; i++) {
        const lint_finding *f = &l->finding[i];

        report_row(findings, V_TEXT("level", levels[f->level]), V_TEXT("where", f->where),
                   V_GIVEN(*f->key, V_TEXT("key", f->key)), V_TEXT("text", f->text));
    }
    report_tree_end(&t, out);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_file(const lint_result *l, const lint_file *f, dse_strbuf *out)
{
    report_tree t;

    dse_strbuf_addf(out, "%s: %s\n", f->path, f->kind);
    report_rows_table(list_keys(l, f, report_tree_begin(&t)), out);
    report_tree_free(&t);
}

static void print_findings(const lint_result *l, bool notes, dse_strbuf *out)
{
    for (size_t i = 0; i < l->n_findings; i++) {
        const lint_finding *f = &l->finding[i];

        if ((f->level == LINT_NOTE) == notes)
            dse_strbuf_addf(out, "%s: %s: %s%s%s\n", f->where, levels[f->level], f->key, *f->key ? ": " : "",
                            f->text);
    }
}

static void print_text(const lint_result *l, dse_strbuf *out)
{
    for (size_t i = 0; i < l->n_files; i++) {
        print_file(l, &l->file[i], out);
        dse_strbuf_addc(out, '\n');
    }
    print_findings(l, false, out);
    print_findings(l, true, out);
    for (int level = LINT_N_LEVELS - 1; level >= 0; level--)
        dse_strbuf_addf(out, "%zu %s%s%s", l->n_level[level], levels[level],
                        l->n_level[level] == 1 ? "" : "s", level ? ", " : "\n");
}

/* ---- the command --------------------------------------------------------------------------- */

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const lint_options *o = opts;
    lint_inputs in = o->in;
    lint_result l;
    dse_status st;

    if (!o->names.n && !in.groups && !in.arguments)
        return dse_fail(err, DSE_E_USAGE, "FILE is missing; see 'ccldse lint --help'");
    in.names = o->names.item;
    in.n_names = o->names.n;
    st = lint_run(&in, r->arena, &l, err);
    if (st == DSE_OK && o->json)
        print_json(&l, r->out);
    else if (st == DSE_OK)
        print_text(&l, r->out);
    r->code = l.n_level[LINT_ERROR] ? EXIT_INPUT : l.n_level[LINT_WARNING] ? EXIT_NO : EXIT_DONE;
    return st;
}

const command command_lint = {
    .name = "lint",
    .summary = "explain every key of a card or of ASTRA-sim's files, and what has no effect",
    .details =
        "Prints each key with its value, unit, effect and meaning, then what is wrong with which line, then "
        "what is easily misunderstood. Exit code 0 if every key has an effect; 1 if one has none, or one is "
        "missing that ASTRA-sim crashes without; 3 if a file cannot be read or understood, or holds what a "
        "run would refuse. scheduling-policy LIFO, without effect but needed by ASTRA-sim, is only noted.",
    .example = "ccldse lint emitted --groups emitted/comm_group.json --workload emitted/workload",
    COMMAND_OPTIONS(options, lint_options),
    .run = run,
};
