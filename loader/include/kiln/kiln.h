/* SPDX-License-Identifier: MIT */
/*
 * kiln: everything of libkiln, the loader of SPIR-V compute bundles.
 *
 * The usual order of calls:
 *
 *   kiln_bundle_open_directory     a bundle, its manifest checked
 *   kiln_quick_open_device         a device of one's own, or kiln_device_wrap for an existing one
 *   kiln_select                    the best artifact for a typed query on that device
 *   kiln_pipeline_get              its pipeline, made once per device
 *   kiln_dispatch_record           into a command buffer of the caller, or
 *   kiln_quick_run                 submit, wait and time it
 *
 * Every header states ownership, units, errors and thread safety of what it declares. Nothing here
 * prints, exits, or keeps state outside the objects handed out.
 */
#ifndef KILN_H
#define KILN_H

#include "kiln_bundle.h"
#include "kiln_device.h"
#include "kiln_dispatch.h"
#include "kiln_pipeline.h"
#include "kiln_quick.h"
#include "kiln_repack.h"
#include "kiln_result.h"
#include "kiln_select.h"

#endif /* KILN_H */
