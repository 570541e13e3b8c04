/* SPDX-License-Identifier: MIT */
/*
 * vf_choose: the devices that --device stands for.
 */
#ifndef VF_CHOOSE_H
#define VF_CHOOSE_H

#include "vf_report.h"

struct vf_choice {
    struct mf_arena arena;
    struct vf_device_row *rows; /* the chosen ones */
    size_t count;
    /*
     * KILN_OK: there are rows. KILN_ERR_ARGUMENT: --device fits none of the devices.
     * KILN_ERR_SYSTEM: the devices could not be listed (crash or timeout of a driver). Else: there
     * is no device.
     */
    enum kiln_result result;
    struct kiln_error error;
};

/* Lists the devices in a worker process and picks: "all", an index, or text of a name or driver. */
void vf_choose_devices(const struct vf_options *options, struct vf_choice *out);
void vf_choice_release(struct vf_choice *choice);

#endif /* VF_CHOOSE_H */
