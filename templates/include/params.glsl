// SPDX-License-Identifier: MIT
//
// Values of the template parameters. `dtype: q4_k` in a YAML file arrives as
// `#define K_DTYPE DTYPE_Q4_K`, so that `#if K_DTYPE == DTYPE_Q4_K` is ordinary GLSL.
#ifndef PARAMS_GLSL
#define PARAMS_GLSL

// Element types: ggml's type numbers, as in GGUF files.
#define DTYPE_F32 0
#define DTYPE_F16 1
#define DTYPE_Q4_0 2
#define DTYPE_Q4_1 3
#define DTYPE_Q5_0 6
#define DTYPE_Q5_1 7
#define DTYPE_Q8_0 8
#define DTYPE_Q8_1 9
#define DTYPE_Q2_K 10
#define DTYPE_Q3_K 11
#define DTYPE_Q4_K 12
#define DTYPE_Q5_K 13
#define DTYPE_Q6_K 14
#define DTYPE_Q8_K 15
#define DTYPE_IQ2_XXS 16
#define DTYPE_IQ2_XS 17
#define DTYPE_IQ3_XXS 18
#define DTYPE_IQ1_S 19
#define DTYPE_IQ4_NL 20
#define DTYPE_IQ3_S 21
#define DTYPE_IQ2_S 22
#define DTYPE_IQ4_XS 23
#define DTYPE_I32 26
#define DTYPE_IQ1_M 29
#define DTYPE_BF16 30
#define DTYPE_TQ1_0 34
#define DTYPE_TQ2_0 35
#define DTYPE_MXFP4 39
#define DTYPE_NVFP4 40
#define DTYPE_Q1_0 41
#define DTYPE_Q2_0 42

// Repacked types: the raw type's number + 0x1000.
#define DTYPE_Q8_1S 0x1009 // activations
#define DTYPE_Q8_0P 0x1008
#define DTYPE_Q3_KP 0x100B
#define DTYPE_Q6_KP 0x100E

// Types of a kernel's result, same numbers (`out_type`).
#define OUT_TYPE_F32 DTYPE_F32
#define OUT_TYPE_F16 DTYPE_F16

// How a kernel shares out its work.
#define SCHEDULE_ROW 0   // matvec (units.glsl): an invocation takes runs in turn
#define SCHEDULE_BLOCK 1 // matvec: an invocation keeps to one slice of every block; sdpa: all keys
#define SCHEDULE_WIDE 3  // matvec: a subgroup takes units of whole activation blocks, many at once
#define SCHEDULE_SPLIT 2 // sdpa: a range of the keys

// How a workgroup gets its weights (`load`; matmul_coopmat2.comp).
#define LOAD_TENSOR 0 // as a tensor of blocks
#define LOAD_STAGE 1  // decoded into shared memory

// What a device must have beyond Vulkan 1.1 without optional features.
#define TIER_PORTABLE 0 // nothing
#define TIER_SUBGROUP 1 // subgroup arithmetic
#define TIER_DP4A 2     // packed 8-bit integer dot product
#define TIER_COOPMAT 3  // KHR cooperative matrix
#define TIER_COOPMAT2 4 // NV cooperative matrix 2

#endif
