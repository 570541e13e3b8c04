/* SPDX-License-Identifier: MIT */
/*
 * Blocks that the device decodes to halves for matmul over weights in f16, as an engine runs the
 * two for many tokens: one command buffer with a barrier between them. The result is that of the
 * blocks in double precision. Runs the bundle in spv/; skips without it or without a device.
 */
#include "loader_rows.h"
#include "loader_spv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 5
#define BUFFER_BYTES_EXTRA 16

enum { WEIGHTS, HALVES, X, Y, BUFFER_COUNT };
enum order { DECODE_FIRST, MULTIPLY_FIRST };

struct chain {
    struct spv_fixture *fixture;
    struct vf_problem problem;
    uint64_t t, nout, k;
    struct kiln_buffer *buffers[BUFFER_COUNT];
    uint64_t sizes[BUFFER_COUNT]; /* bytes */
    const struct vf_buffer *expected;
};

static void chain_buffer(struct chain *chain, size_t at, uint64_t size_bytes, const void *bytes) {
    struct spv_fixture *fixture = chain->fixture;

    chain->sizes[at] = size_bytes;
    spv_must(fixture, kiln_buffer_create(fixture->device, size_bytes + BUFFER_BYTES_EXTRA,
                                         &chain->buffers[at], &fixture->error));
    if (bytes) {
        spv_must(fixture,
                 kiln_buffer_upload(chain->buffers[at], 0, bytes, size_bytes, &fixture->error));
    }
}

static void chain_begin(struct chain *chain, const enum mf_dtype dtypes[2], struct vf_memo *memo) {
    struct spv_fixture *fixture = chain->fixture;
    const struct vf_case problem = {
        .id = "chain",
        .dims = {{"t", chain->t}, {"nout", chain->nout}, {"k", chain->k}},
        .dim_count = 3,
    };

    chain->problem.memo = memo;
    spv_must(fixture, vf_family_find("matmul")->prepare(&problem, dtypes, SEED, &chain->problem,
                                                        &fixture->error));
    const struct vf_buffer *weights = spv_buffer(&chain->problem, "weights");
    const struct vf_buffer *x = spv_buffer(&chain->problem, "x");
    chain->expected = spv_buffer(&chain->problem, "y");
    chain_buffer(chain, WEIGHTS, weights->size_bytes, weights->bytes);
    chain_buffer(chain, HALVES, chain->nout * chain->k * 2, NULL);
    chain_buffer(chain, X, x->size_bytes, x->bytes);
    chain_buffer(chain, Y, chain->t * chain->nout * sizeof(float), NULL);
}

static void chain_end(struct chain *chain) {
    for (size_t i = 0; i < BUFFER_COUNT; i++) {
        kiln_buffer_destroy(&chain->buffers[i]);
    }
    vf_problem_release(&chain->problem);
}

static struct kiln_range range_of(const struct chain *chain, const char *name, size_t at) {
    return kiln_buffer_range(name, chain->buffers[at], 0, chain->sizes[at]);
}

static void append_decode(struct chain *chain, struct kiln_batch *batch,
                          const struct mf_artifact *artifact) {
    struct spv_fixture *fixture = chain->fixture;
    const struct kiln_range ranges[] = {range_of(chain, "weights", WEIGHTS),
                                        range_of(chain, "values", HALVES)};
    const struct mf_dim dims[] = {{"count", chain->nout * chain->k}};
    struct kiln_dispatch dispatch = {
        .ranges = ranges, .range_count = 2, .dims = dims, .dim_count = 1};

    spv_must(fixture, kiln_pipeline_get(fixture->device, fixture->bundle, artifact,
                                        &dispatch.pipeline, &fixture->error));
    spv_must(fixture, kiln_batch_dispatch(batch, &dispatch, &fixture->error));
}

static void append_multiply(struct chain *chain, struct kiln_batch *batch,
                            const struct mf_artifact *artifact) {
    struct spv_fixture *fixture = chain->fixture;
    const struct kiln_range ranges[] = {range_of(chain, "weights", HALVES), range_of(chain, "x", X),
                                        range_of(chain, "y", Y)};
    const struct mf_dim dims[] = {{"t", chain->t}, {"nout", chain->nout}, {"k", chain->k}};
    struct kiln_dispatch dispatch = {.ranges = ranges,
                                     .range_count = 3,
                                     .dims = dims,
                                     .dim_count = 3,
                                     .params = chain->problem.params,
                                     .param_count = chain->problem.param_count};

    spv_must(fixture, kiln_pipeline_get(fixture->device, fixture->bundle, artifact,
                                        &dispatch.pipeline, &fixture->error));
    spv_must(fixture, kiln_batch_dispatch(batch, &dispatch, &fixture->error));
}

