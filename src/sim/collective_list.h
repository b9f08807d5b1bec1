/* Every collective algorithm, in the order of help texts and error messages: a file and a word here. */
#ifndef DSE_SIM_COLLECTIVE_LIST_H
#define DSE_SIM_COLLECTIVE_LIST_H

#define SIM_ALGORITHM_LIST(X) X(ring) X(direct) X(halving_doubling) X(double_binary_tree)

#endif
