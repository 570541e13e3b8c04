/* SPDX-License-Identifier: MIT */
#include "vf_choose.h"

#include "vf_pool.h"

#include <stdlib.h>
#include <string.h>

/* A report's label "NAME #INDEX" of one of two devices with one name. */
static bool label_matches(const char *wanted, const struct vf_device_row *row) {
    const size_t length = strlen(row->name);

    return strncmp(wanted, row->name, length) == 0 && strncmp(wanted + length, " #", 2) == 0 &&
           strtoul(wanted + length + 2, NULL, 10) == row->index;
}

static bool device_matches(const char *wanted, const struct vf_device_row *row) {
    char *end = NULL;
    const unsigned long index = strtoul(wanted, &end, 10);

    if (*wanted && *end == '\0') {
        return index == row->index;
    }
    return strcasecmp(wanted, "all") == 0 || strcasestr(row->name, wanted) ||
           strcasestr(row->driver, wanted) || label_matches(wanted, row);
}

void vf_choose_devices(const struct vf_options *options, struct vf_choice *out) {
    struct mf_buffer names = {0};

    *out = (struct vf_choice){0};
    out->result = vf_pool_devices(options, &out->arena, &out->rows, &out->count, &out->error);
    if (out->result != KILN_OK) {
        out->count = 0;
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        mf_buffer_append_format(&names, "%s%zu: %s", i ? ", " : "", i, out->rows[i].name);
        if (device_matches(options->device, &out->rows[i])) {
            out->rows[kept++] = out->rows[i];
        }
    }
    if (kept == 0) {
        out->result =
            kiln_error_set(&out->error, KILN_ERR_ARGUMENT, "--device: no device matches '%s'; %s",
                           options->device, names.data ? names.data : "");
    }
    out->count = kept;
    mf_buffer_release(&names);
}

void vf_choice_release(struct vf_choice *choice) {
    mf_arena_release(&choice->arena);
    *choice = (struct vf_choice){0};
}
