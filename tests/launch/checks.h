/* What is checked of the texts that start a training. */
#ifndef TESTS_LAUNCH_CHECKS_H
#define TESTS_LAUNCH_CHECKS_H

#include "driver/launch.h"
#include "launch/text.h"

/* The point of words "tp=8", ended by NULL; dp is what is left. examples.c */
dse_status checks_point(const char *const *words, const drv_study *s, strategy *out, dse_error *err);

/* What a text for a program says. In the arena; false: it cannot be read. rules.c */
bool checks_read(const launch_program *p, const char *text, dse_arena *a, pairs *out);

/* Compares what is written for complete examples; how many things differ, which are printed. examples.c */
int check_examples(const char *folder);

/* Names and values that a program does not have, by launch_flags.json; how many, printed. legal.c */
typedef struct flags flags;
flags *flags_load(const char *folder); /* NULL: there are none */
void flags_free(flags *f);
int check_legal(const flags *f, const launch_program *p, const pairs *said);

/* Rules that the programs apply to what is said, and whether that is the strategy; NULL: all hold, else the one that
 * does not. rules.c */
const char *broken_rule(const launch_job *j, const launch_program *p, const pairs *said, const char *text);

#endif
