/* report_tree -- a result as one tree of values, which JSON, CSV and tables of text render.
 *
 * A value has a key, by which programs find it, or a heading, under which people read it, or both: JSON and
 * CSV take the values with keys, a table of the rows of a list takes those with headings. What is not known
 * is null in JSON, empty in CSV and "-" in a table. Texts are copied into the tree; keys and headings are
 * borrowed. */
#ifndef DSE_REPORT_TREE_H
#define DSE_REPORT_TREE_H

#include "base/json_writer.h"
#include "store/store.h"

typedef enum {
    REPORT_OMITTED, /* it is not there at all */
    REPORT_UNKNOWN,
    REPORT_TEXT,    /* NULL: unknown; the only kind that a table aligns to the left, as the next */
    REPORT_BOOL,    /* "yes" and "no" to people */
    REPORT_CELL,    /* a formatted number, for people alone */
    REPORT_COUNT,   /* a whole number */
    REPORT_TIME,    /* ns, "3.207 s" to people; STORE_ABSENT: unknown, as of the next */
    REPORT_BYTES,   /* "67.0 GB" to people */
    REPORT_INTEGER, /* signed */
    REPORT_REAL,    /* the shortest decimal that reads back; unknown if not finite */
    REPORT_FIXED,   /* `decimals` places; NaN and infinity are texts */
    REPORT_RAW,     /* JSON already, for programs alone */
    REPORT_OBJECT,
    REPORT_LIST
} report_kind;

typedef struct {
    const char *key, *heading;
    report_kind kind;
    bool line; /* begins a line of JSON; of a list: each of its items does */
    int decimals;
    union {
        const char *text;
        uint64_t count;
        int64_t integer;
        double real;
        bool yes;
    };
} report_value;

#define V_TEXT(k, v)     ((report_value){.key = (k), .kind = REPORT_TEXT, .text = (v)})
#define V_BOOL(k, v)     ((report_value){.key = (k), .kind = REPORT_BOOL, .yes = (v)})
#define V_COUNT(k, v)    ((report_value){.key = (k), .kind = REPORT_COUNT, .count = (v)})
#define V_TIME(k, v)     ((report_value){.key = (k), .kind = REPORT_TIME, .count = (v)})
#define V_BYTES(k, v)    ((report_value){.key = (k), .kind = REPORT_BYTES, .count = (v)})
#define V_INTEGER(k, v)  ((report_value){.key = (k), .kind = REPORT_INTEGER, .integer = (v)})
#define V_REAL(k, v)     ((report_value){.key = (k), .kind = REPORT_REAL, .real = (v)})
#define V_FIXED(k, v, n) ((report_value){.key = (k), .kind = REPORT_FIXED, .decimals = (n), .real = (v)})
#define V_RAW(k, v)      ((report_value){.key = (k), .kind = REPORT_RAW, .text = (v)})
#define V_UNKNOWN(k)     ((report_value){.key = (k), .kind = REPORT_UNKNOWN})
/* For people alone: to the left, and to the right as numbers stand. */
#define V_NOTE(h, v) ((report_value){.heading = (h), .kind = REPORT_TEXT, .text = (v)})
#define V_CELL(h, v) ((report_value){.heading = (h), .kind = REPORT_CELL, .text = (v)})
/* The value if it is known; if it is there. `v` is evaluated only then. */
#define V_KNOWN(is, k, v) ((is) ? (v) : V_UNKNOWN(k))
#define V_GIVEN(is, v)    ((is) ? (v) : (report_value){.kind = REPORT_OMITTED})

/* The value, under this heading for people. */
#define V_AS(h, v) report_as(h, v)
static inline report_value report_as(const char *heading, report_value v)
{
    v.heading = heading;
    return v;
}

typedef struct report_node report_node;
struct report_node {
    report_value value;
    report_node *first, *last, *next; /* of objects and lists; beside it */
    dse_arena *arena;
};

typedef struct {
    dse_arena arena;
    report_node root; /* an object */
} report_tree;

/* An empty object; _clear: again, in the same memory, for the next of many. */
report_node *report_tree_begin(report_tree *t);
void report_tree_clear(report_tree *t);
void report_tree_free(report_tree *t);
/* Writes the tree as JSON, and frees it; _end: as a document, which ends with a newline. */
void report_tree_write(report_tree *t, dse_strbuf *out);
void report_tree_end(report_tree *t, dse_strbuf *out);

