/* SPDX-License-Identifier: MIT */
#include "vf_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- TAP ---- */

/* Descriptions may not hold '#' (a directive) nor newlines. */
static void tap_text(struct mf_buffer *out, const char *text) {
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7F) {
            mf_buffer_append(out, " ", 1);
        } else if (byte == '#' || byte == '\\') {
            mf_buffer_append_format(out, "\\%c", byte);
        } else {
            mf_buffer_append(out, c, 1);
        }
    }
}

/* A YAML double-quoted scalar. */
static void yaml_text(struct mf_buffer *out, const char *text) {
    mf_buffer_append(out, "\"", 1);
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7F) {
            mf_buffer_append_format(out, "\\x%02X", byte);
        } else if (byte == '"' || byte == '\\') {
            mf_buffer_append_format(out, "\\%c", byte);
        } else {
            mf_buffer_append(out, c, 1);
        }
    }
    mf_buffer_append(out, "\"", 1);
}

static void yaml_metric(struct mf_buffer *out, const char *name, double value) {
    mf_buffer_append_format(out, "  %s: ", name);
    if (isfinite(value)) {
        mf_json_append_real(out, value);
    } else {
        mf_buffer_append_string(out, "null");
    }
    mf_buffer_append(out, "\n", 1);
}

static void append_replay(struct mf_buffer *out, const struct vf_report *report,
                          const struct vf_record *record) {
    vf_options_replay(report->options, record->entry->artifact->name, vf_record_case(record),
                      report->devices[record->device].label, out);
}

static void tap_record(struct mf_buffer *out, const struct vf_report *report,
                       const struct vf_record *record, size_t number) {
    mf_buffer_append_format(out, "%s %zu - %s/%s on ",
                            record->status == VF_STATUS_FAIL ? "not ok" : "ok", number,
                            record->entry->artifact->name, vf_record_case(record));
    tap_text(out, report->devices[record->device].label);
    if (record->status == VF_STATUS_SKIP) {
        mf_buffer_append_string(out, " # SKIP ");
        tap_text(out, record->reason);
    }
    mf_buffer_append(out, "\n", 1);
    if (record->status == VF_STATUS_FAIL) {
        struct mf_buffer replay = {0};
        append_replay(&replay, report, record);
        mf_buffer_append_string(out, "  ---\n  message: ");
        yaml_text(out, record->reason);
        mf_buffer_append_string(out, "\n  replay: ");
        yaml_text(out, replay.data ? replay.data : "");
        mf_buffer_append(out, "\n", 1);
        yaml_metric(out, "max_abs", record->max_abs);
        yaml_metric(out, "rel", record->rel);
        yaml_metric(out, "scale", record->scale);
        mf_buffer_append_string(out, "  ...\n");
        mf_buffer_release(&replay);
    }
}

enum kiln_result vf_report_tap(struct vf_report *report, struct mf_buffer *out) {
    const struct vf_record **sorted = vf_report_sorted(report);

    if (!sorted) {
        return KILN_ERR_MEMORY;
    }
    mf_buffer_append_format(out, "TAP version 13\n1..%zu\n", report->record_count);
    for (size_t i = 0; i < report->record_count; i++) {
        tap_record(out, report, sorted[i], i + 1);
    }
    return out->failed;
}

/* ---- JUnit XML ---- */

/* XML 1.0 text; characters that XML cannot hold become '?'. */
static void xml_text(struct mf_buffer *out, const char *text) {
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        switch (byte) {
        case '&':
            mf_buffer_append_string(out, "&amp;");
            break;
        case '<':
            mf_buffer_append_string(out, "&lt;");
            break;
        case '>':
            mf_buffer_append_string(out, "&gt;");
            break;
        case '"':
            mf_buffer_append_string(out, "&quot;");
            break;
        case '\t':
        case '\n':
        case '\r':
            mf_buffer_append_format(out, "&#%u;", byte);
            break;
        default:
            mf_buffer_append(out, byte < 0x20 ? "?" : c, 1);
            break;
        }
    }
}

