/* Names of kernels that were seen, where, and the kind of work they are. */
#include "unit/unit.h"

#include "base/array.h"
#include "metrics/kinds.h"

typedef struct {
    const char *name, *source;
    metric_work work;
} seen;

static const seen names[] = {
    /* Matrix products. */
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN", "hipBLASLt, SGLang on MI300X",
     METRIC_WORK_GEMM},
    {"fused_moe_kernel", "vLLM's grouped product in Triton", METRIC_WORK_GEMM},
    {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", "rocBLAS (Tensile)", METRIC_WORK_GEMM},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>"
     "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)",
     "cuBLAS on A100", METRIC_WORK_GEMM},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
     "cutlass::epilogue::collective::CollectiveEpilogue<cutlass::layout::NoPermute, cute::Copy_Atom>>>",
     "CUTLASS 3", METRIC_WORK_GEMM},
    {"_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS_6layout9NoPermuteE", "CUTLASS, mangled", METRIC_WORK_GEMM},
    {"void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_operation::"
     "element_wise::PassThrough>, ck::ThreadGroupTensorSliceTransfer_v4r1_transpose>",
     "Composable Kernel", METRIC_WORK_GEMM},
    {"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "cuBLAS on Hopper and Blackwell", METRIC_WORK_GEMM},
    {"triton_tem_fused_addmm_3", "Inductor's template", METRIC_WORK_GEMM},
    {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32", "cuDNN",
     METRIC_WORK_GEMM},
    {"_ZN5aiter51fmoe_bf16_pertokenFp8_g1u1_vs_silu_1tg_ps_32x512E", "AITER's grouped product on MI300X",
     METRIC_WORK_GEMM},
    {"void marlin::Marlin<__nv_bfloat16, 1125899906909960l, 256, 4, 16, 4>", "vLLM, weights of 4 bits",
     METRIC_WORK_GEMM},
    /* None. */
    {"sm80_xmma_pooling_coalescedC_NHWC_kMax_3_False_execute_kernel_cudnn", "cuDNN", METRIC_WORK_OTHER},
    {"void deep_gemm::transpose_fp32<256u, 16u, 18u>(float const*, float*, unsigned int)", "DeepGEMM",
     METRIC_WORK_MEMORY},
    /* Attention. */
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<cute::Copy_Traits>>", "FlashAttention 2",
     METRIC_WORK_ATTENTION},
    {"void cutlass::device_kernel<cutlass::fmha::kernel::Sm100FmhaFwdKernelTmaWarpspecialized<cute::C>>",
     "CUTLASS on Blackwell", METRIC_WORK_ATTENTION},
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "PyTorch's memory-efficient attention",
     METRIC_WORK_ATTENTION},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", "cuDNN",
     METRIC_WORK_ATTENTION},
    {"_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelI", "AITER, SGLang on MI300X",
     METRIC_WORK_ATTENTION},
    {"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>", "vLLM on MI300X",
     METRIC_WORK_ATTENTION},
    {"_attn_fwd", "Triton's tutorial", METRIC_WORK_ATTENTION},
    {"attn_fwd", "FlashAttention in Triton on MI300X", METRIC_WORK_ATTENTION},
    {"_attn_bwd_dkdv", "Triton's tutorial", METRIC_WORK_ATTENTION},
    {"_fwd_grouped_kernel_stage1", "SGLang's decoding in Triton", METRIC_WORK_ATTENTION},
    {"_fwd_kernel", "SGLang's and vLLM's prefill in Triton", METRIC_WORK_ATTENTION},
    {"_chunk_scan_fwd_kernel", "Mamba 2: no attention", METRIC_WORK_OTHER},
    {"_ZN5aiter31pa_bf16_pertokenFp8_gqa10_2tg_4wE", "AITER's paged attention", METRIC_WORK_ATTENTION},
    {"_ZN5aiter36mla_dec_stage1_bf16_a16w16_subQ16_mqa16E", "AITER's decoding of DeepSeek",
     METRIC_WORK_ATTENTION},
    /* Communication. */
    {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "RCCL", METRIC_WORK_COMM},
    {"void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*)", "AITER",
     METRIC_WORK_COMM},
    {"userbuffers_fp16_sum_inplace_gpu_rr_rs<8>", "TransformerEngine", METRIC_WORK_COMM},
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>",
     "PyTorch's symmetric memory", METRIC_WORK_COMM},
    /* Copies and fills. */
    {"__amd_rocclr_copyBuffer", "HIP", METRIC_WORK_MEMORY},
    {"__amd_rocclr_fillBufferAligned", "HIP", METRIC_WORK_MEMORY},
    {"void transformer_engine::detail::cast_transpose_fused_kernel<true, false>", "TransformerEngine",
     METRIC_WORK_MEMORY},
    {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::"
     "direct_copy_kernel_cuda(at::TensorIteratorBase&)>>",
     "PyTorch", METRIC_WORK_MEMORY},
    /* Lookups in embeddings, and their gradients: bound by memory, whatever their library is called. */
    {"void split_embedding_codegen_forward_unweighted_kernel<float, float, float, false, long, 1ul, 8ul>("
     "at::GenericPackedTensorAccessor<float, 1ul, at::RestrictPtrTraits, long>)",
     "FBGEMM, DLRM on V100", METRIC_WORK_EMBEDDING},
    {"void split_embedding_backward_codegen_rowwise_adagrad_weighted_kernel_warp_per_row_1<c10::Half, float, "
     "c10::Half, 2ul, 32>(fbgemm_gpu::FixedDivisor)",
     "FBGEMM, 8 A100", METRIC_WORK_EMBEDDING},
    {"void dense_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 1ul, "
     "8ul>(at::Tensor)",
     "FBGEMM, DLRM on V100", METRIC_WORK_EMBEDDING},
    {"void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*, int const*, int*)",
     "FBGEMM, DLRM on V100", METRIC_WORK_MEMORY},
    {"void at::native::vectorized_elementwise_kernel<4, fbgemm_gpu::_float_to_hfp8_gpu(at::Tensor const&, "
     "long, "
     "long, double)::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)",
     "FBGEMM, 2 of 128 ranks", METRIC_WORK_ELEMENTWISE},
    {"void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long, long, int const*, int*)",
     "FBGEMM, 2 of 128 ranks", METRIC_WORK_OTHER},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<fbgemm_gpu::Tile>>", "made up",
     METRIC_WORK_GEMM},
    {"FBGEMM", "made up: nothing but the library", METRIC_WORK_OTHER},
    /* Others. */
    {"triton_red_fused__to_copy_mean_pow_0", "Inductor", METRIC_WORK_REDUCTION},
    {"triton_per_fused_0", "Inductor", METRIC_WORK_REDUCTION},
    {"void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>", "vLLM", METRIC_WORK_REDUCTION},
    {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64E", "AITER", METRIC_WORK_REDUCTION},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", "PyTorch",
     METRIC_WORK_ELEMENTWISE},
};

