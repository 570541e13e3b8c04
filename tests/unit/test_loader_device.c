/* SPDX-License-Identifier: MIT */
/* Pipelines and dispatches on a real device (lavapipe at least). Skips without one. */
#include "loader_rows.h"

#include "kl_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_info(void **state) {
    struct loader_fixture *fixture = *state;
    const struct kiln_device_info *info = kiln_device_info(fixture->device);
    print_message("# %s, driver %s %s, Vulkan %u.%u, subgroups %u to %u, %zu matrix shapes\n",
                  info->name, info->driver_name, info->driver_info,
                  VK_API_VERSION_MAJOR(info->api_version), VK_API_VERSION_MINOR(info->api_version),
                  info->subgroup_size_min, info->subgroup_size_max, info->coopmat_count);
    /* Vulkan's required limits. */
    assert_true(info->api_version >= VK_API_VERSION_1_1);
    assert_true(info->limits.max_storage_buffer_range_bytes >= 134217728);
    assert_true(info->limits.storage_offset_alignment_bytes <= 256);
    assert_true(info->limits.max_group_count[2] >= 65535);
    assert_true(info->limits.max_push_bytes >= 128);
    assert_true(info->limits.max_allocation_bytes >= 1073741824);
    assert_true(info->subgroup_size_min <= info->subgroup_size);
    assert_true(info->subgroup_size <= info->subgroup_size_max);
    assert_true(info->subgroup_operations & VK_SUBGROUP_FEATURE_BASIC_BIT);
    for (size_t i = 1; i < info->extension_count; i++) {
        assert_true(strcmp(info->extensions[i - 1], info->extensions[i]) < 0);
    }
    /* In core since 1.1, so every device has the extension, listed or not. */
    assert_true(kiln_device_info_extension(info, "VK_KHR_16bit_storage"));
    assert_false(kiln_device_info_extension(info, "VK_KHR_swapchain"));
    assert_true((info->coopmat_count > 0) ==
                kiln_feature_get(&info->features, "cooperativeMatrix"));
}

static void test_rows(void **state) {
    struct loader_fixture *fixture = *state;
    static const uint32_t shapes[][2] = {{1, 1}, {16, 3}, {17, 64}, {1000, 33}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct rows_problem problem;
        double time_ns = -1.0;
        rows_begin(fixture, &problem, shapes[i][0], shapes[i][1]);
        rows_check(fixture, &problem, false);
        must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, &time_ns, &fixture->error));
        rows_check(fixture, &problem, true);
        bool timed = kiln_device_info(fixture->device)->limits.timestamp_valid_bits > 0;
        assert_true(timed ? time_ns > 0.0 && time_ns < 60e9 : time_ns == 0.0);
        rows_end(&problem);
    }
}

static void test_folding(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    struct kiln_limits_override limits = {.max_group_count = {7, 3, 100}};
    rows_begin(fixture, &problem, 1000, 5); /* 63 groups */
    problem.dispatch.limits = &limits;
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, true);
    limits.max_group_count[2] = 2; /* 42 at most */
    must_fail(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error),
              KILN_ERR_LIMIT, "63");
    rows_end(&problem);
}

/* Stands between the loader and the driver: what is bound obeys the limits of the dispatch. */
static struct {
    PFN_vkUpdateDescriptorSets next;
    uint64_t max_range_bytes;
    uint64_t alignment_bytes;
    uint64_t weights_bytes;
    VkBuffer weights;
    size_t count;
} spy;

static VKAPI_ATTR void VKAPI_CALL spy_on_sets(VkDevice device, uint32_t write_count,
                                              const VkWriteDescriptorSet *writes,
                                              uint32_t copy_count,
                                              const VkCopyDescriptorSet *copies) {
    for (uint32_t i = 0; i < write_count; i++) {
        const VkDescriptorBufferInfo *info = writes[i].pBufferInfo;
        assert_true(info->offset % spy.alignment_bytes == 0);
        assert_true(info->range > 0 && info->range <= spy.max_range_bytes);
        if (info->buffer == spy.weights) {
            assert_true(info->offset + info->range <= spy.weights_bytes);
        }
    }
    spy.count++;
    spy.next(device, write_count, writes, copy_count, copies);
}

