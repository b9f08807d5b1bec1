/* ASTRA-sim's files and its command line: what its parsers do with each key. */
#include "base/array.h"
#include "base/names.h"
#include "base/words.h"
#include "cards/remote.h"
#include "lint/parts.h"

#include <string.h>

#define MAX_KNOWN 128

/* ---- system.json and network.yml ----------------------------------------------------------- */

static void unknown_key(lint *l, const cfg_doc *doc, const cfg_node *key, const cfg_node *value,
                        const lint_rows *others, bool parameters, bool network)
{
    const char *known[MAX_KNOWN], *nearest;
    size_t n = 0;

    for (uint32_t i = 0; parameters && i < card_system_table.n && n < MAX_KNOWN; i++)
        if (card_system_table.rows[i].astra_key &&
            card_system_in_network_file(&card_system_table.rows[i]) == network)
            known[n++] = card_system_table.rows[i].astra_key;
    for (uint32_t i = 0; i < others->n && n < MAX_KNOWN; i++)
        known[n++] = others->row[i].key;
    nearest = dse_nearest(key->text, known, n);
    lint_add_key(l, key->text, key, value, "", "", LINT_UNKNOWN);
    lint_add(l, LINT_WARNING, cfg_at(doc, key).text, key->text,
             nearest ? "no such key, and so without effect; did you mean '%s'?"
                     : "no such key, and so without effect: remove it%s",
             nearest ? nearest : "");
}

/* nlohmann's JSON does not convert: what is no number is unequal to 0, or ends the program. */
static void check_json_type(lint *l, const cfg_doc *doc, const cfg_param *p, const cfg_node *value)
{
    if (card_astra_takes_for_true(p, value))
        lint_add(l, LINT_ERROR, cfg_at(doc, value).text, p->astra_key,
                 "false switches it on in ASTRA-sim, which compares with the number 0; write 0 or 1");
    if ((p->type == CFG_T_INT || p->type == CFG_T_DOUBLE) && value->kind == CFG_SCALAR && value->quoted)
        lint_add(l, LINT_WARNING, cfg_at(doc, value).text, p->astra_key,
                 "a string ends ASTRA-sim with an exception; write a bare number%s%s",
                 *p->unit_name ? " of " : "", p->unit_name);
}

/* yaml-cpp goes through the elements of what is no list, and finds none. */
static void check_yaml_type(lint *l, const cfg_doc *doc, const cfg_param *p, const cfg_node *value)
{
    if (p->bare && !p->astra_lacks && value->kind == CFG_SCALAR)
        lint_add(l, LINT_WARNING, cfg_at(doc, value).text, p->astra_key,
                 "no list: ASTRA-sim takes it for an empty one and stops; write [%s]", value->text);
}

static void key_of_ours(lint *l, const cfg_doc *doc, const cfg_param *p, const cfg_node *key,
                        const cfg_node *value)
{
    lint_add_key(l, key->text, key, value, p->unit_name, p->help, LINT_OURS_ONLY);
    lint_add(l, LINT_NOTE, cfg_at(doc, key).text, key->text, "a key of ccldse, which ASTRA-sim never reads");
}

static bool astra_keys(lint *l, const cfg_doc *doc, bool network, card_system *values)
{
    const lint_rows *others = network ? &lint_network_keys : &lint_system_keys;
    const sim_version_row *version = card_astra_version(doc);
    bool usable = true;

    for (uint32_t i = 0; i < doc->root->n; i++) {
        const cfg_node *key = doc->root->key[i], *value = doc->root->item[i];
        const cfg_param *known = card_astra_find(key->text, network);
        const cfg_param *p = known && (network || card_astra_reads(version, known)) ? known : NULL;
        const lint_row *row = p ? lint_find(&lint_parameters, p->key) : lint_find(others, key->text);
        dse_error why = DSE_ERROR_INIT;

        if (known != p || (row && row->effect == LINT_REFUSED && !version->refuses_chakra_settings))
            row = &lint_of_another_version;

        if (row)
            lint_row_key(l, doc, row, key->text, key, value, p ? p->unit_name : "", p ? p->help : "");
        else if (p && p->astra_lacks)
            key_of_ours(l, doc, p, key, value);
        else if (p)
            lint_add_key(l, key->text, key, value, p->unit_name, p->help, LINT_USED);
        else
            unknown_key(l, doc, key, value, others, true, network);
        if (p)
            (network ? check_yaml_type : check_json_type)(l, doc, p, value);
        if (p && cfg_param_set(p, doc, value, values, &why) != DSE_OK) {
            lint_add_error(l, key->text, p->key, &why);
            usable = false;
        }
    }
    return usable;
}

/* Why ASTRA-sim cannot do without a key that this file lacks; NULL if it can. The extents of a mesh, which it
 * does not have, say as much as its count. */
