/* SPDX-License-Identifier: MIT */
/*
 * kiln_device: Vulkan devices, found, opened or borrowed, and what they offer.
 *
 * libkiln links no Vulkan library. It opens the loader library at run time (kiln_instance_create)
 * or takes the caller's vkGetInstanceProcAddr (kiln_device_wrap), and each object keeps its own
 * table of functions. Vulkan 1.1 is the least that is accepted.
 *
 * What a device offers is plain data, struct kiln_device_info. Selection and requirement checks
 * work on that data alone, so they can be asked about devices that are not here.
 *
 * Thread safety: an instance is immutable after creation. A device may be used by any number of
 * threads, except that kiln_device_close must be the last use; submissions that libkiln makes
 * itself (kiln_quick.h) are serialised by the device. For a wrapped device the caller must not use
 * the wrapped queue while such a submission runs (queues are externally synchronised).
 */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#include "kiln_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- features by name ---- */

/* A set of device features. All zero is the empty set. Names: kiln_feature_name. */
struct kiln_feature_set {
    uint64_t bits[2];
};

/* The features that libkiln knows, each by the name of its member in Vulkan's feature structs
 * ("shaderFloat16"). Static storage; NULL when index >= kiln_feature_count(). */
size_t kiln_feature_count(void);
const char *kiln_feature_name(size_t index);

/* False for unknown names. */
bool kiln_feature_get(const struct kiln_feature_set *set, const char *name);
/* KILN_ERR_NOT_FOUND, with nothing changed, for unknown names. */
enum kiln_result kiln_feature_put(struct kiln_feature_set *set, const char *name, bool value);

/* ---- what a device offers ---- */

/* VkPhysicalDeviceLimits and its extensions, as far as compute dispatches meet them. */
struct kiln_limits {
    uint64_t max_storage_buffer_range_bytes; /* maxStorageBufferRange */
    uint64_t storage_offset_alignment_bytes; /* minStorageBufferOffsetAlignment, a power of two */
    uint64_t max_buffer_bytes;        /* maxBufferSize, or maxMemoryAllocationSize where unknown */
    uint64_t max_allocation_bytes;    /* maxMemoryAllocationSize */
    uint32_t max_group_count[3];      /* maxComputeWorkGroupCount */
    uint32_t max_local_size[3];       /* maxComputeWorkGroupSize */
    uint32_t max_local_invocations;   /* maxComputeWorkGroupInvocations */
    uint32_t max_workgroup_bytes;     /* maxComputeSharedMemorySize */
    uint32_t max_push_bytes;          /* maxPushConstantsSize */
    uint32_t max_storage_buffers;     /* maxPerStageDescriptorStorageBuffers */
    uint32_t max_descriptor_sets;     /* maxBoundDescriptorSets */
    uint32_t max_workgroup_subgroups; /* maxComputeWorkgroupSubgroups, 0 where unknown */
    uint32_t timestamp_valid_bits;    /* of the compute queue family; 0: no timestamps */
    double timestamp_period_ns;
};

/* One shape that the driver lists for cooperative matrices: D[m][n] = A[m][k] B[k][n] + C[m][n]. */
struct kiln_coopmat_tuple {
    uint32_t m, n, k;
    VkComponentTypeKHR a, b, c, result;
    VkScopeKHR scope;
    bool saturating;
};

/*
 * What the driver lists for cooperative matrices of other shapes (VK_NV_cooperative_matrix2): any
 * multiples of m, n and k, up to kiln_device_info.coopmat_dimension_max. Those of a workgroup
 * (VK_SCOPE_WORKGROUP_KHR) need one of exactly `invocations`; of a subgroup that is 0.
 */
struct kiln_coopmat_granularity {
    uint32_t m, n, k;
    VkComponentTypeKHR a, b, c, result;
    VkScopeKHR scope;
    bool saturating;
    uint32_t invocations;
};

/*
 * For a device that is not open: what an own device would have. For an open or wrapped one: what is
 * enabled. Pointers belong to the instance or device that handed the struct out.
 */
struct kiln_device_info {
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char driver_name[VK_MAX_DRIVER_NAME_SIZE]; /* "" where the driver does not tell */
    char driver_info[VK_MAX_DRIVER_INFO_SIZE];
    VkPhysicalDeviceType type;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t driver_version; /* in the vendor's own encoding */
    uint32_t api_version;    /* VK_MAKE_API_VERSION: lower of instance and device */
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t pipeline_cache_uuid[VK_UUID_SIZE];

    uint32_t subgroup_size;     /* size without any control */
    uint32_t subgroup_size_min; /* equal to subgroup_size where size control is unknown */
    uint32_t subgroup_size_max;
    VkSubgroupFeatureFlags subgroup_operations; /* 0 where compute has none */
    bool subgroup_size_pinnable; /* compute is among requiredSubgroupSizeStages, feature is on */
    bool packed_dot_accelerated; /* integerDotProduct4x8BitPackedSignedAccelerated */

