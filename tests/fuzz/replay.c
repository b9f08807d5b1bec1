/* main() of the fuzz targets where there is no libFuzzer: a fixed set of inputs, the same in every run.
 *
 *   fuzz_<name> [-n MUTATIONS] [-t SECONDS] FILE_OR_FOLDER...
 *
 * Runs every file, and MUTATIONS mutations of every file, which depend on nothing but the files and their
 * number. An input that crashes, breaks a claim, or takes longer than SECONDS ends the run: it is named
 * and written to the current folder. A leak shows at the end of the run, and names no input. */
#include "fuzz/fuzz.h"

#include "base/fs.h"
#include "base/hash.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_INPUT_BYTES 16384u /* of a mutation; a seed may be larger */
#define HEX_BYTES       64u

typedef struct {
    char *name;
    uint8_t *bytes;
    size_t n;
} seed;

static seed *seeds;
static size_t n_seeds, cap_seeds;

/* ---- the input under way ------------------------------------------------------------------- */

/* The inputs are run by a child process; what it is at stands in memory that survives it, however it dies. */
static struct {
    bool under_way;
    char seed[64], how[32];
    long number;
    size_t n;
    uint8_t bytes[FUZZ_MAX_BYTES];
} * current;

static void keep_input(void)
{
    dse_error err = DSE_ERROR_INIT;
    char path[64];

    if (!current->under_way) {
        fprintf(stderr, "fuzz: failed after the last input, or between two\n");
        return;
    }
    snprintf(path, sizeof path, "failed-%016" PRIx64, dse_hash_bytes(current->bytes, current->n));
    if (dse_write_file(path, current->bytes, current->n, &err) != DSE_OK)
        snprintf(path, sizeof path, "nothing: it cannot be written");
    fprintf(stderr, "fuzz: failed on %s, %s %ld (%zu bytes), kept as %s\nfuzz: it begins ", current->seed,
            current->how, current->number, current->n, path);
    for (size_t i = 0; i < current->n && i < HEX_BYTES; i++)
        fprintf(stderr, "%02x", current->bytes[i]);
    fprintf(stderr, "\n");
}

static void run(const seed *s, const char *how, long number, const uint8_t *bytes, size_t n, unsigned seconds)
{
    uint8_t *copy; /* of the exact size: reading past the end shows */

    if (n > FUZZ_MAX_BYTES)
        return;
    snprintf(current->seed, sizeof current->seed, "%s", s->name);
    snprintf(current->how, sizeof current->how, "%s", how);
    current->number = number;
    current->n = n;
    if (n)
        memcpy(current->bytes, bytes, n);
    copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    if (n)
        memcpy(copy, bytes, n);
    current->under_way = true;
    alarm(seconds); /* kills */
    LLVMFuzzerTestOneInput(copy, n);
    alarm(0);
    current->under_way = false;
    free(copy);
}

/* ---- mutations ----------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

static size_t below(size_t n) { return n ? (size_t)(next_random() % n) : 0; }

/* clang-format off */
static const char *const words[] = {
    "0", "-1", "1", "2147483648", "4294967295", "18446744073709551615", "9223372036854775807", "1e999", "1e-9",
    "0x1", "nan",
    "true", "null", "~", "{", "}", "[", "]", "\"", ": ", ", ", "\n", "  ", "- ", "&a ", "*a", "!!int ", "---\n", "#",
    "'", "|\n", ">\n", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80", "\xef\xbb\xbf", "\\u0000",
};
/* clang-format on */
#define N_NUMBERS 11 /* they come first */

typedef struct {
    uint8_t bytes[MAX_INPUT_BYTES];
    size_t n;
} buffer;

/* Replaces `gone` bytes at `at` by others; what does not fit is cut off. */
static void replace(buffer *b, size_t at, size_t gone, const void *by, size_t n)
{
    uint8_t tail[MAX_INPUT_BYTES];
    size_t n_tail = b->n - at - gone;

    memcpy(tail, b->bytes + at + gone, n_tail);
    n = n < MAX_INPUT_BYTES - at ? n : MAX_INPUT_BYTES - at;
    n_tail = n_tail < MAX_INPUT_BYTES - at - n ? n_tail : MAX_INPUT_BYTES - at - n;
    memmove(b->bytes + at, by, n);
    memcpy(b->bytes + at + n, tail, n_tail);
    b->n = at + n + n_tail;
}

/* Another number in the place of the first one at or after `at`. */
static void change_number(buffer *b, size_t at)
{
    const char *word = words[below(N_NUMBERS)];
    size_t end;

    while (at < b->n && !isdigit(b->bytes[at]))
        at++;
    for (end = at; end < b->n && isdigit(b->bytes[end]);)
        end++;
    if (end > at)
        replace(b, at, end - at, word, strlen(word));
}

