/* SPDX-License-Identifier: MIT */
#include "kl_pipeline.h"

#include "kiln/kiln_select.h"
#include "kl_bundle.h"
#include "kl_feature.h"

#include <stdlib.h>
#include <string.h>

static enum kiln_result kl_pipeline_make_set(struct kiln_pipeline *pipeline, uint32_t set,
                                             struct kiln_error *error) {
    const struct mf_artifact *artifact = pipeline->artifact;
    struct kiln_device *device = pipeline->device;
    VkDescriptorSetLayoutBinding *rows = calloc(artifact->binding_count + 1, sizeof(*rows));
    if (!rows) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: no memory for bindings", artifact->name);
    }
    uint32_t count = 0;
    for (size_t i = 0; i < artifact->binding_count; i++) {
        if (artifact->bindings[i].set == set) {
            rows[count++] =
                (VkDescriptorSetLayoutBinding){.binding = artifact->bindings[i].binding,
                                               .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                               .descriptorCount = 1,
                                               .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
        }
    }
    VkDescriptorSetLayoutCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = rows};
    VkResult status = device->table.CreateDescriptorSetLayout(device->handle, &create, NULL,
                                                              &pipeline->sets[set]);
    free(rows);
    return kl_vulkan_check(status, "vkCreateDescriptorSetLayout", artifact->name, error);
}

static enum kiln_result kl_pipeline_make_layout(struct kiln_pipeline *pipeline,
                                                struct kiln_error *error) {
    const struct mf_artifact *artifact = pipeline->artifact;
    struct kiln_device *device = pipeline->device;
    for (size_t i = 0; i < artifact->binding_count; i++) {
        if (artifact->bindings[i].set >= KL_SET_CAPACITY) {
            return kiln_error_set(error, KILN_ERR_UNSUPPORTED,
                                  "%s: descriptor set %u, this loader binds up to %d",
                                  artifact->name, artifact->bindings[i].set, KL_SET_CAPACITY);
        }
        if (artifact->bindings[i].set >= pipeline->set_count) {
            pipeline->set_count = artifact->bindings[i].set + 1;
        }
    }
    for (uint32_t set = 0; set < pipeline->set_count; set++) {
        enum kiln_result result = kl_pipeline_make_set(pipeline, set, error);
        if (result) {
            return result;
        }
    }
    /* Vulkan wants multiples of 4; a block that ends in an 8- or 16-bit member is rounded up. */
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                 .size = (artifact->requires_.push_bytes + 3u) & ~3u};
    VkPipelineLayoutCreateInfo create = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = pipeline->set_count,
                                         .pSetLayouts = pipeline->sets,
                                         .pushConstantRangeCount = range.size > 0 ? 1 : 0,
                                         .pPushConstantRanges = &range};
    return kl_vulkan_check(
        device->table.CreatePipelineLayout(device->handle, &create, NULL, &pipeline->layout),
        "vkCreatePipelineLayout", artifact->name, error);
}

/* Specialisation data: each value in 8 bytes of its own, the constant's width used from the low
 * end. The arrays are allocated together and released with free(info->pMapEntries). */
static enum kiln_result kl_pipeline_make_spec(const struct mf_artifact *artifact,
                                              const struct kiln_spec_value *values, size_t count,
                                              VkSpecializationInfo *info,
                                              struct kiln_error *error) {
    *info = (VkSpecializationInfo){0};
    if (count == 0) {
        return KILN_OK;
    }
    VkSpecializationMapEntry *entries = calloc(count, sizeof(*entries) + sizeof(uint64_t));
    if (!entries) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "%s: no memory for constants",
                              artifact->name);
    }
    unsigned char *data = (unsigned char *)&entries[count];
    for (size_t i = 0; i < count; i++) {
        size_t row = 0;
        while (row < artifact->spec_count &&
               artifact->spec[row].constant_id != values[i].constant_id) {
            row++;
        }
        if (row == artifact->spec_count) {
            free(entries);
            return kiln_error_set(error, KILN_ERR_NOT_FOUND,
                                  "%s: has no specialisation constant %u", artifact->name,
                                  values[i].constant_id);
        }
        memcpy(&data[i * sizeof(uint64_t)], &values[i].bits, sizeof(uint64_t));
        entries[i] = (VkSpecializationMapEntry){.constantID = values[i].constant_id,
                                                .offset = (uint32_t)(i * sizeof(uint64_t)),
                                                .size = mf_scalar_bytes(artifact->spec[row].type)};
    }
    *info = (VkSpecializationInfo){.mapEntryCount = (uint32_t)count,
                                   .pMapEntries = entries,
                                   .dataSize = count * sizeof(uint64_t),
                                   .pData = data};
    return KILN_OK;
}