static void test_windows(void **state) {
    struct loader_fixture *fixture = *state;
    spy.next = fixture->device->table.UpdateDescriptorSets;
    fixture->device->table.UpdateDescriptorSets = spy_on_sets;
    static const uint32_t ranges[] = {24576, 30000, 65536, 1u << 20};
    for (uint32_t k = 1; k <= 85; k += 21) {
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
            struct rows_problem problem;
            struct kiln_limits_override limits = {.max_storage_buffer_range_bytes = ranges[i],
                                                  .max_group_count = {5, 4, 3}};
            rows_begin(fixture, &problem, 777, k);
            spy.max_range_bytes = ranges[i];
            spy.alignment_bytes =
                kiln_device_info(fixture->device)->limits.storage_offset_alignment_bytes;
            spy.weights = kiln_buffer_handle(problem.weights);
            spy.weights_bytes = kiln_buffer_size(problem.weights);
            spy.count = 0;
            problem.dispatch.limits = &limits;
            problem.dispatch.windowing =
                (struct kiln_windowing){"weights", "nout", 4 * (uint64_t)k};
            must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
            rows_check(fixture, &problem, true);
            assert_true(spy.count >= (777u * 4 * k + ranges[i] - 1) / ranges[i]);
            assert_true((spy.count == 1) == (777u * 4 * k <= ranges[i]));
            rows_end(&problem);
        }
    }
}

/* row_first of the caller's: the second half of the rows, in windows. */
static void test_window_base(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    struct kiln_limits_override limits = {.max_storage_buffer_range_bytes = 8192};
    rows_begin(fixture, &problem, 512, 64);
    problem.dispatch.limits = &limits;
    problem.dispatch.windowing = (struct kiln_windowing){"weights", "nout", 256};
    problem.dims[1].value = 256;
    problem.params[1] = kiln_param_u64("row_first", 256);
    problem.dispatch.param_count = 2;
    problem.ranges[1].offset_bytes = 256 * 256;
    problem.ranges[1].size_bytes = 256 * 256;
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    uint32_t first[256];
    must(fixture,
         kiln_buffer_download(problem.y, GUARD_BYTES, first, sizeof(first), &fixture->error));
    for (size_t i = 0; i < 256; i++) {
        assert_int_equal(first[i], POISON);
    }
    problem.dispatch.param_count = 1;
    problem.ranges[1].offset_bytes = 0;
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, true);
    rows_end(&problem);
}

static void expect_refused(struct loader_fixture *fixture, const struct kiln_dispatch *dispatch,
                           enum kiln_result expected, const char *words) {
    must_fail(fixture, kiln_quick_run(dispatch, TIMEOUT_MS, NULL, &fixture->error), expected,
              words);
}

static void test_refused_ranges(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    struct kiln_limits_override limits = {.max_storage_buffer_range_bytes = 4096};
    rows_begin(fixture, &problem, 64, 32);
    struct kiln_dispatch *dispatch = &problem.dispatch;
    dispatch->limits = &limits;
    expect_refused(fixture, dispatch, KILN_ERR_LIMIT, "8192 bytes, the device binds at most 4096");
    dispatch->windowing = (struct kiln_windowing){"weights", "nout", 129};
    expect_refused(fixture, dispatch, KILN_ERR_LIMIT, "64 rows of 129 bytes do not fit in 8192");
    dispatch->windowing = (struct kiln_windowing){"weights", "rows", 128};
    expect_refused(fixture, dispatch, KILN_ERR_NOT_FOUND, "dimension rows");
    dispatch->windowing = (struct kiln_windowing){0};
    dispatch->limits = NULL;
    problem.ranges[1].offset_bytes = 1;
    uint64_t alignment = kiln_device_info(fixture->device)->limits.storage_offset_alignment_bytes;
    if (alignment > 1) {
        char words[64];
        snprintf(words, sizeof(words), "offset 1 is no multiple of %llu",
                 (unsigned long long)alignment);
        expect_refused(fixture, dispatch, KILN_ERR_LIMIT, words);
    }
    problem.ranges[1].offset_bytes = 0;
    problem.ranges[1].size_bytes = 0;
    expect_refused(fixture, dispatch, KILN_ERR_ARGUMENT, "weights: an empty range");
    problem.ranges[1].size_bytes = 8192;
    problem.ranges[0].buffer = VK_NULL_HANDLE;
    expect_refused(fixture, dispatch, KILN_ERR_ARGUMENT, "y: no buffer");
    rows_check(fixture, &problem, false);
    rows_end(&problem);
}

