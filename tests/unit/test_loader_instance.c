/* SPDX-License-Identifier: MIT */
/* Finding devices: each way of finding none has its own error. Needs no device. */
#include "kiln/kiln_quick.h"

#include "kl_instance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_no_instance(const char *loader_path, enum kiln_result expected) {
    struct kiln_instance_params params = {.loader_path = loader_path};
    struct kiln_instance *instance = (struct kiln_instance *)8;
    struct kiln_error error = {0};
    enum kiln_result result = kiln_instance_create(&params, &instance, &error);
    if (result != expected) {
        fail_msg("expected %s, found %s: %s", kiln_result_string(expected),
                 kiln_result_string(result), error.message);
    }
    assert_null(instance);
    assert_int_equal(error.code, expected);
    struct kiln_device *device = (struct kiln_device *)8;
    assert_int_equal(kiln_quick_open_device(&params, NULL, KILN_CPU_LAST_RESORT, &device, NULL),
                     expected);
    assert_null(device);
}

static void test_no_loader(void **state) {
    (void)state;
    expect_no_instance("/nonexistent/libvulkan.so.1", KILN_ERR_NO_LOADER);
    /* A library, but not that one. */
    expect_no_instance("libm.so.6", KILN_ERR_NO_LOADER);
}

/* In a process of its own, because the variables stay. */
static void test_no_driver(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct kiln_instance *instance = NULL;
        setenv("VK_DRIVER_FILES", "/nonexistent/icd.json", 1);
        setenv("VK_ICD_FILENAMES", "/nonexistent/icd.json", 1);
        enum kiln_result result = kiln_instance_create(NULL, &instance, NULL);
        _exit(instance ? 1 : -(int)result);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == -KILN_ERR_NO_LOADER) {
        print_message("# no Vulkan loader on this machine: that is all there is to see\n");
        return;
    }
    assert_int_equal(WEXITSTATUS(status), -KILN_ERR_NO_DRIVER);
}

/* ---- choosing, on a made-up list ---- */

enum { OLD_GPU, CPU, INTEGRATED, DISCRETE, SECOND_DISCRETE, DEVICE_COUNT };

static void fill_devices(struct kl_physical devices[DEVICE_COUNT]) {
    static const struct {
        const char *name;
        const char *driver;
        VkPhysicalDeviceType type;
    } rows[DEVICE_COUNT] = {
        {"Old Discrete", "", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU},
        {"llvmpipe (LLVM 19)", "llvmpipe", VK_PHYSICAL_DEVICE_TYPE_CPU},
        {"Small GPU", "radv", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU},
        {"Large GPU", "NVIDIA", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU},
        {"Large GPU", "NVIDIA", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU},
    };
    memset(devices, 0, DEVICE_COUNT * sizeof(*devices));
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        snprintf(devices[i].info.name, sizeof(devices[i].info.name), "%s", rows[i].name);
        snprintf(devices[i].info.driver_name, sizeof(devices[i].info.driver_name), "%s",
                 rows[i].driver);
        devices[i].info.type = rows[i].type;
        devices[i].usable = i != OLD_GPU; /* Vulkan 1.0 */
    }
}

static void expect_choice(const struct kiln_instance *instance, const char *name,
                          enum kiln_cpu_policy policy, size_t expected) {
    size_t index = 77;
    struct kiln_error error = {0};
    enum kiln_result result = kiln_instance_choose(instance, name, policy, &index, &error);
    if (expected == DEVICE_COUNT) {
        assert_int_equal(result, KILN_ERR_NO_DEVICE);
        assert_int_equal(index, 0);
        assert_non_null(strstr(error.message, "0 Old Discrete (discrete, lacks Vulkan 1.1"));
        return;
    }
    if (result) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(index, expected);
}

static void test_choice(void **state) {
    (void)state;
    struct kl_physical devices[DEVICE_COUNT];
    struct kiln_instance instance = {.devices = devices, .device_count = DEVICE_COUNT};
    fill_devices(devices);
    expect_choice(&instance, NULL, KILN_CPU_LAST_RESORT, DISCRETE);
    expect_choice(&instance, "", KILN_CPU_NEVER, DISCRETE);
    expect_choice(&instance, "4", KILN_CPU_LAST_RESORT, SECOND_DISCRETE);
    expect_choice(&instance, "1", KILN_CPU_NEVER, CPU);
    expect_choice(&instance, "LLVM", KILN_CPU_NEVER, CPU);
    expect_choice(&instance, "gpu", KILN_CPU_LAST_RESORT, DISCRETE);
    expect_choice(&instance, "RADV", KILN_CPU_LAST_RESORT, INTEGRATED);
    expect_choice(&instance, "Old", KILN_CPU_LAST_RESORT, DEVICE_COUNT);
    expect_choice(&instance, "0", KILN_CPU_LAST_RESORT, DEVICE_COUNT);
    expect_choice(&instance, "5", KILN_CPU_LAST_RESORT, DEVICE_COUNT);
    expect_choice(&instance, "99999999999999999999999", KILN_CPU_LAST_RESORT, DEVICE_COUNT);
    expect_choice(&instance, "4x", KILN_CPU_LAST_RESORT, DEVICE_COUNT);
    instance.device_count = INTEGRATED;
    expect_choice(&instance, NULL, KILN_CPU_LAST_RESORT, CPU);
    expect_choice(&instance, NULL, KILN_CPU_NEVER, DEVICE_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_loader),
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests_name("loader_instance", tests, NULL, NULL);
}
