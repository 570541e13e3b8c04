/* SPDX-License-Identifier: MIT */
#include "vf_worker.h"

#include "vf_golden.h"
#include "vf_message.h"
#include "vf_plan.h"
#include "vf_ref.h"
#include "vf_run.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum injection { INJECT_NONE, INJECT_CRASH, INJECT_HANG, INJECT_LOST, INJECT_WRONG };

struct worker {
    const struct vf_options *options;
    int output;
    struct kiln_instance *instance;
    struct kiln_bundle *bundle;
    struct vf_plan plan;
    struct vf_device *devices; /* one slot for each device of the instance, opened when needed */
    size_t device_count;
    const struct vf_case *prepared; /* the case that `problem` holds; NULL: none */
    const struct vf_job *prepared_job;
    struct vf_problem problem;
    struct vf_memo memo; /* of prepared_job */
    enum injection injection;
    const char *injected_artifact;
    bool stop; /* a device was lost: end the process after this answer */
};

static void send_end(struct worker *worker, enum kiln_result code, const char *message) {
    struct mf_buffer line = {0};

    vf_message_field(&line, "end");
    vf_message_format(&line, "%d", (int)code);
    vf_message_field(&line, message);
    vf_message_end(&line);
    vf_message_write(worker->output, &line);
    mf_buffer_release(&line);
}

/* ---- devices ---- */

static enum kiln_result need_instance(struct worker *worker, struct kiln_error *error) {
    if (worker->instance) {
        return KILN_OK;
    }
    const struct kiln_instance_params params = {.allow_unlisted_tuples =
                                                    worker->options->allow_unlisted_tuples};
    const enum kiln_result result = kiln_instance_create(&params, &worker->instance, error);
    if (result == KILN_OK) {
        worker->device_count = kiln_instance_device_count(worker->instance);
        worker->devices = calloc(worker->device_count + 1, sizeof *worker->devices);
        if (!worker->devices) {
            return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
        }
    }
    return result;
}

static void request_devices(struct worker *worker) {
    struct kiln_error error = {0};
    struct mf_buffer lines = {0};
    const enum kiln_result result = need_instance(worker, &error);

    for (size_t i = 0; result == KILN_OK && i < worker->device_count; i++) {
        const struct kiln_device_info *info = kiln_instance_device_info(worker->instance, i);
        vf_message_field(&lines, "device");
        vf_message_field(&lines, info->name);
        vf_message_field(&lines, kiln_device_type_string(info->type));
        vf_message_field(&lines, info->driver_name);
        vf_message_field(&lines, info->driver_info);
        vf_message_format(&lines, "%u.%u.%u", VK_API_VERSION_MAJOR(info->api_version),
                          VK_API_VERSION_MINOR(info->api_version),
                          VK_API_VERSION_PATCH(info->api_version));
        vf_message_format(&lines, "%04" PRIx32 ":%04" PRIx32, info->vendor_id, info->device_id);
        vf_message_format(&lines, "%" PRIu32 " (%" PRIu32 "-%" PRIu32 ")", info->subgroup_size,
                          info->subgroup_size_min, info->subgroup_size_max);
        vf_message_end(&lines);
    }
    vf_message_write(worker->output, &lines);
    mf_buffer_release(&lines);
    send_end(worker, result, result == KILN_OK ? "" : error.message);
}

static enum kiln_result need_device(struct worker *worker, size_t index, struct vf_device **out,
                                    struct kiln_error *error) {
    enum kiln_result result = need_instance(worker, error);

    *out = NULL;
    if (result == KILN_OK && index >= worker->device_count) {
        result = kiln_error_set(error, KILN_ERR_NO_DEVICE, "there is no device %zu", index);
    }
    if (result == KILN_OK && !worker->devices[index].device) {
        result = vf_device_open(worker->instance, index, worker->options->timeout_s * 1000,
                                &worker->devices[index], error);
    }
    if (result == KILN_OK) {
        *out = &worker->devices[index];
    }
    return result;
}

/* ---- running entries ---- */

