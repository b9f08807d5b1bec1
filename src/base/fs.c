#include "base/fs.h"

#include "base/array.h"
#include "base/order.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dse_status dse_read_file(const char *path, size_t max_bytes, dse_strbuf *out, dse_error *err)
{
    char chunk[65536];
    size_t total = 0, n;
    struct stat sb;
    FILE *f = fopen(path, "rb");

    if (!f)
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    if (fstat(fileno(f), &sb) == 0 && S_ISDIR(sb.st_mode)) {
        fclose(f);
        return dse_fail(err, DSE_E_IO, "'%s' is a folder, not a file", path);
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        total += n;
        if (max_bytes && total > max_bytes) {
            fclose(f);
            return dse_fail(err, DSE_E_RANGE, "'%s' is larger than %zu bytes", path, max_bytes);
        }
        dse_strbuf_add(out, chunk, n);
    }
    if (ferror(f)) {
        dse_status st = dse_fail_errno(err, DSE_E_IO, "cannot read '%s'", path);
        fclose(f);
        return st;
    }
    fclose(f);
    return DSE_OK;
}

dse_status dse_mkdirs(const char *path, dse_error *err)
{
    char part[4096];
    size_t n = strlen(path);

    if (n >= sizeof part)
        return dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", path);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return dse_fail_errno(err, DSE_E_IO, "cannot make the folder '%s'", part);
        part[i] = path[i];
    }
    if (n && !dse_is_dir(path))
        return dse_fail(err, DSE_E_IO, "cannot make the folder '%s': a file of that name exists", path);
    return DSE_OK;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t k = write(fd, bytes, n);

        if (k < 0 && errno != EINTR)
            return false;
        if (k > 0) {
            bytes += k;
            n -= (size_t)k;
        }
    }
    return true;
}

/* The temporary files that are there, for dse_replacements_leave. Any of more than these is left behind by
 * it. */
static char temporary[8][sizeof((dse_replacement *)0)->temporary];
static pthread_mutex_t temporary_lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts `path` in the place of the first entry that is `was`. */
static void note(const char *was, const char *path)
{
    size_t i = 0;

    pthread_mutex_lock(&temporary_lock);
    while (i < DSE_COUNT(temporary) && strcmp(temporary[i], was) != 0)
        i++;
    if (i < DSE_COUNT(temporary))
        strcpy(temporary[i], path);
    pthread_mutex_unlock(&temporary_lock);
}

void dse_replacements_leave(void)
{
    pthread_mutex_lock(&temporary_lock);
    for (size_t i = 0; i < DSE_COUNT(temporary); i++)
        if (*temporary[i])
            unlink(temporary[i]);
    pthread_mutex_unlock(&temporary_lock);
}

dse_status dse_replacement_open(dse_replacement *r, const char *path, dse_error *err)
{
    struct stat sb;
    bool exists = stat(path, &sb) == 0;

    if (strlen(path) >= sizeof r->path)
        return dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", path);
    strcpy(r->path, path);
    r->temporary[0] = '\0';
    if (exists && !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode)) { /* nothing there to replace */
        r->target[0] = '\0';
        r->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        if (!exists || !realpath(path, r->target))
            strcpy(r->target, path);
        snprintf(r->temporary, sizeof r->temporary, "%s.XXXXXX", r->target);
        r->fd = mkstemp(r->temporary);
        if (r->fd >= 0)
            note("", r->temporary);
    }
    return r->fd >= 0 ? DSE_OK : dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
}

void dse_replacement_give_up(dse_replacement *r)
{
    close(r->fd);
    if (*r->target) {
        unlink(r->temporary);
        note(r->temporary, "");
    }
}

dse_status dse_replacement_commit(dse_replacement *r, dse_error *err)
{
    bool written = true;
    int code;

    if (*r->target) {
        mode_t mask = umask(0);

        umask(mask);
        written = fchmod(r->fd, 0666 & ~mask) == 0;
    }
    code = errno;
    if (close(r->fd) != 0 && written) {
        written = false;
        code = errno;
    }
    if (written && *r->target && rename(r->temporary, r->target) != 0) {
        written = false;
        code = errno;
    }
    if (!written && *r->target)
        unlink(r->temporary);
    if (*r->target)
        note(r->temporary, "");
    errno = code;
    return written ? DSE_OK : dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", r->path);
}

dse_status dse_write_file(const char *path, const void *bytes, size_t n, dse_error *err)
{
    dse_replacement r;
    dse_status st = dse_replacement_open(&r, path, err);

    if (st != DSE_OK)
        return st;
    if (!write_all(r.fd, bytes, n)) {
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
        dse_replacement_give_up(&r);
        return st;
    }
    return dse_replacement_commit(&r, err);
}

dse_status dse_write_text(const char *path, const dse_strbuf *text, dse_error *err)
{
    return dse_write_file(path, text->data, text->len, err);
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *at)
{
    (void)sb, (void)type, (void)at;
    return remove(path);
}

dse_status dse_remove_tree(const char *path, dse_error *err)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return DSE_OK;
    return dse_fail_errno(err, DSE_E_IO, "cannot remove '%s'", path);
}

dse_status dse_list_names(const char *folder, dse_arena *a, const char ***out, size_t *n, dse_error *err)
{
    const char **name = NULL;
    size_t cap = 0;
    struct dirent *e;
    DIR *d = opendir(folder);

    *n = 0;
    *out = NULL;
    if (!d)
        return dse_fail_errno(err, DSE_E_IO, "cannot read the directory '%s'", folder);
    while ((e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        DSE_GROW(name, cap, *n + 1);
        name[(*n)++] = dse_arena_strdup(a, e->d_name);
    }
    closedir(d);
    if (*n) {
        qsort(name, *n, sizeof *name, dse_by_text);
        *out = dse_arena_copy(a, name, *n, sizeof *name);
    }
    dse_free(name);
    return DSE_OK;
}

bool dse_is_file(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISREG(sb.st_mode);
}

bool dse_is_dir(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}