static void junit_record(struct mf_buffer *out, const struct vf_report *report,
                         const struct vf_record *record) {
    mf_buffer_append_string(out, "    <testcase classname=\"");
    xml_text(out, record->entry->artifact->name);
    mf_buffer_append_string(out, "\" name=\"");
    xml_text(out, vf_record_case(record));
    if (record->status == VF_STATUS_PASS) {
        mf_buffer_append_string(out, "\"/>\n");
        return;
    }
    mf_buffer_append_string(out, record->status == VF_STATUS_SKIP
                                     ? "\">\n      <skipped message=\""
                                     : "\">\n      <failure message=\"");
    xml_text(out, record->reason);
    if (record->status == VF_STATUS_SKIP) {
        mf_buffer_append_string(out, "\"/>\n");
    } else {
        struct mf_buffer replay = {0};
        append_replay(&replay, report, record);
        mf_buffer_append_string(out, "\">");
        xml_text(out, replay.data ? replay.data : "");
        mf_buffer_append_string(out, "</failure>\n");
        mf_buffer_release(&replay);
    }
    mf_buffer_append_string(out, "    </testcase>\n");
}

static int group_order(const struct vf_record *a, const struct vf_record *b) {
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    return strcmp(a->entry->artifact->family, b->entry->artifact->family);
}

static int suite_order(const void *left, const void *right) {
    const struct vf_record *a = *(const struct vf_record *const *)left;
    const struct vf_record *b = *(const struct vf_record *const *)right;
    int order = group_order(a, b);

    if (order == 0) {
        order = strcmp(a->entry->artifact->name, b->entry->artifact->name);
    }
    return order ? order : (a->entry_index > b->entry_index) - (a->entry_index < b->entry_index);
}

static void junit_suite(struct mf_buffer *out, const struct vf_report *report,
                        const struct vf_record *const *records, size_t count) {
    size_t failures = 0;
    size_t skipped = 0;

    for (size_t i = 0; i < count; i++) {
        failures += records[i]->status == VF_STATUS_FAIL;
        skipped += records[i]->status == VF_STATUS_SKIP;
    }
    mf_buffer_append_string(out, "  <testsuite name=\"");
    xml_text(out, records[0]->entry->artifact->family);
    mf_buffer_append_string(out, " on ");
    xml_text(out, report->devices[records[0]->device].label);
    mf_buffer_append_format(out,
                            "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
                            count, failures, skipped);
    for (size_t i = 0; i < count; i++) {
        junit_record(out, report, records[i]);
    }
    mf_buffer_append_string(out, "  </testsuite>\n");
}

enum kiln_result vf_report_junit(struct vf_report *report, struct mf_buffer *out) {
    const struct vf_summary summary = vf_report_summary(report);
    const struct vf_record **sorted = vf_report_sorted(report);

    if (!sorted) {
        return KILN_ERR_MEMORY;
    }
    qsort(sorted, report->record_count, sizeof *sorted, suite_order);
    mf_buffer_append_format(out,
                            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                            "<testsuites name=\"verify\" tests=\"%zu\" failures=\"%zu\">\n",
                            report->record_count, summary.fail);
    for (size_t i = 0; i < report->record_count;) {
        size_t end = i + 1;
        while (end < report->record_count && group_order(sorted[i], sorted[end]) == 0) {
            end++;
        }
        junit_suite(out, report, sorted + i, end - i);
        i = end;
    }
    mf_buffer_append_string(out, "</testsuites>\n");
    return out->failed;
}

/* ---- the table ---- */

struct table_row {
    const struct vf_record *sample;
    size_t pass, fail, skip;
    double rel, max_abs;
};

static int dtypes_order(const struct mf_artifact *a, const struct mf_artifact *b) {
    for (size_t i = 0; i < a->dtype_count && i < b->dtype_count; i++) {
        const int order = strcmp(a->dtypes[i], b->dtypes[i]);
        if (order) {
            return order;
        }
    }
    return (a->dtype_count > b->dtype_count) - (a->dtype_count < b->dtype_count);
}

