/* dse_json -- writes JSON into a dse_strbuf, placing the commas.
 *
 * The caller opens and closes objects and arrays in order; in an object every value is preceded by its
 * key. Numbers are written as given: `_fixed` keeps trailing zeros, because upstream's percentages are
 * compared as printed. Strings are taken as UTF-8, and each byte that is none becomes U+FFFD; control
 * characters are escaped. Compact output; depth at most 32. */
#ifndef DSE_BASE_JSON_WRITER_H
#define DSE_BASE_JSON_WRITER_H

#include "base/strbuf.h"

typedef struct {
    dse_strbuf *out;
    int depth;
    bool has_value[32]; /* something was written at this depth: the next value needs a comma */
    bool after_key;
    bool newline; /* the next value begins a line */
} dse_json;

void dse_json_init(dse_json *j, dse_strbuf *out);
void dse_json_begin_object(dse_json *j);
void dse_json_end_object(dse_json *j);
void dse_json_begin_array(dse_json *j);
void dse_json_end_array(dse_json *j);

void dse_json_key(dse_json *j, const char *key);
void dse_json_string(dse_json *j, const char *s);
void dse_json_uint(dse_json *j, uint64_t v);
void dse_json_int(dse_json *j, int64_t v);
void dse_json_bool(dse_json *j, bool v);
void dse_json_null(dse_json *j);
/* The shortest decimal that reads back as v; NaN and infinities, which JSON lacks, become strings. */
void dse_json_double(dse_json *j, double v);
/* v with `decimals` places, "92.803"; NaN and infinities as above. */
void dse_json_fixed(dse_json *j, double v, int decimals);

/* A key and its value. Of _double one that is null if it is not finite, of _string one that is null if it is
 * NULL. */
void dse_json_key_uint(dse_json *j, const char *key, uint64_t v);
void dse_json_key_fixed(dse_json *j, const char *key, double v, int decimals);
void dse_json_key_double(dse_json *j, const char *key, double v);
void dse_json_key_string(dse_json *j, const char *key, const char *s);

/* A key and the beginning of its object. */
void dse_json_key_object(dse_json *j, const char *key);

/* A document that is one object: its beginning; its end and a newline. */
void dse_json_open(dse_json *j, dse_strbuf *out);
void dse_json_close(dse_json *j);

/* The next value, or key, begins a line: long lists are one entry a line. */
void dse_json_newline(dse_json *j);

/* A value that is JSON already, written by the caller into the same buffer right after this call. */
void dse_json_raw(dse_json *j);

/* A quoted, escaped JSON string appended to b. */
void dse_json_quote(dse_strbuf *b, const char *s);

#endif
