#include "exec/interrupt.h"

#include "base/array.h"

#include <signal.h>
#include <stddef.h>

static const int watched[] = {SIGINT, SIGTERM};
#define N_WATCHED DSE_COUNT(watched)

static volatile sig_atomic_t interrupted;
static struct sigaction before[N_WATCHED];

static void note(int signum)
{
    (void)signum;
    interrupted = 1;
}

void exec_watch_interrupts(void)
{
    const struct sigaction act = {.sa_handler = note, .sa_flags = SA_RESTART};

    interrupted = 0;
    for (size_t i = 0; i < N_WATCHED; i++)
        sigaction(watched[i], &act, &before[i]);
}

void exec_unwatch_interrupts(void)
{
    for (size_t i = 0; i < N_WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
}

bool exec_was_interrupted(void) { return interrupted != 0; }
