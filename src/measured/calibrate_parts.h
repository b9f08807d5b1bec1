/* What calibrate.c takes from calibrate_parameters.c: the parameters of a card, one for each entry of a
 * list. */
#ifndef DSE_MEASURED_CALIBRATE_PARTS_H
#define DSE_MEASURED_CALIBRATE_PARTS_H

#include "measured/calibrate.h"

typedef struct {
    const cfg_param *param; /* of card_system_table */
    bool is_list;
    uint32_t dim; /* of a list; 0: of another */
    double card;  /* what the card says */
    cmp_parameter fit;
} calibrate_parameter;

/* Four that are single, and two lists. */
#define CALIBRATE_MAX (4 + 2 * CFG_MAX_DIMS)

/* Those of a card that the options choose; at least one. In the arena. */
dse_status calibrate_parameters(const card_system *machine, const msr_calibrate_options *o, dse_arena *a,
                                calibrate_parameter **out, size_t *n, dse_error *err);

/* Where its value is in a system of as many dimensions. */
double *calibrate_value(card_system *s, const calibrate_parameter *p);

/* Its row counts as given. */
void calibrate_give(card_system *s, const calibrate_parameter *p);

#endif