static void test_refused_names(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    rows_begin(fixture, &problem, 64, 32);
    struct kiln_dispatch *dispatch = &problem.dispatch;
    dispatch->range_count = 1;
    expect_refused(fixture, dispatch, KILN_ERR_NOT_FOUND, "binding weights is not given");
    dispatch->range_count = 2;
    problem.ranges[1].name = "y";
    expect_refused(fixture, dispatch, KILN_ERR_DUPLICATE, "binding y is given twice");
    problem.ranges[1].name = "w";
    expect_refused(fixture, dispatch, KILN_ERR_NOT_FOUND, "has no binding w");
    problem.ranges[1].name = "weights";
    dispatch->dim_count = 1;
    expect_refused(fixture, dispatch, KILN_ERR_NOT_FOUND, "dimension nout is not given");
    dispatch->dim_count = 2;
    problem.dims[1].name = "k";
    expect_refused(fixture, dispatch, KILN_ERR_DUPLICATE, "dimension k is given twice");
    problem.dims[1].name = "rows";
    expect_refused(fixture, dispatch, KILN_ERR_NOT_FOUND, "has no dimension rows");
    problem.dims[1].name = "nout";
    dispatch->param_count = 0;
    expect_refused(fixture, dispatch, KILN_ERR_NOT_FOUND, "push constant scale is not given");
    dispatch->param_count = 1;
    problem.dims[0].value = (1u << 30) + 1;
    expect_refused(fixture, dispatch, KILN_ERR_LIMIT,
                   "dimension k is 1073741825, expected at most 1073741824");
    problem.dims[0].value = 32;
    problem.dims[1].value = 1ull << 32;
    expect_refused(fixture, dispatch, KILN_ERR_LIMIT, "nout = 4294967296 does not fit u32");
    problem.dims[1].value = 64;
    rows_check(fixture, &problem, false);
    must(fixture, kiln_quick_run(dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, true);
    rows_end(&problem);
}

static void test_zero_size(void **state) {
    struct loader_fixture *fixture = *state;
    struct rows_problem problem;
    rows_begin(fixture, &problem, 4, 4);
    problem.dims[1].value = 0;
    problem.dispatch.range_count = 0; /* its buffers would be empty */
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, false);
    rows_end(&problem);
}

/* A default and a value of the caller's, in descriptor set 1 with set 0 empty. */
static void test_spec_constant(void **state) {
    struct loader_fixture *fixture = *state;
    const struct mf_artifact *artifact = kiln_bundle_find(fixture->bundle, LOADER_SPEC);
    struct kiln_spec_value values[] = {{7, (uint32_t)-1000}, {8, 0}};
    struct kiln_pipeline *changed = NULL;
    struct kiln_buffer *buffer = NULL;
    struct mf_dim dim = {"count", 40};
    must(fixture, kiln_pipeline_create(fixture->device, fixture->bundle, artifact, values, 1,
                                       &changed, &fixture->error));
    must(fixture, kiln_buffer_create(fixture->device, 160, &buffer, &fixture->error));
    struct kiln_range range = kiln_buffer_range("values", buffer, 0, 0);
    struct kiln_pipeline *pipelines[] = {pipeline_of(fixture, LOADER_SPEC), changed};
    for (size_t i = 0; i < 2; i++) {
        struct kiln_dispatch dispatch = {.pipeline = pipelines[i],
                                         .ranges = &range,
                                         .range_count = 1,
                                         .dims = &dim,
                                         .dim_count = 1};
        int32_t found[40];
        must(fixture, kiln_quick_run(&dispatch, TIMEOUT_MS, NULL, &fixture->error));
        must(fixture, kiln_buffer_download(buffer, 0, found, sizeof(found), &fixture->error));
        for (int32_t j = 0; j < 40; j++) {
            assert_int_equal(found[j], (i == 0 ? 5 : -1000) + j);
        }
    }
    kiln_pipeline_destroy(&changed);
    must_fail(fixture,
              kiln_pipeline_create(fixture->device, fixture->bundle, artifact, values, 2, &changed,
                                   &fixture->error),
              KILN_ERR_NOT_FOUND, "no specialisation constant 8");
    assert_null(changed);
    kiln_buffer_destroy(&buffer);
}