/* Each adds at the end of an object, of a list with key NULL, and returns what it added; _all returns
 * `to`. */
report_node *report_add(report_node *to, report_value v);
report_node *report_add_all(report_node *to, const report_value *v, size_t n);
report_node *report_object(report_node *to, const char *key);
report_node *report_list(report_node *to, const char *key);
report_node *report_lines(report_node *to, const char *key); /* a list with an item a line */
report_node *report_texts(report_node *to, const char *key, const char *const *text, size_t n);

/* Adds these values and returns the object; adds an object of them to a list and returns that. */
#define REPORT_VALUES(...)                                                                                   \
    (const report_value[]){__VA_ARGS__}, sizeof((const report_value[]){__VA_ARGS__}) / sizeof(report_value)
#define report_put(to, ...)   report_add_all(to, REPORT_VALUES(__VA_ARGS__))
#define report_row(list, ...) report_add_all(report_object(list, NULL), REPORT_VALUES(__VA_ARGS__))

/* A stored figure under the name of its column; unknown where the row lacks it. */
report_value report_figure(const store_metrics *m, const store_column *c);
void report_put_known(report_node *to, const store_metrics *m, const store_column *c); /* if it has it */
void report_put_strategy(report_node *to, const strategy *s);
void report_put_parameter(report_node *to, const char *key, const strategy_parameter *p, uint32_t value);

/* A value, with its key if it has one; one that is neither an object nor a list, without. */
void report_node_json(const report_node *v, dse_json *j);
void report_items_json(const report_node *of, dse_json *j); /* of an object or a list, without its brackets */
void report_scalar_json(const report_value *v, dse_json *j);
bool report_has_value(const report_value *v);

/* The rows as a table, one column for each heading; all must have the same headings. Nothing without rows.
 * _end: those of the root; frees the tree. */
void report_rows_table(const report_node *list, dse_strbuf *out);
void report_table_end(report_tree *t, dse_strbuf *out);

/* The keys, or the values, of an object as a line of CSV. What is not known is empty. */
void report_csv_line(const report_node *row, bool keys, dse_strbuf *out);

/* The same rows of the root as a Markdown table; frees the tree. */
void report_markdown_end(report_tree *t, dse_strbuf *out);

/* From now on headings of tables are bold, and of a ranking the row of the winner, and its title, stand out:
 * for a terminal that shows colours. Off until then. */
void report_use_colours(bool yes);
/* Around what is to stand out; "" without colours. */
typedef enum { REPORT_PLAIN, REPORT_HEADING, REPORT_WINNER } report_style;
const char *report_begin_style(report_style style);

/* Adds the degrees of a point's name to such a row, as its profile has them: "4 x 2 x 1 x 1", with ",
 * recompute" or ", sharded weights" behind them; headed "dp x tp x cp x pp", or by what points of `profiles`
 * have. */
void report_put_degrees(const char *point, unsigned profile, unsigned profiles, report_node *row);

/* A value as people read it, in a table. */
void report_add_cell(const report_value *v, dse_strbuf *out);

/* A text of at most `room` characters, more than 3: a longer one without its middle, as names of kernels say
 * most at both ends. */
void report_add_cut(const char *text, size_t room, dse_strbuf *out);

/* ---- values for people ---------------------------------------------------------------------- */

typedef struct {
    char text[352]; /* a double may have 309 digits before the point */
} report_text;

report_text report_time(uint64_t ns); /* "3.207 s"; "-": STORE_ABSENT, as of sizes */
report_text report_seconds(double s); /* NaN: "-" */
report_text report_bytes(uint64_t bytes);
report_text report_size(double bytes);
report_text report_signed_percent(double fraction); /* "+3.3%"; NaN: "-" */
/* A stored figure. _exact: without loss, but for the STORE_REALs, which have three decimals as the reference
 * prints percentages: "3206889878", "92.803", "-". _readable: with its unit, in the size of it that reads
 * best: "3.207 s", "143.9 GB", "92.803 %", "-". */
report_text report_value_exact(const store_metrics *m, const store_column *c);
report_text report_value_readable(const store_metrics *m, const store_column *c);
report_text report_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
