/* Bytes that casting an element moves. A cast of 16 bits to 8 reads 2 and writes 1, and the transposed copy
 * that the gradient of the weight reads is 1 more: 4 of an output's gradient and of a weight. Of an input it
 * is 2, as the kernel before it (norm, activation) writes 8 bits itself where it would have written 16, and
 * reading is left out. No table has casts alone, so that these are assumptions.
 *
 * A scale of the whole tensor, or of rows, that is not from an earlier step ("current scaling") needs the
 * largest element first, so that it is read once more: 2. Scales of rows are others than those of
 * columns, so that each operand is cast twice, for two products, and not transposed: each time read for the
 * largest, read and written, 5, but for an input's rows, whose largest the kernel before finds: 3 (torchao,
 * matmul_with_hp_or_float8_args). Blocks of 32 or 128 are scaled by the kernel that casts them. NVFP4 writes half a byte and a sixteenth of a scale twice, and reads the 16 bits once more for
 * the scale of the tensor.
 *
 * Tensor cores multiply blocks of 32 (MXFP8) from Blackwell on, which are those that multiply in 4 bits, too:
 * Transformer Engine asks for the same capability, 10.0, for both (pytorch/quantization.py), and no data
 * sheet has a peak of MXFP8.
 *
 * Sources: Transformer Engine 2 (pytorch/module/linear.py, recipes DelayedScaling, Float8CurrentScaling,
 * Float8BlockScaling, MXFP8BlockScaling, NVFP4BlockScaling), as Megatron-LM's --fp8-recipe and --fp4-recipe
 * name them; torchao, float8_linear.py, as TorchTitan's recipe_name names them. Weights are cast once a step
 * by Megatron-LM (is_first_microbatch), in each forward and each backward pass by torchao. TorchTitan gathers
 * tokens and their gradients over tp as they are cast where the scale is of a whole tensor, and in 16 bits
 * otherwise (parallelize_llama.py: enable_float8_tensorwise_tp; torchao, float8_tensor_parallel.py). */
#include "driver/recipe.h"

#include "base/array.h"
#include "driver/programs.h"

enum { BLOCKWISE = 4, MXFP8 = 5 }; /* indices of the choice, as strategy/parameters.h has it */

enum { TENSORWISE = 2 };

/* Class, bytes of an element, then of a cast: of an input, a gradient, a weight; of an input once more. */
static const step_low recipes[] = {
    {.class = WL_KERNEL_OTHER},                                              /* none */
    {WL_KERNEL_MATMUL_FP8, 1, 2, 4, 4, false, false, false, false, 0},       /* delayed */
    {WL_KERNEL_MATMUL_FP8, 1, 4, 6, 6, false, false, false, false, 0},       /* tensorwise */
    {WL_KERNEL_MATMUL_FP8, 1, 3, 10, 5, false, false, false, false, 5},      /* rowwise */
    {WL_KERNEL_MATMUL_FP8_BLOCK, 1, 2, 4, 4, false, false, false, false, 0}, /* blockwise */
    {WL_KERNEL_MATMUL_FP8_BLOCK, 33.0 / 32, 2, 4, 4, false, false, false, false,
     0}, /* mxfp8: a scale of 8 bits for 32 elements */
    {WL_KERNEL_MATMUL_NVFP4, 0.5625, 3, 5, 5, false, false, false, false,
     0}, /* nvfp4: one for 16, of 4 bits each */
};

void drv_recipe_set(const strategy *p, step_options *o)
{
    o->low = recipes[p->fp8_recipe];
    o->low.casts_weights_in_passes = p->like == DRV_TORCHTITAN;
    o->low.is_gathered = p->like == DRV_TORCHTITAN && p->fp8_recipe == TENSORWISE;
    o->low.has_parameters = p->fp8_recipe && p->fp8_params;
    o->low.is_dispatched = p->fp8_recipe == BLOCKWISE && p->like == DRV_ANY; /* DeepSeek's own program */
    if (o->low.has_parameters) /* the update writes them; the transpose reads and writes them once more */
        o->low.cast_weight = p->like == DRV_TORCHTITAN ? 0 : 2 * o->low.bytes;
}

double drv_recipe_operand_bytes(wl_kernel_class c)
{
    for (size_t i = 0; i < DSE_COUNT(recipes); i++)
        if (recipes[i].class == wl_kernel_general_class(c))
            return recipes[i].bytes;
    return 0;
}

int drv_recipe_bits(const strategy *p)
{
    const double bytes = recipes[p->fp8_recipe].bytes;

    return !p->fp8_recipe ? 16 : bytes >= 1 ? 8 : 4;
}

double drv_recipe_peak(const strategy *p, const sim_settings *set)
{
    return p->fp8_recipe ? set->law[recipes[p->fp8_recipe].class].peak_ops_per_s : set->peak_ops_per_s;
}

dse_status drv_recipe_check(const strategy *p, const step_options *o, const sim_settings *set,
                            const char *device, dse_error *err)
{
    const wl_kernel_class class = recipes[p->fp8_recipe].class;
    const bool is_fp4 = class == WL_KERNEL_MATMUL_NVFP4;
    const bool has_fp8 = set->law[WL_KERNEL_MATMUL_FP8].peak_ops_per_s > 0;
    const bool has_fp4 = set->law[WL_KERNEL_MATMUL_NVFP4].peak_ops_per_s > 0;

    if (!p->fp8_recipe)
        return DSE_OK;
    if (is_fp4 && p->fp8_params)
        return dse_fail(err, DSE_E_RANGE,
                        "NVFP4 keeps and gathers parameters in 16 bits; take fp8_params off");
    if (o->activation_bytes != 2)
        return dse_fail(err, DSE_E_RANGE,
                        "fp8_recipe needs activations of 16 bits; give precision mixed or bf16");
    if (!(set->law[class].peak_ops_per_s > 0))
        return dse_fail(err, DSE_E_RANGE, "the card of %s gives no %s; take fp8_recipe %s",
                        *device ? device : "the system", is_fp4 ? "compute.peak_nvfp4" : "compute.peak_fp8",
                        is_fp4 && has_fp8 ? "delayed, or none" : "none");
    if (p->fp8_recipe == MXFP8 && !has_fp4)
        return dse_fail(
            err, DSE_E_RANGE,
            "%s has no MXFP8, which came with products in 4 bits (compute.peak_nvfp4 is not given); take "
            "fp8_recipe delayed, or none",
            *device ? device : "the system");
    return DSE_OK;
}