    struct kiln_limits limits;
    struct kiln_feature_set features;
    const char *const *extensions; /* device extensions, sorted bytewise */
    size_t extension_count;
    const struct kiln_coopmat_tuple *coopmat; /* empty without the feature cooperativeMatrix */
    size_t coopmat_count;
    /* Empty without the feature cooperativeMatrixFlexibleDimensions. */
    const struct kiln_coopmat_granularity *coopmat_flexible;
    size_t coopmat_flexible_count;
    uint32_t coopmat_dimension_max;   /* cooperativeMatrixFlexibleDimensionsMaxDimension */
    uint32_t coopmat_invocations_max; /* cooperativeMatrixWorkgroupScopeMaxWorkgroupSize */
    uint32_t coopmat_workgroup_bytes; /* cooperativeMatrixWorkgroupScopeReservedSharedMemory */
    bool coopmat_unlisted;            /* other shapes pass too: allow_unlisted_tuples */
};

/* True when the extension is in the list or is part of the device's API version. */
bool kiln_device_info_extension(const struct kiln_device_info *info, const char *name);

/* "cpu", "discrete", "integrated", "virtual" or "other". Static storage. */
const char *kiln_device_type_string(VkPhysicalDeviceType type);

/* ---- finding devices ---- */

struct kiln_instance;
struct kiln_device;

/* Zero means default in every field. */
struct kiln_instance_params {
    const char *loader_path; /* Vulkan loader library; NULL: libvulkan.so.1, then libvulkan.so */
    /* Lets cooperative matrix shapes pass that the driver does not list, which Vulkan leaves
     * undefined: for tests on drivers that are known to compute them. */
    bool allow_unlisted_tuples;
};

/*
 * Opens the Vulkan loader, makes an instance and lists its devices. `params` may be NULL. *instance
 * is the caller's, released with kiln_instance_close; NULL on failure.
 *
 * KILN_ERR_NO_LOADER: the library cannot be opened. KILN_ERR_NO_DRIVER: it finds no driver, or the
 * drivers find no device. KILN_ERR_UNSUPPORTED: the loader is older than Vulkan 1.1.
 */
enum kiln_result kiln_instance_create(const struct kiln_instance_params *params,
                                      struct kiln_instance **instance, struct kiln_error *error);

/* Sets *instance to NULL. Devices opened from it stay usable. NULL and pointer to NULL are fine. */
void kiln_instance_close(struct kiln_instance **instance);

/* Devices in the driver's order. NULL when index >= count. Owned by the instance. */
size_t kiln_instance_device_count(const struct kiln_instance *instance);
const struct kiln_device_info *kiln_instance_device_info(const struct kiln_instance *instance,
                                                         size_t index);

/* When a processor that only emulates a device may be chosen. A named device is always allowed. */
enum kiln_cpu_policy {
    KILN_CPU_LAST_RESORT = 0, /* when there is nothing else */
    KILN_CPU_NEVER = 1
};

/*
 * Which device to use. `name`: NULL or "" for the best one (discrete, then integrated, virtual,
 * other, cpu; the first among equals); a number is an index of the list; other text is looked for
 * in the devices' names and driver names, ignoring letter case, and must fit at least one.
 * KILN_ERR_NO_DEVICE lists what there is; *index is 0 then. Devices below Vulkan 1.1 or without a
 * compute queue are never chosen.
 */
enum kiln_result kiln_instance_choose(const struct kiln_instance *instance, const char *name,
                                      enum kiln_cpu_policy cpu_policy, size_t *index,
                                      struct kiln_error *error);

/* ---- using devices ---- */

/*
 * Makes a device of its own on device `index`, with one compute queue and every feature and
 * extension that libkiln knows and the device has. *device is the caller's, released with
 * kiln_device_close; NULL on failure.
 */
enum kiln_result kiln_device_open(struct kiln_instance *instance, size_t index,
                                  struct kiln_device **device, struct kiln_error *error);

/*
 * A device of the caller's. Every handle stays the caller's and must outlive the kiln_device. What
 * is not listed as enabled counts as absent; names that libkiln does not know are passed over.
 */
struct kiln_device_wrap_params {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue; /* of queue_family_index, which has VK_QUEUE_COMPUTE_BIT */
    uint32_t queue_family_index;
    uint32_t api_version; /* VkApplicationInfo's apiVersion; 0: VK_API_VERSION_1_1 */
    const char *const *enabled_extensions; /* device extensions */
    size_t enabled_extension_count;
    const char *const *enabled_features; /* names as in kiln_feature_name */
    size_t enabled_feature_count;
};
enum kiln_result kiln_device_wrap(const struct kiln_device_wrap_params *params,
                                  struct kiln_device **device, struct kiln_error *error);

/*
 * Destroys the device's pipelines and, for an own device, the device; sets *device to NULL. Waits
 * for the device to be idle first, unless a submission ran into its timeout: then everything is
 * left to the end of the process, because destroying work in flight is undefined. Objects made on
 * the device (buffers, recorders, batches) must be gone. NULL and pointer to NULL are fine.
 */
void kiln_device_close(struct kiln_device **device);

/* Owned by the device. Never NULL. */
const struct kiln_device_info *kiln_device_info(const struct kiln_device *device);

/* Vulkan handles, for callers that record their own work beside libkiln's. */
VkDevice kiln_device_handle(const struct kiln_device *device);
VkPhysicalDevice kiln_device_physical(const struct kiln_device *device);
VkQueue kiln_device_queue(const struct kiln_device *device, uint32_t *queue_family_index);
PFN_vkGetDeviceProcAddr kiln_device_proc_addr(const struct kiln_device *device);

#ifdef __cplusplus
}
#endif

#endif /* KILN_DEVICE_H */
