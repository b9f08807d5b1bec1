#include "metrics/peak.h"

#include "base/names.h"

#include <string.h>
#include <strings.h>

typedef struct {
    const char *device;
    double fp64, fp32, tf32, fp16, bf16, fp8, int8; /* TFLOP/s (TOP/s); 0: none, or not published */
} peak;

static const peak peaks[] = {
    {.device = "nvidia_v100", .fp64 = 7.8, .fp32 = 15.7, .fp16 = 125},
    {.device = "nvidia_a100", .fp64 = 19.5, .fp32 = 19.5, .tf32 = 156, .fp16 = 312, .bf16 = 312, .int8 = 624},
    {.device = "nvidia_a800", .fp64 = 19.5, .fp32 = 19.5, .tf32 = 156, .fp16 = 312, .bf16 = 312, .int8 = 624},
    {.device = "nvidia_l40s", .fp32 = 91.6, .tf32 = 183, .fp16 = 362, .bf16 = 362, .fp8 = 733, .int8 = 733},
    {.device = "nvidia_h100",
     .fp64 = 67,
     .fp32 = 67,
     .tf32 = 495,
     .fp16 = 989,
     .bf16 = 989,
     .fp8 = 1979,
     .int8 = 1979},
    {.device = "nvidia_h800", .fp32 = 67, .tf32 = 495, .fp16 = 989, .bf16 = 989, .fp8 = 1979, .int8 = 1979},
    {.device = "nvidia_h200",
     .fp64 = 67,
     .fp32 = 67,
     .tf32 = 495,
     .fp16 = 989,
     .bf16 = 989,
     .fp8 = 1979,
     .int8 = 1979},
    {.device = "nvidia_b200", .tf32 = 1125, .fp16 = 2250, .bf16 = 2250, .fp8 = 4500, .int8 = 4500},
    {.device = "amd_mi250x", .fp64 = 95.7, .fp32 = 95.7, .fp16 = 383, .bf16 = 383, .int8 = 383},
    {.device = "amd_mi300x",
     .fp64 = 163.4,
     .fp32 = 163.4,
     .tf32 = 653.7,
     .fp16 = 1307.4,
     .bf16 = 1307.4,
     .fp8 = 2614.9,
     .int8 = 2614.9},
    {.device = "tpu_v3", .bf16 = 123},
    {.device = "tpu_v4", .bf16 = 275, .int8 = 275},
    {.device = "tpu_v5e", .bf16 = 197, .int8 = 393},
    {.device = "tpu_v5p", .bf16 = 459, .int8 = 918},
    {.device = "tpu_v6e", .bf16 = 918, .int8 = 1836},
};

#define N_PEAKS (sizeof peaks / sizeof peaks[0])

static const struct {
    const char *name, *alias[2];
    size_t offset;
} precisions[] = {
    {"fp64", {"float64", "double"}, offsetof(peak, fp64)},
    {"fp32", {"float32", "float"}, offsetof(peak, fp32)},
    {"tf32", {NULL, NULL}, offsetof(peak, tf32)},
    {"fp16", {"float16", "half"}, offsetof(peak, fp16)},
    {"bf16", {"bfloat16", NULL}, offsetof(peak, bf16)},
    {"fp8", {"float8", NULL}, offsetof(peak, fp8)},
    {"int8", {NULL, NULL}, offsetof(peak, int8)},
};

#define N_PRECISIONS (sizeof precisions / sizeof precisions[0])

static double at(const peak *p, size_t precision)
{
    return *(const double *)(const void *)((const char *)p + precisions[precision].offset);
}

static const peak *find(const char *device)
{
    for (size_t i = 0; device && i < N_PEAKS; i++)
        if (strcasecmp(peaks[i].device, device) == 0)
            return &peaks[i];
    return NULL;
}

static bool is_precision(size_t i, const char *word)
{
    if (strcasecmp(precisions[i].name, word) == 0)
        return true;
    for (size_t a = 0; a < 2 && precisions[i].alias[a]; a++)
        if (strcasecmp(precisions[i].alias[a], word) == 0)
            return true;
    return false;
}

dse_status metric_peak_tflops(const char *device, const char *precision, double *tflops, dse_error *err)
{
    const peak *p = find(device);
    const char *known[N_PEAKS > N_PRECISIONS ? N_PEAKS : N_PRECISIONS];
    size_t n = 0;
    char list[256];

    for (size_t i = 0; p && precision && i < N_PRECISIONS; i++)
        if (is_precision(i, precision) && at(p, i) > 0) {
            *tflops = at(p, i);
            return DSE_OK;
        }
    for (size_t i = 0; i < (p ? N_PRECISIONS : N_PEAKS); i++)
        if (!p || at(p, i) > 0)
            known[n++] = p ? precisions[i].name : peaks[i].device;
    dse_join(list, sizeof list, known, n);
    if (!p)
        return dse_fail(err, DSE_E_ABSENT,
                        "the peak of device '%.60s' (workload.hardware.xpu_spec.model) is unknown; known: %s",
                        device ? device : "", list);
    return dse_fail(err, DSE_E_ABSENT,
                    "the peak of %s in precision '%.60s' (workload.model.precision) is unknown; known: %s",
                    p->device, precision ? precision : "", list);
}