/* Every size that can be pinned is the size that the kernel sees. */
static void test_subgroup_size(void **state) {
    struct loader_fixture *fixture = *state;
    const struct kiln_device_info *info = kiln_device_info(fixture->device);
    for (uint32_t size = info->subgroup_size_min; size <= info->subgroup_size_max; size *= 2) {
        struct kiln_bundle *bundle = NULL;
        struct kiln_pipeline *pipeline = NULL;
        struct kiln_buffer *buffer = NULL;
        struct mf_dim dim = {"count", 64};
        uint32_t found[64];
        fixture->made.artifacts[2].requires_.subgroup_size = size;
        loader_bundle_seal(&fixture->made);
        loader_bundle_write_manifest(&fixture->made);
        must(fixture,
             kiln_bundle_open_directory(fixture->made.directory, &bundle, &fixture->error));
        must(fixture,
             kiln_pipeline_get(fixture->device, bundle, kiln_bundle_find(bundle, LOADER_SUBGROUP),
                               &pipeline, &fixture->error));
        kiln_bundle_close(&bundle); /* the pipeline keeps what it needs */
        must(fixture, kiln_buffer_create(fixture->device, 256, &buffer, &fixture->error));
        struct kiln_range range = kiln_buffer_range("values", buffer, 0, 256);
        struct kiln_dispatch dispatch = {
            .pipeline = pipeline, .ranges = &range, .range_count = 1, .dims = &dim, .dim_count = 1};
        must(fixture, kiln_quick_run(&dispatch, TIMEOUT_MS, NULL, &fixture->error));
        must(fixture, kiln_buffer_download(buffer, 0, found, 256, &fixture->error));
        for (size_t i = 0; i < 64; i++) {
            assert_int_equal(found[i], size);
        }
        kiln_buffer_destroy(&buffer);
    }
}

/* Refused by its requirements, before its (damaged) module is looked at. */
static void test_unsupported(void **state) {
    struct loader_fixture *fixture = *state;
    struct kiln_bundle *bundle = NULL;
    struct kiln_pipeline *pipeline = (struct kiln_pipeline *)8;
    fixture->made.artifacts[0].requires_.workgroup_bytes = 1u << 30;
    loader_bundle_seal(&fixture->made);
    loader_bundle_write_manifest(&fixture->made);
    loader_bundle_put(&fixture->made, "rows.spv", "", 0);
    must(fixture, kiln_bundle_open_directory(fixture->made.directory, &bundle, &fixture->error));
    must_fail(fixture,
              kiln_pipeline_get(fixture->device, bundle, kiln_bundle_find(bundle, LOADER_ROWS),
                                &pipeline, &fixture->error),
              KILN_ERR_UNSUPPORTED, "1073741824 bytes of workgroup memory");
    assert_null(pipeline);
    kiln_bundle_close(&bundle);
}

/* A failure is not remembered. */
static void test_repaired_module(void **state) {
    struct loader_fixture *fixture = *state;
    struct kiln_pipeline *pipeline = NULL;
    loader_bundle_put(&fixture->made, "rows.spv", "damaged.", 8);
    must_fail(fixture,
              kiln_pipeline_get(fixture->device, fixture->bundle,
                                kiln_bundle_find(fixture->bundle, LOADER_ROWS), &pipeline,
                                &fixture->error),
              KILN_ERR_HASH, "8 bytes");
    loader_bundle_write_modules(&fixture->made);
    struct rows_problem problem;
    rows_begin(fixture, &problem, 20, 20);
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, true);
    rows_end(&problem);
}

#define THREAD_COUNT 8

struct thread_work {
    pthread_t thread;
    struct loader_fixture *fixture;
    size_t number;
    struct kiln_pipeline *pipelines[LOADER_ARTIFACT_COUNT];
    enum kiln_result result;
};