static int row_order(const void *left, const void *right) {
    const struct vf_record *a = *(const struct vf_record *const *)left;
    const struct vf_record *b = *(const struct vf_record *const *)right;
    int order = group_order(a, b);

    if (order == 0) {
        order = dtypes_order(a->entry->artifact, b->entry->artifact);
    }
    return order ? order : strcmp(a->entry->artifact->tier, b->entry->artifact->tier);
}

static void table_metric(struct mf_buffer *out, double value) {
    if (isnan(value)) {
        mf_buffer_append_format(out, " %9s", "-");
    } else {
        mf_buffer_append_format(out, " %9.2e", value);
    }
}

static void table_row(struct mf_buffer *out, const struct table_row *row) {
    const struct mf_artifact *artifact = row->sample->entry->artifact;
    struct mf_buffer dtypes = {0};

    for (size_t i = 0; i < artifact->dtype_count; i++) {
        mf_buffer_append_format(&dtypes, "%s%s", i ? " " : "", artifact->dtypes[i]);
    }
    mf_buffer_append_format(out, "  %-14s %-16s %-9s %6zu %6zu %6zu", artifact->family,
                            dtypes.data ? dtypes.data : "", artifact->tier, row->pass, row->fail,
                            row->skip);
    table_metric(out, row->rel);
    table_metric(out, row->max_abs);
    mf_buffer_append(out, "\n", 1);
    mf_buffer_release(&dtypes);
}

/* The larger of two where NaN stands for "none". */
static double worse(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

static void table_add(struct table_row *row, const struct vf_record *record) {
    row->pass += record->status == VF_STATUS_PASS;
    row->fail += record->status == VF_STATUS_FAIL;
    row->skip += record->status == VF_STATUS_SKIP;
    row->rel = worse(row->rel, record->rel);
    row->max_abs = worse(row->max_abs, record->max_abs);
}

static void table_failures(struct mf_buffer *out, struct vf_report *report) {
    const struct vf_record **sorted = vf_report_sorted(report);

    for (size_t i = 0; sorted && i < report->record_count; i++) {
        if (sorted[i]->status != VF_STATUS_FAIL) {
            continue;
        }
        mf_buffer_append_format(out, "FAIL %s/%s on %s\n  %s\n  ", sorted[i]->entry->artifact->name,
                                vf_record_case(sorted[i]), report->devices[sorted[i]->device].label,
                                sorted[i]->reason);
        append_replay(out, report, sorted[i]);
        mf_buffer_append(out, "\n", 1);
    }
}

enum kiln_result vf_report_table(struct vf_report *report, struct mf_buffer *out) {
    const struct vf_record **sorted = vf_report_sorted(report);
    size_t device = SIZE_MAX;

    if (!sorted) {
        return KILN_ERR_MEMORY;
    }
    qsort(sorted, report->record_count, sizeof *sorted, row_order);
    for (size_t i = 0; i < report->record_count;) {
        struct table_row row = {.sample = sorted[i], .rel = NAN, .max_abs = NAN};
        const size_t first = i;
        if (sorted[i]->device != device) {
            device = sorted[i]->device;
            const struct vf_device_row *d = &report->devices[device];
            mf_buffer_append_string(out, d->label);
            if (d->driver[0]) {
                mf_buffer_append_format(out, " (%s%s%s)", d->driver, d->driver_info[0] ? ", " : "",
                                        d->driver_info);
            }
            mf_buffer_append_string(out, "\n");
            mf_buffer_append_format(out, "  %-14s %-16s %-9s %6s %6s %6s %9s %9s\n", "family",
                                    "dtypes", "tier", "pass", "fail", "skip", "rel", "max_abs");
        }
        while (i < report->record_count && row_order(&sorted[first], &sorted[i]) == 0) {
            table_add(&row, sorted[i++]);
        }
        table_row(out, &row);
    }
    table_failures(out, report);
    return out->failed;
}
