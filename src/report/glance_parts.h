/* What the files of glance.h share. Texts are in the arena that is given, or that of the context. */
#ifndef DSE_REPORT_GLANCE_PARTS_H
#define DSE_REPORT_GLANCE_PARTS_H

#include "report/glance.h"

/* ---- glance_tables.c ------------------------------------------------------------------------ */

/* "12.3%"; "-" of nothing, or of what is not known. */
const char *glance_percent(double part, double whole, dse_arena *a);
const char *glance_seconds(double ps, dse_arena *a);

/* A name without the result, PyTorch's namespace and the parameters of a C++ function, cut in its middle. */
const char *glance_cut(const char *name, size_t room, dse_arena *a);

/* "rank" or, of TPUs, "device"; the number of one, with its rank where TPUs of several are recorded. */
const char *glance_word(const report_glance *g);
const char *glance_rank_name(const report_glance *g, const glance_device *d, dse_arena *a);

/* What a device does and idles by itself, outside of exposed communication, a step (or in the recording
 * where none are marked): who takes longest for it waits least for the others, and they wait for it.
 * _slowest: whose that is longest, and the mean; NULL: fewer than two did anything. */
double glance_own(const glance_device *d);
const glance_device *glance_slowest(const report_glance *g, double *mean);

typedef struct {
    const char *key, *heading, *text;
} glance_cause_text;
extern const glance_cause_text glance_causes[GLANCE_CAUSES];

/* What part, 0 to 1, of the device's peak in a precision; NaN: unknown, or above it, as of TF32. */
double glance_of_peak(const report_glance *g, double tflops, const metric_value *dtype);

/* The kind of work of a kernel: "gemm", "comm". */
const char *glance_kind(const glance_row *kernel);

/* Each adds a table to the tree, of at most `most` rows (else all). `brief`: of kernels without the least and
 * the most time of a call; `room` characters of a name. */
void glance_put_devices(const report_glance *g, size_t most, report_node *root);
void glance_put_idle(const report_glance *g, report_node *root);
void glance_put_kernels(const report_glance *g, size_t most, bool brief, size_t room, report_node *root);
void glance_put_kinds(const report_glance *g, report_node *root);
void glance_put_copies(const report_glance *g, bool brief, report_node *root);
void glance_put_shapes(const report_glance *g, size_t most, report_node *root);
void glance_put_collectives(const report_glance *g, size_t most, report_node *root);
void glance_put_operators(const report_glance *g, size_t most, size_t room, size_t of_module,
                          report_node *root);

/* ---- glance_facts.c ------------------------------------------------------------------------- */

void glance_put_facts(const report_glance *g, report_node *root);

#endif
