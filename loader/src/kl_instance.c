/* SPDX-License-Identifier: MIT */
#include "kl_instance.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KL_API_VERSION VK_API_VERSION_1_4 /* newest version that libkiln knows to use */

const char *kiln_device_type_string(VkPhysicalDeviceType type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "cpu";
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual";
    default:
        return "other";
    }
}

/* The version to ask for: the loader's, at most KL_API_VERSION. A 1.0 loader has no such call. */
static enum kiln_result kl_instance_version(const struct kl_vulkan_table *table, uint32_t *version,
                                            struct kiln_error *error) {
    PFN_vkEnumerateInstanceVersion enumerate =
        (PFN_vkEnumerateInstanceVersion)table->GetInstanceProcAddr(NULL,
                                                                   "vkEnumerateInstanceVersion");
    *version = VK_API_VERSION_1_0;
    if (enumerate) {
        enum kiln_result result =
            kl_vulkan_check(enumerate(version), "vkEnumerateInstanceVersion", NULL, error);
        if (result) {
            return result;
        }
    }
    if (*version < VK_API_VERSION_1_1) {
        return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                              "the Vulkan loader has version 1.0, 1.1 is required");
    }
    if (*version > KL_API_VERSION) {
        *version = KL_API_VERSION;
    }
    return KILN_OK;
}

/* Loaders hide drivers of the portability kind unless asked with this extension and flag. */
static enum kiln_result kl_instance_has_portability(const struct kl_vulkan_table *table,
                                                    bool *found, struct kiln_error *error) {
    uint32_t count = 0;
    *found = false;
    VkResult status = table->EnumerateInstanceExtensionProperties(NULL, &count, NULL);
    VkExtensionProperties *rows = calloc((size_t)count + 1, sizeof(*rows));
    if (!rows) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for instance extensions");
    }
    if (status == VK_SUCCESS) {
        status = table->EnumerateInstanceExtensionProperties(NULL, &count, rows);
    }
    for (uint32_t i = 0; status >= 0 && i < count; i++) {
        *found |= strcmp(rows[i].extensionName, "VK_KHR_portability_enumeration") == 0;
    }
    free(rows);
    /* Without any driver some loaders already fail here. */
    return KILN_OK;
}

static enum kiln_result kl_instance_create_handle(struct kiln_instance *instance, uint32_t version,
                                                  struct kiln_error *error) {
    static const char *const portability = "VK_KHR_portability_enumeration";
    bool portable = false;
    enum kiln_result result = kl_instance_has_portability(&instance->table, &portable, error);
    if (result) {
        return result;
    }
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pEngineName = "kiln", .apiVersion = version};
    VkInstanceCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .flags =
            portable ? (VkInstanceCreateFlags)VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
        .pApplicationInfo = &application,
        .enabledExtensionCount = portable ? 1 : 0,
        .ppEnabledExtensionNames = &portability};
    VkResult status = instance->table.CreateInstance(&create, NULL, &instance->handle);
    if (status == VK_ERROR_INCOMPATIBLE_DRIVER) {
        instance->handle = VK_NULL_HANDLE;
        return kiln_error_set(error, KILN_ERR_NO_DRIVER,
                              "the Vulkan loader found no driver (vkCreateInstance: %s)",
                              kl_vulkan_result_string(status));
    }
    if (status != VK_SUCCESS) {
        instance->handle = VK_NULL_HANDLE;
    }
    return kl_vulkan_check(status, "vkCreateInstance", NULL, error);
}

static enum kiln_result kl_instance_list_devices(struct kiln_instance *instance, uint32_t version,
                                                 struct kiln_error *error) {
    const struct kl_vulkan_table *table = &instance->table;
    uint32_t count = 0;
    VkResult status = table->EnumeratePhysicalDevices(instance->handle, &count, NULL);
    /* Drivers that find no hardware may fail instead of listing nothing. */
    if (status == VK_ERROR_INITIALIZATION_FAILED || (status == VK_SUCCESS && count == 0)) {
        return kiln_error_set(error, KILN_ERR_NO_DRIVER,
                              "no Vulkan driver lists a device (vkEnumeratePhysicalDevices: %s)",
                              kl_vulkan_result_string(status));
    }
    VkPhysicalDevice *handles =
        mf_arena_alloc(&instance->arena, (size_t)count + 1, sizeof(*handles));
    instance->devices =
        mf_arena_alloc(&instance->arena, (size_t)count + 1, sizeof(*instance->devices));
    if (!handles || !instance->devices) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for the list of devices");
    }
    if (status == VK_SUCCESS) {
        status = table->EnumeratePhysicalDevices(instance->handle, &count, handles);
    }
    if (status != VK_SUCCESS && status != VK_INCOMPLETE) {
        return kl_vulkan_check(status, "vkEnumeratePhysicalDevices", NULL, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        enum kiln_result result = kl_physical_fill(table, handles[i], version, &instance->arena,
                                                   &instance->devices[i], error);
        if (result) {
            return result;
        }
    }
    instance->device_count = count;
    return KILN_OK;
}

