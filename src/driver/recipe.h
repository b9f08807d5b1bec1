/* Recipes of products in 8 and 4 bits: what a strategy's fp8_recipe means in the step (step/options.h,
 * step_low). */
#ifndef DSE_DRIVER_RECIPE_H
#define DSE_DRIVER_RECIPE_H

#include "sim/settings.h"
#include "step/options.h"
#include "strategy/strategy.h"

/* Fills in o->low; its products stay in the activations' type without a recipe. */
void drv_recipe_set(const strategy *p, step_options *o);

/* What the use of the hardware is a share of, operations per second: the peak of the type in which the
 * layers' matrices are multiplied, as NVIDIA's tables of steps in 8 bits have it (dgxc-benchmarking). */
double drv_recipe_peak(const strategy *p, const sim_settings *set);

/* Bytes of an element of an operand of such a class. */
double drv_recipe_operand_bytes(wl_kernel_class c);

/* Of the elements that the layers' matrices are multiplied in, scales aside: 16, 8, 4. */
int drv_recipe_bits(const strategy *p);

/* Refuses a recipe on a device without a peak for its type of elements, or with activations that are not of
 * 16 bits; `device` is the system's, "" if it names none. DSE_E_RANGE. */
dse_status drv_recipe_check(const strategy *p, const step_options *o, const sim_settings *set,
                            const char *device, dse_error *err);

#endif
