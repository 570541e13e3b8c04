/* SPDX-License-Identifier: MIT */
/*
 * vf_report: the results of a run, and their forms: JSON, TAP, JUnit XML, a table.
 *
 * A record is one case of one artifact on one device. The report is made with all records of the
 * plan in the state "none"; a record that is still so at the end counts as a failure ("never ran").
 * Every form lists the records sorted by artifact name, then case in the plan's order, then device.
 *
 * Thread safety: one thread at a time.
 */
#ifndef VF_REPORT_H
#define VF_REPORT_H

#include "mf_json.h"
#include "vf_options.h"
#include "vf_plan.h"
#include "vf_run.h"

/* A device as its worker described it. Strings in the report's arena. */
struct vf_device_row {
    const char *label; /* name, with " #INDEX" behind it where two devices share the name */
    const char *name, *type, *driver, *driver_info, *api, *ids, *subgroup;
    size_t index; /* in the order of the Vulkan loader */
};

struct vf_record {
    const struct vf_entry *entry;
    size_t job, entry_index, device; /* device: position in the report's list */
    enum vf_status status;
    double max_abs, rel, scale; /* NaN: not measured */
    const char *reason;         /* "" without one */
};

struct vf_summary {
    size_t pass, fail, skip;
};

struct vf_report {
    struct mf_arena arena;
    const struct vf_options *options;
    const struct vf_plan *plan;
    char bundle_digest[MF_HASH_TEXT_BYTES];
    struct vf_device_row *devices;
    size_t device_count;
    struct vf_record *records; /* job by job, entry by entry, device by device */
    size_t record_count;
    size_t *job_first; /* first record of each job */
};

/*
 * A digest of what a bundle holds: name, content and interface hash of each artifact, in order
 * (domain MF_HASH_CONTENT). KILN_ERR_MEMORY.
 */
enum kiln_result vf_bundle_digest(const struct mf_manifest *manifest,
                                  char text[MF_HASH_TEXT_BYTES]);

/*
 * `devices` is copied (deep). Without devices there is one row named "none" and every record is
 * skipped with `no_device_reason`. Plan and options must outlive the report. Released also on
 * failure.
 */
enum kiln_result vf_report_make(const struct vf_plan *plan, const struct vf_options *options,
                                const struct vf_device_row *devices, size_t device_count,
                                const char *no_device_reason, struct vf_report *out);
void vf_report_release(struct vf_report *report);

struct vf_record *vf_report_record(struct vf_report *report, size_t job, size_t entry,
                                   size_t device);

/* Stores a result; `reason` is copied. */
enum kiln_result vf_report_set(struct vf_report *report, struct vf_record *record,
                               enum vf_status status, double max_abs, double rel, double scale,
                               const char *reason);

/* Turns records that never got a result into failures. */
enum kiln_result vf_report_finish(struct vf_report *report);

struct vf_summary vf_report_summary(const struct vf_report *report);

/* Pointers to all records in the order of the output forms; in the report's arena. NULL: memory. */
const struct vf_record **vf_report_sorted(struct vf_report *report);

/* The case's id, or "-" for an entry without a case. */
const char *vf_record_case(const struct vf_record *record);

/*
 * The forms, appended to *out. JSON: docs/verify.md has its fields. TAP:
 * version 13, with a YAML block for each failure. JUnit: one testsuite a device and family.
 */
enum kiln_result vf_report_json(struct vf_report *report, struct mf_buffer *out);
enum kiln_result vf_report_tap(struct vf_report *report, struct mf_buffer *out);
enum kiln_result vf_report_junit(struct vf_report *report, struct mf_buffer *out);

/*
 * Counts and worst errors for each device, family, dtypes and tier, then every failure with its
 * reason and the command line that runs it again.
 */
enum kiln_result vf_report_table(struct vf_report *report, struct mf_buffer *out);

/*
 * Joins JSON reports: cases one after the other, devices without repetition, counts added up. All
 * must name the same bundle digest; seed and suite are kept where they agree, else null.
 * KILN_ERR_MISMATCH names the report that differs; KILN_ERR_FORMAT where one is no such report.
 */
struct vf_merge_input {
    const char *path;
    const char *text;
    size_t size_bytes;
};
enum kiln_result vf_report_merge(const struct vf_merge_input *inputs, size_t input_count,
                                 struct mf_buffer *out, struct vf_summary *summary,
                                 struct kiln_error *error);

#endif /* VF_REPORT_H */
