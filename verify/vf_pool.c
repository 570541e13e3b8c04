/* SPDX-License-Identifier: MIT */
#include "vf_pool.h"

#include "vf_message.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beyond a case's time: a worker notices most timeouts itself and can say more than we can. */
enum { GRACE_MS = 5000, STRIKE_MAX = 2, WORKER_MAX = 256, JOB_FACTOR = 10 };

/* ---- devices ---- */

static enum kiln_result device_row(struct mf_arena *arena, char **fields, size_t index,
                                   struct vf_device_row *row) {
    const char **texts[] = {&row->name, &row->type, &row->driver,  &row->driver_info,
                            &row->api,  &row->ids,  &row->subgroup};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = mf_arena_string(arena, fields[i + 1]);
        if (!*texts[i]) {
            return KILN_ERR_MEMORY;
        }
    }
    row->label = row->name;
    row->index = index;
    return KILN_OK;
}

enum kiln_result vf_pool_devices(const struct vf_options *options, struct mf_arena *arena,
                                 struct vf_device_row **rows, size_t *count,
                                 struct kiln_error *error) {
    struct vf_process process = {0};
    struct mf_buffer line = {0};
    size_t capacity = 0;
    char ending[128];
    bool ended = false;
    enum kiln_result result = vf_process_start(options, &process, error);

    *rows = NULL;
    *count = 0;
    if (result != KILN_OK) {
        return result;
    }
    const int64_t deadline = vf_clock_ms() + (int64_t)options->timeout_s * 1000;
    mf_buffer_append_string(&line, "devices\n");
    vf_message_write(process.input, &line);
    while (result == KILN_OK && !ended && vf_process_wait_line(&process, deadline, &line)) {
        char *fields[VF_FIELD_MAX];
        const size_t field_count = vf_message_split(line.data, fields);
        if (field_count == 8 && strcmp(fields[0], "device") == 0) {
            if (*count == capacity) {
                *rows = mf_arena_grow(arena, *rows, *count, &capacity, sizeof **rows);
            }
            result = *rows ? device_row(arena, fields, *count, &(*rows)[*count]) : KILN_ERR_MEMORY;
            (*count)++;
        } else if (field_count == 3 && strcmp(fields[0], "end") == 0) {
            ended = true;
            result = (enum kiln_result)strtol(fields[1], NULL, 10);
            if (result != KILN_OK) {
                kiln_error_set(error, result, "%s", fields[2]);
            }
        }
    }
    const bool timeout = !ended && vf_clock_ms() >= deadline;
    vf_process_end(&process, !ended, ending, sizeof ending);
    if (!ended && result == KILN_OK) {
        result = kiln_error_set(error, KILN_ERR_SYSTEM, "listing the Vulkan devices: %s",
                                timeout ? "timeout" : ending);
    }
    if (ended && result == KILN_OK && *count == 0) {
        result = kiln_error_set(error, KILN_ERR_NO_DEVICE, "no Vulkan device found");
    }
    mf_buffer_release(&line);
    return result;
}

/* ---- running ---- */

struct slot {
    struct vf_process process;
    size_t job;               /* SIZE_MAX: idle */
    struct vf_record *flying; /* the entry that runs now; NULL: none */
    bool progressed;          /* an entry started since the process was made */
    int64_t entry_deadline, job_deadline;
};

struct pool {
    struct vf_report *report;
    const struct vf_options *options;
    FILE *progress;
    bool terminal;
    struct slot slots[WORKER_MAX];
    size_t slot_count;
    size_t next_job, jobs_done;
    size_t done; /* records with a result */
    struct kiln_error *error;
};

static void progress_show(struct pool *pool, const struct slot *slot, bool job_end) {
    const struct vf_summary summary = vf_report_summary(pool->report);
    const size_t fail = summary.fail - (pool->report->record_count - pool->done);

    if (!pool->progress) {
        return;
    }
    if (pool->terminal) {
        fprintf(pool->progress, "\r\033[K[%zu/%zu] %zu pass, %zu fail, %zu skip  %.60s", pool->done,
                pool->report->record_count, summary.pass, fail, summary.skip,
                slot->flying ? slot->flying->entry->artifact->name : "");
        fflush(pool->progress);
    } else if (job_end) {
        fprintf(pool->progress, "[%zu/%zu] %s: in all %zu pass, %zu fail, %zu skip\n",
                pool->jobs_done, pool->report->plan->job_count,
                pool->report->plan->jobs[slot->job].label, summary.pass, fail, summary.skip);
        fflush(pool->progress);
    }
}