CLAIM(kernels_are_known_by_their_names)
{
    for (size_t i = 0; i < DSE_COUNT(names); i++)
        if (metric_work_of(names[i].name) != names[i].work)
            fail_msg("%s (%s) is taken for %s, not for %s", names[i].name, names[i].source,
                     metric_work_name[metric_work_of(names[i].name)], metric_work_name[names[i].work]);
}

/* What the words of the definition take for another kind, and its recorded values with them. */
static const struct {
    const char *name, *source;
    metric_work work, by_words;
} apart[] = {
    {"void split_embedding_backward_codegen_kernel<float>(fbgemm_gpu::FixedDivisor)", "FBGEMM",
     METRIC_WORK_EMBEDDING, METRIC_WORK_GEMM},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_swiGlu_dynBatch_sm100f", "TensorRT-LLM, vLLM on B200",
     METRIC_WORK_GEMM, METRIC_WORK_OTHER},
    {"_fwd_kernel_ep_scatter_2", "SGLang's and vLLM's tokens in the order of DeepGEMM's experts",
     METRIC_WORK_MEMORY, METRIC_WORK_EMBEDDING},
    {"_fwd_kernel_ep_gather", "the same, back", METRIC_WORK_MEMORY, METRIC_WORK_EMBEDDING},
    {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>", "vLLM on B200",
     METRIC_WORK_MEMORY, METRIC_WORK_ATTENTION},
    {"void tensorrt_llm::kernels::quantize_with_block_size<32>(flashinfer::QuantizationSFLayout)",
     "vLLM on B200", METRIC_WORK_OTHER, METRIC_WORK_ATTENTION},
    {"void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>", "FlashInfer", METRIC_WORK_REDUCTION,
     METRIC_WORK_ATTENTION},
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits>", "FlashInfer",
     METRIC_WORK_ATTENTION, METRIC_WORK_ATTENTION},
    {"void flashinfer::AppendPagedKVCacheKernel<128u, 8u>", "FlashInfer", METRIC_WORK_MEMORY,
     METRIC_WORK_ATTENTION},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>", "PyTorch",
     METRIC_WORK_REDUCTION, METRIC_WORK_ELEMENTWISE},
    {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>", "cuDNN, ResNet-50",
     METRIC_WORK_REDUCTION, METRIC_WORK_OTHER},
    {"void cudnn::cnn::wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>", "cuDNN, ResNet-50",
     METRIC_WORK_GEMM, METRIC_WORK_OTHER},
    {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>", "cuDNN, ResNet-50",
     METRIC_WORK_MEMORY, METRIC_WORK_OTHER},
};

CLAIM(the_metric_of_kinds_goes_by_the_words_of_its_definition)
{
    for (size_t i = 0; i < DSE_COUNT(apart); i++)
        if (metric_work_of(apart[i].name) != apart[i].work ||
            metric_work_by_words(apart[i].name) != apart[i].by_words)
            fail_msg("%s (%s) is taken for %s, by the words for %s", apart[i].name, apart[i].source,
                     metric_work_name[metric_work_of(apart[i].name)],
                     metric_work_name[metric_work_by_words(apart[i].name)]);
    for (size_t i = 0; i < DSE_COUNT(names); i++)
        if (!metric_says(names[i].name, "fbgemm"))
            assert_int_equal(metric_work_by_words(names[i].name), names[i].work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_known_by_their_names),
        cmocka_unit_test(the_metric_of_kinds_goes_by_the_words_of_its_definition)};
    return RUN_TESTS(tests);
}