static const char *why_needed_in(const cfg_doc *doc, const cfg_param *p)
{
    static const char *const extents[] = {"width", "height", "depth"};

    for (size_t i = 0; !strcmp(p->key, "network.npus_count") && i < DSE_COUNT(extents); i++)
        if (cfg_get(doc->root, extents[i]))
            return NULL;
    return lint_why_needed(p->key);
}

/* Reports the keys that the file lacks and sets their defaults. */
static bool astra_absent(lint *l, const cfg_doc *doc, bool network, card_system *values)
{
    bool usable = true;

    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];
        const lint_row *row = lint_find(&lint_parameters, p->key);
        const char *why = why_needed_in(doc, p), *fallback = why ? NULL : p->astra_fallback, *meaning;
        cfg_node node = {.kind = CFG_SCALAR, .text = fallback};

        if (!p->astra_key || card_system_in_network_file(p) != network || cfg_get(doc->root, p->astra_key))
            continue;
        if (p->astra_fallback)
            (void)cfg_param_default(p, p->astra_fallback, values, NULL); /* the table's own: cannot fail */
        if ((row && row->effect == LINT_NEVER_READ) || p->omit_default)
            continue;
        meaning = row && row->meaning ? row->meaning : p->help;
        if (fallback) {
            if (p->type == CFG_T_BOOL) /* as the file would say it */
                node.text = !strcmp(fallback, "true") ? "1" : "0";
            lint_add_key(l, p->astra_key, NULL, *fallback ? &node : NULL, p->unit_name, meaning,
                         *fallback ? LINT_DEFAULT : LINT_ABSENT);
            continue;
        }
        usable = false;
        lint_add_key(l, p->astra_key, NULL, NULL, p->unit_name, meaning, LINT_MISSING);
        lint_add(l, LINT_WARNING, doc->path, p->astra_key, "missing: %s", why);
    }
    return usable;
}

/* Both files are there: what one alone cannot show. */
static void astra_complete(lint *l)
{
    dse_error why = DSE_ERROR_INIT;
    card_system values;

    if (!l->has_system || !l->has_network)
        return;
    l->has_system = l->has_network = false;
    if (card_system_read_astra(&l->system, &l->network, &values, &why) != DSE_OK) {
        lint_add_error(l, "", "", &why);
        return;
    }
    l->names_of_astra = true;
    lint_complete_system(l, &(card_places){&l->system, &l->network}, l->system.path, &values);
}

void lint_astra_system(lint *l, const cfg_doc *doc)
{
    card_system values = {0};
    bool usable = astra_keys(l, doc, false, &values);

    usable &= astra_absent(l, doc, false, &values);
    if (values.roofline_enabled && !cfg_get(doc->root, "peak-perf")) {
        lint_add(
            l, LINT_WARNING, cfg_at(doc, cfg_get(doc->root, "roofline-enabled")).text, "peak-perf",
            "missing: ASTRA-sim's roofline then divides by 0; add it in TFLOPS, or switch the roofline off");
        usable = false;
    }
    if (!doc->root->key[0]->quoted)
        lint_add(l, LINT_WARNING, doc->path, "",
                 "not JSON; ASTRA-sim parses its system configuration as JSON alone (version 1.0 did not): "
                 "put it into braces and quotes");
    l->has_system = usable;
    l->system = *doc;
    astra_complete(l);
}

void lint_astra_network(lint *l, const cfg_doc *doc)
{
    card_system values = {0};
    bool usable = astra_keys(l, doc, true, &values);

    usable &= astra_absent(l, doc, true, &values);
    l->has_network = usable;
    l->network = *doc;
    l->waiting = values;
    astra_complete(l);
}

static void network_alone(lint *l)
{
    const card_places in = {NULL, &l->network};
    const bool names_of_astra = l->names_of_astra;
    char rates[LINT_LINK_RATES_MAX];
    dse_error why = DSE_ERROR_INIT;
    net_network net;

    if (card_network_build(&l->waiting, &in, &net, &why) != DSE_OK) {
        lint_add_failure(l, l->network.path, &why);
        return;
    }
    lint_link_rates(&l->waiting, rates);
    lint_add(l, LINT_NOTE, l->network.path, "bandwidth",
             "a bare number counts 2^30 bytes per second: the links have %s GB/s, in 10^9 bytes", rates);
    l->names_of_astra = true; /* for now: the system that a workload is for may be another */
    lint_check_dependencies(l, &in, &l->waiting);
    lint_network(l, &in, &net);
    l->names_of_astra = names_of_astra;
}