static void record_fail(struct pool *pool, struct vf_record *record, const char *reason) {
    vf_report_set(pool->report, record, VF_STATUS_FAIL, NAN, NAN, NAN, reason);
    pool->done++;
}

/* How often the artifact took a worker down on that device. */
static unsigned strikes(const struct pool *pool, size_t job, const struct vf_record *record) {
    const struct vf_report *report = pool->report;
    const size_t first = report->job_first[job];
    const size_t count = report->plan->jobs[job].entry_count * report->device_count;
    unsigned found = 0;

    for (size_t i = first; i < first + count; i++) {
        const struct vf_record *other = &report->records[i];
        found +=
            other->entry->artifact == record->entry->artifact && other->device == record->device &&
            other->status == VF_STATUS_FAIL &&
            (strncmp(other->reason, "crash", 5) == 0 || strncmp(other->reason, "timeout", 7) == 0);
    }
    return found;
}

static bool record_open(const struct vf_record *record) {
    return record->status == VF_STATUS_NONE;
}

/* The request for what is left of a job; false when nothing is. */
static bool job_request(struct pool *pool, size_t job, struct mf_buffer *line) {
    struct vf_report *report = pool->report;
    struct mf_buffer items = {0};

    for (size_t e = 0; e < report->plan->jobs[job].entry_count; e++) {
        for (size_t d = 0; d < report->device_count; d++) {
            struct vf_record *record = vf_report_record(report, job, e, d);
            if (!record_open(record)) {
                continue;
            }
            if (strikes(pool, job, record) >= STRIKE_MAX) {
                record_fail(pool, record, "not run: it crashed or timed out twice before");
                continue;
            }
            mf_buffer_append_format(&items, "%s%zu:%zu", items.size_bytes ? " " : "",
                                    report->devices[d].index, e);
        }
    }
    const bool any = items.size_bytes > 0;
    if (any) {
        vf_message_field(line, "run");
        vf_message_format(line, "%zu", job);
        vf_message_field(line, items.data);
        vf_message_end(line);
    }
    mf_buffer_release(&items);
    return any;
}

static void job_finish(struct pool *pool, struct slot *slot) {
    pool->jobs_done++;
    progress_show(pool, slot, true);
    slot->job = SIZE_MAX;
}

/* Sends what is left of the slot's job, in a new process if need be; ends the job when done. */
static enum kiln_result slot_continue(struct pool *pool, struct slot *slot) {
    struct mf_buffer line = {0};
    enum kiln_result result = KILN_OK;

    slot->flying = NULL;
    if (!job_request(pool, slot->job, &line)) {
        job_finish(pool, slot);
        goto done;
    }
    if (slot->process.pid <= 0) {
        result = vf_process_start(pool->options, &slot->process, pool->error);
        slot->progressed = false;
    }
    if (result == KILN_OK) {
        const int64_t now = vf_clock_ms();
        const int64_t timeout_ms = (int64_t)pool->options->timeout_s * 1000;
        slot->entry_deadline = now + timeout_ms + GRACE_MS;
        slot->job_deadline = now + JOB_FACTOR * timeout_ms + GRACE_MS;
        vf_message_write(slot->process.input, &line); /* a dead worker shows as end of file */
    }
done:
    mf_buffer_release(&line);
    return result;
}

static enum kiln_result slot_take_job(struct pool *pool, struct slot *slot) {
    enum kiln_result result = KILN_OK;

    while (result == KILN_OK && slot->job == SIZE_MAX &&
           pool->next_job < pool->report->plan->job_count) {
        slot->job = pool->next_job++;
        if (pool->report->plan->jobs[slot->job].family) {
            result = slot_continue(pool, slot);
        } else {
            pool->jobs_done++;
            slot->job = SIZE_MAX;
        }
    }
    return result;
}

