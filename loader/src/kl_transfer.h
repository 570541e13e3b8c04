/* SPDX-License-Identifier: MIT */
/*
 * kl_transfer: copies between host memory and device memory that cannot be mapped.
 *
 * Each device has one staging buffer and one command buffer for it, made at first use and guarded
 * by a mutex: any thread may transfer, one at a time. Every function returns when the copy is done.
 */
#ifndef KL_TRANSFER_H
#define KL_TRANSFER_H

#include "kl_device.h"

struct kl_transfer;

enum kiln_result kl_transfer_create(struct kiln_device *device, struct kl_transfer **transfer,
                                    struct kiln_error *error);
void kl_transfer_destroy(struct kl_transfer **transfer); /* sets NULL; pointer to NULL is fine */

enum kiln_result kl_transfer_upload(struct kl_transfer *transfer, VkBuffer to,
                                    uint64_t offset_bytes, const void *bytes, uint64_t size_bytes,
                                    struct kiln_error *error);
enum kiln_result kl_transfer_download(struct kl_transfer *transfer, VkBuffer from,
                                      uint64_t offset_bytes, void *bytes, uint64_t size_bytes,
                                      struct kiln_error *error);
enum kiln_result kl_transfer_fill(struct kl_transfer *transfer, VkBuffer to, uint64_t offset_bytes,
                                  uint64_t size_bytes, uint32_t word, struct kiln_error *error);

#endif /* KL_TRANSFER_H */