static void mutate_once(buffer *b)
{
    size_t at = below(b->n + 1), n = below(b->n - at + 1), other = below(n_seeds);
    uint8_t piece[MAX_INPUT_BYTES];
    const char *word = words[below(sizeof words / sizeof words[0])];

    n = n > 64 && below(4) ? n % 64 : n;
    switch (below(9)) {
    case 0:
        if (at < b->n)
            b->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        if (at < b->n)
            b->bytes[at] = (uint8_t)next_random();
        break;
    case 2: replace(b, at, 0, &(uint8_t){(uint8_t)next_random()}, 1); break;
    case 3: replace(b, at, n, "", 0); break;
    case 4: /* twice */
        memcpy(piece, b->bytes + at, n);
        replace(b, at, 0, piece, n);
        break;
    case 5: /* a piece of this one elsewhere */
        memcpy(piece, b->bytes + at, n);
        at = below(b->n + 1);
        replace(b, at, below(2) ? 0 : below(b->n - at + 1), piece, n);
        break;
    case 6: /* the rest of another seed */
        if (seeds[other].n) {
            size_t from = below(seeds[other].n);
            replace(b, at, b->n - at, seeds[other].bytes + from, seeds[other].n - from);
        }
        break;
    case 7: replace(b, at, 0, word, strlen(word)); break;
    default: change_number(b, at);
    }
}

static void run_mutation(const seed *s, long number, unsigned seconds)
{
    static buffer b;
    size_t times;

    random_state = dse_hash_u64(dse_hash_bytes(s->name, strlen(s->name)) + (uint64_t)number) | 1;
    b.n = s->n < MAX_INPUT_BYTES ? s->n : MAX_INPUT_BYTES;
    memcpy(b.bytes, s->bytes, b.n);
    times = 1 + below(4);
    for (size_t i = 0; i < times; i++)
        mutate_once(&b);
    run(s, "mutation", number, b.bytes, b.n, seconds);
}

/* ---- seeds --------------------------------------------------------------------------------- */

static void add_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    FILE *f = fopen(path, "rb");
    size_t cap = 0, n;
    seed s = {0};

    if (!f) {
        perror(path);
        exit(2);
    }
    do {
        DSE_GROW(s.bytes, cap, s.n + 4096);
        n = fread(s.bytes + s.n, 1, cap - s.n, f);
        s.n += n;
    } while (n);
    fclose(f);
    s.name = strdup(slash ? slash + 1 : path); /* without the folder: mutations do not depend on it */
    if (!s.name)
        abort();
    DSE_GROW(seeds, cap_seeds, n_seeds + 1);
    seeds[n_seeds++] = s;
}

static void add_path(const char *path)
{
    struct dirent **entries;
    struct stat sb;
    int n;

    if (stat(path, &sb) != 0 || !S_ISDIR(sb.st_mode)) {
        add_file(path);
        return;
    }
    n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char file[4096];

        if (entries[i]->d_name[0] != '.' &&
            snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name) < (int)sizeof file)
            add_file(file);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static long run_all(long mutations, unsigned seconds)
{
    long n_runs = 0;

    for (size_t i = 0; i < n_seeds; i++) {
        run(&seeds[i], "as it is,", 0, seeds[i].bytes, seeds[i].n, seconds);
        for (long k = 0; k < mutations; k++)
            run_mutation(&seeds[i], k, seconds);
        n_runs += 1 + mutations;
    }
    for (size_t i = 0; i < n_seeds; i++) {
        dse_free(seeds[i].name);
        dse_free(seeds[i].bytes);
    }
    dse_free(seeds);
    return n_runs;
}

int main(int argc, char **argv)
{
    unsigned seconds = 10;
    long mutations = 100;
    int opt, status;
    FILE *shared;
    pid_t child;

    while ((opt = getopt(argc, argv, "n:t:")) != -1) {
        if (opt == 'n')
            mutations = atol(optarg);
        else if (opt == 't')
            seconds = (unsigned)atoi(optarg);
        else
            return 2;
    }
    for (int i = optind; i < argc; i++)
        add_path(argv[i]);
    if (!n_seeds) {
        fprintf(stderr, "usage: %s [-n MUTATIONS] [-t SECONDS] FILE_OR_FOLDER...\n", argv[0]);
        return 2;
    }
    shared = tmpfile();
    if (!shared || ftruncate(fileno(shared), sizeof *current) != 0)
        abort();
    current = mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(shared), 0);
    if (current == MAP_FAILED)
        abort();
    child = fork();
    if (child < 0)
        abort();
    if (!child) {
        printf("%zu seeds, ", n_seeds);
        printf("%ld inputs\n", run_all(mutations, seconds));
        exit(0); /* looks for leaks */
    }
    if (waitpid(child, &status, 0) != child)
        abort();
    if (!status)
        _exit(0); /* the child has freed what both have */
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        fprintf(stderr, "fuzz: the time limit for one input is over\n");
    keep_input();
    _exit(1);
}
