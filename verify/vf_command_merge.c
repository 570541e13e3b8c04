/* SPDX-License-Identifier: MIT */
#include "vf_command.h"

#include "mf_file.h"
#include "vf_choose.h"

#include <stdio.h>
#include <stdlib.h>

int vf_command_devices(const struct vf_options *options) {
    struct vf_options all = *options;
    struct vf_choice choice;
    int status = VF_EXIT_OK;

    all.device = "all";
    vf_choose_devices(&all, &choice);
    for (size_t i = 0; i < choice.count; i++) {
        const struct vf_device_row *row = &choice.rows[i];
        printf("%zu  %s\n   %s, Vulkan %s, driver %s %s, id %s, subgroup %s\n", row->index,
               row->name, row->type, row->api, row->driver, row->driver_info, row->ids,
               row->subgroup);
    }
    if (choice.result != KILN_OK) {
        fprintf(choice.result == KILN_ERR_SYSTEM ? stderr : stdout, "No Vulkan device: %s\n",
                choice.error.message);
        status = options->require_device            ? VF_EXIT_NO_DEVICE
                 : choice.result == KILN_ERR_SYSTEM ? VF_EXIT_FAILURES
                                                    : VF_EXIT_OK;
    }
    vf_choice_release(&choice);
    return status;
}

int vf_command_merge(const struct vf_options *options) {
    const size_t count = options->operand_count - 1;
    struct vf_merge_input *inputs = calloc(count, sizeof *inputs);
    struct mf_buffer *texts = calloc(count, sizeof *texts);
    struct mf_buffer out = {0};
    struct vf_summary summary = {0, 0, 0};
    struct kiln_error error = {0};
    enum kiln_result result = inputs && texts ? KILN_OK : KILN_ERR_MEMORY;
    bool written = false;

    for (size_t i = 0; i < count && result == KILN_OK; i++) {
        const char *path = options->operands[i + 1];
        result = mf_file_read(path, 0, &texts[i], &error);
        if (result == KILN_OK) {
            inputs[i] = (struct vf_merge_input){path, texts[i].data, texts[i].size_bytes};
        }
    }
    if (result == KILN_OK) {
        result = vf_report_merge(inputs, count, &out, &summary, &error);
    }
    if (result == KILN_OK) {
        written = vf_output_write(options->operands[0], &out);
        printf("%zu pass, %zu fail, %zu skip in %zu reports\n", summary.pass, summary.fail,
               summary.skip, count);
    } else {
        fprintf(stderr, "verify merge: %s\n",
                error.message[0] ? error.message : kiln_result_string(result));
    }
    for (size_t i = 0; texts && i < count; i++) {
        mf_buffer_release(&texts[i]);
    }
    free(texts);
    free(inputs);
    mf_buffer_release(&out);
    if (result != KILN_OK) {
        return VF_EXIT_USAGE;
    }
    return summary.fail || !written ? VF_EXIT_FAILURES : VF_EXIT_OK;
}
