/* cmp_bands -- how far simulated step times have been from measured ones, by kind of run, and the band that
 * this gives for another prediction.
 *
 * The evidence is a file (configs/errors/training.csv), which `ccldse validate --errors` writes: of each
 * table of measured runs, by device, program and model, measured over simulated with nothing fitted. The band
 * of a prediction has the runs of the nearest kind of which there are enough:
 *
 *   1  the device, the program and the size     2  the device and the program
 *   3  the device, a program with the same habits, and the size
 *   4  the device and a program with the same habits
 *   5  the device and the size                  6  the device
 *
 * Between devices nothing is carried over: without a run on the device there is no band. Nor is it between
 * sequences more than CMP_BAND_SEQUENCE times as long or as short: with their length attention takes over
 * from the products of matrices, whose law is another one. A prediction that names no program (--like any)
 * begins with 3.
 *
 * Where runs of the prediction's own model are among those of 1 to 4, the band is where nine of ten of the
 * runs lay. Most models are in no table, and runs of one model err alike: for a new one the models count and
 * not the runs. Its band is a prediction interval of the logarithm, by the variance between models and within
 * them (compare/groups.h), and of the nearest kind that has CMP_BAND_MODELS models. A device that has not so
 * many gives what its runs have.
 *
 * Of a run that is itself evidence the band is honest only without the runs of its model: others_only. */
#ifndef DSE_COMPARE_BANDS_H
#define DSE_COMPARE_BANDS_H

#include "base/alloc.h"
#include "base/strbuf.h"

/* Runs that a kind must have. From this many on a band leaves a twentieth of them out on either side; of
 * fewer it is as wide as the worst of them. */
#define CMP_BAND_LEAST     5
#define CMP_BAND_QUANTILES 20

#define CMP_BAND_MODELS                                                                                      \
    3 /* for a new one: of two Student's t has one degree of freedom, and a band helps nobody */
#define CMP_BAND_SHARE 0.9 /* that a band is to hold */

/* Measured over simulated grows with the sequence, by 1.5 % (llm-foundry, A100) and 4 % (TorchTitan, H100) a
 * doubling within their models. With this factor the bands hold 93 % of the runs above 8,192 tokens, each by
 * other models, and with any sequence 84 %; of all runs they hold as many. Of narrower factors fewer models
 * are left, and fewer runs inside: 85.0 % with 8, 84.6 with 4 (docs/accuracy.md). */
#define CMP_BAND_SEQUENCE 16

#define CMP_RATIO_DIGITS 6 /* of a ratio in the file */

/* By parameters: below 10e9, up to 100e9, above. */
typedef enum { CMP_SIZE_SMALL, CMP_SIZE_MIDDLE, CMP_SIZE_LARGE, CMP_SIZES } cmp_size;
extern const char *const cmp_size_name[CMP_SIZES]; /* "below 10e9", as in the file */
cmp_size cmp_size_of(double parameters);

/* A kind of run in one table. */
typedef struct {
    const char *table;                        /* "vtrain_a100" */
    const char *device, *program, *framework; /* "nvidia_a100", "deepspeed", "Megatron-DeepSpeed" */
    const char *model;                        /* "96x12288": layers and width, as tables differ in names */
    cmp_size size;
    int64_t sequence; /* tokens; 0: not said, and near to all */
    int bits;         /* of the elements that the layers' matrices are multiplied in: 16, 8, 4 */
    bool has_experts;
    size_t n;
    double *ratio; /* measured over simulated, ascending, > 0 */
} cmp_evidence;

typedef struct {
    size_t n;
    cmp_evidence *of;
} cmp_bands;

/* What a prediction is of; program NULL or "any": of none that is named. `kin`: programs with the same
 * habits, which NULL ends; NULL itself: there are none. */
typedef struct {
    const char *device, *program;
    const char *const *kin;
    const char *model;
    cmp_size size;
    int64_t sequence; /* tokens; 0: any */
    int bits;         /* as of the evidence: without a run of as many on the device there is no band */
    bool has_experts; /* as of the evidence: models with experts say nothing of those without, and back */
    bool others_only; /* runs of `model` do not count */
} cmp_band_key;

typedef enum {
    CMP_BAND_NONE,
    CMP_BAND_ALIKE,
    CMP_BAND_PROGRAM,
    CMP_BAND_KIN,
    CMP_BAND_KIN_OF_ANY_SIZE,
    CMP_BAND_SIZE,
    CMP_BAND_DEVICE
} cmp_band_level;

typedef struct {
    cmp_band_level level; /* NONE: there is no evidence; then the rest is not set */
    size_t runs, models;
    double low, high; /* factors of the simulated time; low may be above 1, high below */
    bool is_new;      /* no run of the own model counts at this level: it is a band for one more model */
    bool is_worst;    /* of all runs; else nine of ten lie inside */
    bool others_only; /* as in the key */
    const char *whom; /* "66 of Megatron-DeepSpeed, 8 of Megatron-LM", the most first; in the arena */
} cmp_band;

/* The share of further runs that a band holds, runs of further models if it is for one more. NaN: not known,
 * as all runs are of one model. */
double cmp_band_share(const cmp_band *b);

/* The first line of the file that is no comment (#); then each line is a kind of run. The fields are those of
 * cmp_evidence: sequence may be empty, elements are bits, experts yes or no, and ratios have blanks between
 * them. Of no quotes: names have no commas. As YAML, reading it took two fifths of a simulation. */
#define CMP_BANDS_COLUMNS "table,device,program,framework,model,size,sequence,elements,experts,ratios"

/* DSE_E_IO, DSE_E_CONFIG with the line. All in the arena. */
dse_status cmp_bands_load(const char *path, dse_arena *a, cmp_bands *out, dse_error *err);
dse_status cmp_bands_parse(const char *path, const char *text, dse_arena *a, cmp_bands *out, dse_error *err);

/* What cmp_bands_parse reads, ratios rounded to CMP_RATIO_DIGITS; a comma in a name is written as a blank. */
void cmp_bands_write(const cmp_bands *b, dse_strbuf *out);

cmp_band cmp_band_of(const cmp_bands *b, const cmp_band_key *key, dse_arena *a);

/* Whether a measured time lies in the band of a simulated one: their ratio rounded as in the file. Of a band
 * that is known. */
bool cmp_band_holds(const cmp_band *b, double measured, double simulated);

#endif