static enum kiln_result need_bundle(struct worker *worker, struct kiln_error *error) {
    enum kiln_result result = KILN_OK;

    if (!worker->bundle) {
        result = kiln_bundle_open(worker->options->bundle, &worker->bundle, error);
    }
    return result;
}

static enum kiln_result need_plan(struct worker *worker, struct kiln_error *error) {
    enum kiln_result result = need_bundle(worker, error);

    if (result == KILN_OK && !worker->plan.jobs) {
        result = vf_plan_make(kiln_bundle_manifest(worker->bundle), worker->options, &worker->plan,
                              error);
    }
    return result;
}

static enum kiln_result need_problem(struct worker *worker, const struct vf_job *job,
                                     const struct vf_case *kase, struct kiln_error *error) {
    if (worker->prepared == kase && worker->prepared_job == job) {
        return KILN_OK;
    }
    vf_problem_release(&worker->problem);
    worker->prepared = NULL;
    if (worker->prepared_job != job) {
        vf_memo_release(&worker->memo);
    }
    worker->prepared_job = job;
    worker->problem.memo = &worker->memo;
    const enum kiln_result result =
        job->family->prepare(kase, job->dtypes, worker->options->seed, &worker->problem, error);
    if (result == KILN_OK) {
        worker->prepared = kase;
    }
    return result;
}

static void send_start(struct worker *worker, size_t device, size_t entry) {
    struct mf_buffer line = {0};

    vf_message_field(&line, "start");
    vf_message_format(&line, "%zu", device);
    vf_message_format(&line, "%zu", entry);
    vf_message_end(&line);
    vf_message_write(worker->output, &line);
    mf_buffer_release(&line);
}

static void send_result(struct worker *worker, size_t device, size_t entry,
                        const struct vf_outcome *outcome) {
    struct mf_buffer line = {0};

    vf_message_field(&line, "result");
    vf_message_format(&line, "%zu", device);
    vf_message_format(&line, "%zu", entry);
    vf_message_field(&line, vf_status_string(outcome->status));
    vf_message_format(&line, "%a", outcome->measured ? outcome->metrics.max_abs : (double)NAN);
    vf_message_format(&line, "%a", outcome->measured ? outcome->metrics.rel : (double)NAN);
    vf_message_format(&line, "%a", outcome->measured ? outcome->metrics.scale : (double)NAN);
    vf_message_field(&line, outcome->reason);
    vf_message_end(&line);
    vf_message_write(worker->output, &line);
    mf_buffer_release(&line);
}

static void outcome_error(struct vf_outcome *outcome, const struct kiln_error *error,
                          const char *what) {
    outcome->status = VF_STATUS_FAIL;
    snprintf(outcome->reason, sizeof outcome->reason, "%s: %s", what, error->message);
    outcome->device_unusable = error->code == KILN_ERR_DEVICE_LOST;
}

static enum injection injected(const struct worker *worker, const struct mf_artifact *artifact) {
    if (worker->injection != INJECT_NONE &&
        strcmp(worker->injected_artifact, artifact->name) == 0) {
        return worker->injection;
    }
    return INJECT_NONE;
}