/* Runs both in this order, on outputs full of NaN. Whether y is what the blocks give. */
static bool chain_run(struct chain *chain, const struct mf_artifact *decode,
                      const struct mf_artifact *multiply, enum order order, char *reason,
                      size_t size) {
    struct spv_fixture *fixture = chain->fixture;
    struct kiln_batch *batch = NULL;
    struct mf_tolerance gate = vf_tolerance_none();
    struct vf_metrics metrics;
    float *y = malloc(chain->sizes[Y]);

    assert_non_null(y);
    spv_must(fixture, kiln_buffer_fill(chain->buffers[HALVES], 0, chain->sizes[HALVES] / 4 * 4,
                                       0x7E007E00, &fixture->error));
    spv_must(fixture,
             kiln_buffer_fill(chain->buffers[Y], 0, chain->sizes[Y], 0x7FC00000, &fixture->error));
    spv_must(fixture, kiln_batch_create(fixture->device, 0, &batch, &fixture->error));
    if (order == MULTIPLY_FIRST) {
        append_multiply(chain, batch, multiply);
    }
    append_decode(chain, batch, decode);
    if (order == DECODE_FIRST) {
        append_multiply(chain, batch, multiply);
    }
    spv_must(fixture, kiln_batch_run(batch, TIMEOUT_MS, &fixture->error));
    spv_must(fixture,
             kiln_buffer_download(chain->buffers[Y], 0, y, chain->sizes[Y], &fixture->error));
    kiln_batch_destroy(&batch);
    gate.scale = 1e-2;
    gate.rel = 2e-3;
    vf_compare(MF_DTYPE_F32, y, chain->expected->expected, chain->expected->element_count, &gate,
               false, &metrics);
    free(y);
    return vf_metrics_pass(&metrics, &gate, reason, size);
}

/* The family's artifacts of these two types that the device can run; at most `capacity`. */
static size_t find_artifacts(const struct spv_fixture *fixture, const char *family,
                             const char *first_dtype, const char *second_dtype,
                             const struct mf_artifact **out, size_t capacity) {
    size_t count = 0;

    for (size_t i = 0; i < kiln_bundle_artifact_count(fixture->bundle); i++) {
        const struct mf_artifact *artifact = kiln_bundle_artifact(fixture->bundle, i);
        if (strcmp(artifact->family, family) == 0 &&
            strcmp(artifact->dtypes[0], first_dtype) == 0 &&
            strcmp(artifact->dtypes[1], second_dtype) == 0 &&
            kiln_requirements_check(kiln_device_info(fixture->device), artifact, NULL) == KILN_OK) {
            assert_true(count < capacity);
            out[count++] = artifact;
        }
    }
    assert_true(count > 0);
    return count;
}

static size_t run_shape(struct spv_fixture *fixture, const enum mf_dtype dtypes[2], uint64_t t,
                        uint64_t nout, uint64_t k) {
    struct vf_memo memo = {0};
    struct chain chain = {.fixture = fixture, .t = t, .nout = nout, .k = k};
    const struct mf_artifact *decode = NULL;
    const struct mf_artifact *multiply[16];
    char reason[256];

    assert_int_equal(
        find_artifacts(fixture, "dequant", mf_dtype_info(dtypes[0])->name, "f16", &decode, 1), 1);
    const size_t count =
        find_artifacts(fixture, "matmul", "f16", mf_dtype_info(dtypes[1])->name, multiply, 16);
    chain_begin(&chain, dtypes, &memo);
    for (size_t i = 0; i < count; i++) {
        if (!chain_run(&chain, decode, multiply[i], DECODE_FIRST, reason, sizeof reason)) {
            fail_msg("%s, then %s: %s", decode->name, multiply[i]->name, reason);
        }
        /* Without the halves there is nothing but NaN. */
        assert_false(chain_run(&chain, decode, multiply[i], MULTIPLY_FIRST, reason, sizeof reason));
    }
    chain_end(&chain);
    vf_memo_release(&memo);
    return count;
}

static void test_chain(void **state) {
    static const enum mf_dtype weights[] = {MF_DTYPE_Q4_0, MF_DTYPE_Q8_0, MF_DTYPE_Q4_K,
                                            MF_DTYPE_Q6_K};
    static const enum mf_dtype activations[] = {MF_DTYPE_F32, MF_DTYPE_F16};
    size_t run_count = 0;

    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        for (size_t j = 0; j < sizeof activations / sizeof activations[0]; j++) {
            const enum mf_dtype dtypes[2] = {weights[i], activations[j]};
            run_count += run_shape(*state, dtypes, 67, 129, 512);
            run_count += run_shape(*state, dtypes, 1, 1, 256);
        }
    }
    print_message("# %zu runs\n", run_count);
    assert_true(run_count >= 32);
}

int main(void) {
    if (!spv_available()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chain, spv_set_up, spv_tear_down),
    };
    return cmocka_run_group_tests_name("matmul_chain", tests, NULL, NULL);
}
