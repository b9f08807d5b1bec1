#include "metrics/peak.h"

#include "base/array.h"
#include "base/names.h"
#include "metrics/kinds.h"

#include <string.h>
#include <strings.h>

enum { FP64, FP32, TF32, FP16, BF16, FP8, INT8, N_PRECISIONS };

/* TFLOP/s (TOP/s); 0: none, or not published. GB/s of all its links to its neighbours, in one direction. */
static const struct {
    const char *device;
    double of[N_PRECISIONS];
    double links;
} peaks[] = {
    {"nvidia_v100", {[FP64] = 7.8, [FP32] = 15.7, [FP16] = 125}, 150},
    {"nvidia_a100", {19.5, 19.5, 156, 312, 312, [INT8] = 624}, 300},
    {"nvidia_a800", {19.5, 19.5, 156, 312, 312, [INT8] = 624}, 200},
    {"nvidia_l40s", {0, 91.6, 183, 362, 362, 733, 733}, 32},
    {"nvidia_h100", {67, 67, 495, 989, 989, 1979, 1979}, 450},
    {"nvidia_h800", {0, 67, 495, 989, 989, 1979, 1979}, 200},
    {"nvidia_h200", {67, 67, 495, 989, 989, 1979, 1979}, 450},
    {"nvidia_b200", {0, 0, 1125, 2250, 2250, 4500, 4500}, 900},
    {"amd_mi250x", {95.7, 95.7, 0, 383, 383, [INT8] = 383}, 400},
    {"amd_mi300x", {163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9}, 448},
    {"tpu_v3", {[BF16] = 123}, 0},
    {"tpu_v4", {[BF16] = 275, [INT8] = 275}, 300},
    {"tpu_v5e", {[BF16] = 197, [INT8] = 393}, 200},
    {"tpu_v5p", {[BF16] = 459, [INT8] = 918}, 600},
    {"tpu_v6e", {[BF16] = 918, [INT8] = 1836}, 448},
};

#define N_PEAKS DSE_COUNT(peaks)

/* By precision: what it is called, and its other names. */
static const struct {
    const char *name, *names;
} precisions[N_PRECISIONS] = {{"fp64", "^fp64$|^float64$|^double$"},
                              {"fp32", "^fp32$|^float32$|^float$"},
                              {"tf32", "^tf32$"},
                              {"fp16", "^fp16$|^float16$|^half$"},
                              {"bf16", "^bf16$|^bfloat16$"},
                              {"fp8", "^fp8$|^float8$"},
                              {"int8", "^int8$"}};

/* N_PEAKS: unknown. */
static size_t find(const char *device)
{
    size_t i = 0;

    while (i < N_PEAKS && (!device || strcasecmp(peaks[i].device, device) != 0))
        i++;
    return i;
}

const char *metric_peak_device(const char *name)
{
    for (size_t i = 0; name && i < N_PEAKS; i++)
        if (metric_says(name, strchr(peaks[i].device, '_') + 1))
            return peaks[i].device;
    return NULL;
}

double metric_peak_links(const char *device)
{
    const size_t d = find(device);

    return d < N_PEAKS ? peaks[d].links * 1e9 : 0;
}

dse_status metric_peak_tflops(const char *device, const char *precision, double *tflops, dse_error *err)
{
    const size_t d = find(device);
    const char *known[N_PEAKS > N_PRECISIONS ? N_PEAKS : N_PRECISIONS];
    size_t n = 0;
    char list[256];

    for (size_t i = 0; d < N_PEAKS && precision && i < N_PRECISIONS; i++)
        if (metric_says(precision, precisions[i].names) && peaks[d].of[i] > 0) {
            *tflops = peaks[d].of[i];
            return DSE_OK;
        }
    for (size_t i = 0; d == N_PEAKS && i < N_PEAKS; i++)
        known[n++] = peaks[i].device;
    for (size_t i = 0; d < N_PEAKS && i < N_PRECISIONS; i++)
        if (peaks[d].of[i] > 0)
            known[n++] = precisions[i].name;
    dse_join(list, sizeof list, known, n);
    if (d == N_PEAKS)
        return dse_fail(err, DSE_E_ABSENT,
                        "the peak of device '%.60s' (workload.hardware.xpu_spec.model) is unknown; known: %s",
                        device ? device : "", list);
    return dse_fail(err, DSE_E_ABSENT,
                    "the peak of %s in precision '%.60s' (workload.model.precision) is unknown; known: %s",
                    peaks[d].device, precision ? precision : "", list);
}
