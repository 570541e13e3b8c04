/* SPDX-License-Identifier: MIT */
/*
 * sdpa's parts as the device computes them, put together by sdpa_combine, as an engine runs the
 * two: one command buffer with a barrier between them. The result is that of the whole attention in
 * double precision. Runs the bundle in spv/; skips without it or without a device.
 */
#include "loader_rows.h"
#include "loader_spv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEYS_MAX 4096 /* h · lk of the cases to run */
#define SEED 3

enum { Q, K, V, MAXIMA, SUMS, VECTORS, O, BUFFER_COUNT };
static const char *const names[BUFFER_COUNT] = {"q", "k", "v", "maxima", "sums", "vectors", "o"};

/* One case: the inputs of sdpa_split and the output of sdpa. */
struct chain {
    struct spv_fixture *fixture;
    const struct vf_case *kase;
    struct vf_problem split, whole;
    struct kiln_buffer *buffers[BUFFER_COUNT];
    uint64_t sizes[BUFFER_COUNT]; /* bytes */
};

enum order { SPLIT_FIRST, COMBINE_FIRST };

static void chain_begin(struct chain *chain, const enum mf_dtype *dtype) {
    static const char *const shared[] = {"h", "kv", "lq", "lk", "d", "causal", "capacity"};
    struct spv_fixture *fixture = chain->fixture;
    struct vf_case whole = {.id = "whole", .dim_count = 7, .data_dim_count = 1};

    for (size_t i = 0; i < 7; i++) {
        whole.dims[i] = (struct mf_dim){shared[i], vf_case_dim(chain->kase, shared[i])};
    }
    spv_must(fixture, vf_family_find("sdpa_split")
                          ->prepare(chain->kase, dtype, SEED, &chain->split, &fixture->error));
    spv_must(fixture,
             vf_family_find("sdpa")->prepare(&whole, dtype, SEED, &chain->whole, &fixture->error));
    for (size_t i = 0; i < BUFFER_COUNT; i++) {
        const struct vf_buffer *buffer =
            spv_buffer(i == O ? &chain->whole : &chain->split, names[i]);
        chain->sizes[i] = i < MAXIMA ? buffer->size_bytes : buffer->element_count * sizeof(float);
        spv_must(fixture, kiln_buffer_create(fixture->device, chain->sizes[i] + 16,
                                             &chain->buffers[i], &fixture->error));
        if (i < MAXIMA && chain->sizes[i] > 0) {
            spv_must(fixture, kiln_buffer_upload(chain->buffers[i], 0, buffer->bytes,
                                                 chain->sizes[i], &fixture->error));
        }
    }
}

static void chain_end(struct chain *chain) {
    for (size_t i = 0; i < BUFFER_COUNT; i++) {
        kiln_buffer_destroy(&chain->buffers[i]);
    }
    vf_problem_release(&chain->split);
    vf_problem_release(&chain->whole);
}

/* Appends the dispatch of an artifact; `splits` stands for the case's. */
static void chain_append(struct chain *chain, struct kiln_batch *batch,
                         const struct mf_artifact *artifact, uint64_t splits) {
    struct spv_fixture *fixture = chain->fixture;
    struct kiln_range ranges[BUFFER_COUNT];
    struct mf_dim dims[VF_DIM_MAX];
    struct kiln_dispatch dispatch = {.ranges = ranges, .dims = dims};
    bool whole_inputs = strcmp(artifact->kernel, "sdpa") == 0;

    spv_must(fixture, kiln_pipeline_get(fixture->device, fixture->bundle, artifact,
                                        &dispatch.pipeline, &fixture->error));
    for (size_t i = 0; i < artifact->dim_count; i++) {
        const char *name = artifact->dims[i];
        const bool other = strcmp(name, "splits") == 0;
        dims[dispatch.dim_count++] =
            (struct mf_dim){name, other ? splits : vf_case_dim(chain->kase, name)};
    }
    for (size_t i = 0; i < artifact->binding_count; i++) {
        size_t at = 0;
        while (strcmp(names[at], artifact->bindings[i].name) != 0) {
            at++;
        }
        ranges[dispatch.range_count++] = kiln_buffer_range(
            names[at], chain->buffers[at], 0, chain->sizes[at] ? chain->sizes[at] : 16);
    }
    dispatch.params = whole_inputs ? chain->split.params : NULL;
    dispatch.param_count = whole_inputs ? chain->split.param_count : 0;
    spv_must(fixture, kiln_batch_dispatch(batch, &dispatch, &fixture->error));
}

/* Runs both in this order, on outputs full of NaN; `combined` is the number of splits that the
 * combination is told. Whether the output is what the whole attention gives. */
