/* card_device -- how long the kernels of a device last, which systems with that device share.
 *
 * configs/devices/<device>.yaml has the keys `kernels` of a system card (`ccldse systems --keys`), its peaks
 * by type of elements, its memory, and `source`. What a system card says itself wins. A class without a law
 * takes the roofline. The factors are of the card's peak
 * and memory bandwidth, so that models of a device with other memories have one file. The file's peaks of 8
 * and 4 bits are for its own compute.peak_perf: a card with another one, so with another clock, has them in
 * the same proportion. */
#ifndef DSE_CARDS_DEVICE_H
#define DSE_CARDS_DEVICE_H

#include "base/alloc.h"
#include "cards/system.h"

/* Whether a factor or the overhead is. */
bool card_law_is_given(const card_law *l);

/* The tables of kernels that were read, in the arena, each once. Only the head of the list changes: a copy
 * has what was read until then, and what it reads itself is unknown to the original, which may be another
 * thread's or live longer. */
typedef struct card_table_read card_table_read;
typedef struct {
    dse_arena *arena; /* of what is read from now on */
    const card_table_read *first;
} card_tables;

/* Whether what card_system_fill_laws fills in may be another after this key was set. */
bool card_laws_depend_on(const char *path);

/* Fills what the card leaves open of the data sheet from the file of its device, as if the card had said it:
 * memory.bandwidth, memory.capacity, and all peaks if compute.peak_perf is open. Nothing if there is no such
 * file. DSE_E_CONFIG: the file is wrong. */
dse_status card_system_fill_sheet(card_system *s, dse_error *err);

/* Fills the laws that the card leaves open from the file of its device, instead of those of another one that
 * were filled before. Nothing if there is no such file, or the card takes the roofline. They do not count as
 * given. The names of tables get the hash of their text behind them. DSE_E_CONFIG: the file, or a table, is
 * wrong. */
dse_status card_system_fill_laws(card_system *s, card_tables *tables, dse_arena *a, dse_error *err);
/* Puts the tables of the laws that are given beside these; reads those that were not read yet. The settings
 * are the card's (card_system_build). DSE_E_CONFIG: there is no such file, it is wrong, or it is another than
 * the one that the card's hash is of. */
dse_status card_system_load_tables(const card_system *s, card_tables *tables, sim_settings *set,
                                   dse_error *err);

/* Takes them out again. */
void card_system_drop_laws(card_system *s);

/* Whether kernels last as laws say: some class has one, and the card does not take the roofline. */
bool card_system_has_laws(const card_system *s);

/* Classes of kernels for which the file of a device has no law, although it multiplies in their type:
 * "lookup, optimizer", appended; nothing if it has all, or there is no such file. DSE_E_CONFIG: the file, or
 * a table that it names, is wrong, or there is no such table. *has_laws: it has one of some class. */
dse_status card_device_lacks(const char *device, dse_arena *a, bool *has_laws, dse_strbuf *out,
                             dse_error *err);

/* What kernels of a training step last like, as a sentence; appended. */
void card_system_say_laws(const card_system *s, dse_strbuf *out);

#endif