void lint_astra_alone(lint *l)
{
    if (l->has_network)
        network_alone(l);
    if (l->has_system)
        lint_add(l, LINT_NOTE, l->system.path, "local-mem-bw",
                 "a bare number counts 10^9 bytes per second, and that of a link 2^30");
    l->has_system = l->has_network = false;
}

/* ---- remote_memory.json -------------------------------------------------------------------- */

/* Whether a remote memory of this kind has the key. */
static bool has_remote(const char *kind, const char *key)
{
    if (!strcmp(key, "memory-type"))
        return true;
    return strcmp(kind, "NO_MEMORY_EXPANSION") &&
           (strncmp(key, "num-", 4) || !strcmp(kind, "PER_NODE_MEMORY_EXPANSION"));
}

void lint_remote(lint *l, const cfg_doc *doc)
{
    const cfg_node *type = cfg_get(doc->root, "memory-type");
    const char *kind = type && type->kind == CFG_SCALAR ? type->text : "";
    dse_error why = DSE_ERROR_INIT;
    sim_remote_memory values;
    bool complete = true;

    for (uint32_t i = 0; i < doc->root->n; i++) {
        const cfg_node *key = doc->root->key[i], *value = doc->root->item[i];
        const lint_row *row = lint_find(&lint_remote_keys, key->text);

        if (!row)
            unknown_key(l, doc, key, value, &lint_remote_keys, false, false);
        else if (*kind && !has_remote(kind, key->text)) {
            lint_add_key(l, key->text, key, value, row->unit, row->meaning, LINT_NO_EFFECT);
            lint_add(l, LINT_WARNING, cfg_at(doc, key).text, key->text,
                     "without effect while memory-type is %s", kind);
        } else
            lint_row_key(l, doc, row, key->text, key, value, "", "");
    }
    for (uint32_t i = 0; i < lint_remote_keys.n; i++) {
        const lint_row *row = &lint_remote_keys.row[i];

        if (cfg_get(doc->root, row->key) || !has_remote(kind, row->key))
            continue;
        complete = false;
        lint_add_key(l, row->key, NULL, NULL, row->unit, row->meaning, LINT_MISSING);
        lint_add(l, LINT_WARNING, doc->path, row->key, "missing: %s", lint_why_needed(row->key));
    }
    if (complete && card_remote_read(doc, &values, &why) != DSE_OK)
        lint_add_error(l, "", "", &why);
}

/* ---- the command line ---------------------------------------------------------------------- */

/* One option and its value, as nodes, so that they print like a file's. */
static void lint_argument(lint *l, const cfg_doc *doc, const cfg_node *key, const cfg_node *value)
{
    const lint_row *row = lint_find(&lint_argument_keys, key->text);

    if (row)
        lint_row_key(l, doc, row, row->key, key, value, "", "");
    else
        unknown_key(l, doc, key, value, &lint_argument_keys, false, false);
}

/* Where a word stands, in columns from 1, looked for behind the one before; a quote within it hides it. */
static uint32_t column_of(const char *text, const char *word, size_t *behind)
{
    const char *at = strstr(text + *behind, word);

    if (at)
        *behind = (size_t)(at - text) + strlen(word);
    return (uint32_t)(at ? (size_t)(at - text) : *behind) + 1;
}

/* Joins continued lines as a shell does: a line that ends in a backslash continues in the next. */
static char *join_lines(const char *text, dse_arena *a)
{
    char *copy = dse_arena_strdup(a, text);

    for (char *p = copy; *p; p++) {
        if (*p == '\\' && p[1 + (p[1] == '\r')] == '\n')
            *p = ' ';
        if (*p == '\r')
            *p = ' ';
    }
    return copy;
}

void lint_arguments(lint *l, const char *text)
{
    const cfg_doc doc = {"--astrasim-args", NULL};
    dse_error why = DSE_ERROR_INIT;
    const char **word;
    char *line = join_lines(text, l->arena);
    size_t n, behind = 0;

    lint_add_file(l, doc.path, "ASTRA-sim command line");
    if (dse_split_words(line, l->arena, &word, &n, &why) != DSE_OK) {
        lint_add_failure(l, doc.path, &why);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        cfg_node key = {.kind = CFG_SCALAR, .line = 1}, value = {.kind = CFG_SCALAR, .text = "true"};
        const char *equals = strchr(word[i], '=');

        if (strncmp(word[i], "--", 2)) /* the program's name, most often */
            continue;
        key.text =
            dse_arena_strndup(l->arena, word[i], equals ? (size_t)(equals - word[i]) : strlen(word[i]));
        key.column = column_of(line, key.text, &behind);
        key.text += 2;
        if (equals)
            value.text = equals + 1;
        else if (i + 1 < n && strncmp(word[i + 1], "--", 2))
            value.text = word[++i];
        lint_argument(l, &doc, &key, &value);
    }
}