enum kiln_result kiln_instance_create(const struct kiln_instance_params *params,
                                      struct kiln_instance **instance, struct kiln_error *error) {
    *instance = NULL;
    struct kiln_instance *created = calloc(1, sizeof(*created));
    if (!created) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for an instance");
    }
    atomic_init(&created->reference_count, 1);
    uint32_t version = 0;
    enum kiln_result result = kl_vulkan_open_library(params ? params->loader_path : NULL,
                                                     &created->library, &created->table, error);
    if (!result) {
        result = kl_vulkan_load_global(&created->table, error);
    }
    if (!result) {
        result = kl_instance_version(&created->table, &version, error);
    }
    if (!result) {
        result = kl_instance_create_handle(created, version, error);
    }
    if (!result) {
        result = kl_vulkan_load_instance(&created->table, created->handle, error);
    }
    if (!result) {
        result = kl_instance_list_devices(created, version, error);
    }
    for (size_t i = 0; !result && params && i < created->device_count; i++) {
        created->devices[i].info.coopmat_unlisted = params->allow_unlisted_tuples;
    }
    if (result) {
        kiln_instance_close(&created);
    }
    *instance = created;
    return result;
}

struct kiln_instance *kl_instance_hold(struct kiln_instance *instance) {
    atomic_fetch_add_explicit(&instance->reference_count, 1, memory_order_relaxed);
    return instance;
}

void kiln_instance_close(struct kiln_instance **instance) {
    if (!instance || !*instance) {
        return;
    }
    struct kiln_instance *closing = *instance;
    *instance = NULL;
    if (atomic_fetch_sub_explicit(&closing->reference_count, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (closing->handle && closing->table.DestroyInstance) {
        closing->table.DestroyInstance(closing->handle, NULL);
    }
    mf_arena_release(&closing->arena);
    kl_vulkan_close_library(&closing->library);
    free(closing);
}

size_t kiln_instance_device_count(const struct kiln_instance *instance) {
    return instance->device_count;
}

const struct kiln_device_info *kiln_instance_device_info(const struct kiln_instance *instance,
                                                         size_t index) {
    return index < instance->device_count ? &instance->devices[index].info : NULL;
}

/* Higher is better; 0: not to be chosen by itself. */
static int kl_instance_rank(const struct kl_physical *device, enum kiln_cpu_policy cpu_policy) {
    if (!device->usable) {
        return 0;
    }
    switch (device->info.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 5;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return cpu_policy == KILN_CPU_NEVER ? 0 : 1;
    default:
        return 2;
    }
}

static bool kl_instance_name_fits(const struct kl_physical *device, const char *name) {
    return strcasestr(device->info.name, name) || strcasestr(device->info.driver_name, name);
}

/* "what was wanted; devices: 0 NAME (type), 1 ..." */
static enum kiln_result kl_instance_no_device(const struct kiln_instance *instance,
                                              const char *wanted, struct kiln_error *error) {
    struct mf_buffer list = {0};
    for (size_t i = 0; i < instance->device_count; i++) {
        const struct kl_physical *device = &instance->devices[i];
        mf_buffer_append_format(&list, "%s %zu %s (%s%s)", i ? "," : "", i, device->info.name,
                                kiln_device_type_string(device->info.type),
                                device->usable ? "" : ", lacks Vulkan 1.1 or compute");
    }
    kiln_error_set(error, KILN_ERR_NO_DEVICE, "no device %s; there are:%s", wanted,
                   list.data ? list.data : "");
    mf_buffer_release(&list);
    return KILN_ERR_NO_DEVICE;
}

/* Decimal digits only; KILN_ERR_NOT_FOUND for other text. */
static enum kiln_result kl_instance_parse_index(const char *name, size_t *index) {
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(name, &end, 10);
    if (!isdigit((unsigned char)name[0]) || *end != '\0') {
        return KILN_ERR_NOT_FOUND;
    }
    *index = errno == 0 ? value : SIZE_MAX;
    return KILN_OK;
}

enum kiln_result kiln_instance_choose(const struct kiln_instance *instance, const char *name,
                                      enum kiln_cpu_policy cpu_policy, size_t *index,
                                      struct kiln_error *error) {
    char wanted[160];
    bool named = name && name[0] != '\0';
    size_t number = 0;
    *index = 0;
    if (named && !kl_instance_parse_index(name, &number)) {
        if (number < instance->device_count && instance->devices[number].usable) {
            *index = number;
            return KILN_OK;
        }
        snprintf(wanted, sizeof(wanted), "with index %.32s", name);
        return kl_instance_no_device(instance, wanted, error);
    }
    int best = 0;
    for (size_t i = 0; i < instance->device_count; i++) {
        const struct kl_physical *device = &instance->devices[i];
        int rank = kl_instance_rank(device, named ? KILN_CPU_LAST_RESORT : cpu_policy);
        if (rank > best && (!named || kl_instance_name_fits(device, name))) {
            best = rank;
            *index = i;
        }
    }
    if (best > 0) {
        return KILN_OK;
    }
    if (named) {
        snprintf(wanted, sizeof(wanted), "named like \"%.100s\"", name);
    } else {
        snprintf(wanted, sizeof(wanted), "that may be chosen%s",
                 cpu_policy == KILN_CPU_NEVER ? " (no CPU devices)" : "");
    }
    return kl_instance_no_device(instance, wanted, error);
}
