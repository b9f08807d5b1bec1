#include "base/names.h"
#include "cli/command.h"
#include "cli/command_list.h"
#include "cli/exit.h"

#include <stdio.h>
#include <string.h>

#define DECLARE(id) extern const command command_##id;
COMMAND_LIST(DECLARE)

#define ROW(id) &command_##id,
static const command *const commands[] = {COMMAND_LIST(ROW)};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(void)
{
    printf("ccldse chooses how to train a large model on a cluster, by simulation.\n\n"
           "usage: ccldse <command> [options]\n\ncommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (commands[i]->summary)
            printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nexample:\n  ccldse sweep --model llama70b --system system1.yaml && ccldse best --hbm 80GB\n\n"
           "'ccldse <command> --help' explains one.\n\n"
           "exit codes: 0 done; 1 done, and the answer is no (some points failed, nothing fits); 2 usage;\n"
           "  3 bad input; 4 no worker to be had, or an external tool failed; 70 out of memory or internal;\n"
           "  130 interrupted, results kept\n");
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[N_COMMANDS], *nearest;
    dse_error err = DSE_ERROR_INIT;

    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    nearest = dse_nearest(name, names, N_COMMANDS);
    dse_fail(&err, DSE_E_USAGE,
             nearest ? "unknown command '%.60s'; did you mean '%s'?"
                     : "unknown command '%.60s'; see 'ccldse help'%s",
             name, nearest ? nearest : "");
    return report_error(&err);
}

/* A result that could not be written is not a result. */
static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        dse_error err = DSE_ERROR_INIT;
        dse_fail_errno(&err, DSE_E_IO, "cannot write to standard output");
        return report_error(&err);
    }
    return code;
}

static int run_command(const command *c, int argc, char **argv)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    dse_strbuf out;
    command_run r = {&arena, &out, EXIT_DONE};
    void *options;
    dse_status st;

    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    options = dse_arena_zero(&arena, 1, c->size);
    st = options ? command_parse(c, argc, argv, &arena, options, &err) : dse_fail_nomem(&err);
    if (st == DSE_OK)
        st = c->run(options, &r, &err);
    if (st == DSE_OK && out.failed)
        st = dse_fail_nomem(&err);
    if (st == DSE_OK)
        fwrite(out.data, 1, out.len, stdout);
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
    return st == DSE_OK ? r.code : report_error(&err);
}

int main(int argc, char **argv)
{
    const command *c;

    if (argc < 2) {
        print_help();
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        if (argc > 2 && (c = find_command(argv[2])))
            command_help(c);
        else if (argc > 2)
            return unknown_command(argv[2]);
        else
            print_help();
        return finish(EXIT_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("ccldse " CCLDSE_VERSION "\n"
               "reference: STAGE 0b44904 (branch recomp), ASTRA-sim af2492b (branch stage)\n");
        return finish(EXIT_DONE);
    }
    c = find_command(argv[1]);
    if (!c)
        return unknown_command(argv[1]);
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            command_help(c);
            return finish(EXIT_DONE);
        }
    }
    return finish(run_command(c, argc - 2, argv + 2));
}
