/* A library to be preloaded (LD_PRELOAD), by which one allocation of a program fails: whoever asks, the C library and
 * libyaml, jansson, SQLite, zlib, GSL, libuv included. By its environment:
 *
 *   CCLDSE_FAIL_IN    "main", or "worker" (the second word of the command line); other processes are left alone
 *   CCLDSE_FAIL_AT    the allocation that fails, from 1 on; 0: none, they are counted
 *   CCLDSE_FAIL_ALL   "1": those after it fail, too
 *   CCLDSE_FAIL_SAY   a file that gets a line when one has failed. If it is there already, none fails: of several
 *                     workers one is disturbed. With CCLDSE_FAIL_AT 0 it has the number of allocations, of the process
 *                     that has most, as an unsigned long: at any time, as a worker may be killed at any
 *
 * Threads count together. A child that was forked has no failures before it runs a program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static int (*real_memalign)(void **, size_t, size_t);
static void *(*real_aligned)(size_t, size_t);

static atomic_ulong n_asked, *most_asked; /* the second: shared by processes */
static unsigned long fail_at;
static bool active, all_later;
static atomic_bool has_failed;
static char say_path[4096];

/* dlsym may allocate before there is anything to ask. */
static _Alignas(16) char early[65536];
static size_t n_early;

static void *take_early(size_t n)
{
    char *p = early + n_early;

    n_early += (n + 15) & ~(size_t)15;
    return n_early <= sizeof early ? p : NULL;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

static void find_real(void)
{
    static bool finding;

    if (finding)
        return;
    finding = true;
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&real_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
}

static void say(const char *text, size_t n)
{
    int fd = open(say_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (fd < 0 || write(fd, text, n) < 0)
        _exit(99);
    close(fd);
}

static void map_most(void)
{
    int fd = open(say_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *p = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, sizeof *most_asked))
        p = mmap(NULL, sizeof *most_asked, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        _exit(99);
    close(fd);
    most_asked = p;
}

static void note_most(unsigned long n)
{
    unsigned long most = atomic_load(most_asked);

    while (n > most && !atomic_compare_exchange_weak(most_asked, &most, n))
        ;
}

static bool fails(void)
{
    unsigned long n;

    if (!active)
        return false;
    n = atomic_fetch_add(&n_asked, 1) + 1;
    if (!fail_at)
        note_most(n);
    if (!fail_at || n < fail_at || (n > fail_at && !(all_later && has_failed)))
        return false;
    if (n == fail_at) {
        if (!access(say_path, F_OK))
            return active = false;
        has_failed = true;
        say("failed\n", 7);
    }
    errno = ENOMEM;
    return true;
}

static void stop_in_child(void) { active = false; }

/* The second word of the command line. */
static bool is_worker(void)
{
    char words[512] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, words, sizeof words - 2) : 0;

    if (fd >= 0)
        close(fd);
    return n > 0 && !strcmp(words + strlen(words) + 1, "worker");
}

__attribute__((constructor)) static void begin(void)
{
    const char *in = getenv("CCLDSE_FAIL_IN"), *at = getenv("CCLDSE_FAIL_AT"),
               *all = getenv("CCLDSE_FAIL_ALL"), *path = getenv("CCLDSE_FAIL_SAY");

    if (!in || !at || !path || strcmp(program_invocation_short_name, "ccldse") ||
        is_worker() != !strcmp(in, "worker"))
        return;
    snprintf(say_path, sizeof say_path, "%s", path);
    fail_at = strtoul(at, NULL, 10);
    all_later = all && *all == '1';
    if (!fail_at)
        map_most();
    pthread_atfork(NULL, NULL, stop_in_child);
    active = true;
}

void *malloc(size_t n)
{
    if (!real_malloc)
        find_real();
    if (!real_malloc)
        return take_early(n);
    return fails() ? NULL : real_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    if (!real_calloc)
        find_real();
    if (!real_calloc)
        return take_early(n * size); /* of static memory: zero */
    return fails() ? NULL : real_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    if (!real_realloc)
        find_real();
    if (is_early(p)) {
        void *copy = malloc(n);

        return copy ? memcpy(copy, p, n) : NULL;
    }
    return fails() ? NULL : real_realloc(p, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    if (!real_memalign)
        find_real();
    return fails() ? ENOMEM : real_memalign(out, align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    if (!real_aligned)
        find_real();
    return fails() ? NULL : real_aligned(align, n);
}

void free(void *p)
{
    if (!real_free)
        find_real();
    if (p && !is_early(p))
        real_free(p);
}
