/* SPDX-License-Identifier: MIT */
#include "vf_family.h"

#include "vf_ref.h"

#include <string.h>

/* One line a family. */
/* clang-format off */
static const struct vf_family *const families[] = {
    &vf_ref_matvec,
    &vf_ref_matvec_block,
    &vf_ref_matvec_id,
    &vf_ref_dequant,
    &vf_ref_matmul,
    &vf_ref_mmq,
    &vf_ref_matmul_id,
    &vf_ref_rms_norm,
    &vf_ref_add_rms_norm,
    &vf_ref_rope_neox,
    &vf_ref_rope_interleaved,
    &vf_ref_rms_norm_rope,
    &vf_ref_softmax,
    &vf_ref_swiglu,
    &vf_ref_geglu,
    &vf_ref_add,
    &vf_ref_mul,
    &vf_ref_scale,
    &vf_ref_quantize_q8_1,
    &vf_ref_kv_quantize,
    &vf_ref_get_rows,
    &vf_ref_copy,
    &vf_ref_argmax,
    &vf_ref_top_k,
    &vf_ref_moe_route,
    &vf_ref_moe_group,
    &vf_ref_flash_attn,
    &vf_ref_sdpa,
    &vf_ref_sdpa_split,
    &vf_ref_sdpa_combine,
};
/* clang-format on */

const struct vf_family *vf_family_find(const char *reference) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i]->reference, reference) == 0) {
            return families[i];
        }
    }
    return NULL;
}

static double stricter(double a, double b) {
    if (a < 0) {
        return b;
    }
    return b < 0 || a < b ? a : b;
}

struct mf_tolerance vf_family_gate(const struct vf_family *family,
                                   const struct mf_artifact *artifact) {
    const struct mf_tolerance own = family->ceiling(artifact);
    const struct mf_tolerance asked = artifact->tolerance;
    struct mf_tolerance gate = vf_tolerance_none();

    gate.exact = own.exact || asked.exact;
    gate.max_abs = stricter(own.max_abs, asked.max_abs);
    gate.rel = stricter(own.rel, asked.rel);
    gate.scale = stricter(own.scale, asked.scale);
    gate.ulp_f16 = own.ulp_f16;
    if (asked.ulp_f16 && (!own.ulp_f16 || asked.ulp_f16 < own.ulp_f16)) {
        gate.ulp_f16 = asked.ulp_f16;
    }
    return gate;
}

struct mf_tolerance vf_buffer_gate(const struct vf_buffer *buffer,
                                   const struct mf_tolerance *gate) {
    struct mf_tolerance own = *gate;

    if (buffer->max_abs > 0) {
        own.max_abs = stricter(gate->max_abs, buffer->max_abs);
    }
    return own;
}

void vf_memo_release(struct vf_memo *memo) {
    mf_arena_release(&memo->arena);
    *memo = (struct vf_memo){0};
}

void vf_problem_release(struct vf_problem *problem) {
    mf_arena_release(&problem->arena);
    *problem = (struct vf_problem){0};
}

static struct vf_buffer *problem_add(struct vf_problem *problem, const char *binding) {
    struct vf_buffer *buffer = NULL;

    if (problem->buffer_count < VF_BUFFER_MAX) {
        buffer = &problem->buffers[problem->buffer_count++];
        *buffer = (struct vf_buffer){.binding = binding, .dtype_index = -1};
    }
    return buffer;
}

struct vf_buffer *vf_problem_input(struct vf_problem *problem, const char *binding,
                                   const void *bytes, uint64_t size_bytes) {
    struct vf_buffer *buffer = problem_add(problem, binding);

    if (buffer) {
        buffer->bytes = bytes;
        buffer->size_bytes = size_bytes;
    }
    return buffer;
}

struct vf_buffer *vf_problem_output(struct vf_problem *problem, const char *binding,
                                    const double *expected, uint64_t element_count) {
    struct vf_buffer *buffer = problem_add(problem, binding);

    if (buffer) {
        buffer->expected = expected;
        buffer->element_count = element_count;
        buffer->dtype = MF_DTYPE_F32;
    }
    return buffer;
}

struct mf_tolerance vf_tolerance_none(void) {
    return (struct mf_tolerance){.exact = false, .max_abs = -1, .rel = -1, .scale = -1};
}
