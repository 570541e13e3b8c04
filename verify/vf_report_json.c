/* SPDX-License-Identifier: MIT */
#include "vf_report.h"

#include <math.h>
#include <string.h>

static void put_metric(struct mf_json_builder *builder, struct mf_json *parent, const char *key,
                       double value) {
    if (isfinite(value)) {
        mf_json_put_real(builder, parent, key, value);
    } else {
        mf_json_put_null(builder, parent, key);
    }
}

static void put_summary(struct mf_json_builder *builder, struct mf_json *root,
                        const struct vf_summary *summary) {
    struct mf_json *object = mf_json_put_object(builder, root, "summary");

    mf_json_put_u64(builder, object, "pass", summary->pass);
    mf_json_put_u64(builder, object, "fail", summary->fail);
    mf_json_put_u64(builder, object, "skip", summary->skip);
}

static void put_case(struct mf_json_builder *builder, struct mf_json *cases,
                     const struct vf_report *report, const struct vf_record *record) {
    const struct mf_artifact *artifact = record->entry->artifact;
    const struct vf_case *problem = record->entry->problem;
    struct mf_json *object = mf_json_put_object(builder, cases, NULL);

    mf_json_put_string(builder, object, "artifact", artifact->name);
    mf_json_put_string(builder, object, "family", artifact->family);
    struct mf_json *dtypes = mf_json_put_array(builder, object, "dtypes");
    for (size_t i = 0; i < artifact->dtype_count; i++) {
        mf_json_put_string(builder, dtypes, NULL, artifact->dtypes[i]);
    }
    mf_json_put_string(builder, object, "tier", artifact->tier);
    mf_json_put_string(builder, object, "device", report->devices[record->device].label);
    struct mf_json *dims = mf_json_put_object(builder, object, "dims");
    for (size_t i = 0; problem && i < problem->dim_count; i++) {
        mf_json_put_u64(builder, dims, problem->dims[i].name, problem->dims[i].value);
    }
    mf_json_put_string(builder, object, "status", vf_status_string(record->status));
    mf_json_put_string(builder, object, "reason", record->reason);
    put_metric(builder, object, "max_abs", record->max_abs);
    put_metric(builder, object, "rel", record->rel);
    put_metric(builder, object, "scale", record->scale);
}

static void put_devices(struct mf_json_builder *builder, struct mf_json *root,
                        const struct vf_report *report) {
    struct mf_json *devices = mf_json_put_array(builder, root, "devices");

    for (size_t i = 0; i < report->device_count; i++) {
        const struct vf_device_row *row = &report->devices[i];
        if (strcmp(row->label, "none") == 0 && !row->type[0]) {
            continue;
        }
        struct mf_json *object = mf_json_put_object(builder, devices, NULL);
        mf_json_put_string(builder, object, "device", row->label);
        mf_json_put_string(builder, object, "name", row->name);
        mf_json_put_string(builder, object, "type", row->type);
        mf_json_put_string(builder, object, "driver", row->driver);
        mf_json_put_string(builder, object, "driver_info", row->driver_info);
        mf_json_put_string(builder, object, "api", row->api);
        mf_json_put_string(builder, object, "ids", row->ids);
        mf_json_put_string(builder, object, "subgroup", row->subgroup);
        mf_json_put_u64(builder, object, "index", row->index);
    }
}

enum kiln_result vf_report_json(struct vf_report *report, struct mf_buffer *out) {
    struct mf_json_builder builder = {KILN_OK};
    const struct vf_summary summary = vf_report_summary(report);
    const struct vf_record **sorted = vf_report_sorted(report);
    struct mf_json *root = mf_json_new_object(&builder);

    if (!sorted) {
        builder.failed = KILN_ERR_MEMORY;
    }
    put_summary(&builder, root, &summary);
    mf_json_put_string(&builder, root, "bundle", report->bundle_digest);
    mf_json_put_string(&builder, root, "suite", report->options->suite_name);
    if (report->options->seed <= INT64_MAX) {
        mf_json_put_u64(&builder, root, "seed", report->options->seed);
    } else {
        mf_json_put_i64(&builder, root, "seed", (int64_t)report->options->seed);
    }
    put_devices(&builder, root, report);
    struct mf_json *cases = mf_json_put_array(&builder, root, "cases");
    for (size_t i = 0; sorted && i < report->record_count; i++) {
        put_case(&builder, cases, report, sorted[i]);
    }
    enum kiln_result result = builder.failed;
    if (result == KILN_OK) {
        result = mf_json_dump(root, true, out);
    }
    mf_json_release(&root);
    return result;
}

/* ---- merge ---- */

struct merge {
    struct mf_json_builder builder;
    struct mf_json *devices, *cases; /* of the new report */
    struct vf_summary summary;
    const char *bundle;
};

static bool device_known(const struct merge *merge, const char *label) {
    for (size_t i = 0; i < mf_json_count(merge->devices); i++) {
        struct mf_json_reader reader;
        mf_json_reader_init(&reader, "", NULL);
        const char *other = mf_json_get_string(&reader, mf_json_item(merge->devices, i), "device");
        if (reader.failed == KILN_OK && strcmp(other, label) == 0) {
            return true;
        }
    }
    return false;
}

