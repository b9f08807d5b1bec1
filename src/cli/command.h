/* Commands and their options as data.
 *
 * A command is one file and one row of command_list.h. Its options are a table; main.c parses by it, checks
 * by it and prints the help from it. A command's run function gets its options as a struct, calls driver/,
 * and leaves its results in a buffer: they go to stdout if it succeeds, everything else goes to stderr. */
#ifndef DSE_CLI_COMMAND_H
#define DSE_CLI_COMMAND_H

#include "base/alloc.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "cli/command_list.h"
#include "cli/exit.h"

#include <stddef.h>
#include <stdint.h>

#define HELP_WIDTH  100 /* columns, of a file or a wide terminal */
#define HELP_COLUMN 32  /* where the explanation of an option begins */

typedef enum {
    OPT_FLAG,    /* bool; no value, or =true / =false */
    OPT_STRING,  /* const char * */
    OPT_INT,     /* int64_t */
    OPT_DOUBLE,  /* double */
    OPT_SIZE,    /* double, bytes: 80GB, 80GiB */
    OPT_PERCENT, /* double, a fraction: 0.1 of "10%" and of "10" */
    OPT_BOOL,    /* bool; takes a value in STAGE's spellings */
    OPT_LIST     /* option_list; may be given again and again */
} option_type;

typedef struct {
    size_t n;
    const char **item;
} option_list;

/* What a shell offers for a value that is being typed. */
typedef enum {
    /* choices, true and false for an OPT_BOOL; or by the name of the option or of its value: cards for
     * --model and --system, files for FILE, PREFIX and COMMAND, folders for DIR; else nothing */
    COMPLETE_BY_NAME,
    COMPLETE_COMMAND,      /* a command of this program */
    COMPLETE_METRIC,       /* a metric that can be ranked by */
    COMPLETE_TRACE_METRIC, /* a metric of traces */
    COMPLETE_GUIDE_METRIC, /* one of those of the guide */
    COMPLETE_SCHEDULE,     /* a pipeline schedule */
    COMPLETE_SWITCH        /* yes, no, both */
} option_complete;

typedef struct option option;

/* The options of a group, which several commands have: one table for the whole program. */
typedef const option *option_group(size_t *n);

struct option {
    const char *name; /* with its dashes: "--model"; without, an argument by its place: "FILE" */
    option_type type;
    const char *value;    /* what the value is, for the help: "NAME"; "NAME[,...]" for several */
    const char *fallback; /* the default as one would type it; NULL: required; "": none (0, NULL, NaN) */
    const char *help;
    double min, max; /* OPT_INT, OPT_DOUBLE, OPT_PERCENT (in percent): inclusive; both 0: unchecked */
    const char *const *choices; /* OPT_STRING: the values it takes, ended by NULL; NULL: any */
    option_complete complete;
    const char *topic;   /* that explains it (topics.h), and --help has its name alone; NULL: --help does */
    option_group *group; /* no option, but those of a group in this place; NULL: an option */
    size_t offset;       /* in the option struct of the command or the group; of a group, its struct */
};

/* Defines one of the file's table `options`. */
#define OPTION_ROWS(group)                                                                                   \
    const option *group(size_t *n)                                                                           \
    {                                                                                                        \
        *n = DSE_COUNT(options);                                                                             \
        return options;                                                                                      \
    }

/* The row that includes a group, whose struct is the field `f`. */
#define OPTION_GROUP(rows, f)                                                                                \
    {                                                                                                        \
        .group = rows, FIELD(f)                                                                              \
    }

#define OPTION_SET_HELP                                                                                      \
    "set a value over the cards, for example network.bandwidth[1]=50GB/s or layers=4; again for another; "   \
    "of one key the last holds"

/* The row of a command that takes cards, for an option struct with an option_list `set`. */
#define OPTION_SET                                                                                           \
    {                                                                                                        \
        "--set", OPT_LIST, "KEY=VALUE", "", OPTION_SET_HELP, FIELD(set)                                      \
    }

typedef struct {
    dse_arena *arena;
    const char *program; /* of the command's, the one by whose name it was called; NULL: ccldse */
    dse_strbuf *out;     /* for stdout */
    bool as_it_is;       /* a terminal gets it unbroken, too: it is to be copied */
    int code;            /* what to exit with on success: EXIT_DONE, unless the command sets EXIT_NO */
} command_run;

typedef struct {
    const char *name;
    const char *summary; /* one line, for the list of commands */
    const char *details; /* a paragraph for the command's help, or NULL */
    const char *example; /* a real command line */
    const char *const
        *programs; /* it stands in for: what a link to ccldse may be called; NULL-terminated, or NULL */
    const option *options;
    size_t n_options;
    size_t size;            /* of the option struct */
    bool is_prose;          /* text for people, but with --json: a terminal gets its lines broken at words */
    bool ignore_unknown;    /* options it does not know are skipped, as the tool it stands in for does */
    const exit_text *exits; /* where its exit codes mean something else than the others'; NULL: they do not */
    size_t n_exits;
    dse_status (*run)(const void *options, command_run *r, dse_error *err);
} command;

/* The rows of a command's table and the struct that they fill in. */
#define COMMAND_OPTIONS(table, type) .options = table, .n_options = DSE_COUNT(table), .size = sizeof(type)

#define DECLARE_COMMAND(id) extern const command command_##id;
COMMAND_LIST(DECLARE_COMMAND)

/* The i-th option, those of groups in the place of their rows; NULL: there are no more. *offset (may be NULL)
 * gets where its field is in the command's struct. */
const option *command_option_at(const command *c, size_t i, size_t *offset);

/* Fills in *out from argv[0 .. argc). Arguments without dashes fill the rows that have none, in their order;
 * an OPT_LIST among them takes all that are left. Lists belong to the arena. */
dse_status command_parse(const command *c, int argc, char **argv, dse_arena *a, void *out, dse_error *err);

void command_help(const command *c);

/* Columns for help on standard output: a terminal's if it is narrower than HELP_WIDTH, yet not less than
 * 60. */
size_t command_help_width(void);

/* What to know of an option: its help, the choices, whether it is required or what the default is; and the
 * `range` of a number, if asked for. */
void option_describe(const option *o, bool range, dse_strbuf *out);

/* Appends an option with its explanation, as --help has it. */
void option_print(const option *o, size_t width, dse_strbuf *out);

/* The place of a value among an option's choices, which command_parse has checked. */
size_t option_place(const char *const *choices, const char *value);

/* Writes what a command has printed to a file instead; NULL: leaves it for standard output. */
dse_status command_save(const char *path, command_run *r, dse_error *err);

/* Whether it is an argument by its place. */
bool option_is_positional(const option *o);

/* Prints "ccldse: error: place: text" on stderr and returns the exit code; an interrupt is no error. */
int report_error(const dse_error *err);

/* One line on stderr, "ccldse: warning: ...". */
void report_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr, "ccldse: note: ...": what holds and is no fault of the user's. */
void report_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As report_warning, if there are unknown keys in ASTRA-sim's files at `path`. */
void report_unknown_keys(const char *path, uint32_t n, const char *first);

#endif
