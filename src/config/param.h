/* cfg_param -- one row per parameter: its key, type, unit, range, default and meaning.
 *
 * The same rows parse a card, check it, print it back resolved, write and read the ASTRA-sim files,
 * and print the documentation. A row stores its value at `offset` of a plain struct that starts with a
 * cfg_given (which rows the file set). Values with units are stored as the number a bare value of that
 * row would have: "50ns" and 50 store the same latency. */
#ifndef DSE_CONFIG_PARAM_H
#define DSE_CONFIG_PARAM_H

#include "base/json_writer.h"
#include "base/units.h"
#include "config/doc.h"

#define CFG_MAX_DIMS 10 /* network dimensions; the reference's collectives stop at 10 too */
#define CFG_NAME_MAX 64

typedef char cfg_name[CFG_NAME_MAX];
typedef struct {
    uint32_t n;
    double v[CFG_MAX_DIMS];
} cfg_double_list;
typedef struct {
    uint32_t n;
    int64_t v[CFG_MAX_DIMS];
} cfg_int_list;
typedef struct {
    uint32_t n;
    cfg_name v[CFG_MAX_DIMS];
} cfg_name_list;

#define CFG_MAX_ROWS 128 /* of a table */

/* Which rows of the table were set by the file: bit i % 64 of word i / 64. */
typedef struct {
    uint64_t rows[CFG_MAX_ROWS / 64];
} cfg_given;

static inline bool cfg_given_has(const cfg_given *g, size_t row) { return g->rows[row / 64] >> row % 64 & 1; }
static inline void cfg_given_put(cfg_given *g, size_t row) { g->rows[row / 64] |= (uint64_t)1 << row % 64; }
static inline void cfg_given_take(cfg_given *g, size_t row)
{
    g->rows[row / 64] &= ~((uint64_t)1 << row % 64);
}

typedef enum {
    CFG_T_INT,         /* int64_t */
    CFG_T_DOUBLE,      /* double */
    CFG_T_BOOL,        /* bool */
    CFG_T_NAME,        /* cfg_name */
    CFG_T_INT_LIST,    /* cfg_int_list */
    CFG_T_DOUBLE_LIST, /* cfg_double_list */
    CFG_T_NAME_LIST    /* cfg_name_list */
} cfg_type;

typedef struct {
    const char *key; /* dotted path in a card: "network.bandwidth" */
    cfg_type type;
    dse_unit unit;              /* what a written unit may be */
    double unit_scale;          /* a bare number counts in this many canonical units */
    const char *unit_name;      /* for people: "GiB/s", or "" */
    double min, max;            /* of each element, in bare numbers; inclusive */
    const char *fallback;       /* the default as it would stand in a card; NULL: required; "": absent */
    const char *const *choices; /* NULL-terminated, for names; NULL: any */
    dse_status (*check)(const char *name, dse_error *err); /* for names that no list can spell out */
    const char *help;
    size_t offset;
    bool bare;   /* of a list: a value without brackets is a list of one */
    bool listed; /* of a name: it is written as a list of one, and may be read without brackets */
    size_t room; /* of a name: bytes of its field; 0: CFG_NAME_MAX */
    bool sparse; /* of a list of integers or names: an entry may be null, which is stored as 0 or "" */
    /* Of a name, a list, a number without a unit in its default, or one that may be absent: no text says it
     * while it is the default, as if there were no such row; so a resolved text stays what it was before
     * there was one. */
    bool omit_default;
    /* no result depends on it: never in a resolved text, so a change of it finds stored results again */
    bool unhashed;
    bool moved; /* read from older cards and texts, never written: it is part of something else now */

    /* How the reference simulator's files call it; NULL: they do not have it. */
    const char *astra_key;
    const char *astra_fallback; /* the reference's default when its file lacks the key; NULL: required */
    bool astra_ignores;         /* the reference never reads it: taken from its files, and not written */
    bool astra_lacks; /* a key of ours alone: taken from its files and written there for ourselves */
} cfg_param;

/* A row may have rows below it, "precision" and "precision.weights": then a card has a value there, or a
 * mapping. Those below are optional. */
typedef struct {
    const cfg_param *rows;
    uint32_t n;
    const char *title; /* "system card" */
} cfg_table;