static bool chain_run(struct chain *chain, const struct mf_artifact *split,
                      const struct mf_artifact *combine, enum order order, uint64_t combined,
                      char *reason, size_t size) {
    struct spv_fixture *fixture = chain->fixture;
    struct kiln_batch *batch = NULL;
    const uint64_t splits = vf_case_dim(chain->kase, "splits");
    const struct vf_buffer *expected = spv_buffer(&chain->whole, "o");
    struct mf_tolerance gate = vf_tolerance_none();
    struct vf_metrics metrics;
    float *o = malloc(chain->sizes[O] + 4);

    assert_non_null(o);
    for (size_t i = MAXIMA; i < BUFFER_COUNT; i++) {
        spv_must(fixture, kiln_buffer_fill(chain->buffers[i], 0, (chain->sizes[i] + 15) / 16 * 16,
                                           0x7FC00000, &fixture->error));
    }
    spv_must(fixture, kiln_batch_create(fixture->device, 0, &batch, &fixture->error));
    if (order == COMBINE_FIRST) {
        chain_append(chain, batch, combine, combined);
    }
    chain_append(chain, batch, split, splits);
    if (order == SPLIT_FIRST) {
        chain_append(chain, batch, combine, combined);
    }
    spv_must(fixture, kiln_batch_run(batch, 60000, &fixture->error));
    spv_must(fixture,
             kiln_buffer_download(chain->buffers[O], 0, o, chain->sizes[O], &fixture->error));
    kiln_batch_destroy(&batch);
    gate.scale = 1e-4;
    vf_compare(MF_DTYPE_F32, o, expected->expected, expected->element_count, &gate, false,
               &metrics);
    free(o);
    return vf_metrics_pass(&metrics, &gate, reason, size);
}

/* The artifacts of a kernel of the family for keys of this type, or of any; at most `capacity`. */
static size_t find_artifacts(const struct spv_fixture *fixture, const char *schedule,
                             const char *dtype, const struct mf_artifact **out, size_t capacity) {
    size_t count = 0;

    for (size_t i = 0; i < kiln_bundle_artifact_count(fixture->bundle); i++) {
        const struct mf_artifact *artifact = kiln_bundle_artifact(fixture->bundle, i);
        if (strcmp(artifact->family, "sdpa") == 0 &&
            strncmp(artifact->schedule, schedule, strlen(schedule)) == 0 &&
            (!dtype || strcmp(artifact->dtypes[0], dtype) == 0) &&
            kiln_requirements_check(kiln_device_info(fixture->device), artifact, NULL) == KILN_OK) {
            assert_true(count < capacity);
            out[count++] = artifact;
        }
    }
    assert_true(count > 0);
    return count;
}

/* Whether the last part has keys, so that the output is another one without it. */
static bool last_part_counts(const struct vf_case *kase) {
    const uint64_t lk = vf_case_dim(kase, "lk");
    const uint64_t splits = vf_case_dim(kase, "splits");

    return splits > 1 && (lk + splits - 1) / splits * (splits - 1) < lk;
}

static size_t run_case(struct spv_fixture *fixture, const struct vf_case *kase,
                       enum mf_dtype dtype) {
    struct chain chain = {.fixture = fixture, .kase = kase};
    const struct mf_artifact *splits[16];
    const struct mf_artifact *combines[16];
    const size_t split_count =
        find_artifacts(fixture, "split_", mf_dtype_info(dtype)->name, splits, 16);
    const size_t combine_count = find_artifacts(fixture, "combine_", NULL, combines, 16);
    const uint64_t parts = vf_case_dim(kase, "splits");
    char reason[256];

    chain_begin(&chain, &dtype);
    for (size_t i = 0; i < split_count * combine_count; i++) {
        const struct mf_artifact *split = splits[i / combine_count];
        const struct mf_artifact *combine = combines[i % combine_count];
        if (!chain_run(&chain, split, combine, SPLIT_FIRST, parts, reason, sizeof reason)) {
            fail_msg("%s, then %s, case %s: %s", split->name, combine->name, kase->id, reason);
        }
    }
    /* The comparison would notice an engine's mistakes. */
    assert_false(
        chain_run(&chain, splits[0], combines[0], COMBINE_FIRST, parts, reason, sizeof reason));
    if (last_part_counts(kase)) {
        assert_false(chain_run(&chain, splits[0], combines[0], SPLIT_FIRST, parts - 1, reason,
                               sizeof reason));
    }
    chain_end(&chain);
    return split_count * combine_count;
}

static void test_chain(void **state) {
    static const enum mf_dtype dtypes[] = {MF_DTYPE_F32, MF_DTYPE_F16};
    size_t run_count = 0;
    size_t case_count = 0;

    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        struct mf_arena arena = {0};
        struct vf_case_list list = {.arena = &arena};
        assert_int_equal(vf_family_find("sdpa_split")->list_cases(&dtypes[i], &list), KILN_OK);
        for (size_t c = 0; c < list.count; c++) {
            const struct vf_case *kase = &list.cases[c];
            const uint64_t keys = vf_case_dim(kase, "h") * vf_case_dim(kase, "lk");
            if (keys > 0 && keys <= KEYS_MAX && vf_case_dim(kase, "lq") > 0 && !kase->group_limit) {
                run_count += run_case(*state, kase, dtypes[i]);
                case_count++;
            }
        }
        mf_arena_release(&arena);
    }
    print_message("# %zu cases, %zu runs\n", case_count, run_count);
    assert_true(case_count >= 8);
}

int main(void) {
    if (!spv_available()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chain, spv_set_up, spv_tear_down),
    };
    return cmocka_run_group_tests_name("sdpa_chain", tests, NULL, NULL);
}
