// SPDX-License-Identifier: MIT
//
// The types and operations of VK_NV_cooperative_matrix2 that matmul_coopmat2.comp is written in.
// A tensor is two-dimensional, its last dimension contiguous; a slice of it (sliceTensorLayoutNV) is
// what is loaded or stored. Clamped ones read as zeros and are not written past their ends.
//
//   LOAD_X_TENSOR(piece, slice)   tokens x elements of x, by X_DECODE where it is a function
//   LOAD_W_TENSOR(piece, slice)   rows x elements of weights, by W_DECODE
//   LOAD_W_STAGE(piece, first)    the same from w_stage, STAGE_STRIDE uvec4 a row
//   STORE_Y(sum, slice)           tokens x rows to y, from row_first on
//
// tests/fixtures/tensors has the same in plain GLSL, for devices without the extension.
#ifndef MATMUL_TENSORS_GLSL
#define MATMUL_TENSORS_GLSL

#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix2 : require

#define XPiece coopmat<float16_t, gl_ScopeWorkgroup, K_TOKENS, K_STEP, gl_MatrixUseA>
#define WPiece coopmat<float16_t, gl_ScopeWorkgroup, K_STEP, K_ROWS, gl_MatrixUseB>
#define Sum coopmat<float, gl_ScopeWorkgroup, K_TOKENS, K_ROWS, gl_MatrixUseAccumulator>
#define ZERO_SUM Sum(0.0)

#define Tensor tensorLayoutNV<2>
#define ClampedTensor tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV>
#define TENSOR createTensorLayoutNV(2)
#define CLAMPED_TENSOR createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV)

// The first parameter of a function that decodes: the block's place in memory. Nothing here needs it,
// because x and the decoder of weights know theirs.
#if K_X_TYPE == X_TYPE_F32 || (K_LOAD == LOAD_TENSOR && !defined(W_HALVES))
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Place {
    uint words;
};
#define PLACE const in Place place
#endif

#define LOAD_X_TENSOR(piece, slice) coopMatLoadTensorNV(piece, x, 0u, slice X_DECODE)

// Weights lie row by row, a row the elements of one column of the matrix.
#define LOAD_W_TENSOR(piece, slice)                                                                \
    coopMatLoadTensorNV(piece, weights, 0u, slice, createTensorViewNV(2, false, 1, 0) W_DECODE)
#define LOAD_W_STAGE(piece, first)                                                                 \
    coopMatLoad(piece, w_stage, first, STAGE_STRIDE, gl_CooperativeMatrixLayoutColumnMajor)

#define STORE_Y(sum, slice) coopMatStoreTensorNV(sum, y, row_first, slice)

#endif
