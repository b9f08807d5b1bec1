#include "workload/kernel.h"

#include "workload/operators.h"

#include <string.h>

const char *wl_kernel_class_name(wl_kernel_class c)
{
    static const char *const names[WL_N_KERNEL_CLASSES] = {
        [WL_KERNEL_OTHER] = "other",
        [WL_KERNEL_MATMUL] = "matmul",
        [WL_KERNEL_ATTENTION] = "attention",
        [WL_KERNEL_ELEMENTWISE] = "elementwise",
        [WL_KERNEL_NORMALISATION] = "normalisation",
        [WL_KERNEL_LOOKUP] = "lookup",
        [WL_KERNEL_OPTIMIZER] = "optimizer",
        [WL_KERNEL_ATTENTION_BACKWARD] = "attention_backward",
        [WL_KERNEL_ATTENTION_PRODUCT] = "attention_product",
        [WL_KERNEL_MATMUL_FP8] = "matmul_fp8",
        [WL_KERNEL_MATMUL_FP8_BLOCK] = "matmul_fp8_block",
        [WL_KERNEL_MATMUL_NVFP4] = "matmul_nvfp4",
        [WL_KERNEL_ATTENTION_FLASH2] = "attention_flash2",
        [WL_KERNEL_ATTENTION_FLASH2_BACKWARD] = "attention_flash2_backward",
        [WL_KERNEL_EXPERTS] = "experts",
        [WL_KERNEL_EXPERTS_FP8] = "experts_fp8",
    };

    return names[c];
}

wl_kernel_class wl_kernel_class_find(const char *name)
{
    int c = WL_N_KERNEL_CLASSES;

    while (--c > WL_KERNEL_OTHER && strcmp(name, wl_kernel_class_name((wl_kernel_class)c)) != 0)
        ;
    return (wl_kernel_class)c;
}

wl_product_work wl_product_of(const uint64_t extent[WL_N_EXTENTS], double operand_bytes, double result_bytes)
{
    const double m = (double)extent[WL_EXTENT_M], n = (double)extent[WL_EXTENT_N],
                 k = (double)extent[WL_EXTENT_K], batch = (double)extent[WL_EXTENT_BATCH];

    return (wl_product_work){.operations = 2 * batch * m * n * k,
                             .bytes = batch * (operand_bytes * (m * k + k * n) + result_bytes * m * n)};
}

/* Also a copy of a weight. Copies of each other, which the generator refuses later, end the search. */
static bool is_weight(const wl_block *b, uint32_t operand)
{
    for (uint32_t i = 0; i < b->n && b->op[operand].kind == WL_OP_COPY; i++)
        operand = b->op[operand].x1;
    return b->op[operand].is_weight;
}

static bool is_normalisation(const wl_operator *op)
{
    return op->kind == WL_OP_SCALE && op->gradient_of == DSE_NONE && strstr(op->name, "norm");
}

static bool reads_gradient_of_normalisation(const wl_block *b, const wl_operator *op)
{
    const uint32_t operand[] = {op->x1, op->x2};

    for (int i = 0; i < 2; i++) {
        uint32_t of = operand[i] == DSE_NONE ? DSE_NONE : b->op[operand[i]].gradient_of;

        if (of != DSE_NONE && is_normalisation(&b->op[of]))
            return true;
    }
    return false;
}

static wl_kernel_class class_of(const wl_block *b, const wl_operator *op)
{
    switch (op->kind) {
    case WL_OP_EINSUM:
        return op->makes == WL_TENSOR_WEIGHT_GRADIENT || is_weight(b, op->x1) || is_weight(b, op->x2)
                   ? WL_KERNEL_MATMUL
                   : WL_KERNEL_ATTENTION;
    case WL_OP_ADD:
    case WL_OP_SCALE:
        return is_normalisation(op) || (op->scale > 1 && reads_gradient_of_normalisation(b, op))
                   ? WL_KERNEL_NORMALISATION
                   : WL_KERNEL_ELEMENTWISE;
    case WL_OP_RESHAPE: return WL_KERNEL_ELEMENTWISE;
    case WL_OP_LOOKUP: return WL_KERNEL_LOOKUP;
    default: return WL_KERNEL_OTHER;
    }
}

void wl_block_classify(wl_block *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->op[i].class = class_of(b, &b->op[i]);
}
