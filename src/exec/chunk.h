/* exec_chunk -- lines for a pool of workers on another machine, and its answers, in files of a shared
 * folder.
 *
 * A chunk is known by a prefix, a path. "PREFIX.lines" has its lines, written once before anybody reads
 * it: "HASH SHARED REST", where the line is the first SHARED bytes of the one before and REST, and HASH,
 * of 16 hexadecimal digits, is the line's. Every attempt at the chunk has a file of its own,
 * "PREFIX.HOST.PID.NS.answers", that only it appends to: nothing can be torn, even if Slurm has begun a
 * task again while the first attempt still runs. A line of it is "CHECK HASH a ANSWER", or "CHECK HASH f
 * WORDS" of a line that has failed; CHECK is the hash of all that follows it. A line that a crash has cut,
 * or a disk has changed, does not have it. */
#ifndef DSE_EXEC_CHUNK_H
#define DSE_EXEC_CHUNK_H

#include "base/strbuf.h"
#include "exec/pool.h"

/* The hash by which a line and its answer find each other: 64-bit FNV-1a. */
uint64_t exec_line_hash(const char *line);

/* A chunk that is being written. Lines are written some at a time, so that many chunks need few open
 * files. */
typedef struct {
    char *path; /* of "PREFIX.lines"; NULL: it is not open */
    dse_strbuf before, pending;
} exec_chunk_writer;

/* Makes the file anew. The writer is to be closed, also after a failure; one that was only zeroed may be. */
dse_status exec_chunk_open(exec_chunk_writer *w, const char *path, dse_error *err);
dse_status exec_chunk_add(exec_chunk_writer *w, const char *line, dse_error *err);
dse_status exec_chunk_close(exec_chunk_writer *w, dse_error *err);

/* Calls `take` with the hash of each line of a chunk, in their order, until that returns false. */
dse_status exec_chunk_hashes(const char *path, bool (*take)(void *user, uint64_t hash), void *user,
                             dse_error *err);

/* How far the answers of an attempt have been read. Zeroed: not at all. */
typedef struct {
    uint64_t at;      /* bytes */
    uint64_t damaged; /* lines */
    bool skipping;    /* the rest of a line that is longer than any answer */
} exec_answers;

/* Called with a whole answer; anything but DSE_OK stops the reading. `failed`: the text is words. */
typedef dse_status exec_take_answer(void *user, uint64_t hash, bool failed, const char *text, dse_error *err);

/* Takes the whole lines that have come since the last time; of a line without an end, nothing. A file that
 * cannot be read now has nothing new. */
dse_status exec_answers_read(const char *path, exec_answers *a, exec_take_answer *take, void *user,
                             dse_error *err);

/* The worker's side: answers the lines of a chunk that no other attempt has answered yet, by a pool
 * (exec_pool_run) of n_workers. DSE_E_SYNTAX: a line of the chunk is damaged. */
dse_status exec_chunk_serve(const char *prefix, const char *const *argv, uint32_t n_workers,
                            double limit_seconds, const char *limit_name, dse_error *err);

#endif
