#include "workload/precision.h"

static const size_t offsets[WL_N_TENSOR_KINDS] = {
    [WL_TENSOR_UNKNOWN] = offsetof(wl_precision, activations),
    [WL_TENSOR_INPUT] = offsetof(wl_precision, activations),
    [WL_TENSOR_WEIGHT] = offsetof(wl_precision, weights),
    [WL_TENSOR_ACTIVATION] = offsetof(wl_precision, activations),
    [WL_TENSOR_RECOMPUTED] = offsetof(wl_precision, activations),
    [WL_TENSOR_GRADIENT] = offsetof(wl_precision, activations),
    [WL_TENSOR_WEIGHT_GRADIENT] = offsetof(wl_precision, gradients),
    [WL_TENSOR_UPDATED_WEIGHT] = offsetof(wl_precision, weights),
    [WL_TENSOR_OPTIMIZER] = offsetof(wl_precision, optimizer),
    [WL_TENSOR_WHOLE] = offsetof(wl_precision, weights),
};

double wl_element_bytes(const wl_precision *p, wl_tensor_kind kind)
{
    return wl_in_bytes(p) ? *(const double *)(const void *)((const char *)p + offsets[kind]) : 1.0;
}
