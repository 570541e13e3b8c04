/* SPDX-License-Identifier: MIT */
#include "mf_manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t vulkan_limit[3] = {65535, 65535, 65535};

static struct mf_grid one_factor(const struct mf_grid_factor *factor, bool fold) {
    struct mf_grid grid = {.fold = fold};
    grid.axes[0].factors = factor;
    grid.axes[0].factor_count = 1;
    return grid;
}

static void axes_are_products_of_rounded_up_quotients(void **state) {
    (void)state;
    const struct mf_grid_factor x[] = {{"nout", 64}};
    const struct mf_grid_factor y[] = {{"t", 8}, {"heads", 1}};
    struct mf_grid grid = {.axes = {{x, 1}, {y, 2}, {NULL, 0}}};
    const struct mf_dim dims[] = {{"k", 0}, {"t", 17}, {"nout", 4096}, {"heads", 32}};
    uint32_t groups[3];
    assert_int_equal(mf_grid_groups(&grid, dims, 4, vulkan_limit, groups, NULL), KILN_OK);
    assert_int_equal(groups[0], 64);
    assert_int_equal(groups[1], 96);
    assert_int_equal(groups[2], 1);
    const struct mf_dim ragged[] = {{"t", 16}, {"nout", 4097}, {"heads", 1}};
    assert_int_equal(mf_grid_groups(&grid, ragged, 3, vulkan_limit, groups, NULL), KILN_OK);
    assert_int_equal(groups[0], 65);
    assert_int_equal(groups[1], 2);
}

static void an_empty_grid_is_one_group(void **state) {
    (void)state;
    struct mf_grid grid = {0};
    uint32_t groups[3];
    assert_int_equal(mf_grid_groups(&grid, NULL, 0, vulkan_limit, groups, NULL), KILN_OK);
    assert_int_equal(groups[0], 1);
    assert_int_equal(groups[1], 1);
    assert_int_equal(groups[2], 1);
}

