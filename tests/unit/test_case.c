/* SPDX-License-Identifier: MIT */
/* Cases, suites and the plan made from a manifest. */
#include "vf_device.h"
#include "vf_plan.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_add(void **state) {
    struct mf_arena arena = {0};
    struct vf_case_list list = {.arena = &arena};
    struct vf_case problem = {.dims = {{"nout", 512}, {"k", 256}}, .dim_count = 2, .suites = 1};

    (void)state;
    assert_int_equal(vf_case_add(&list, &problem), KILN_OK);
    problem.suites = 4;
    assert_int_equal(vf_case_add(&list, &problem), KILN_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.cases[0].suites, 5);
    assert_string_equal(list.cases[0].id, "512x256");
    problem.group_limit = 7;
    problem.window_count = 3;
    assert_int_equal(vf_case_add(&list, &problem), KILN_OK);
    assert_string_equal(list.cases[1].id, "512x256-groups7-windows3");
    assert_int_equal(vf_case_dim(&problem, "k"), 256);
    assert_int_equal(vf_case_dim(&problem, "t"), 0);
    for (uint64_t i = 0; i < 100; i++) {
        const struct vf_case other = {.dims = {{"count", i}}, .dim_count = 1};
        assert_int_equal(vf_case_add(&list, &other), KILN_OK);
    }
    assert_int_equal(list.count, 102);
    assert_string_equal(list.cases[101].id, "99");
    mf_arena_release(&arena);
}

/* The rows of the design's table, for each weight type. */
static void test_matvec_cases(void **state) {
    static const char *const seeds[] = {"2048x2048", "4096x2048", "2048x4096", "512x256",
                                        "1x256",     "3x512",     "7x256"};
    static const struct {
        enum mf_dtype dtype;
        const char *ragged;
    } dtypes[] = {{MF_DTYPE_Q4_0, "65537x32"},
                  {MF_DTYPE_F32, "65537x32"},
                  {MF_DTYPE_NVFP4, "65537x64"},
                  {MF_DTYPE_Q1_0, "65537x128"},
                  {MF_DTYPE_Q6_K, "65537x256"}};
    const struct vf_family *family = vf_family_find("matvec");

    (void)state;
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        struct mf_arena arena = {0};
        struct vf_case_list list = {.arena = &arena};
        size_t quick = 0;
        size_t in_seeds = 0;
        bool ragged = false;

        assert_int_equal(family->list_cases(&dtypes[d].dtype, &list), KILN_OK);
        for (size_t i = 0; i < list.count; i++) {
            const struct vf_case *c = &list.cases[i];
            bool known = false;
            uint64_t bytes = 0;
            assert_int_equal(mf_dtype_row_bytes(dtypes[d].dtype, vf_case_dim(c, "k"), &bytes),
                             KILN_OK);
            assert_true(c->suites & VF_SUITE_FULL);
            quick += (c->suites & VF_SUITE_QUICK) != 0;
            ragged = ragged || strcmp(c->id, dtypes[d].ragged) == 0;
            for (size_t s = 0; s < COUNT(seeds); s++) {
                known = known || strcmp(seeds[s], c->id) == 0;
            }
            assert_int_equal((c->suites & VF_SUITE_SEEDS) != 0, known);
            in_seeds += known;
        }
        assert_int_equal(quick, 2);
        assert_int_equal(in_seeds, COUNT(seeds));
        assert_true(ragged);
        mf_arena_release(&arena);
    }
}

