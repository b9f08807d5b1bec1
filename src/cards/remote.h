/* ASTRA-sim's remote_memory.json. */
#ifndef DSE_CARDS_REMOTE_H
#define DSE_CARDS_REMOTE_H

#include "config/doc.h"
#include "sim/settings.h"

dse_status card_remote_read(const cfg_doc *doc, sim_remote_memory *out, dse_error *err);

/* The file that says there is none. */
#define CARD_REMOTE_NONE_JSON "{\n  \"memory-type\": \"NO_MEMORY_EXPANSION\"\n}\n"

#endif
