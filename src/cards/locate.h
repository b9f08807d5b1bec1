/* Where cards, devices, operator files, spaces, weights of scores and tables of measured runs are.
 *
 * The folder `configs` is looked for in this order: $CCLDSE_CONFIGS; configs/ in the current folder; beside
 * the program: configs (a build folder has a link to the sources'), ../configs, ../share/ccldse/configs
 * (where it is installed). No path of the machine it was built on is in the program. */
#ifndef DSE_CARDS_LOCATE_H
#define DSE_CARDS_LOCATE_H

#include "base/alloc.h"
#include "base/status.h"

typedef enum {
    CARD_MODELS,
    CARD_SYSTEMS,
    CARD_OPERATORS,
    CARD_LAYERS,
    CARD_SPACES,
    CARD_SCORES,
    CARD_MEASURED,
    CARD_DEVICES,
    CARD_ERRORS
} card_kind;

/* A card as given on the command line: a path if a file is there (of a system also a folder, of a space also
 * a pipe); else a name, with or without ".yaml" (of a measured table ".json"), in the folder of its kind. The
 * folder of a Hugging Face model is its config.json; by name it may be <name>.json or <name>/config.json
 * beside the cards. DSE_E_CONFIG with the nearest name there is. The path belongs to the arena. */
dse_status card_locate(card_kind kind, const char *name, dse_arena *a, const char **path, dse_error *err);

/* The name that results of a card carry, from the same argument: "s1" of "s1", "s1.yaml", "cards/s1.json",
 * "s1/config.json" and "emitted/s1/". In the arena. DSE_E_CONFIG if it is not printable UTF-8, which JSON
 * could not say. */
dse_status card_name(const char *argument, dse_arena *a, const char **out, dse_error *err);

/* The names of the cards that ship, sorted; and the folder they are in. */
dse_status card_list(card_kind kind, dse_arena *a, const char ***names, size_t *n, const char **folder,
                     dse_error *err);

#endif
