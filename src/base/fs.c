#include "base/fs.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
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
    return out->failed ? dse_fail_nomem(err) : DSE_OK;
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

dse_status dse_write_file(const char *path, const void *bytes, size_t n, dse_error *err)
{
    char temp[4096];
    dse_status st = DSE_OK;
    int fd, closed;
    mode_t mask;

    if (snprintf(temp, sizeof temp, "%s.XXXXXX", path) >= (int)sizeof temp)
        return dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", path);
    fd = mkstemp(temp);
    if (fd < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
    for (size_t done = 0; done < n;) {
        ssize_t k = write(fd, (const char *)bytes + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
            goto out;
        }
        done += (size_t)k;
    }
    mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0) {
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
        goto out;
    }
    closed = close(fd);
    fd = -1;
    if (closed != 0 || rename(temp, path) != 0)
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
out:
    if (fd >= 0)
        close(fd);
    if (st != DSE_OK)
        unlink(temp);
    return st;
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

void dse_path_stem(const char *path, char *out, size_t size)
{
    const char *base = strrchr(path, '/'), *dot;
    size_t n;

    base = base ? base + 1 : path;
    dot = strrchr(base, '.');
    n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (n >= size)
        n = size - 1;
    memcpy(out, base, n);
    out[n] = '\0';
}
