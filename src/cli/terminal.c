#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST  40 /* columns; a narrower one breaks lines itself */
#define USUAL  80
#define INDENT 4

size_t terminal_width(int fd)
{
    struct winsize size;

    if (!isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}

bool terminal_has_colours(int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
}

void terminal_add_message(const char *text, size_t width, dse_strbuf *out)
{
    dse_strbuf part;

    dse_strbuf_init(&part);
    for (bool head = true; *text; head = false) {
        const char *end = strstr(text, "; ");
        const size_t n = end ? (size_t)(end - text) : strlen(text);

        dse_strbuf_clear(&part);
        dse_strbuf_add(&part, text, n);
        if (!head)
            dse_strbuf_addf(out, "\n%*s", INDENT, "");
        dse_strbuf_add_wrapped(out, part.data, INDENT, width);
        text += end ? n + 2 : n;
    }
    dse_strbuf_free(&part);
}

/* Two spaces behind the first word are columns. A command to copy must stay in one line: broken by the
 * terminal itself, it is still copied whole. */
static bool is_prose(const char *line)
{
    return *line && *line != ' ' && !strstr(line, "  ") && !strstr(line, ": ccldse ");
}

void terminal_add_lines(const char *text, size_t width, dse_strbuf *out)
{
    dse_strbuf line;

    dse_strbuf_init(&line);
    while (*text) {
        const size_t n = strcspn(text, "\n");

        dse_strbuf_clear(&line);
        dse_strbuf_add(&line, text, n);
        if (n > width && is_prose(line.data))
            dse_strbuf_add_wrapped(out, line.data, 2, width);
        else
            dse_strbuf_add(out, text, n);
        text += n;
        if (*text) {
            dse_strbuf_addc(out, '\n');
            text++;
        }
    }
    dse_strbuf_free(&line);
}
