/* Exit codes of every command. Their texts, for `ccldse help` and the manual pages, are in exit.c. */
#ifndef DSE_CLI_EXIT_H
#define DSE_CLI_EXIT_H

#include "base/status.h"

#include <stddef.h>

enum {
    EXIT_DONE = 0,
    EXIT_NO = 1,    /* done, and the answer is "no": some points failed, nothing fits */
    EXIT_USAGE = 2, /* the command line */
    EXIT_INPUT = 3, /* a file, a card, a workload, a degree; or a simulation that cannot finish */
    EXIT_CHILD =
        4, /* no worker can be started, or what one says is no answer; a tool of `simulate --engine` failed.
                       (A sweep's point whose workers or tools fail has failed: 1) */
    EXIT_INTERNAL = 70,  /* out of memory, or a bug */
    EXIT_INTERRUPT = 130 /* Ctrl-C; what was finished is kept */
};

static inline int exit_code(dse_status st)
{
    switch (st) {
    case DSE_OK: return EXIT_DONE;
    case DSE_E_USAGE: return EXIT_USAGE;
    case DSE_E_CHILD: return EXIT_CHILD;
    case DSE_E_INTERRUPT: return EXIT_INTERRUPT;
    default: return EXIT_INPUT;
    }
}

typedef struct {
    int code;
    const char *text;
} exit_text;

/* One row a code, in their order. */
const exit_text *exit_texts(size_t *n);

#endif