static void run_entry(struct worker *worker, const struct vf_job *job, size_t device_index,
                      size_t entry_index) {
    const struct vf_entry *entry = &job->entries[entry_index];
    const enum injection injection = injected(worker, entry->artifact);
    const struct vf_run_params params = {
        .limits = {worker->options->storage_range_bytes,
                   {worker->options->group_limit, worker->options->group_limit, 0}},
        .timeout_ms = worker->options->timeout_s * 1000,
        .corrupt = injection == INJECT_WRONG,
    };
    struct vf_outcome outcome = {.metrics = vf_metrics_empty()};
    struct kiln_error error = {0};
    struct vf_device *device = NULL;

    send_start(worker, device_index, entry_index);
    if (injection == INJECT_CRASH) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers catch it */
        raise(SIGSEGV);
    }
    while (injection == INJECT_HANG) {
        sleep(3600);
    }
    const enum kiln_result opened = need_device(worker, device_index, &device, &error);
    if (opened == KILN_ERR_UNSUPPORTED) {
        outcome.status = VF_STATUS_SKIP; /* below Vulkan 1.1, or without a compute queue */
        snprintf(outcome.reason, sizeof outcome.reason, "%s", error.message);
    } else if (opened != KILN_OK) {
        outcome_error(&outcome, &error, "cannot open the device");
    } else if (need_problem(worker, job, entry->problem, &error) != KILN_OK) {
        outcome_error(&outcome, &error, "cannot prepare the case");
    } else if (injection == INJECT_LOST) {
        kiln_error_set(&error, KILN_ERR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST (injected)");
        outcome_error(&outcome, &error, "device lost");
    } else {
        vf_run_case(device, worker->bundle, entry->artifact, job->family, entry->problem,
                    &worker->problem, &params, &outcome);
    }
    send_result(worker, device_index, entry_index, &outcome);
    worker->stop = outcome.device_unusable;
}

static void request_run(struct worker *worker, const char *job_text, char *items) {
    struct kiln_error error = {0};
    const size_t job_index = strtoul(job_text, NULL, 10);
    enum kiln_result result = need_plan(worker, &error);

    if (result == KILN_OK && job_index >= worker->plan.job_count) {
        result = kiln_error_set(&error, KILN_ERR_ARGUMENT, "there is no job %zu", job_index);
    }
    char *at = items;
    while (result == KILN_OK && *at && !worker->stop) {
        const struct vf_job *job = &worker->plan.jobs[job_index];
        const size_t device = strtoul(at, &at, 10);
        const size_t entry = *at == ':' ? strtoul(at + 1, &at, 10) : SIZE_MAX;
        if (entry >= job->entry_count || !job->entries[entry].problem) {
            result = kiln_error_set(&error, KILN_ERR_ARGUMENT, "there is no such entry");
            break;
        }
        run_entry(worker, job, device, entry);
        at += strspn(at, " ");
    }
    if (!worker->stop) {
        send_end(worker, result, result == KILN_OK ? "" : error.message);
    }
}

/* ---- golden vectors on a device ---- */

struct golden {
    struct worker *worker;
    struct vf_device *device;
};

static void send_row(struct worker *worker, const struct vf_golden_vector *vector,
                     const char *artifact, const struct vf_outcome *outcome) {
    struct mf_buffer line = {0};

    vf_message_field(&line, "row");
    vf_message_field(&line, vector->type);
    vf_message_field(&line, vector->case_name);
    vf_message_field(&line, artifact);
    vf_message_field(&line, vf_status_string(outcome->status));
    if (outcome->reason[0] || !outcome->measured) {
        vf_message_field(&line, outcome->reason);
    } else {
        vf_message_format(&line, "%" PRIu64 " values, max_abs %.3g", outcome->metrics.element_count,
                          outcome->metrics.max_abs);
    }
    vf_message_end(&line);
    vf_message_write(worker->output, &line);
    mf_buffer_release(&line);
}

static enum kiln_result golden_vector(void *user, const struct vf_golden_vector *vector,
                                      struct kiln_error *error) {
    const struct golden *golden = user;
    struct worker *worker = golden->worker;
    const struct mf_manifest *manifest = kiln_bundle_manifest(worker->bundle);
    const struct vf_family *family = vf_family_find("dequant");
    const struct vf_case kase = {
        .id = "golden", .dims = {{"count", vector->element_count}}, .dim_count = 1};
    const struct vf_run_params params = {.timeout_ms = worker->options->timeout_s * 1000};
    struct vf_problem problem = {0};
    uint64_t size_bytes = 0;
    enum kiln_result result = mf_dtype_row_bytes(vector->dtype, vector->element_count, &size_bytes);

    if (result == KILN_OK) {
        result = vf_dequant_problem(vector->blocks, size_bytes, vector->values,
                                    vector->element_count, true, &problem);
    }
    for (size_t i = 0; i < manifest->artifact_count && result == KILN_OK; i++) {
        const struct mf_artifact *artifact = &manifest->artifacts[i];
        const struct mf_dtype_info *info = mf_dtype_info(vector->dtype);
        struct vf_outcome outcome;
        if (strcmp(artifact->reference, "dequant") != 0 || artifact->dtype_count < 2 ||
            strcmp(artifact->dtypes[0], info->name) != 0) {
            continue;
        }
        vf_run_case(golden->device, worker->bundle, artifact, family, &kase, &problem, &params,
                    &outcome);
        send_row(worker, vector, artifact->name, &outcome);
        if (outcome.device_unusable) {
            worker->stop = true;
            result = kiln_error_set(error, KILN_ERR_DEVICE_LOST, "%s", outcome.reason);
        }
    }
    vf_problem_release(&problem);
    return result;
}