/* Families whose cases do not depend on the weight type: the design's rows are in suite full. */
static void test_other_cases(void **state) {
    static const struct {
        const char *reference;
        const char *seeds[8];
    } rows[] = {
        {"matvec_block", {"4096x4096", "4096x256", "8192x8192", "32768x2048"}},
        {"matvec_id",
         {"8x256x256x2x2x1", "8x256x256x2x2x2", "16x512x256x3x4x1", "4x768x512x1x2x1",
          "128x768x2048x1x8x1", "128x2048x768x1x8x8"}},
    };
    static const enum mf_dtype dtypes[] = {MF_DTYPE_Q4_K, MF_DTYPE_Q8_1};

    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++) {
        struct mf_arena arena = {0};
        struct vf_case_list list = {.arena = &arena};
        size_t quick = 0;

        assert_int_equal(vf_family_find(rows[r].reference)->list_cases(dtypes, &list), KILN_OK);
        for (size_t s = 0; s < COUNT(rows[r].seeds) && rows[r].seeds[s]; s++) {
            size_t at = 0;
            while (at < list.count && strcmp(list.cases[at].id, rows[r].seeds[s]) != 0) {
                at++;
            }
            assert_true(at < list.count);
            assert_true(list.cases[at].suites & VF_SUITE_SEEDS);
        }
        for (size_t i = 0; i < list.count; i++) {
            assert_true(list.cases[i].suites & VF_SUITE_FULL);
            quick += (list.cases[i].suites & VF_SUITE_QUICK) != 0;
        }
        assert_int_equal(quick, 2);
        mf_arena_release(&arena);
    }
}

static void test_fits(void **state) {
    static const struct mf_push push[] = {{"nout", 0, 4, MF_SCALAR_U32},
                                          {"row_first", 4, 4, MF_SCALAR_U32}};
    struct mf_artifact artifact = {.push = push, .push_count = 1};
    const struct vf_case plain = {.dim_count = 0};
    const struct vf_case fold = {.group_limit = 7};
    const struct vf_case windows = {.window_count = 3};

    (void)state;
    assert_true(vf_case_fits(&plain, &artifact));
    assert_false(vf_case_fits(&fold, &artifact));
    assert_false(vf_case_fits(&windows, &artifact));
    artifact.grid.fold = true;
    artifact.push_count = 2;
    assert_true(vf_case_fits(&fold, &artifact));
    assert_true(vf_case_fits(&windows, &artifact));

    static const struct mf_dim_limit limit = {"k", 64, 32};
    const struct vf_case small = {.dims = {{"nout", 7}, {"k", 64}}, .dim_count = 2};
    const struct vf_case large = {.dims = {{"nout", 7}, {"k", 96}}, .dim_count = 2};
    const struct vf_case odd = {.dims = {{"nout", 7}, {"k", 48}}, .dim_count = 2};
    assert_true(vf_case_fits(&large, &artifact));
    artifact.limits = &limit;
    artifact.limit_count = 1;
    assert_true(vf_case_fits(&small, &artifact));
    assert_false(vf_case_fits(&large, &artifact));
    assert_false(vf_case_fits(&odd, &artifact));
}

/* ---- the plan ---- */

static const char *const q4_0_f32[] = {"q4_0", "f32"};
static const char *const q8_0_f32[] = {"q8_0", "f32"};
static const char *const unknown[] = {"q9_9", "f32"};

static struct mf_artifact artifacts[] = {
    {.name = "a", .reference = "matvec", .dtypes = q4_0_f32, .dtype_count = 2},
    {.name = "b", .reference = "matvec", .dtypes = q8_0_f32, .dtype_count = 2},
    {.name = "c", .reference = "matvec", .dtypes = q4_0_f32, .dtype_count = 2},
    {.name = "d", .reference = "nothing", .dtypes = q4_0_f32, .dtype_count = 2},
    {.name = "e", .reference = "dequant", .dtypes = unknown, .dtype_count = 2},
    {.name = "f", .reference = "dequant", .dtypes = unknown, .dtype_count = 0},
};
static struct mf_manifest manifest = {.artifacts = artifacts, .artifact_count = COUNT(artifacts)};

static struct vf_options options_parse(int argc, const char *const *argv, struct mf_arena *arena) {
    struct vf_options options;
    struct kiln_error error = {0};

