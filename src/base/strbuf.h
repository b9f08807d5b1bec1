/* dse_strbuf -- a growing string.
 *
 * Invariants: data is always NUL-terminated (the empty buffer points at a static ""), len excludes
 * the NUL. Holds bytes: may contain NULs. */
#ifndef DSE_BASE_STRBUF_H
#define DSE_BASE_STRBUF_H

#include "base/alloc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *data;
    size_t len, cap;
    dse_arena *arena; /* of its memory; NULL: it is on the heap, and to be freed */
} dse_strbuf;

void dse_strbuf_init(dse_strbuf *b);
dse_strbuf dse_strbuf_in(dse_arena *a); /* empty, for short texts: what it has outgrown stays in the arena */
void dse_strbuf_free(dse_strbuf *b);    /* accepts an initialised buffer, leaves it initialised */
void dse_strbuf_clear(dse_strbuf *b);   /* keeps the memory */

/* The text, in the arena; the buffer is freed. */
const char *dse_strbuf_take(dse_strbuf *b, dse_arena *a);

void dse_strbuf_add(dse_strbuf *b, const void *bytes, size_t n);
void dse_strbuf_addc(dse_strbuf *b, char c);
void dse_strbuf_adds(dse_strbuf *b, const char *s);
void dse_strbuf_addu(dse_strbuf *b, uint64_t v); /* decimal */
void dse_strbuf_addf(dse_strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dse_strbuf_vaddf(dse_strbuf *b, const char *fmt, va_list ap);

/* The shortest decimal that reads back as v, spelt as Python's repr() spells it: "81920000.0", "1e+16",
 * "5e-05", "nan", "inf". STAGE writes tensor sizes this way. (For 46 powers of two, all below 2^-23 or above
 * 2^88, Python knows a form that is a digit shorter.) */
void dse_strbuf_add_repr(dse_strbuf *b, double v);

/* "a, b or c", of a list that NULL ends. */
void dse_strbuf_add_choices(dse_strbuf *b, const char *const *choices);

/* Words in lines of at most `width` columns, the first from `column` on, where every further line begins. A
 * word too long for a line has one of its own. Ends without a newline. */
void dse_strbuf_add_wrapped(dse_strbuf *b, const char *text, size_t column, size_t width);

/* A CSV field, quoted where it must be (RFC 4180). A text that a spreadsheet would take for a formula, which
 * is one that begins with = + - @, a tab or a carriage return and is no number, gets a ' in front (OWASP,
 * "CSV Injection"). */
void dse_strbuf_add_csv(dse_strbuf *b, const char *text);

/* A word of a shell's command, quoted where it must be. */
void dse_strbuf_add_shell(dse_strbuf *b, const char *word);

#endif