static void *ask_for_pipelines(void *argument) {
    struct thread_work *work = argument;
    for (size_t round = 0; round < 3 * LOADER_ARTIFACT_COUNT && !work->result; round++) {
        size_t index = (round + work->number) % LOADER_ARTIFACT_COUNT;
        struct kiln_pipeline *pipeline = NULL;
        work->result =
            kiln_pipeline_get(work->fixture->device, work->fixture->bundle,
                              kiln_bundle_artifact(work->fixture->bundle, index), &pipeline, NULL);
        if (work->pipelines[index] && work->pipelines[index] != pipeline) {
            work->result = KILN_ERR_MISMATCH;
        }
        work->pipelines[index] = pipeline;
    }
    return NULL;
}

static void test_threads(void **state) {
    struct loader_fixture *fixture = *state;
    struct thread_work work[THREAD_COUNT];
    memset(work, 0, sizeof(work));
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        work[i].fixture = fixture;
        work[i].number = i;
        assert_int_equal(pthread_create(&work[i].thread, NULL, ask_for_pipelines, &work[i]), 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        assert_int_equal(pthread_join(work[i].thread, NULL), 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        assert_int_equal(work[i].result, KILN_OK);
        for (size_t each = 0; each < LOADER_ARTIFACT_COUNT; each++) {
            assert_non_null(work[i].pipelines[each]);
            assert_ptr_equal(work[i].pipelines[each], work[0].pipelines[each]);
        }
    }
    assert_ptr_not_equal(work[0].pipelines[0], work[0].pipelines[1]);
}

static void *ask_for_damaged(void *argument) {
    struct thread_work *work = argument;
    struct kiln_pipeline *pipeline = NULL;
    const struct mf_artifact *artifact = kiln_bundle_find(work->fixture->bundle, LOADER_ROWS);
    for (size_t round = 0; round < 20; round++) {
        work->result = kiln_pipeline_get(work->fixture->device, work->fixture->bundle, artifact,
                                         &pipeline, NULL);
        if (work->result != KILN_ERR_HASH || pipeline) {
            work->result = KILN_OK;
            break;
        }
    }
    return NULL;
}

/* Threads that wait for a pipeline which fails learn of it, each by its own attempt. */
static void test_threads_damaged(void **state) {
    struct loader_fixture *fixture = *state;
    struct thread_work work[THREAD_COUNT];
    memset(work, 0, sizeof(work));
    loader_bundle_put(&fixture->made, "rows.spv", "damaged.", 8);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        work[i].fixture = fixture;
        assert_int_equal(pthread_create(&work[i].thread, NULL, ask_for_damaged, &work[i]), 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        assert_int_equal(pthread_join(work[i].thread, NULL), 0);
        assert_int_equal(work[i].result, KILN_ERR_HASH);
    }
}

/* The caller's own command buffer on a wrapped device that has nothing enabled. */
static void test_wrapped(void **state) {
    struct loader_fixture *fixture = *state;
    struct kiln_device *own = fixture->device;
    struct kiln_device_wrap_params params = {.get_instance_proc_addr =
                                                 own->table.GetInstanceProcAddr,
                                             .instance = own->instance->handle,
                                             .physical_device = kiln_device_physical(own),
                                             .device = kiln_device_handle(own)};
    params.queue = kiln_device_queue(own, &params.queue_family_index);
    struct kiln_device *wrapped = NULL;
    must(fixture, kiln_device_wrap(&params, &wrapped, &fixture->error));
    const struct kiln_device_info *info = kiln_device_info(wrapped);
    assert_string_equal(info->name, kiln_device_info(own)->name);
    assert_int_equal(info->api_version, VK_API_VERSION_1_1);
    assert_int_equal(info->features.bits[0] | info->features.bits[1], 0);
    assert_int_equal(info->coopmat_count, 0);
    assert_false(info->subgroup_size_pinnable);

    struct rows_problem problem;
    fixture->device = wrapped;
    rows_begin(fixture, &problem, 50, 50);
    const struct kl_vulkan_table *table = &own->table;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    struct kiln_recorder *recorder = NULL;
    VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                      .queueFamilyIndex = params.queue_family_index};
    assert_int_equal(table->CreateCommandPool(params.device, &create, NULL, &pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = pool,
                                            .commandBufferCount = 1};
    assert_int_equal(table->AllocateCommandBuffers(params.device, &allocate, &commands),
                     VK_SUCCESS);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    must(fixture, kiln_recorder_create(wrapped, &recorder, &fixture->error));
    for (int round = 0; round < 2; round++) {
        must(fixture,
             kiln_buffer_fill(problem.y, 0, kiln_buffer_size(problem.y), POISON, &fixture->error));
        must(fixture, kiln_recorder_reset(recorder, &fixture->error));
        assert_int_equal(table->ResetCommandPool(params.device, pool, 0), VK_SUCCESS);
        assert_int_equal(table->BeginCommandBuffer(commands, &begin), VK_SUCCESS);
        for (int i = 0; i < 200; i++) { /* more sets than one pool holds */
            must(fixture,
                 kiln_dispatch_record(recorder, commands, &problem.dispatch, &fixture->error));
            kiln_barrier_record(wrapped, commands);
        }
        assert_int_equal(table->EndCommandBuffer(commands), VK_SUCCESS);
        VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
        assert_int_equal(table->QueueSubmit(params.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
        assert_int_equal(table->DeviceWaitIdle(params.device), VK_SUCCESS);
        rows_check(fixture, &problem, true);
    }
    /* A recorder of one device and a pipeline of another. */
    struct kiln_recorder *other = NULL;
    must(fixture, kiln_recorder_create(own, &other, &fixture->error));
    must_fail(fixture, kiln_dispatch_record(other, commands, &problem.dispatch, &fixture->error),
              KILN_ERR_ARGUMENT, "of the recorder's device");
    kiln_recorder_destroy(&other);
    kiln_recorder_destroy(&recorder);
    table->DestroyCommandPool(params.device, pool, NULL);
    rows_end(&problem);
    kiln_device_close(&wrapped);
    fixture->device = own;
    params.queue_family_index = 999;
    must_fail(fixture, kiln_device_wrap(&params, &wrapped, &fixture->error), KILN_ERR_ARGUMENT,
              "queue family 999");
    params.device = VK_NULL_HANDLE;
    must_fail(fixture, kiln_device_wrap(&params, &wrapped, &fixture->error), KILN_ERR_ARGUMENT,
              "all handles");
}

/* The whole way: select by what is wanted, then run. */
static void test_selected(void **state) {
    struct loader_fixture *fixture = *state;
    static const char *const dtypes[] = {"f32"};
    struct rows_problem problem;
    const struct mf_artifact *artifact = NULL;
    rows_begin(fixture, &problem, 33, 44);
    struct kiln_query query = {.family = "matvec",
                               .dtypes = dtypes,
                               .dtype_count = 1,
                               .dims = problem.dims,
                               .dim_count = 2};
    must(fixture,
         kiln_select(kiln_bundle_manifest(fixture->bundle), kiln_device_info(fixture->device),
                     &query, &artifact, NULL, &fixture->error));
    assert_string_equal(artifact->name, LOADER_ROWS);
    must(fixture, kiln_pipeline_get(fixture->device, fixture->bundle, artifact,
                                    &problem.dispatch.pipeline, &fixture->error));
    assert_string_equal(kiln_pipeline_artifact(problem.dispatch.pipeline)->name, LOADER_ROWS);
    must(fixture, kiln_quick_run(&problem.dispatch, TIMEOUT_MS, NULL, &fixture->error));
    rows_check(fixture, &problem, true);
    rows_end(&problem);
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, loader_set_up, loader_tear_down)

int main(void) {
    if (!loader_has_device()) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        ON_DEVICE(test_info),          ON_DEVICE(test_rows),
        ON_DEVICE(test_folding),       ON_DEVICE(test_windows),
        ON_DEVICE(test_window_base),   ON_DEVICE(test_refused_ranges),
        ON_DEVICE(test_refused_names), ON_DEVICE(test_zero_size),
        ON_DEVICE(test_spec_constant), ON_DEVICE(test_subgroup_size),
        ON_DEVICE(test_unsupported),   ON_DEVICE(test_repaired_module),
        ON_DEVICE(test_threads),       ON_DEVICE(test_threads_damaged),
        ON_DEVICE(test_wrapped),       ON_DEVICE(test_selected),
    };
    return cmocka_run_group_tests_name("loader_device", tests, NULL, NULL);
}