    if (vf_options_parse(argc, (char **)argv, arena, &options, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    return options;
}

static void test_plan(void **state) {
    static const char *const argv[] = {"verify", NULL};
    struct mf_arena arena = {0};
    const struct vf_options options = options_parse(1, argv, &arena);
    struct vf_plan plan;

    (void)state;
    assert_int_equal(vf_plan_make(&manifest, &options, &plan, NULL), KILN_OK);
    assert_int_equal(plan.job_count, 3); /* q4_0, q8_0, and those that cannot run */
    assert_string_equal(plan.jobs[0].label, "matvec q4_0");
    assert_int_equal(plan.jobs[0].entry_count, 4);
    /* Case by case, so that data is made once. */
    assert_string_equal(plan.jobs[0].entries[0].artifact->name, "a");
    assert_string_equal(plan.jobs[0].entries[1].artifact->name, "c");
    assert_ptr_equal(plan.jobs[0].entries[0].problem, plan.jobs[0].entries[1].problem);
    assert_int_equal(plan.jobs[1].entry_count, 2);
    assert_null(plan.jobs[2].family);
    assert_int_equal(plan.jobs[2].entry_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_null(plan.jobs[2].entries[i].problem);
    }
    assert_non_null(strstr(plan.jobs[2].entries[0].why, "'nothing'"));
    assert_non_null(strstr(plan.jobs[2].entries[1].why, "'q9_9'"));
    assert_non_null(strstr(plan.jobs[2].entries[2].why, "missing"));
    assert_int_equal(plan.entry_count, 9);
    vf_plan_release(&plan);
    mf_arena_release(&arena);
}

static void test_plan_filter_and_replay(void **state) {
    static const char *const filter[] = {"verify", "--filter", "[ab]", "--filter=x*", NULL};
    static const char *const nothing[] = {"verify", "--filter", "z", NULL};
    static const char *const replay[] = {"verify", "--replay", "c/65537x32", NULL};
    static const char *const no_case[] = {"verify", "--replay", "c/1x2", NULL};
    struct mf_arena arena = {0};
    struct vf_options options = options_parse(4, filter, &arena);
    struct vf_plan plan;

    (void)state;
    assert_int_equal(vf_plan_make(&manifest, &options, &plan, NULL), KILN_OK);
    assert_int_equal(plan.job_count, 2);
    assert_int_equal(plan.entry_count, 4);
    vf_plan_release(&plan);
    options = options_parse(3, nothing, &arena);
    assert_int_equal(vf_plan_make(&manifest, &options, &plan, NULL), KILN_ERR_NOT_FOUND);
    vf_plan_release(&plan);
    options = options_parse(3, replay, &arena); /* of suite full, though quick is the default */
    assert_int_equal(vf_plan_make(&manifest, &options, &plan, NULL), KILN_OK);
    assert_int_equal(plan.entry_count, 1);
    assert_string_equal(plan.jobs[0].entries[0].problem->id, "65537x32");
    vf_plan_release(&plan);
    options = options_parse(3, no_case, &arena);
    assert_int_equal(vf_plan_make(&manifest, &options, &plan, NULL), KILN_OK);
    assert_int_equal(plan.entry_count, 1);
    const struct vf_job *last = &plan.jobs[plan.job_count - 1];
    assert_null(last->entries[0].problem);
    assert_string_equal(last->entries[0].why, "it has no case '1x2'");
    vf_plan_release(&plan);
    mf_arena_release(&arena);
}

static void test_options(void **state) {
    static const char *const bad[][3] = {
        {"verify", "--suite", "fast"},      {"verify", "--seed", "-1"},
        {"verify", "--seed", "1x"},         {"verify", "--jobs", "0"},
        {"verify", "--timeout", NULL},      {"verify", "--nonsense", NULL},
        {"verify", "--list=1", NULL},       {"verify", "--limits", "rows=3"},
        {"verify", "--limits", "groups=0"}, {"verify", "--replay", "artifact"},
        {"verify", "golden", NULL},         {"verify", "merge", "out.json"},
        {"verify", "devices", "x"},         {"verify", "gloden", "x"},
    };
    struct mf_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct vf_options options;
        struct kiln_error error = {0};
        int argc = 0;
        while (argc < 3 && bad[i][argc]) {
            argc++;
        }
        if (vf_options_parse(argc, (char **)bad[i], &arena, &options, &error) !=
            KILN_ERR_ARGUMENT) {
            fail_msg("command line %zu was accepted", i);
        }
        assert_true(error.message[0]);
    }
    mf_arena_release(&arena);
}

/* The manifest's numbers against a device's, one at a time. */
static void test_limits(void **state) {
    const struct kiln_limits limits = {.max_local_size = {256, 256, 64},
                                       .max_local_invocations = 256,
                                       .max_workgroup_bytes = 16384,
                                       .max_push_bytes = 128,
                                       .max_storage_buffers = 4};
    const struct mf_artifact fits = {
        .requires_ = {.local_size = {64, 2, 2}, .workgroup_bytes = 16384, .push_bytes = 128},
        .binding_count = 4};
    static const struct {
        uint32_t x, y, z, workgroup_bytes, push_bytes;
        size_t bindings;
        const char *message;
    } rows[] = {{257, 1, 1, 0, 0, 0, "local size x 257 > 256"},
                {1, 1, 65, 0, 0, 0, "local size z 65 > 64"},
                {64, 5, 1, 0, 0, 0, "invocations 320 > 256"},
                {65536, 65536, 1, 0, 0, 0, "invocations 4294967296 > 256"},
                {64, 1, 1, 16388, 0, 0, "workgroup bytes 16388 > 16384"},
                {64, 1, 1, 0, 132, 0, "push constant bytes 132 > 128"},
                {64, 1, 1, 0, 0, 5, "storage buffers 5 > 4"}};

    (void)state;
    assert_int_equal(vf_limits_check(&limits, &fits, NULL), KILN_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mf_artifact artifact = {
            .requires_ = {.local_size = {rows[i].x, rows[i].y, rows[i].z},
                          .workgroup_bytes = rows[i].workgroup_bytes,
                          .push_bytes = rows[i].push_bytes},
            .binding_count = rows[i].bindings};
        struct kiln_error error = {0};
        assert_int_equal(vf_limits_check(&limits, &artifact, &error), KILN_ERR_LIMIT);
        assert_non_null(strstr(error.message, rows[i].message));
    }
}

/* A replay line, read back, asks for the same. */
static void test_replay_line(void **state) {
    static const char *const argv[] = {"verify",
                                       "--bundle=my spv",
                                       "--seed",
                                       "12345678",
                                       "--limits",
                                       "groups=7,range=4096",
                                       "--allow-unlisted-tuples",
                                       NULL};
    struct mf_arena arena = {0};
    const struct vf_options options = options_parse(7, argv, &arena);
    struct mf_buffer line = {0};

    (void)state;
    assert_int_equal(vf_options_replay(&options, "a__b", "3x512", "it's #1", &line), KILN_OK);
    assert_string_equal(line.data, "verify --bundle 'my spv' --device 'it'\\''s #1' --seed 12345678"
                                   " --allow-unlisted-tuples --limits groups=7,range=4096"
                                   " --replay a__b/3x512");
    mf_buffer_release(&line);
    mf_arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),         cmocka_unit_test(test_matvec_cases),
        cmocka_unit_test(test_other_cases), cmocka_unit_test(test_fits),
        cmocka_unit_test(test_plan),        cmocka_unit_test(test_plan_filter_and_replay),
        cmocka_unit_test(test_options),     cmocka_unit_test(test_replay_line),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("case", tests, NULL, NULL);
}
