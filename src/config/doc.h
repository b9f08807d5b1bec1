/* cfg_doc -- a YAML or JSON document as a tree that remembers where everything stood.
 *
 * Scalars keep the text of the source: the caller decides what a value means (a number, a rate, a name),
 * and can name file, line and column in its errors. Mappings keep the order of the file;
 * a key that stands twice is refused. YAML tags and several documents in one file are refused too: no card
 * needs them. An alias is the node of its anchor again, so a tree may share nodes; aliases that stand for
 * more than a million values are refused, as is one within its own anchor. Nesting deeper than CFG_MAX_DEPTH,
 * aliases written out, is refused; so are files over CFG_MAX_BYTES by cfg_load. A caller that parses from
 * memory sets its own limit: a trace in JSON may be larger than a card (up to 2 GiB).
 *
 * Everything lives in the arena given at loading and is read-only. */
#ifndef DSE_CONFIG_DOC_H
#define DSE_CONFIG_DOC_H

#include "base/alloc.h"
#include "base/json_writer.h"
#include "base/status.h"

#define CFG_MAX_DEPTH 64
#define CFG_MAX_BYTES ((size_t)64 << 20)

typedef enum { CFG_SCALAR, CFG_LIST, CFG_MAP } cfg_kind;

typedef struct cfg_node cfg_node;
struct cfg_node {
    cfg_kind kind;
    uint32_t line, column; /* from 1 */
    const char *text;      /* CFG_SCALAR: as written, without quotes; else NULL */
    bool quoted;           /* CFG_SCALAR: stood in quotes, so it is a string even if it looks like a number */
    uint32_t n;            /* CFG_LIST, CFG_MAP: number of entries */
    cfg_node **item;       /* n values */
    cfg_node **key;        /* CFG_MAP: n scalar nodes; else NULL */
};

typedef struct {
    const char *path; /* as given; used in messages */
    cfg_node *root;
} cfg_doc;

/* By the extension: .json is JSON, everything else YAML. DSE_E_IO, DSE_E_SYNTAX with the place. */
dse_status cfg_load(const char *path, dse_arena *a, cfg_doc *out, dse_error *err);

/* The same from memory; `path` is only a name for messages. */
dse_status cfg_parse_yaml(const char *path, const char *text, size_t n, dse_arena *a, cfg_doc *out,
                          dse_error *err);
dse_status cfg_parse_json(const char *path, const char *text, size_t n, dse_arena *a, cfg_doc *out,
                          dse_error *err);

/* Of libyaml and jansson, as they say at run time. */
const char *cfg_yaml_version(void);
const char *cfg_json_version(void);

/* The value of `key` in a mapping, or NULL (also if node is not a mapping). */
const cfg_node *cfg_get(const cfg_node *node, const char *key);

/* Where a node stands: "file:line:column"; NULL: the file. */
typedef struct {
    char text[256];
} cfg_place;
cfg_place cfg_at(const cfg_doc *doc, const cfg_node *node);

/* dse_fail_at of such a place: DSE_E_CONFIG. */
dse_status cfg_fail(dse_error *err, const cfg_doc *doc, const cfg_node *node, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* What a node is, for messages: "a list", "a mapping", "'abc'". */
cfg_place cfg_seen(const cfg_node *node);

/* Refuses what is no mapping, `what` names it ("a table"), and a key that is none of the known ones.
 * DSE_E_CONFIG. */
dse_status cfg_only_keys(const cfg_doc *doc, const cfg_node *map, const char *what, const char *const *known,
                         size_t n, dse_error *err);

/* Writes the node of a JSON document, as it was: numbers to the digit. */
void cfg_write_json(const cfg_node *node, dse_json *j);

/* Typed reads of one scalar; DSE_E_CONFIG with the place otherwise. `what` names the value. */
dse_status cfg_string(const cfg_doc *doc, const cfg_node *node, const char *what, const char **out,
                      dse_error *err);
dse_status cfg_int(const cfg_doc *doc, const cfg_node *node, const char *what, int64_t min, int64_t max,
                   int64_t *out, dse_error *err);

#endif
