/* SPDX-License-Identifier: MIT */
#include "vf_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kiln_result vf_bundle_digest(const struct mf_manifest *manifest,
                                  char text[MF_HASH_TEXT_BYTES]) {
    struct mf_hash_state *state = NULL;
    const enum kiln_result result = mf_hash_begin(MF_HASH_CONTENT, &state);

    text[0] = '\0';
    if (result != KILN_OK) {
        return result;
    }
    for (size_t i = 0; i < manifest->artifact_count; i++) {
        const struct mf_artifact *artifact = &manifest->artifacts[i];
        mf_hash_add_string(state, artifact->name);
        mf_hash_add(state, artifact->content.bytes, MF_HASH_BYTES);
        mf_hash_add(state, artifact->iface.bytes, MF_HASH_BYTES);
    }
    const struct mf_hash digest = mf_hash_end(&state);
    mf_hash_format(&digest, text);
    return KILN_OK;
}

static bool device_copy(struct vf_report *report, const struct vf_device_row *from,
                        struct vf_device_row *to) {
    const struct {
        const char *from;
        const char **to;
    } texts[] = {
        {from->name, &to->name},         {from->type, &to->type},
        {from->driver, &to->driver},     {from->driver_info, &to->driver_info},
        {from->api, &to->api},           {from->ids, &to->ids},
        {from->subgroup, &to->subgroup},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i].to = mf_arena_string(&report->arena, texts[i].from);
        if (!*texts[i].to) {
            return false;
        }
    }
    to->index = from->index;
    return true;
}

static enum kiln_result copy_devices(struct vf_report *report, const struct vf_device_row *devices,
                                     size_t device_count) {
    for (size_t i = 0; i < device_count; i++) {
        struct vf_device_row *row = &report->devices[i];
        bool twin = false;

        if (!device_copy(report, &devices[i], row)) {
            return KILN_ERR_MEMORY;
        }
        for (size_t j = 0; j < device_count; j++) {
            twin = twin || (i != j && strcmp(devices[i].name, devices[j].name) == 0);
        }
        row->label =
            twin ? mf_arena_format(&report->arena, "%s #%zu", row->name, row->index) : row->name;
        if (!row->label) {
            return KILN_ERR_MEMORY;
        }
    }
    return KILN_OK;
}

static void fill_records(struct vf_report *report) {
    size_t at = 0;

    for (size_t j = 0; j < report->plan->job_count; j++) {
        const struct vf_job *job = &report->plan->jobs[j];
        report->job_first[j] = at;
        for (size_t e = 0; e < job->entry_count; e++) {
            for (size_t d = 0; d < report->device_count; d++) {
                report->records[at++] = (struct vf_record){.entry = &job->entries[e],
                                                           .job = j,
                                                           .entry_index = e,
                                                           .device = d,
                                                           .max_abs = NAN,
                                                           .rel = NAN,
                                                           .scale = NAN,
                                                           .reason = ""};
            }
        }
    }
}

enum kiln_result vf_report_make(const struct vf_plan *plan, const struct vf_options *options,
                                const struct vf_device_row *devices, size_t device_count,
                                const char *no_device_reason, struct vf_report *out) {
    static const struct vf_device_row none = {.name = "none",
                                              .type = "",
                                              .driver = "",
                                              .driver_info = "",
                                              .api = "",
                                              .ids = "",
                                              .subgroup = ""};
    const size_t rows = device_count ? device_count : 1;

    *out = (struct vf_report){.plan = plan, .options = options, .device_count = rows};
    out->record_count = plan->entry_count * rows;
    out->devices = mf_arena_alloc(&out->arena, rows, sizeof *out->devices);
    out->records = mf_arena_alloc(&out->arena, out->record_count + 1, sizeof *out->records);
    out->job_first = mf_arena_alloc(&out->arena, plan->job_count + 1, sizeof *out->job_first);
    if (!out->devices || !out->records || !out->job_first) {
        return KILN_ERR_MEMORY;
    }
    enum kiln_result result = copy_devices(out, device_count ? devices : &none, rows);
    fill_records(out);
    for (size_t i = 0; i < out->record_count && result == KILN_OK; i++) {
        struct vf_record *record = &out->records[i];
        if (!record->entry->problem) {
            result = vf_report_set(out, record, VF_STATUS_FAIL, NAN, NAN, NAN, record->entry->why);
        } else if (!device_count) {
            result = vf_report_set(out, record, VF_STATUS_SKIP, NAN, NAN, NAN, no_device_reason);
        }
    }
    return result;
}

void vf_report_release(struct vf_report *report) {
    mf_arena_release(&report->arena);
    *report = (struct vf_report){0};
}

struct vf_record *vf_report_record(struct vf_report *report, size_t job, size_t entry,
                                   size_t device) {
    if (job >= report->plan->job_count || entry >= report->plan->jobs[job].entry_count ||
        device >= report->device_count) {
        return NULL;
    }
    return &report->records[report->job_first[job] + entry * report->device_count + device];
}

enum kiln_result vf_report_set(struct vf_report *report, struct vf_record *record,
                               enum vf_status status, double max_abs, double rel, double scale,
                               const char *reason) {
    const char *copy = mf_arena_string(&report->arena, reason ? reason : "");

    record->status = status;
    record->max_abs = max_abs;
    record->rel = rel;
    record->scale = scale;
    record->reason = copy ? copy : "";
    return copy ? KILN_OK : KILN_ERR_MEMORY;
}

enum kiln_result vf_report_finish(struct vf_report *report) {
    enum kiln_result result = KILN_OK;

    for (size_t i = 0; i < report->record_count && result == KILN_OK; i++) {
        if (report->records[i].status == VF_STATUS_NONE) {
            result = vf_report_set(report, &report->records[i], VF_STATUS_FAIL, NAN, NAN, NAN,
                                   "never ran");
        }
    }
    return result;
}

struct vf_summary vf_report_summary(const struct vf_report *report) {
    struct vf_summary summary = {0, 0, 0};

    for (size_t i = 0; i < report->record_count; i++) {
        switch (report->records[i].status) {
        case VF_STATUS_PASS:
            summary.pass++;
            break;
        case VF_STATUS_SKIP:
            summary.skip++;
            break;
        default:
            summary.fail++;
            break;
        }
    }
    return summary;
}

static int record_order(const void *left, const void *right) {
    const struct vf_record *a = *(const struct vf_record *const *)left;
    const struct vf_record *b = *(const struct vf_record *const *)right;
    const int names = strcmp(a->entry->artifact->name, b->entry->artifact->name);

    if (names) {
        return names;
    }
    if (a->entry_index != b->entry_index) {
        return a->entry_index < b->entry_index ? -1 : 1;
    }
    return (a->device > b->device) - (a->device < b->device);
}

const struct vf_record **vf_report_sorted(struct vf_report *report) {
    const struct vf_record **sorted =
        mf_arena_alloc(&report->arena, report->record_count + 1, sizeof *sorted);

    if (sorted) {
        for (size_t i = 0; i < report->record_count; i++) {
            sorted[i] = &report->records[i];
        }
        qsort(sorted, report->record_count, sizeof *sorted, record_order);
    }
    return sorted;
}

const char *vf_record_case(const struct vf_record *record) {
    return record->entry->problem ? record->entry->problem->id : "-";
}