/* Full subgroups are promised to the kernel wherever the rules for the flag are met. */
static bool kl_pipeline_full_subgroups(const struct kiln_device_info *info,
                                       const struct mf_artifact *artifact) {
    uint32_t size = artifact->requires_.subgroup_size;
    if (size == 0) {
        size = info->subgroup_size_max;
    }
    return kl_feature_has(&info->features, KL_FEATURE_computeFullSubgroups) &&
           artifact->requires_.subgroup_operation_count > 0 && artifact->spec_count == 0 &&
           size > 0 && artifact->requires_.local_size[0] % size == 0;
}

static enum kiln_result kl_pipeline_make_handle(struct kiln_pipeline *pipeline,
                                                const struct kiln_module *module,
                                                const VkSpecializationInfo *spec,
                                                struct kiln_error *error) {
    struct kiln_device *device = pipeline->device;
    const struct kl_vulkan_table *table = &device->table;
    const struct kiln_device_info *info = &device->physical.info;
    const struct mf_artifact *artifact = pipeline->artifact;
    VkShaderModule shader = VK_NULL_HANDLE;
    VkShaderModuleCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = module->word_count * sizeof(uint32_t),
                                       .pCode = module->words};
    enum kiln_result result =
        kl_vulkan_check(table->CreateShaderModule(device->handle, &create, NULL, &shader),
                        "vkCreateShaderModule", artifact->name, error);
    if (result) {
        return result;
    }
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo pinned = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = artifact->requires_.subgroup_size};
    bool pin = pinned.requiredSubgroupSize != 0 && info->subgroup_size_pinnable;
    VkComputePipelineCreateInfo compute = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = pin ? &pinned : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = shader,
                  .pName = "main",
                  .pSpecializationInfo = spec->mapEntryCount > 0 ? spec : NULL},
        .layout = pipeline->layout};
    if (kl_pipeline_full_subgroups(info, artifact)) {
        compute.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    result = kl_vulkan_check(table->CreateComputePipelines(device->handle, device->driver_cache, 1,
                                                           &compute, NULL, &pipeline->handle),
                             "vkCreateComputePipelines", artifact->name, error);
    table->DestroyShaderModule(device->handle, shader, NULL);
    return result;
}

enum kiln_result kiln_pipeline_create(struct kiln_device *device, struct kiln_bundle *bundle,
                                      const struct mf_artifact *artifact,
                                      const struct kiln_spec_value *values, size_t value_count,
                                      struct kiln_pipeline **pipeline, struct kiln_error *error) {
    struct kiln_module module = {0};
    VkSpecializationInfo spec = {0};
    *pipeline = NULL;
    struct kiln_pipeline *made = calloc(1, sizeof(*made));
    if (!made) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for a pipeline");
    }
    made->device = device;
    made->bundle = kl_bundle_hold(bundle);
    made->artifact = artifact;
    enum kiln_result result = kiln_requirements_check(&device->physical.info, artifact, error);
    if (!result) {
        result = kiln_bundle_module(bundle, artifact, &module, error);
    }
    if (!result) {
        result = kl_pipeline_make_layout(made, error);
    }
    if (!result) {
        result = kl_pipeline_make_spec(artifact, values, value_count, &spec, error);
    }
    if (!result) {
        result = kl_pipeline_make_handle(made, &module, &spec, error);
    }
    free((void *)(uintptr_t)spec.pMapEntries);
    kiln_module_release(&module);
    if (result) {
        kiln_pipeline_destroy(&made);
    }
    *pipeline = made;
    return result;
}

void kiln_pipeline_destroy(struct kiln_pipeline **pipeline) {
    if (!pipeline || !*pipeline) {
        return;
    }
    struct kiln_pipeline *ending = *pipeline;
    struct kiln_device *device = ending->device;
    *pipeline = NULL;
    if (ending->handle) {
        device->table.DestroyPipeline(device->handle, ending->handle, NULL);
    }
    if (ending->layout) {
        device->table.DestroyPipelineLayout(device->handle, ending->layout, NULL);
    }
    for (size_t set = 0; set < KL_SET_CAPACITY; set++) {
        if (ending->sets[set]) {
            device->table.DestroyDescriptorSetLayout(device->handle, ending->sets[set], NULL);
        }
    }
    kiln_bundle_close(&ending->bundle);
    free(ending);
}

const struct mf_artifact *kiln_pipeline_artifact(const struct kiln_pipeline *pipeline) {
    return pipeline->artifact;
}

struct kiln_device *kiln_pipeline_device(const struct kiln_pipeline *pipeline) {
    return pipeline->device;
}

VkPipeline kiln_pipeline_handle(const struct kiln_pipeline *pipeline) {
    return pipeline->handle;
}

VkPipelineLayout kiln_pipeline_layout(const struct kiln_pipeline *pipeline) {
    return pipeline->layout;
}
