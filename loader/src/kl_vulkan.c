/* SPDX-License-Identifier: MIT */
#include "kl_vulkan.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define KL_RESULTS(X)                                                                              \
    X(VK_SUCCESS)                                                                                  \
    X(VK_NOT_READY)                                                                                \
    X(VK_TIMEOUT)                                                                                  \
    X(VK_INCOMPLETE)                                                                               \
    X(VK_ERROR_OUT_OF_HOST_MEMORY)                                                                 \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY)                                                               \
    X(VK_ERROR_INITIALIZATION_FAILED)                                                              \
    X(VK_ERROR_DEVICE_LOST)                                                                        \
    X(VK_ERROR_MEMORY_MAP_FAILED)                                                                  \
    X(VK_ERROR_LAYER_NOT_PRESENT)                                                                  \
    X(VK_ERROR_EXTENSION_NOT_PRESENT)                                                              \
    X(VK_ERROR_FEATURE_NOT_PRESENT)                                                                \
    X(VK_ERROR_INCOMPATIBLE_DRIVER)                                                                \
    X(VK_ERROR_TOO_MANY_OBJECTS)                                                                   \
    X(VK_ERROR_FRAGMENTED_POOL)                                                                    \
    X(VK_ERROR_UNKNOWN)                                                                            \
    X(VK_ERROR_OUT_OF_POOL_MEMORY)                                                                 \
    X(VK_ERROR_FRAGMENTATION)                                                                      \
    X(VK_ERROR_INVALID_SHADER_NV)                                                                  \
    X(VK_PIPELINE_COMPILE_REQUIRED)

const char *kl_vulkan_result_string(VkResult result) {
    switch (result) {
#define KL_CASE(name)                                                                              \
    case name:                                                                                     \
        return #name;
        KL_RESULTS(KL_CASE)
#undef KL_CASE
    default:
        return "an unnamed VkResult";
    }
}

enum kiln_result kl_vulkan_check(VkResult result, const char *call, const char *subject,
                                 struct kiln_error *error) {
    enum kiln_result code = KILN_ERR_VULKAN;
    switch (result) {
    case VK_SUCCESS:
        return KILN_OK;
    case VK_ERROR_DEVICE_LOST:
        code = KILN_ERR_DEVICE_LOST;
        break;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        code = KILN_ERR_MEMORY;
        break;
    default:
        break;
    }
    return kiln_error_set(error, code, "%s%s%s: %s (%d)", subject ? subject : "",
                          subject ? ": " : "", call, kl_vulkan_result_string(result), (int)result);
}

static enum kiln_result kl_vulkan_missing(const char *name, struct kiln_error *error) {
    return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                          "the Vulkan implementation has no function %s, which Vulkan 1.1 requires",
                          name);
}

/* Each KL_LOAD_x expands to a lookup at its own level and to nothing at the others. */
#define KL_LOOK_UP(handle, lookup, name, required)                                                 \
    table->name = (PFN_vk##name)lookup(handle, "vk" #name);                                        \
    if (required && !table->name) {                                                                \
        return kl_vulkan_missing("vk" #name, error);                                               \
    }

enum kiln_result kl_vulkan_load_global(struct kl_vulkan_table *table, struct kiln_error *error) {
#define KL_LOAD_GLOBAL(name) KL_LOOK_UP(NULL, table->GetInstanceProcAddr, name, true)
#define KL_LOAD_INSTANCE(name)
#define KL_LOAD_OPTIONAL(name)
#define KL_LOAD_DEVICE(name)
#define KL_LOAD(level, name) KL_LOAD_##level(name)
    KL_VULKAN_FUNCTIONS(KL_LOAD)
    return KILN_OK;
#undef KL_LOAD_GLOBAL
#undef KL_LOAD_INSTANCE
#undef KL_LOAD_OPTIONAL
}

enum kiln_result kl_vulkan_load_instance(struct kl_vulkan_table *table, VkInstance instance,
                                         struct kiln_error *error) {
#define KL_LOAD_GLOBAL(name)
#define KL_LOAD_INSTANCE(name) KL_LOOK_UP(instance, table->GetInstanceProcAddr, name, true)
#define KL_LOAD_OPTIONAL(name) KL_LOOK_UP(instance, table->GetInstanceProcAddr, name, false)
    KL_VULKAN_FUNCTIONS(KL_LOAD)
    return KILN_OK;
#undef KL_LOAD_INSTANCE
#undef KL_LOAD_OPTIONAL
#undef KL_LOAD_DEVICE
}

enum kiln_result kl_vulkan_load_device(struct kl_vulkan_table *table, VkDevice device,
                                       struct kiln_error *error) {
#define KL_LOAD_INSTANCE(name)
#define KL_LOAD_OPTIONAL(name)
#define KL_LOAD_DEVICE(name) KL_LOOK_UP(device, table->GetDeviceProcAddr, name, true)
    KL_VULKAN_FUNCTIONS(KL_LOAD)
    return KILN_OK;
#undef KL_LOAD_GLOBAL
#undef KL_LOAD_INSTANCE
#undef KL_LOAD_OPTIONAL
#undef KL_LOAD_DEVICE
#undef KL_LOAD
}

enum kiln_result kl_vulkan_open_library(const char *path, void **library,
                                        struct kl_vulkan_table *table, struct kiln_error *error) {
    static const char *const usual[] = {"libvulkan.so.1", "libvulkan.so"};
    *library = NULL;
    if (path) {
        *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    for (size_t i = 0; !path && !*library && i < sizeof(usual) / sizeof(usual[0]); i++) {
        *library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!*library) {
        const char *reason = dlerror();
        return kiln_error_set(error, KILN_ERR_NO_LOADER, "no Vulkan loader library: %s",
                              reason ? reason : "dlopen gave no reason");
    }
    void *symbol = dlsym(*library, "vkGetInstanceProcAddr");
    if (!symbol) {
        kl_vulkan_close_library(library);
        return kiln_error_set(error, KILN_ERR_NO_LOADER,
                              "%s is no Vulkan loader: it has no vkGetInstanceProcAddr",
                              path ? path : usual[0]);
    }
    /* ISO C has no conversion from an object to a function pointer; POSIX promises equal form. */
    memcpy(&table->GetInstanceProcAddr, &symbol, sizeof(symbol));
    return KILN_OK;
}

void kl_vulkan_close_library(void **library) {
    if (*library) {
        dlclose(*library);
        *library = NULL;
    }
}
