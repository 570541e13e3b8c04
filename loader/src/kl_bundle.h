/* SPDX-License-Identifier: MIT */
/*
 * kl_bundle: references of the loader's own objects to a bundle.
 *
 * The count is atomic: pipelines made on several threads may hold the same bundle.
 */
#ifndef KL_BUNDLE_H
#define KL_BUNDLE_H

#include "kiln/kiln_bundle.h"

/* Adds a reference, dropped with kiln_bundle_close on a copy of the pointer. Returns `bundle`. */
struct kiln_bundle *kl_bundle_hold(struct kiln_bundle *bundle);

#endif /* KL_BUNDLE_H */
