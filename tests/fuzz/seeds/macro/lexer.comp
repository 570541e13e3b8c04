// SPDX-License-Identifier: MIT
#version 450
#include "params.glsl" // K_NOT_READ
#define DTYPE_Q4_K 12
/* K_NOT_READ
*/ #if K_DTYPE == DTYPE_Q4_K && \
    (K_ROWS > 1 || defined(GL_KHR_x))
#elif !defined K_ROWS || K_DTYPE == \
DTYPE_NOWHERE
#endif
#ifndef K_DEFAULT
#define K_DEFAULT "K_ \" // x"
#endif
#undef K_DEFAULT
uint rows = K_ROWS; /**//*/*/
