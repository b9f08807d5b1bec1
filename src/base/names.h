/* Names a user may misspell: the nearest known one, and a readable list of all. */
#ifndef DSE_BASE_NAMES_H
#define DSE_BASE_NAMES_H

#include "base/status.h"

#include <stddef.h>

/* The candidate with the smallest edit distance to `name` (case ignored; two letters that changed places are
 * one edit) within a third of the name's length, its dashes aside (at least 1, at most 3 edits). Ties: the
 * one with the longest run of letters in common, then the first. "h200" comes after the name that has the
 * whole of "h100" in it, the shortest of these, or that it begins with, the longest, if these are three
 * letters or more: "h100" is near to "hgx_h100". NULL: none. Borrowed from the array. */
const char *dse_nearest(const char *name, const char *const *known, size_t n);

/* Fails with "unknown <what> '<name>'; did you mean '<nearest>'? known: <all>". `where` may be "". */
dse_status dse_fail_unknown(dse_error *err, dse_status st, const char *where, const char *what,
                            const char *name, const char *const *known, size_t n);

/* Bytes of the UTF-8 character (RFC 3629) that the text begins with; 0: there is none. */
size_t dse_utf8_length(const char *text);

/* Puts '?' in the place of each byte of a control character, those of U+0080 to U+009F too, which a terminal
 * takes for the start of a command as it does an escape, and of each mark that turns the direction of a text,
 * which hides what it says. For names from other people's files; a text of several lines keeps its line
 * feeds. */
typedef enum { DSE_ONE_LINE, DSE_LINES } dse_lines;
void dse_mask_controls(char *text, size_t n, dse_lines lines);

/* Whether a text ends so; the case counts. */
bool dse_ends(const char *text, const char *ending);

/* Well-formed UTF-8 without any of these. */
bool dse_is_printable(const char *text);

/* "a, b, c" into out (truncated to fit). */
void dse_join(char *out, size_t size, const char *const *names, size_t n);

#endif
