/* What a terminal shows: its width, and whether colours are wanted there. */
#ifndef DSE_CLI_TERMINAL_H
#define DSE_CLI_TERMINAL_H

#include "base/strbuf.h"

#include <stddef.h>

/* Columns of the terminal that a file descriptor is; 80 if it does not say, 0: it is none. */
size_t terminal_width(int fd);

/* It is one, and neither NO_COLOR (no-color.org) nor TERM=dumb says otherwise. */
bool terminal_has_colours(int fd);

#define TERMINAL_RED    "\033[1;31m"
#define TERMINAL_YELLOW "\033[1;33m"
#define TERMINAL_PLAIN  "\033[0m"

/* Appends a message as a terminal gets it: up to the first semicolon the head, each further part in lines of
 * its own, indented; broken at words. */
void terminal_add_message(const char *text, size_t width, dse_strbuf *out);

/* Appends lines, those of prose that are wider than the terminal broken at words; rows of tables, which have
 * columns of two spaces in them, indented lines, and lines with a command to copy stay as they are. */
void terminal_add_lines(const char *text, size_t width, dse_strbuf *out);

#endif