/* The record of a worker's "DEVICE ENTRY", the device being the Vulkan loader's index. */
static struct vf_record *message_record(struct pool *pool, const struct slot *slot,
                                        char *const *fields) {
    const size_t index = strtoul(fields[1], NULL, 10);
    const size_t entry = strtoul(fields[2], NULL, 10);

    for (size_t d = 0; d < pool->report->device_count; d++) {
        if (pool->report->devices[d].index == index) {
            return vf_report_record(pool->report, slot->job, entry, d);
        }
    }
    return NULL;
}

static enum vf_status status_parse(const char *text) {
    if (strcmp(text, "pass") == 0) {
        return VF_STATUS_PASS;
    }
    return strcmp(text, "skip") == 0 ? VF_STATUS_SKIP : VF_STATUS_FAIL;
}

/* What is left of the job cannot be asked for: its bundle or plan was refused by the worker. */
static void job_refused(struct pool *pool, struct slot *slot, const char *message) {
    const struct vf_job *job = &pool->report->plan->jobs[slot->job];

    for (size_t e = 0; e < job->entry_count; e++) {
        for (size_t d = 0; d < pool->report->device_count; d++) {
            struct vf_record *record = vf_report_record(pool->report, slot->job, e, d);
            if (record_open(record)) {
                record_fail(pool, record, message);
            }
        }
    }
}

static enum kiln_result slot_message(struct pool *pool, struct slot *slot, char *line) {
    char *fields[VF_FIELD_MAX];
    const size_t count = vf_message_split(line, fields);
    struct vf_record *record =
        count >= 3 && strcmp(fields[0], "end") != 0 ? message_record(pool, slot, fields) : NULL;

    if (count == 3 && strcmp(fields[0], "start") == 0 && record) {
        slot->flying = record;
        slot->progressed = true;
        slot->entry_deadline = vf_clock_ms() + (int64_t)pool->options->timeout_s * 1000 + GRACE_MS;
        progress_show(pool, slot, false);
    } else if (count == 8 && strcmp(fields[0], "result") == 0 && record && record_open(record)) {
        vf_report_set(pool->report, record, status_parse(fields[3]), strtod(fields[4], NULL),
                      strtod(fields[5], NULL), strtod(fields[6], NULL), fields[7]);
        pool->done++;
        slot->flying = NULL;
    } else if (count == 3 && strcmp(fields[0], "end") == 0) {
        if (strcmp(fields[1], "0") != 0) {
            job_refused(pool, slot, fields[2]);
        }
        const enum kiln_result result = slot_continue(pool, slot);
        return result == KILN_OK ? slot_take_job(pool, slot) : result;
    }
    return KILN_OK;
}

/* The first record of the slot's job without a result: blamed when a worker dies before it starts
 * anything, so that every death costs at least one record and the run ends. */
static struct vf_record *first_open(struct pool *pool, const struct slot *slot) {
    const size_t first = pool->report->job_first[slot->job];
    const size_t count =
        pool->report->plan->jobs[slot->job].entry_count * pool->report->device_count;

    for (size_t i = first; i < first + count; i++) {
        if (record_open(&pool->report->records[i])) {
            return &pool->report->records[i];
        }
    }
    return NULL;
}

static enum kiln_result slot_died(struct pool *pool, struct slot *slot, const char *timeout) {
    char ending[128];
    char reason[256];
    struct vf_record *blamed = slot->flying;

    vf_process_end(&slot->process, timeout != NULL, ending, sizeof ending);
    if (slot->job == SIZE_MAX) {
        return KILN_OK;
    }
    if (blamed) {
        snprintf(reason, sizeof reason, "%s", timeout ? timeout : ending);
    } else {
        snprintf(reason, sizeof reason, "the worker did not start it: %s",
                 timeout ? timeout : ending);
        blamed = slot->progressed && !timeout ? NULL : first_open(pool, slot);
    }
    if (blamed && record_open(blamed)) {
        record_fail(pool, blamed, reason);
    }
    const enum kiln_result result = slot_continue(pool, slot);
    return result == KILN_OK ? slot_take_job(pool, slot) : result;
}