static void merge_case(struct merge *merge, struct mf_json_reader *reader,
                       const struct mf_json *item) {
    const char *status = mf_json_get_string(reader, item, "status");

    if (strcmp(status, "pass") == 0) {
        merge->summary.pass++;
    } else if (strcmp(status, "fail") == 0) {
        merge->summary.fail++;
    } else if (strcmp(status, "skip") == 0) {
        merge->summary.skip++;
    } else {
        mf_json_fail(reader, KILN_ERR_FORMAT, "status", "expected pass, fail or skip, found '%s'",
                     status);
    }
    mf_json_put_copy(&merge->builder, merge->cases, NULL, item);
}

/* Adds one report; its own summary must agree with its cases. */
static enum kiln_result merge_report(struct merge *merge, const char *path,
                                     const struct mf_json *root, struct kiln_error *error) {
    const struct vf_summary before = merge->summary;
    struct mf_json_reader reader;

    mf_json_reader_init(&reader, path, error);
    const char *bundle = mf_json_get_string(&reader, root, "bundle");
    const struct mf_json *cases = mf_json_get_array(&reader, root, "cases");
    const struct mf_json *devices = mf_json_get_array(&reader, root, "devices");
    const struct mf_json *summary = mf_json_get_object(&reader, root, "summary");
    if (reader.failed == KILN_OK && merge->bundle && strcmp(bundle, merge->bundle) != 0) {
        mf_json_fail(&reader, KILN_ERR_MISMATCH, "bundle",
                     "expected the first report's bundle %s, found %s", merge->bundle, bundle);
    }
    merge->bundle = bundle;
    for (size_t i = 0; reader.failed == KILN_OK && i < mf_json_count(devices); i++) {
        const struct mf_json *item = mf_json_item_object(&reader, devices, "devices", i);
        const char *label = mf_json_get_string(&reader, item, "device");
        if (reader.failed == KILN_OK && !device_known(merge, label)) {
            mf_json_put_copy(&merge->builder, merge->devices, NULL, item);
        }
    }
    for (size_t i = 0; reader.failed == KILN_OK && i < mf_json_count(cases); i++) {
        const size_t length = mf_json_enter(&reader, "cases[%zu].", i);
        merge_case(merge, &reader, mf_json_item_object(&reader, cases, "cases", i));
        mf_json_leave(&reader, length);
    }
    const size_t length = mf_json_enter(&reader, "summary.");
    const uint64_t pass = mf_json_get_u64(&reader, summary, "pass", 0, INT64_MAX);
    const uint64_t fail = mf_json_get_u64(&reader, summary, "fail", 0, INT64_MAX);
    const uint64_t skip = mf_json_get_u64(&reader, summary, "skip", 0, INT64_MAX);
    mf_json_leave(&reader, length);
    if (reader.failed == KILN_OK &&
        (pass != merge->summary.pass - before.pass || fail != merge->summary.fail - before.fail ||
         skip != merge->summary.skip - before.skip)) {
        mf_json_fail(&reader, KILN_ERR_FORMAT, "summary", "expected the counts of its cases");
    }
    return reader.failed;
}

/* `key` of all reports where it is the same text or number, else null. */
static void put_common(struct merge *merge, struct mf_json *root, const char *key,
                       struct mf_json *const *inputs, size_t input_count) {
    struct mf_buffer first = {0};
    bool same = true;

    for (size_t i = 0; i < input_count; i++) {
        struct mf_buffer text = {0};
        const struct mf_json *value = mf_json_child(inputs[i], key);
        same = same && value && mf_json_dump(value, false, i ? &text : &first) == KILN_OK &&
               (i == 0 || strcmp(first.data, text.data) == 0);
        mf_buffer_release(&text);
    }
    if (same) {
        mf_json_put_copy(&merge->builder, root, key, mf_json_child(inputs[0], key));
    } else {
        mf_json_put_null(&merge->builder, root, key);
    }
    mf_buffer_release(&first);
}

enum kiln_result vf_report_merge(const struct vf_merge_input *inputs, size_t input_count,
                                 struct mf_buffer *out, struct vf_summary *summary,
                                 struct kiln_error *error) {
    struct mf_arena arena = {0};
    struct merge merge = {{KILN_OK}, NULL, NULL, {0, 0, 0}, NULL};
    struct mf_json **roots = mf_arena_alloc(&arena, input_count + 1, sizeof *roots);
    struct mf_json *root = mf_json_new_object(&merge.builder);
    enum kiln_result result = roots ? KILN_OK : KILN_ERR_MEMORY;

    merge.devices = mf_json_put_array(&merge.builder, root, "devices");
    merge.cases = mf_json_put_array(&merge.builder, root, "cases");
    for (size_t i = 0; i < input_count && result == KILN_OK; i++) {
        result =
            mf_json_parse(inputs[i].text, inputs[i].size_bytes, inputs[i].path, &roots[i], error);
        if (result == KILN_OK) {
            result = merge_report(&merge, inputs[i].path, roots[i], error);
        }
    }
    if (result == KILN_OK) {
        put_summary(&merge.builder, root, &merge.summary);
        put_common(&merge, root, "bundle", roots, input_count);
        put_common(&merge, root, "seed", roots, input_count);
        put_common(&merge, root, "suite", roots, input_count);
        result = merge.builder.failed;
        if (result == KILN_OK) {
            result = mf_json_dump(root, true, out);
        }
        if (result != KILN_OK) {
            kiln_error_set(error, result, "cannot write the joined report: %s",
                           kiln_result_string(result));
        }
    }
    *summary = merge.summary;
    for (size_t i = 0; roots && i < input_count; i++) {
        mf_json_release(&roots[i]);
    }
    mf_json_release(&root);
    mf_arena_release(&arena);
    return result;
}
