/* Files: whole reads, atomic writes, folders. Messages name the path. */
#ifndef DSE_BASE_FS_H
#define DSE_BASE_FS_H

#include "base/alloc.h"
#include "base/strbuf.h"

/* Reads all of path into *out (appended). Refuses more than max_bytes (0: no limit): DSE_E_RANGE. */
dse_status dse_read_file(const char *path, size_t max_bytes, dse_strbuf *out, dse_error *err);

/* mkdir -p. An existing folder is success. */
dse_status dse_mkdirs(const char *path, dse_error *err);

/* Writes a temporary file beside path and renames it over, so that a reader, or what is left if this program
 * dies, is the old content or the new one, never half of it. A symbolic link stays one; a device or a pipe is
 * written to. */
dse_status dse_write_file(const char *path, const void *bytes, size_t n, dse_error *err);

/* The same of a text that was built in memory. */
dse_status dse_write_text(const char *path, const dse_strbuf *text, dse_error *err);

/* dse_replacement -- the same for content that is too large for memory: open, write to fd, commit or give
 * up. */
typedef struct {
    char path[4096];      /* as it was given, for messages */
    char target[4096];    /* what is replaced; empty: a device or a pipe, which is written to */
    char temporary[4104]; /* beside it */
    int fd;
} dse_replacement;

dse_status dse_replacement_open(dse_replacement *r, const char *path, dse_error *err);
/* Closes fd and puts the file in its place. The temporary file is gone in any case. */
dse_status dse_replacement_commit(dse_replacement *r, dse_error *err);
void dse_replacement_give_up(dse_replacement *r);
/* Takes away the temporary files of this process, before it ends for want of memory; to be called in any
 * thread. */
void dse_replacements_leave(void);

/* Removes a file, or a folder with everything in it; symbolic links, not what they point to. Nothing there is
 * success. */
dse_status dse_remove_tree(const char *path, dse_error *err);

/* The names in a folder without "." and "..", in the order of their bytes, in the arena. DSE_E_IO. */
dse_status dse_list_names(const char *folder, dse_arena *a, const char ***out, size_t *n, dse_error *err);

bool dse_is_file(const char *path);
bool dse_is_dir(const char *path);

#endif
