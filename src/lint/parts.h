/* The parts of lint. Private to lint/.
 *
 *   lint.c      names to files, and which kind each is
 *   report.c    puts the report together
 *   keys.c      what is known of keys beyond the tables of parameters
 *   card.c      our cards, Hugging Face configs
 *   astra.c     ASTRA-sim's files and its command line
 *   network.c   a network: its dimensions in the two models, and what ASTRA-sim has not
 *   workload.c  groups and traces on a network */
#ifndef DSE_LINT_PARTS_H
#define DSE_LINT_PARTS_H

#include "cards/system.h"
#include "lint/lint.h"

typedef struct {
    lint_result *out;
    dse_arena *arena;
    bool has_system, has_network;
    cfg_doc system, network; /* ASTRA-sim's files that wait for each other, and what the latter says */
    card_system waiting;
    uint32_t n_networks; /* systems that are complete, and the last of them */
    net_network net;
    card_system values;
    const char *net_path;
    bool names_of_astra; /* it is from ASTRA-sim's files, whose names its keys have */
} lint;

/* Facts about a key that the tables of parameters do not have. */
typedef struct {
    const char *key; /* a parameter's, or in its file */
    lint_effect effect;
    const char *unit, *meaning; /* NULL: the parameter's */
    const char *harmless;       /* the value that asks for what happens anyway: a note; NULL: there is none */
    const char *text;           /* of the finding; NULL: none */
} lint_row;

typedef struct {
    const lint_row *row;
    uint32_t n;
} lint_rows;

/* What the system's version of ASTRA-sim does. */
static inline const sim_version_row *lint_version(const card_system *s)
{
    return &sim_versions[sim_version_find(s->version)];
}

extern const lint_rows lint_parameters;        /* by the key of a parameter */
extern const lint_rows lint_system_keys;       /* of system.json alone */
extern const lint_rows lint_network_keys;      /* of network files of older versions and other backends */
extern const lint_rows lint_remote_keys;       /* of remote_memory.json */
extern const lint_rows lint_argument_keys;     /* options of the command line, without dashes */
extern const lint_row lint_of_another_version; /* any key of system.json that its version does not read */

const lint_row *lint_find(const lint_rows *rows, const char *key);

/* Why ASTRA-sim cannot do without a key, or NULL; by the parameter's key, or that of remote_memory.json. */
const char *lint_why_needed(const char *key);

/* A parameter that works only together with another, a switch or a name: without effect while that has the
 * value given. */
typedef struct {
    const char *key, *on, *while_value;
} lint_dependency;
extern const lint_dependency lint_dependencies[];
extern const uint32_t lint_n_dependencies;

/* ---- building the report; texts are copied, but for units and meanings --------------------- */

void lint_add_file(lint *l, const char *path, const char *kind);
/* `node` NULL: the file does not have it. */
void lint_add_key(lint *l, const char *key, const cfg_node *key_node, const cfg_node *value, const char *unit,
                  const char *meaning, lint_effect effect);
/* Of a key that has been added, in the last file of this path: what another key makes of it. */
void lint_set_effect(lint *l, const char *path, const char *key, lint_effect effect);
void lint_add(lint *l, lint_level level, const char *where, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* An error of a reader as a finding; `said` is what its text may begin with, to be left out: the key's other
 * name. */
void lint_add_error(lint *l, const char *key, const char *said, const dse_error *why);
/* The same of a whole file, which is named where the reader named no place. */
void lint_add_failure(lint *l, const char *path, dse_error *why);
/* The key and its finding, as a row says. */
void lint_row_key(lint *l, const cfg_doc *doc, const lint_row *row, const char *key, const cfg_node *key_node,
                  const cfg_node *value, const char *unit, const char *meaning);

/* ---- the kinds of files -------------------------------------------------------------------- */

/* A document of any kind. */
void lint_document(lint *l, const cfg_doc *doc);

void lint_model_card(lint *l, const cfg_doc *doc);
void lint_system_card(lint *l, const cfg_doc *doc);
void lint_hf_config(lint *l, const cfg_doc *doc);
void lint_astra_system(lint *l, const cfg_doc *doc);
void lint_astra_network(lint *l, const cfg_doc *doc);
/* Findings about system.json or network.yml without the other file. */
void lint_astra_alone(lint *l);
void lint_remote(lint *l, const cfg_doc *doc);
bool lint_is_group_file(const cfg_doc *doc);
void lint_groups(lint *l, const cfg_doc *doc);
void lint_arguments(lint *l, const char *text);

/* Bandwidths of the links in 10^9 bytes per second: "53.687, 26.844". */
#define LINT_LINK_RATES_MAX ((size_t)CFG_MAX_DIMS * 32)
void lint_link_rates(const card_system *s, char out[LINT_LINK_RATES_MAX]);

/* The network of a system, or of a network.yml alone: what of it ASTRA-sim has not, and what the model leaves
 * out. `in` may have a network file alone. */
void lint_network(lint *l, const card_places *in, const net_network *net);

/* Keys that are without effect beside others, in the files that there are. */
void lint_check_dependencies(lint *l, const card_places *in, const card_system *s);

/* A system that can be read: whether it can be built, dependencies between its keys, units, its network. */
void lint_complete_system(lint *l, const card_places *in, const char *path, const card_system *s);
void lint_workload(lint *l, const char *prefix, const char *groups);

#endif