static void request_golden(struct worker *worker, const char *device, const char *directory) {
    struct golden golden = {.worker = worker};
    const struct vf_golden_callbacks callbacks = {.user = &golden, .vector = golden_vector};
    struct vf_golden_summary summary = {0};
    struct kiln_error error = {0};
    enum kiln_result result = need_bundle(worker, &error);

    if (result == KILN_OK) {
        result = need_device(worker, strtoul(device, NULL, 10), &golden.device, &error);
    }
    if (result == KILN_OK) {
        result = vf_golden_run(directory, &callbacks, &summary, &error);
        /* Mismatches of the CPU checks are the parent's to report. */
        result = result == KILN_ERR_MISMATCH ? KILN_OK : result;
    }
    send_end(worker, result, result == KILN_OK ? "" : error.message);
}

static void worker_inject(struct worker *worker) {
    static const struct {
        const char *prefix;
        enum injection injection;
    } kinds[] = {{"crash:", INJECT_CRASH},
                 {"hang:", INJECT_HANG},
                 {"lost:", INJECT_LOST},
                 {"wrong:", INJECT_WRONG}};
    const char *text = getenv("KILN_VERIFY_INJECT");

    for (size_t i = 0; text && i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t length = strlen(kinds[i].prefix);
        if (strncmp(text, kinds[i].prefix, length) == 0) {
            worker->injection = kinds[i].injection;
            worker->injected_artifact = text + length;
        }
    }
}

static void handle(struct worker *worker, char *line) {
    char *fields[VF_FIELD_MAX];
    const size_t count = vf_message_split(line, fields);

    if (count == 1 && strcmp(fields[0], "devices") == 0) {
        request_devices(worker);
    } else if (count == 3 && strcmp(fields[0], "run") == 0) {
        request_run(worker, fields[1], fields[2]);
    } else if (count == 3 && strcmp(fields[0], "golden") == 0) {
        request_golden(worker, fields[1], fields[2]);
    } else {
        send_end(worker, KILN_ERR_ARGUMENT, "unknown request");
    }
}

int vf_worker_run(const struct vf_options *options) {
    struct worker worker = {.options = options, .output = -1};
    int input = -1;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (sscanf(options->worker, "%d,%d", &input, &worker.output) != 2) {
        return 2;
    }
    FILE *requests = fdopen(input, "r");
    if (!requests) {
        return 2;
    }
    /* Never outlive the parent, even when a driver hangs. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    worker_inject(&worker);
    while (!worker.stop && (length = getline(&line, &capacity, requests)) > 0) {
        line[length - 1] = '\0';
        handle(&worker, line);
    }
    free(line);
    fclose(requests);
    if (worker.stop) {
        _exit(3); /* objects of a lost device are not worth destroying */
    }
    vf_problem_release(&worker.problem);
    vf_memo_release(&worker.memo);
    for (size_t i = 0; i < worker.device_count; i++) {
        vf_device_close(&worker.devices[i]);
    }
    free(worker.devices);
    kiln_instance_close(&worker.instance);
    vf_plan_release(&worker.plan);
    kiln_bundle_close(&worker.bundle);
    return 0;
}
