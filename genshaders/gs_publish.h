/* SPDX-License-Identifier: MIT */
/*
 * gs_publish: puts a finished set of artifacts into the bundle directory.
 *
 * Modules are files named after their content, so new ones never replace those that the manifest in
 * place speaks of. The manifest is renamed into place last and is the only switch: a run killed at
 * any moment, or out of disk, leaves the old bundle whole or the new one. What no manifest names
 * any more is removed afterwards, by this run or by the next; so is a kernels.kiln that is older
 * than the manifest.
 */
#ifndef GS_PUBLISH_H
#define GS_PUBLISH_H

#include "mf_manifest.h"

#include <stdbool.h>

struct gs_publish_counts {
    size_t written_count;
    size_t removed_count;
};

/*
 * An exclusive lock on the directory itself (flock): leaves no file behind and ends with the
 * process. Makes the directory when missing. *handle is -1 on failure.
 */
enum kiln_result gs_publish_lock(const char *out, int *handle, struct kiln_error *error);
void gs_publish_unlock(int *handle);

/*
 * bytes[i] is the content of the file of manifest->artifacts[i]. On failure files written by this
 * call are removed again and the bundle is as it was. KILN_ERR_PATH when the directory holds a
 * manifest.json that is none of ours.
 */
enum kiln_result gs_publish(const char *out, const struct mf_manifest *manifest,
                            const struct mf_buffer *const *bytes, struct gs_publish_counts *counts,
                            struct kiln_error *error);

#endif /* GS_PUBLISH_H */
