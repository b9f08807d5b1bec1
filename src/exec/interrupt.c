#include "exec/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void note(int signum)
{
    (void)signum;
    interrupted = 1;
}

static void set(void (*handler)(int))
{
    struct sigaction act = {.sa_handler = handler};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

void exec_watch_interrupts(void) { set(note); }
void exec_unwatch_interrupts(void) { set(SIG_DFL); }
bool exec_was_interrupted(void) { return interrupted != 0; }