static enum kiln_result slot_readable(struct pool *pool, struct slot *slot) {
    struct mf_buffer line = {0};
    const bool alive = vf_process_read(&slot->process);
    enum kiln_result result = KILN_OK;

    while (result == KILN_OK && slot->job != SIZE_MAX && vf_process_line(&slot->process, &line)) {
        result = slot_message(pool, slot, line.data);
    }
    mf_buffer_release(&line);
    return result == KILN_OK && !alive ? slot_died(pool, slot, NULL) : result;
}

static enum kiln_result slot_check_time(struct pool *pool, struct slot *slot, int64_t now) {
    char text[96];

    if (slot->job == SIZE_MAX) {
        return KILN_OK;
    }
    if (now >= slot->entry_deadline) {
        snprintf(text, sizeof text, "timeout after %" PRIu32 " s", pool->options->timeout_s);
        return slot_died(pool, slot, text);
    }
    if (now >= slot->job_deadline) {
        snprintf(text, sizeof text, "timeout of the job after %" PRIu32 " s",
                 JOB_FACTOR * pool->options->timeout_s);
        return slot_died(pool, slot, text);
    }
    return KILN_OK;
}

static enum kiln_result pool_step(struct pool *pool) {
    struct pollfd polls[WORKER_MAX];
    int64_t wait_ms = 60000;
    int64_t now = vf_clock_ms();
    enum kiln_result result = KILN_OK;

    for (size_t i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        const bool busy = slot->job != SIZE_MAX;
        polls[i] = (struct pollfd){.fd = busy ? slot->process.output : -1, .events = POLLIN};
        if (busy) {
            const int64_t deadline = slot->entry_deadline < slot->job_deadline
                                         ? slot->entry_deadline
                                         : slot->job_deadline;
            wait_ms = deadline - now < wait_ms ? deadline - now : wait_ms;
        }
    }
    poll(polls, (nfds_t)pool->slot_count, (int)(wait_ms < 0 ? 0 : wait_ms));
    now = vf_clock_ms();
    for (size_t i = 0; i < pool->slot_count && result == KILN_OK; i++) {
        if (polls[i].fd >= 0 && polls[i].revents) {
            result = slot_readable(pool, &pool->slots[i]);
        } else {
            result = slot_check_time(pool, &pool->slots[i], now);
        }
    }
    return result;
}

enum kiln_result vf_pool_run(struct vf_report *report, FILE *progress, struct kiln_error *error) {
    struct pool *pool = calloc(1, sizeof *pool);
    enum kiln_result result = KILN_OK;
    void (*old_handler)(int) = signal(SIGPIPE, SIG_IGN);

    if (!pool) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    pool->report = report;
    pool->options = report->options;
    pool->progress = progress;
    pool->terminal = progress && isatty(fileno(progress));
    pool->error = error;
    pool->slot_count = report->options->jobs < WORKER_MAX ? report->options->jobs : WORKER_MAX;
    for (size_t i = 0; i < report->record_count; i++) {
        pool->done += !record_open(&report->records[i]);
    }
    for (size_t i = 0; i < pool->slot_count; i++) {
        pool->slots[i].job = SIZE_MAX;
        pool->slots[i].process = (struct vf_process){.input = -1, .output = -1};
    }
    for (size_t i = 0; i < pool->slot_count && result == KILN_OK; i++) {
        result = slot_take_job(pool, &pool->slots[i]);
    }
    while (result == KILN_OK && pool->jobs_done < report->plan->job_count) {
        result = pool_step(pool);
    }
    for (size_t i = 0; i < pool->slot_count; i++) {
        char ending[128];
        vf_process_end(&pool->slots[i].process, result != KILN_OK, ending, sizeof ending);
    }
    if (pool->terminal) {
        fprintf(progress, "\r\033[K");
    }
    free(pool);
    signal(SIGPIPE, old_handler);
    return result == KILN_OK ? vf_report_finish(report) : result;
}
