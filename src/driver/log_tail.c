#include "driver/log_tail.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* Limits of the quoted last lines. */
#define TAIL_BYTES 1200
#define TAIL_LINES 4
#define TAIL_CHARS 240
/* The log is searched in pieces of this size; a message across two pieces is missed, but lines are
 * shorter. */
#define LINE_BYTES 4096

/* ---- the end ------------------------------------------------------------------------------- */

/* The last bytes of a file; 0 if it cannot be read. */
static size_t read_tail(const char *path, char out[TAIL_BYTES])
{
    FILE *f = fopen(path, "rb");
    size_t n = 0;

    if (!f)
        return 0;
    if (fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);

        if (size >= 0 && fseek(f, size > TAIL_BYTES ? size - TAIL_BYTES : 0, SEEK_SET) == 0)
            n = fread(out, 1, TAIL_BYTES, f);
    }
    fclose(f);
    return n;
}

/* Replaces all but printable ASCII by '?', as the text goes into a database, into JSON, and to terminals. */
static void make_printable(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\t' || text[i] == '\r')
            text[i] = ' ';
        else if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
            text[i] = '?';
}

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Keeps the lines that have a letter or digit, separated by '\n'. Returns their size. */
static size_t keep_lines(char *text, size_t n)
{
    size_t kept = 0;

    for (size_t start = 0, end; start < n; start = end + 1) {
        size_t last, first = start;
        bool is_kept = false;

        for (end = start; end < n && text[end] != '\n'; end++)
            is_kept |= is_alphanumeric(text[end]);
        if (!is_kept)
            continue;
        for (last = end; text[last - 1] == ' ';)
            last--;
        while (text[first] == ' ')
            first++;
        if (kept)
            text[kept++] = '\n';
        memmove(text + kept, text + first, last - first);
        kept += last - first;
    }
    return kept;
}

/* The start of the last lines, or a position inside the last line if it is too long. */
static size_t find_tail(const char *text, size_t n)
{
    size_t start = n;

    for (int lines = 0; start > 0 && lines < TAIL_LINES; lines++) {
        size_t line = start == n ? n : start - 1;

        while (line > 0 && text[line - 1] != '\n')
            line--;
        if (n - line > TAIL_CHARS)
            return lines ? start : n - TAIL_CHARS;
        start = line;
    }
    return start;
}

void drv_log_tail_add(const char *path, const char *name, dse_strbuf *out)
{
    char text[TAIL_BYTES];
    size_t n = read_tail(path, text), start;

    make_printable(text, n);
    n = keep_lines(text, n);
    if (!n) {
        dse_strbuf_addf(out, "; %s is empty", name);
        return;
    }
    start = find_tail(text, n);
    dse_strbuf_addf(out, "; %s ends: %s", name, start && text[start - 1] != '\n' ? "..." : "");
    for (size_t i = start; i < n; i++)
        if (text[i] == '\n')
            dse_strbuf_adds(out, " | ");
        else
            dse_strbuf_addc(out, text[i]);
}

/* ---- what it means ------------------------------------------------------------------------- */

#define OTHER_STAGE                                                                                          \
    "STAGE is of another branch than the model's stage.version; 'ccldse doctor --stage-cmd' says of which"

/* Messages of STAGE's command line, and of ASTRA-sim (af2492b: LocalMemUsageTracker.cc,
 * HardwareResource.cc). The first one found is the cause. */
static const struct {
    const char *sentence, *meaning;
} known[] = {
    {"Attribute 'inputs' not found",
     "STAGE's traces do not name the tensors that memory is made of: set with_comm_info to True in its "
     "symbolic_tensor_graph/graph/convert_chakra.py, or scheduler.track_local_mem to false"},
    {"error: unrecognized arguments", OTHER_STAGE},
    {"error: the following arguments are required", OTHER_STAGE},
    {"STAGE's branch recomp has no option", OTHER_STAGE},
    {"STAGE's branch main has no option", OTHER_STAGE},
    {"has unreleased nodes", "it ended with ranks that wait for each other, or for what never comes"},
};
#define N_KNOWN DSE_COUNT(known)

void drv_log_meaning_add(const char *path, dse_strbuf *out)
{
    FILE *f = fopen(path, "r");
    char line[LINE_BYTES];
    size_t cause = N_KNOWN;

    if (!f)
        return;
    while (cause > 0 && fgets(line, sizeof line, f))
        for (size_t i = 0; i < cause; i++)
            if (strstr(line, known[i].sentence))
                cause = i;
    fclose(f);
    if (cause < N_KNOWN)
        dse_strbuf_addf(out, "; %s", known[cause].meaning);
}
