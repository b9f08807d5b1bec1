#include "base/fs.h"
#include "cli/commands.h"
#include "cli/exit.h"
#include "cli/terminal.h"
#include "cli/topics.h"
#include "driver/study.h"
#include "driver/version.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Broken between codes, never within one. */
static void print_exit_codes(void)
{
    size_t n;
    const exit_text *codes = exit_texts(&n);
    int at = printf("exit codes:"), width_of_all = (int)command_help_width();

    for (size_t i = 0; i < n; i++) {
        char text[128];
        int width =
            snprintf(text, sizeof text, " %d %s%s", codes[i].code, codes[i].text, i + 1 < n ? ";" : "");

        if (at + width > width_of_all)
            at = printf("\n ") - 1;
        at += printf("%s", text);
    }
    printf("\n");
}

static void print_help(void)
{
    size_t n;
    const command *const *commands = command_table(&n);

    printf("%s\n\nusage: ccldse <command> [options]\n\ncommands:\n", program_summary);
    for (size_t i = 0; i < n; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nexample:\n  %s\n\n'ccldse <command> --help' explains one, 'ccldse help terms' the words, "
           "'ccldse help "
           "strategy' strategies.\n\n",
           program_example);
    print_exit_codes();
}

static void print_topic(const topic *t)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    t->print(command_help_width(), &text);
    fputs(text.data, stdout);
    dse_strbuf_free(&text);
}

/* For bug reports. */
static void print_version(void)
{
    drv_library library[DRV_N_LIBRARIES];
    size_t n;
    const drv_upstream *u = drv_upstreams(&n);

    printf("ccldse " CCLDSE_VERSION "\nengine: " DRV_ENGINE ", of profile train " DRV_STEP_ENGINE
           "\nreproduces:\n");
    for (size_t i = 0; i < n; i++)
        printf("  %s %s%s%s%s\n", u[i].name, u[i].revision, u[i].branch ? " (branch " : "",
               u[i].branch ? u[i].branch : "", u[i].branch ? ")" : "");
    drv_libraries(library);
    printf("libraries:\n");
    for (int i = 0; i < DRV_N_LIBRARIES; i++)
        printf("  %s %s\n", library[i].name, library[i].version);
}

static int unknown_command(const char *name)
{
    dse_error err = DSE_ERROR_INIT;

    command_fail_unknown(name, &err);
    return report_error(&err);
}

/* Called when memory runs out, in any thread, the first of which says so. Allocates nothing; committed
 * results stay. */
static void out_of_memory(void)
{
    static const char words[] = "ccldse: error: out of memory\n";
    static atomic_flag said = ATOMIC_FLAG_INIT;

    while (atomic_flag_test_and_set(&said))
        pause();
    dse_replacements_leave();
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) {
        /* nothing else can report it */
    }
    _exit(EXIT_INTERNAL);
}

/* Output that cannot be written is an error, unless there was one, which has been told. */
static int finish(int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && (code == EXIT_DONE || code == EXIT_NO)) {
        dse_error err = DSE_ERROR_INIT;
        dse_fail_errno(&err, DSE_E_IO, "cannot write to standard output");
        return report_error(&err);
    }
    return code;
}

/* JSON begins with its bracket. */
static void print_result(const command *c, const command_run *r)
{
    const dse_strbuf *out = r->out;
    const size_t width = terminal_width(STDOUT_FILENO);
    dse_strbuf lines;

    if (!c->is_prose || r->as_it_is || !width || !out->len || out->data[0] == '{' || out->data[0] == '[') {
        fwrite(out->data, 1, out->len, stdout);
        return;
    }
    dse_strbuf_init(&lines);
    terminal_add_lines(out->data, width, &lines);
    fwrite(lines.data, 1, lines.len, stdout);
    dse_strbuf_free(&lines);
}

static int run_command(const command *c, const char *program, int argc, char **argv)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    dse_strbuf out;
    command_run r = {.arena = &arena, .program = program, .out = &out, .code = EXIT_DONE};
    void *options;
    dse_status st;

    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    options = dse_arena_zero(&arena, 1, c->size);
    st = command_parse(c, argc, argv, &arena, options, &err);
    if (st == DSE_OK)
        st = c->run(options, &r, &err);
    if (st == DSE_OK)
        print_result(c, &r);
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
    return st == DSE_OK ? r.code : report_error(&err);
}

/* The command and its help, from its arguments on. */
static int run_or_help(const command *c, const char *program, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            command_help(c);
            return finish(EXIT_DONE);
        }
    }
    return finish(run_command(c, program, argc, argv));
}

/* A command that stands in for a program of this name. */
static const command *find_by_program(const char *path, const char **program)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n;
    const command *const *commands = command_table(&n);

    for (size_t i = 0; i < n; i++)
        for (const char *const *p = commands[i]->programs; p && *p; p++)
            if (!strcmp(*p, name)) {
                *program = *p;
                return commands[i];
            }
    return NULL;
}

int main(int argc, char **argv)
{
    const command *c;
    const char *program;

    dse_on_out_of_memory(out_of_memory);
    signal(SIGXFSZ, SIG_IGN); /* a file that would grow beyond its limit is an error of that write */
    if (argc && (c = find_by_program(argv[0], &program)))
        return run_or_help(c, program, argc - 1, argv + 1);

    if (argc < 2) {
        print_help();
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        const topic *t = argc > 2 ? topic_find(argv[2]) : NULL;

        if (t)
            print_topic(t);
        else if (argc > 2 && (c = command_find(argv[2])))
            command_help(c);
        else if (argc > 2)
            return unknown_command(argv[2]);
        else
            print_help();
        return finish(EXIT_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return finish(EXIT_DONE);
    }
    c = command_find(argv[1]);
    if (!c)
        return unknown_command(argv[1]);
    return run_or_help(c, NULL, argc - 2, argv + 2);
}
