/* wl_kernel -- what a computation is, so that a law can give it a time (sim/kernel_time.h).
 *
 * A matrix product is `batch` products of an m x k by a k x n matrix. Its letters say which dimension is
 * which:
 *
 *   batch   in both operands and the result      m   in the first operand and the result
 *   k       in both operands, summed over        n   in the second operand and the result
 *
 * A letter that one operand alone has, and that is summed over, counts as k: fused kernels have such. All
 * other classes have m elements: of the result; of a lookup, of the rows that are taken or added up. Sizes
 * are those of one rank.
 *
 * The class follows from the operator file, which has no key for it, because files are part of stored
 * configurations by their hash:
 *
 *   optimizer       the update of a weight
 *   attention       a contraction of two activations (or gradients of activations) that is no weight's
 *                   gradient
 *   matmul          every other contraction
 *   normalisation   forward a `scale` with "norm" in its name; backward an operator of several operations per
 *                   element that reads the gradient of one
 *   lookup          the operator of that name
 *   elementwise     adds, products, scales and reshapes that are none of the above */
#ifndef DSE_WORKLOAD_KERNEL_H
#define DSE_WORKLOAD_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    WL_KERNEL_OTHER, /* of a trace that was read, which only has operations and bytes */
    WL_KERNEL_MATMUL,
    WL_KERNEL_ATTENTION,
    WL_KERNEL_ELEMENTWISE,
    WL_KERNEL_NORMALISATION,
    WL_KERNEL_LOOKUP,
    WL_KERNEL_OPTIMIZER,
    /* Of the training step alone (step/), where attention is a kernel of its own, or is not. */
    WL_KERNEL_ATTENTION_BACKWARD, /* fused */
    /* a product of one head each, of queries and keys, or of scores and values */
    WL_KERNEL_ATTENTION_PRODUCT,
    /* Products of matrices whose operands have 8 bits, with a scale for each tensor (or row), or for each
     * block; and 4. */
    WL_KERNEL_MATMUL_FP8,
    WL_KERNEL_MATMUL_FP8_BLOCK,
    WL_KERNEL_MATMUL_NVFP4,
    /* Fused attention by the kernels of FlashAttention-2, which devices may be slower at than at their
     * fastest. */
    WL_KERNEL_ATTENTION_FLASH2,
    WL_KERNEL_ATTENTION_FLASH2_BACKWARD,
    /* Products of the experts of a rank, one for each, in one kernel: of 16 bits, and of 8 with a scale for
     * each tensor. In other types they are of the class of a product alone. */
    WL_KERNEL_EXPERTS,
    WL_KERNEL_EXPERTS_FP8,
    WL_N_KERNEL_CLASSES
} wl_kernel_class;

/* Whether it multiplies in fewer bits than 16. */
static inline bool wl_kernel_is_low(wl_kernel_class c)
{
    return c == WL_KERNEL_MATMUL_FP8 || c == WL_KERNEL_MATMUL_FP8_BLOCK || c == WL_KERNEL_MATMUL_NVFP4 ||
           c == WL_KERNEL_EXPERTS_FP8;
}

/* Whether it multiplies matrices, of one product or of several in one kernel. */
static inline bool wl_kernel_is_product(wl_kernel_class c)
{
    return c == WL_KERNEL_MATMUL || c == WL_KERNEL_EXPERTS || wl_kernel_is_low(c);
}

/* Whether it is attention as one kernel. */
static inline bool wl_kernel_is_fused_attention(wl_kernel_class c)
{
    return c == WL_KERNEL_ATTENTION || c == WL_KERNEL_ATTENTION_BACKWARD || c == WL_KERNEL_ATTENTION_FLASH2 ||
           c == WL_KERNEL_ATTENTION_FLASH2_BACKWARD;
}

/* The class whose law holds where a class has none of its own: FlashAttention-2 is the fastest on many
 * devices, and experts multiply as one matrix does. */
static inline wl_kernel_class wl_kernel_general_class(wl_kernel_class c)
{
    return c == WL_KERNEL_ATTENTION_FLASH2            ? WL_KERNEL_ATTENTION
           : c == WL_KERNEL_ATTENTION_FLASH2_BACKWARD ? WL_KERNEL_ATTENTION_BACKWARD
           : c == WL_KERNEL_EXPERTS                   ? WL_KERNEL_MATMUL
           : c == WL_KERNEL_EXPERTS_FP8               ? WL_KERNEL_MATMUL_FP8
                                                      : c;
}

/* Whether its operations count for the use of the hardware: products of matrices, and attention. */
static inline bool wl_kernel_multiplies(wl_kernel_class c)
{
    return wl_kernel_is_product(c) || wl_kernel_is_fused_attention(c) || c == WL_KERNEL_ATTENTION_PRODUCT;
}

/* Dimensions of a matrix product. */
enum { WL_EXTENT_M, WL_EXTENT_N, WL_EXTENT_K, WL_EXTENT_BATCH, WL_N_EXTENTS };

typedef struct {
    wl_kernel_class class;
    uint64_t extent[WL_N_EXTENTS]; /* at least 1; of WL_KERNEL_OTHER 0 */
    double element_bytes;          /* of the first operand; 0: not known, sizes are elements */
    uint64_t operations, bytes;    /* as wl_node.num_ops and tensor_size */
} wl_kernel;

/* What `batch` products of matrices do, each operand and the result moved once; sizes in bytes an element.
 * Exact below 2^53. */
typedef struct {
    double operations, bytes;
} wl_product_work;
wl_product_work wl_product_of(const uint64_t extent[WL_N_EXTENTS], double operand_bytes, double result_bytes);

const char *wl_kernel_class_name(wl_kernel_class c);    /* "matmul" */
wl_kernel_class wl_kernel_class_find(const char *name); /* WL_KERNEL_OTHER: there is none of this name */

#endif
