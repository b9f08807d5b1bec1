/* How unevenly a router spreads tokens over experts: the card's `imbalance`.
 *
 *   even            each expert gets as many
 *   X               the most loaded rank gets X times as many as the mean one, a number from 1 on
 *   zipf:S[:SEED]   an expert's share is as 1/n^S of its place n in an order that is drawn for each layer;
 *                   ranks have experts that stand beside each other. The most loaded rank's share is the
 *                   mean over the layers
 *
 * A token takes an expert once, so that none gets more than every token. */
#ifndef DSE_CARDS_IMBALANCE_H
#define DSE_CARDS_IMBALANCE_H

#include "cards/model.h"

/* DSE_E_CONFIG if it is none of these. */
dse_status card_imbalance_check(const char *text, dse_error *err);

/* Tokens that come to the most loaded of `ep` ranks, over the mean; 1: even. */
double card_imbalance(const card_model *m, uint32_t ep);

#endif
