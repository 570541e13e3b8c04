// SPDX-License-Identifier: MIT
// Does this toolchain suffice? Linked as genshaders and the tests are, and judged by what it
// produces: the capability in the compiled module, the extension in the device's list. Prints one
// line saying what is missing and exits 1, or exits 0.
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <jansson.h>
#include <spirv-tools/libspirv.h>
#include <spirv_cross/spirv_cross_c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>
#include <xxhash.h>
#include <yaml.h>
#include <zstd.h>

enum {
    op_capability = 17,
    capability_cooperative_matrix_khr = 6022,
    capability_dot_product_input_4x8_packed = 6018
};

static const char cooperative_matrix_shader[] =
    "#version 450\n"
    "#extension GL_KHR_cooperative_matrix : require\n"
    "#extension GL_KHR_memory_scope_semantics : require\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
    "layout(local_size_x = 32) in;\n"
    "layout(set = 0, binding = 0) buffer Y { float y[]; };\n"
    "void main() {\n"
    "    coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> c =\n"
    "        coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(1.0);\n"
    "    coopMatStore(c, y, 0, 16, gl_CooperativeMatrixLayoutRowMajor);\n"
    "}\n";

static const char integer_dot_shader[] = "#version 450\n"
                                         "#extension GL_EXT_integer_dot_product : require\n"
                                         "layout(local_size_x = 32) in;\n"
                                         "layout(set = 0, binding = 0) buffer Y { int y[]; };\n"
                                         "void main() { y[0] = dotPacked4x8EXT(y[1], y[2]); }\n";

static int missing(const char *what) {
    puts(what);
    return 1;
}

// Words of the module in *words (malloc), or NULL.
static uint32_t *compile(const char *source, size_t *word_count) {
    const glslang_input_t input = {
        .language = GLSLANG_SOURCE_GLSL,
        .stage = GLSLANG_STAGE_COMPUTE,
        .client = GLSLANG_CLIENT_VULKAN,
        .client_version = GLSLANG_TARGET_VULKAN_1_3,
        .target_language = GLSLANG_TARGET_SPV,
        .target_language_version = GLSLANG_TARGET_SPV_1_6,
        .code = source,
        .default_version = 450,
        .default_profile = GLSLANG_NO_PROFILE,
        .messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT,
        .resource = glslang_default_resource(),
    };
    uint32_t *words = NULL;
    glslang_shader_t *shader = glslang_shader_create(&input);
    glslang_program_t *program = glslang_program_create();
    if (glslang_shader_preprocess(shader, &input) && glslang_shader_parse(shader, &input)) {
        glslang_program_add_shader(program, shader);
        if (glslang_program_link(program,
                                 GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT)) {
            glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
            *word_count = glslang_program_SPIRV_get_size(program);
            words = malloc(*word_count * sizeof *words);
            if (words != NULL)
                glslang_program_SPIRV_get(program, words);
        }
    }
    glslang_program_delete(program);
    glslang_shader_delete(shader);
    return words;
}

static int declares(const uint32_t *words, size_t word_count, uint32_t capability) {
    for (size_t i = 5; i + 1 < word_count && (words[i] >> 16) != 0; i += words[i] >> 16)
        if ((words[i] & 0xffff) == op_capability && words[i + 1] == capability)
            return 1;
    return 0;
}

static int compiles_with(const char *source, uint32_t capability) {
    size_t word_count = 0;
    uint32_t *words = compile(source, &word_count);
    const int found = words != NULL && declares(words, word_count, capability);
    free(words);
    return found;
}

static int optimises(void) {
    size_t word_count = 0;
    uint32_t *words = compile(integer_dot_shader, &word_count);
    if (words == NULL)
        return 0;
    spv_optimizer_t *optimizer = spvOptimizerCreate(SPV_ENV_VULKAN_1_3);
    spv_optimizer_options options = spvOptimizerOptionsCreate();
    spvOptimizerRegisterPerformancePasses(optimizer);
    spv_binary binary = NULL;
    const int done =
        spvOptimizerRun(optimizer, words, word_count, &binary, options) == SPV_SUCCESS &&
        binary != NULL && binary->wordCount < word_count && binary->code[0] == words[0];
    spvBinaryDestroy(binary);
    spvOptimizerOptionsDestroy(options);
    spvOptimizerDestroy(optimizer);
    free(words);
    return done;
}

static int reflects(void) {
    size_t word_count = 0;
    uint32_t *words = compile(integer_dot_shader, &word_count);
    spvc_context context = NULL;
    spvc_parsed_ir ir = NULL;
    const int done = words != NULL && spvc_context_create(&context) == SPVC_SUCCESS &&
                     spvc_context_parse_spirv(context, words, word_count, &ir) == SPVC_SUCCESS;
    if (context != NULL)
        spvc_context_destroy(context);
    free(words);
    return done;
}

static int links_the_rest(void) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return 0;
    yaml_parser_delete(&parser);
    json_t *json = json_object();
    json_decref(json);
    return json != NULL && XXH3_128bits("", 0).low64 != 0 && ZSTD_compressBound(1) > 0;
}

// The driver to look at is chosen by VK_DRIVER_FILES.
static int device_has(const char *extension) {
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance = NULL;
    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS)
        return 0;
    uint32_t count = 1;
    VkPhysicalDevice device = NULL;
    int found = 0;
    (void)vkEnumeratePhysicalDevices(instance, &count, &device);
    if (count == 1) {
        (void)vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL);
        VkExtensionProperties *properties = calloc(count, sizeof *properties);
        if (properties != NULL)
            (void)vkEnumerateDeviceExtensionProperties(device, NULL, &count, properties);
        for (uint32_t i = 0; properties != NULL && i < count; i++)
            if (strcmp(properties[i].extensionName, extension) == 0)
                found = 1;
        free(properties);
    }
    vkDestroyInstance(instance, NULL);
    return found;
}

int main(void) {
    glslang_initialize_process();
    if (!compiles_with(cooperative_matrix_shader, capability_cooperative_matrix_khr))
        return missing("its glslang does not compile GL_KHR_cooperative_matrix");
    if (!compiles_with(integer_dot_shader, capability_dot_product_input_4x8_packed))
        return missing("its glslang does not compile GL_EXT_integer_dot_product");
    if (!optimises())
        return missing("its SPIRV-Tools do not optimise");
    if (!reflects())
        return missing("its SPIRV-Cross does not parse a compute shader");
    if (!links_the_rest())
        return missing("one of libyaml, jansson, xxHash, zstd does not work");
    if (!device_has("VK_KHR_cooperative_matrix"))
        return missing("its lavapipe has no VK_KHR_cooperative_matrix");
    glslang_finalize_process();
    return 0;
}