/* A value that is set over a card's: "network.bandwidth[1]" to "50GB/s", "network.bandwidth" to "[50,25]". */
typedef struct {
    const char *path, *value;
} cfg_setting;

/* Ordered by path, each path once. */
typedef struct {
    size_t n;
    const cfg_setting *item;
} cfg_settings;

/* "path=value" without its blanks; in the arena. DSE_E_USAGE, also if a blank divides a word: "operators=my
 * file". */
dse_status cfg_setting_parse(const char *text, dse_arena *a, cfg_setting *out, dse_error *err);

/* Puts settings into their order. DSE_E_USAGE if a path stands twice. */
dse_status cfg_settings_sort(cfg_setting *items, size_t n, dse_error *err);

/* Whether what `path` sets is, or has in it, what `other` sets: "network.bandwidth" covers itself and
 * "network.bandwidth[1]", "precision" covers "precision.weights". */
bool cfg_path_covers(const char *path, const char *other);

/* Whether the table has the row of a path. */
bool cfg_table_has(const cfg_table *t, const char *path);

/* Sets one value; `given` then says so. Rows below the path (see cfg_table) are as if nothing had given them.
 * DSE_E_CONFIG: not in the table, no such element, or no value for it. */
dse_status cfg_table_set(const cfg_table *t, const cfg_setting *setting, void *values, dse_error *err);

/* Makes each list as long as lists can be, so that any element can be set. */
void cfg_table_fill_lists(const cfg_table *t, void *values);

/* Reads a card: every key must be in the table, required keys must be there, defaults are filled in. Of
 * `settings` (NULL: none), those whose paths the table has are set over it. *out (of the struct the offsets
 * refer to) is complete on success and undefined on failure. */
dse_status cfg_table_read(const cfg_table *t, const cfg_doc *doc, const cfg_settings *settings, void *out,
                          dse_error *err);

/* The same of a card that may be incomplete: a required row that nothing gives is left as it is, without its
 * bit in `given`; values may be set over it later. */
dse_status cfg_table_read_part(const cfg_table *t, const cfg_doc *doc, const cfg_settings *settings,
                               void *out, dse_error *err);

/* Whether every required row is given by now. DSE_E_CONFIG with the first that is not; `path` is the
 * card's. */
dse_status cfg_table_check(const cfg_table *t, const char *path, const void *values, dse_error *err);

/* The row of a dotted key, or NULL; whether rows are below it ("network"). */
const cfg_param *cfg_param_find(const cfg_table *t, const char *key);
bool cfg_is_section(const cfg_table *t, const char *path);

/* Fails: the key at `path` is none of the table; says which one may have been meant. */
dse_status cfg_unknown_key(const cfg_table *t, const cfg_doc *doc, const cfg_node *key, const char *path,
                           dse_error *err);

/* Sets one row from a node, or from its default text. */
dse_status cfg_param_set(const cfg_param *p, const cfg_doc *doc, const cfg_node *node, void *out,
                         dse_error *err);
dse_status cfg_param_default(const cfg_param *p, const char *text, void *out, dse_error *err);

/* One value: of type CFG_T_INT (also of switches), CFG_T_DOUBLE or CFG_T_NAME (borrowed from the values). */
typedef struct {
    cfg_type type;
    union {
        int64_t integer;
        double number;
        const char *name;
    };
} cfg_value;

/* The value at a path, in the row's unit. False if there is none: no such path, a whole list, nothing
 * given. */
bool cfg_table_get(const cfg_table *t, const void *values, const char *path, cfg_value *out);

bool cfg_is_given(const cfg_table *t, const void *values, const char *key);

/* The resolved values as one JSON object, dotted keys, in table order: what is stored beside a result
 * and hashed. Optional rows that are absent are left out, and rows that are `unhashed`. */
void cfg_table_write_json(const cfg_table *t, const void *values, dse_json *j);

/* One value in JSON, without its key. */
void cfg_param_write_json(const cfg_param *p, const void *values, dse_json *j);

/* True if an optional list, name or number row holds nothing, or a row to be omitted its default. */
bool cfg_param_is_absent(const cfg_param *p, const void *values);

/* The table as aligned text: key, type, unit, range, default, meaning. */
void cfg_table_describe(const cfg_table *t, dse_strbuf *out);

#endif
