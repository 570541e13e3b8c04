/* SPDX-License-Identifier: MIT */
#include "kl_feature.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(KL_FEATURE_COUNT <= 128, "kiln_feature_set has 128 bits");

/* Extensions without a feature struct: X(name, minor version of Vulkan 1 that includes it). */
#define KL_PLAIN_EXTENSIONS(X)                                                                     \
    X("VK_KHR_storage_buffer_storage_class", 1)                                                    \
    X("VK_KHR_get_physical_device_properties2", 1)                                                 \
    X("VK_KHR_maintenance3", 1)                                                                    \
    X("VK_KHR_driver_properties", 2)                                                               \
    X("VK_KHR_shader_float_controls", 2)                                                           \
    X("VK_KHR_spirv_1_4", 2)                                                                       \
    X("VK_KHR_shader_non_semantic_info", 3)                                                        \
    X("VK_KHR_portability_subset", 0)

static const char *const feature_names[] = {
#define KL_CORE(member) #member,
#define KL_NAME(tag, member) #member,
    KL_FEATURES(KL_CORE, KL_NAME)
#undef KL_CORE
#undef KL_NAME
};

struct kl_extension {
    const char *name;
    uint32_t core_minor;
};

static const struct kl_extension extension_table[] = {
#define KL_ROW(tag, type, stype, extension, minor) {extension, minor},
    KL_FEATURE_STRUCTS(KL_ROW)
#undef KL_ROW
#define KL_ROW(extension, minor) {extension, minor},
        KL_PLAIN_EXTENSIONS(KL_ROW)
#undef KL_ROW
};

#define KL_EXTENSION_TABLE_COUNT (sizeof(extension_table) / sizeof(extension_table[0]))
_Static_assert(KL_EXTENSION_TABLE_COUNT <= KL_EXTENSION_CAPACITY, "raise KL_EXTENSION_CAPACITY");

size_t kiln_feature_count(void) {
    return KL_FEATURE_COUNT;
}

const char *kiln_feature_name(size_t index) {
    return index < KL_FEATURE_COUNT ? feature_names[index] : NULL;
}

static enum kl_feature kl_feature_find(const char *name) {
    size_t index = 0;
    while (index < KL_FEATURE_COUNT && strcmp(feature_names[index], name) != 0) {
        index++;
    }
    return (enum kl_feature)index;
}

bool kl_feature_has(const struct kiln_feature_set *set, enum kl_feature feature) {
    return (set->bits[feature / 64] >> (feature % 64)) & 1;
}

void kl_feature_put(struct kiln_feature_set *set, enum kl_feature feature, bool value) {
    uint64_t bit = (uint64_t)1 << (feature % 64);
    if (value) {
        set->bits[feature / 64] |= bit;
    } else {
        set->bits[feature / 64] &= ~bit;
    }
}

bool kiln_feature_get(const struct kiln_feature_set *set, const char *name) {
    enum kl_feature feature = kl_feature_find(name);
    return feature < KL_FEATURE_COUNT && kl_feature_has(set, feature);
}

enum kiln_result kiln_feature_put(struct kiln_feature_set *set, const char *name, bool value) {
    enum kl_feature feature = kl_feature_find(name);
    if (feature >= KL_FEATURE_COUNT) {
        return KILN_ERR_NOT_FOUND;
    }
    kl_feature_put(set, feature, value);
    return KILN_OK;
}

static int kl_compare_names(const void *key, const void *element) {
    return strcmp((const char *)key, *(const char *const *)element);
}

bool kl_extension_listed(const char *const *extensions, size_t count, const char *name) {
    return count > 0 && bsearch(name, extensions, count, sizeof(*extensions), kl_compare_names);
}

uint32_t kl_extension_core_minor(const char *name) {
    for (size_t i = 0; i < KL_EXTENSION_TABLE_COUNT; i++) {
        if (strcmp(extension_table[i].name, name) == 0) {
            return extension_table[i].core_minor;
        }
    }
    return 0;
}

static bool kl_version_includes(uint32_t api_version, uint32_t core_minor) {
    return core_minor != 0 && (VK_API_VERSION_MAJOR(api_version) > 1 ||
                               VK_API_VERSION_MINOR(api_version) >= core_minor);
}

bool kiln_device_info_extension(const struct kiln_device_info *info, const char *name) {
    return kl_version_includes(info->api_version, kl_extension_core_minor(name)) ||
           kl_extension_listed(info->extensions, info->extension_count, name);
}

static bool kl_extension_usable(const struct kl_feature_source *source, const char *name,
                                uint32_t core_minor) {
    return kl_version_includes(source->api_version, core_minor) ||
           kl_extension_listed(source->extensions, source->extension_count, name);
}

void kl_feature_chain_begin(struct kl_feature_chain *chain,
                            const struct kl_feature_source *source) {
    memset(chain, 0, sizeof(*chain));
    chain->head.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
#define KL_LINK(tag, type, stype, extension, minor)                                                \
    chain->tag.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype;                                  \
    if (kl_extension_usable(source, extension, minor)) {                                           \
        chain->tag.pNext = chain->head.pNext;                                                      \
        chain->head.pNext = &chain->tag;                                                           \
    }
    KL_FEATURE_STRUCTS(KL_LINK)
#undef KL_LINK
}

void kl_feature_chain_read(const struct kl_feature_chain *chain, struct kiln_feature_set *set) {
#define KL_CORE(member)                                                                            \
    kl_feature_put(set, KL_FEATURE_##member, chain->head.features.member == VK_TRUE);
#define KL_READ(tag, member) kl_feature_put(set, KL_FEATURE_##member, chain->tag.member == VK_TRUE);
    KL_FEATURES(KL_CORE, KL_READ)
#undef KL_CORE
#undef KL_READ
}

void kl_feature_chain_write(struct kl_feature_chain *chain, const struct kiln_feature_set *set) {
#define KL_CORE(member)                                                                            \
    chain->head.features.member = kl_feature_has(set, KL_FEATURE_##member) ? VK_TRUE : VK_FALSE;
#define KL_WRITE(tag, member)                                                                      \
    chain->tag.member = kl_feature_has(set, KL_FEATURE_##member) ? VK_TRUE : VK_FALSE;
    KL_FEATURES(KL_CORE, KL_WRITE)
#undef KL_CORE
#undef KL_WRITE
}

size_t kl_extension_wanted(const struct kl_feature_source *source, const char **names,
                           size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < KL_EXTENSION_TABLE_COUNT && count < capacity; i++) {
        const struct kl_extension *row = &extension_table[i];
        if (!kl_version_includes(source->api_version, row->core_minor) &&
            kl_extension_listed(source->extensions, source->extension_count, row->name)) {
            names[count++] = row->name;
        }
    }
    return count;
}
