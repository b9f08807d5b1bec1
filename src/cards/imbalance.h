/* How unevenly a router spreads tokens over experts: the card's `imbalance`.
 *
 *   even            each expert gets as many
 *   X               the most loaded rank gets X times as many as the mean one, a number from 1 on
 *   zipf:S[:SEED]   an expert's share is as 1/n^S of its place n in an order that is drawn for each layer;
 *                   ranks have experts that stand beside each other. The most loaded rank's share is the
 *                   mean over the layers
 *   FILE.csv        as was measured, layer by layer (card_imbalance_read)
 *
 * A token takes an expert once, so that none gets more than every token. */
#ifndef DSE_CARDS_IMBALANCE_H
#define DSE_CARDS_IMBALANCE_H

#include "cards/model.h"

/* DSE_E_CONFIG if it is none of these. */
dse_status card_imbalance_check(const char *text, dse_error *err);

/* Tokens that come to the most loaded of `ep` ranks, over the mean; 1: even. Of a file, which says it layer
 * by layer, 1. */
double card_imbalance(const card_model *m, uint32_t ep);

/* The file, if the card names one: lines of "layer,expert,share" below a line of these words, layers and
 * experts from 0 on, in any order. A share is a number that is not negative, of tokens or as a fraction: what
 * counts is its part of the layer's sum. An expert that is not listed gets nothing; a layer that is not
 * listed is even. Lines that begin with # are remarks.
 *
 * *out: of each layer a list of the experts' parts, 1 in all, or NULL; NULL itself: the card names no file.
 * In the arena. The text's hash is put behind the name, as of tables of kernels (cards/device.h): with
 * another one there it is another file. DSE_E_IO, DSE_E_CONFIG with file and line. */
dse_status card_imbalance_read(card_model *m, dse_arena *a, const double *const **out, dse_error *err);

/* The same as card_imbalance of the experts' parts in one layer. */
double card_imbalance_of(const double *share, uint32_t n_experts, uint32_t ep);

#endif
