/* What the unit tests share: cmocka behind the headers it wants, checks of doubles and errors, a folder for
 * scratch files, and what runs out of memory.
 *
 * A test function is a claim: CLAIM(equal_times_run_in_schedule_order). */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLAIM(name) static void name(void **state __attribute__((unused)))

/* ---- numbers ------------------------------------------------------------------------------- */

static inline void unit_equal_double(double seen, double expected, const char *file, int line)
{
    if (seen == expected || (isnan(seen) && isnan(expected)))
        return;
    print_error("%.17g is not %.17g\n", seen, expected);
    _fail(file, line);
}
/* Equal to the last bit; NaN equals NaN. */
#define assert_double(seen, expected) unit_equal_double((seen), (expected), __FILE__, __LINE__)

static inline void unit_equal_u64(uint64_t seen, uint64_t expected, const char *file, int line)
{
    if (seen == expected)
        return;
    print_error("%llu is not %llu\n", (unsigned long long)seen, (unsigned long long)expected);
    _fail(file, line);
}
#define assert_u64(seen, expected) unit_equal_u64((seen), (expected), __FILE__, __LINE__)

/* splitmix64: the same numbers in every run and on every machine. */
static inline uint64_t unit_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- errors -------------------------------------------------------------------------------- */

static inline void unit_check_ok(dse_status st, const dse_error *err, const char *file, int line)
{
    if (st == DSE_OK && err->status == DSE_OK)
        return;
    print_error("failed with %d: %s: %s\n", (int)st, err->where, err->text);
    _fail(file, line);
}
/* The call succeeded and left no error behind. */
#define assert_ok(call, err) unit_check_ok((call), (err), __FILE__, __LINE__)

static inline void unit_check_failure(dse_status st, const dse_error *err, dse_status expected,
                                      const char *where, const char *text, const char *file, int line)
{
    if (st == expected && err->status == expected && !strcmp(err->where, where) && !strcmp(err->text, text))
        return;
    print_error("status %d (%d in the error), expected %d\n  place   '%s'\n  not     '%s'\n  message '%s'\n"
                "  not     '%s'\n",
                (int)st, (int)err->status, (int)expected, err->where, where, err->text, text);
    _fail(file, line);
}
/* The call failed with this status, place and message, word for word. */
#define assert_failure(call, err, status, where, text)                                                       \
    unit_check_failure((call), (err), (status), (where), (text), __FILE__, __LINE__)

static inline void unit_check_says(dse_status st, const dse_error *err, dse_status expected, const char *part,
                                   const char *file, int line)
{
    if (st == expected && err->status == expected && strstr(err->text, part))
        return;
    print_error("status %d, expected %d; message '%s: %s' lacks '%s'\n", (int)st, (int)expected, err->where,
                err->text, part);
    _fail(file, line);
}
/* The call failed with this status and a message that contains `part`: where the rest is another's text. */
#define assert_says(call, err, status, part)                                                                 \
    unit_check_says((call), (err), (status), (part), __FILE__, __LINE__)

/* ---- memory -------------------------------------------------------------------------------- */

static jmp_buf unit_memory_is_out __attribute__((unused));

static inline void unit_leave(void) { longjmp(unit_memory_is_out, 1); }

/* The statement asks for memory that nobody has. */
#define assert_out_of_memory(statement)                                                                      \
    do {                                                                                                     \
        dse_on_out_of_memory(unit_leave);                                                                    \
        if (!setjmp(unit_memory_is_out)) {                                                                   \
            statement;                                                                                       \
            fail_msg("there was memory for: %s", #statement);                                                \
        }                                                                                                    \
        dse_on_out_of_memory(NULL);                                                                          \
    } while (0)

/* ---- files --------------------------------------------------------------------------------- */

/* A new folder under /tmp; unit_remove_folder takes it away with what is in it. */
static inline void unit_make_folder(char path[64])
{
    strcpy(path, "/tmp/ccldse-unit.XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline void unit_remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        dse_strbuf name;
        struct stat sb;

        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        dse_strbuf_init(&name);
        dse_strbuf_addf(&name, "%s/%s", path, e->d_name);
        if (lstat(name.data, &sb) == 0 && S_ISDIR(sb.st_mode))
            unit_remove_folder(name.data);
        else
            unlink(name.data);
        dse_strbuf_free(&name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static inline size_t unit_count_files(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    size_t n = 0;

    assert_non_null(dir);
    while ((e = readdir(dir)))
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

static inline void unit_write(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_true(n == 0 || fwrite(bytes, 1, n, f) == n);
    assert_int_equal(fclose(f), 0);
}

static inline void unit_write_text(const char *path, const char *text)
{
    unit_write(path, text, strlen(text));
}

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