static void zero_sized_problems_dispatch_nothing(void **state) {
    (void)state;
    const struct mf_grid_factor x[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    const struct mf_grid_factor y[] = {{"d", 4}};
    struct mf_grid grid = {.axes = {{x, 3}, {y, 1}, {NULL, 0}}};
    const uint64_t huge = UINT64_MAX;
    /* Also where another factor or axis alone would overflow. */
    const uint64_t values[][4] = {
        {0, 5, 5, 5}, {5, 0, 5, 5}, {5, 5, 5, 0}, {huge, huge, 0, 5}, {huge, huge, huge, 0}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const struct mf_dim dims[] = {
            {"a", values[i][0]}, {"b", values[i][1]}, {"c", values[i][2]}, {"d", values[i][3]}};
        uint32_t groups[3] = {9, 9, 9};
        assert_int_equal(mf_grid_groups(&grid, dims, 4, vulkan_limit, groups, NULL), KILN_OK);
        assert_int_equal(groups[0] | groups[1] | groups[2], 0);
    }
}

static void counts_beyond_the_limit_fail_without_fold(void **state) {
    (void)state;
    const struct mf_grid_factor factor = {"n", 1};
    struct mf_grid grid = one_factor(&factor, false);
    struct mf_dim dim = {"n", 65535};
    uint32_t groups[3];
    assert_int_equal(mf_grid_groups(&grid, &dim, 1, vulkan_limit, groups, NULL), KILN_OK);
    assert_int_equal(groups[0], 65535);
    struct kiln_error error;
    const uint64_t beyond[] = {65536, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1,
                               UINT64_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        dim.value = beyond[i];
        assert_int_equal(mf_grid_groups(&grid, &dim, 1, vulkan_limit, groups, &error),
                         KILN_ERR_LIMIT);
        assert_int_equal(groups[0] | groups[1] | groups[2], 0);
        assert_non_null(strstr(error.message, "axis x"));
    }
}

static void products_are_computed_in_64_bits(void **state) {
    (void)state;
    const struct mf_grid_factor x[] = {{"a", 1}, {"b", 1}};
    struct mf_grid grid = {.axes = {{x, 2}}, .fold = true};
    uint32_t groups[3];
    /* 2^16 * (2^16 + 1) = 2^32 + 2^16: 65536 when cut to 32 bits. */
    struct mf_dim dims[] = {{"a", 65536}, {"b", 65537}};
    assert_int_equal(mf_grid_groups(&grid, dims, 2, vulkan_limit, groups, NULL), KILN_ERR_LIMIT);
    assert_int_equal(groups[0] | groups[1] | groups[2], 0);
    /* 2^16 * 2^16 = 2^32: 0 when cut. Folded to 65535 * 32769 * 2, which kernels cannot number. */
    dims[1].value = 65536;
    assert_int_equal(mf_grid_groups(&grid, dims, 2, vulkan_limit, groups, NULL), KILN_ERR_LIMIT);
    const uint32_t wide[3] = {UINT32_C(0x40000000), UINT32_C(0x40000000), UINT32_C(0x40000000)};
    assert_int_equal(mf_grid_groups(&grid, dims, 2, wide, groups, NULL), KILN_OK);
    assert_int_equal(groups[0], UINT32_C(0x40000000));
    assert_int_equal(groups[1], 4);
    assert_int_equal(groups[2], 1);
    dims[1].value = 65537;
    assert_int_equal(mf_grid_groups(&grid, dims, 2, wide, groups, NULL), KILN_ERR_LIMIT);
    /* 2^32 * 2^32 wraps to 0 in 64 bits: never an empty dispatch. */
    dims[0].value = dims[1].value = UINT64_C(1) << 32;
    assert_int_equal(mf_grid_groups(&grid, dims, 2, vulkan_limit, groups, NULL), KILN_ERR_LIMIT);
    dims[0].value = 3;
    dims[1].value = UINT64_C(0xaaaaaaaaaaaaaaab);
    assert_int_equal(mf_grid_groups(&grid, dims, 2, vulkan_limit, groups, NULL), KILN_ERR_LIMIT);
    assert_int_equal(mf_grid_groups(&grid, dims, 2, wide, groups, NULL), KILN_ERR_LIMIT);
    dims[0].value = dims[1].value = UINT64_C(1) << 32;
    assert_int_equal(mf_grid_groups(&grid, dims, 2, wide, groups, NULL), KILN_ERR_LIMIT);
}

static void folding_at_the_usual_limit(void **state) {
    (void)state;
    const struct mf_grid_factor factor = {"nout", 1};
    struct mf_grid grid = one_factor(&factor, true);
    static const struct {
        uint64_t count;
        uint32_t groups[3];
    } cases[] = {
        {65535, {65535, 1, 1}},
        {65536, {32768, 2, 1}},
        {65537, {32769, 2, 1}},
        {131070, {65535, 2, 1}},
        {131071, {43691, 3, 1}},
        {UINT64_C(4294836225), {65535, 65535, 1}},
        {UINT64_C(4294836226), {65535, 32768, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mf_dim dim = {"nout", cases[i].count};
        uint32_t groups[3];
        assert_int_equal(mf_grid_groups(&grid, &dim, 1, vulkan_limit, groups, NULL), KILN_OK);
        assert_memory_equal(groups, cases[i].groups, sizeof groups);
        assert_true((uint64_t)groups[0] * groups[1] * groups[2] >= cases[i].count);
    }
}

/* The first (z, y, x), in this order, that reaches the count: found by trying all. */
static bool search_fold(uint64_t count, const uint32_t limit[3], uint32_t groups[3]) {
    for (uint32_t z = 1; z <= limit[2]; z++) {
        for (uint32_t y = 1; y <= limit[1]; y++) {
            for (uint32_t x = 1; x <= limit[0]; x++) {
                if ((uint64_t)x * y * z >= count) {
                    groups[0] = x;
                    groups[1] = y;
                    groups[2] = z;
                    return true;
                }
            }
        }
    }
    return false;
}

static void folding_equals_exhaustive_search(void **state) {
    (void)state;
    const struct mf_grid_factor factor = {"n", 1};
    struct mf_grid grid = one_factor(&factor, true);
    static const uint32_t limits[][3] = {
        {7, 7, 7}, {7, 3, 5}, {1, 1, 400}, {2, 40, 30}, {18, 17, 17}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        for (uint64_t count = 1; count <= 5000; count++) {
            struct mf_dim dim = {"n", count};
            uint32_t groups[3];
            uint32_t expected[3] = {0, 0, 0};
            bool fits = search_fold(count, limits[i], expected);
            enum kiln_result result = mf_grid_groups(&grid, &dim, 1, limits[i], groups, NULL);
            assert_int_equal(result, fits ? KILN_OK : KILN_ERR_LIMIT);
            assert_memory_equal(groups, expected, sizeof groups);
            if (fits) {
                uint64_t total = (uint64_t)groups[0] * groups[1] * groups[2];
                assert_true(total >= count);
                assert_true(total - count < (uint64_t)groups[1] * groups[2]);
            }
        }
    }
}

static void broken_contracts_are_refused(void **state) {
    (void)state;
    const struct mf_grid_factor factor = {"n", 1};
    struct mf_grid grid = one_factor(&factor, true);
    struct mf_dim dim = {"m", 3};
    struct kiln_error error;
    uint32_t groups[3];
    assert_int_equal(mf_grid_groups(&grid, &dim, 1, vulkan_limit, groups, &error),
                     KILN_ERR_NOT_FOUND);
    assert_string_equal(error.message, "grid: dimension \"n\" is not given");
    dim.name = "n";
    grid.axes[1] = grid.axes[0];
    assert_int_equal(mf_grid_groups(&grid, &dim, 1, vulkan_limit, groups, NULL), KILN_ERR_ARGUMENT);
    const struct mf_grid_factor no_tile = {"n", 0};
    grid = one_factor(&no_tile, false);
    assert_int_equal(mf_grid_groups(&grid, &dim, 1, vulkan_limit, groups, NULL), KILN_ERR_ARGUMENT);
    grid = one_factor(&factor, true);
    const uint32_t no_limit[3] = {65535, 0, 65535};
    assert_int_equal(mf_grid_groups(&grid, &dim, 1, no_limit, groups, NULL), KILN_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_products_of_rounded_up_quotients),
        cmocka_unit_test(an_empty_grid_is_one_group),
        cmocka_unit_test(zero_sized_problems_dispatch_nothing),
        cmocka_unit_test(counts_beyond_the_limit_fail_without_fold),
        cmocka_unit_test(products_are_computed_in_64_bits),
        cmocka_unit_test(folding_at_the_usual_limit),
        cmocka_unit_test(folding_equals_exhaustive_search),
        cmocka_unit_test(broken_contracts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
