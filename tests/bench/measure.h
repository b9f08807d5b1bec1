/* What a piece of work costs: a process is started for it, and asked when it has ended. */
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#define MEASURE_MAX_RESULTS 400

typedef struct {
    bool done;
    char why[80];     /* not done: "more than 60 s", "exit code 3" */
    double wall, cpu; /* seconds; cpu: of it and its children */
    double peak_mb;   /* 10^6 bytes resident, of it or of the largest of its children */
    double own_mb;    /* and of itself; looked up now and then, so it may be a little less */
    double child_mb;  /* likewise the largest child; 0: none was seen */
    double result[MEASURE_MAX_RESULTS]; /* of a function */
} measurement;

/* Runs a program until it ends, or `limit` seconds have passed. Its standard output goes to a file (NULL: nowhere), its
 * input comes from one (NULL: nowhere), its messages to `messages`. `folder` NULL: in the current one. */
typedef struct {
    const char *const *argv; /* ends with NULL */
    const char *folder, *input, *output, *messages;
    double limit;
} measured_program;

void measure_program(const measured_program *p, measurement *out);
/* The fastest of so many runs; of what takes a second or more there is one. */
void measure_fastest(const measured_program *p, int times, measurement *out);

/* Runs a function in a process of its own, which has the memory it takes to itself; it may set result[], and returns
 * false, after saying why on stderr, if it failed. */
typedef bool (*measured_function)(const void *arg, double *result);
void measure_function(measured_function fn, const void *arg, double limit, measurement *out);

/* Of this process, in seconds. */
double cpu_seconds(void);

#endif
