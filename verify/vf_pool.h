/* SPDX-License-Identifier: MIT */
/*
 * vf_pool: worker processes, and blame for what kills them.
 *
 * The parent starts itself again (/proc/self/exe) as workers and gives each one job at a time. A
 * worker says which entry it starts before it touches it, so when it dies or takes too long, that
 * entry is the one to blame: it fails with "crash (signal ...)" or "timeout", and another worker
 * goes on with the entries behind it. An artifact that did this twice on a device is not run there
 * again; its other cases fail with that reason.
 *
 * Processes are only ever ended by their own process id.
 */
#ifndef VF_POOL_H
#define VF_POOL_H

#include "vf_report.h"

#include <stdio.h>

/* ---- one worker ---- */

struct vf_process {
    int pid;               /* 0: not running */
    int input;             /* we write requests here */
    int output;            /* we read lines here */
    struct mf_buffer text; /* bytes read and not yet taken as lines */
};

/* Starts `argv[0] --worker FDS argv[1..]`. On failure the process is all zero (not running). */
enum kiln_result vf_process_start(const struct vf_options *options, struct vf_process *process,
                                  struct kiln_error *error);

/* Takes the next complete line out of what was read, without its newline; false: there is none. */
bool vf_process_line(struct vf_process *process, struct mf_buffer *line);

/* Reads what is there; false when the worker's end is closed. */
bool vf_process_read(struct vf_process *process);

/*
 * Closes the pipes, waits for the process (after killing it when `kill_first`), and describes its
 * end in `text`: "crash (signal 11, Segmentation fault)", "crash (exit status 1)".
 */
void vf_process_end(struct vf_process *process, bool kill_first, char *text, size_t size);

/* Waits for the next line; false when the process ended or the deadline passed. */
bool vf_process_wait_line(struct vf_process *process, int64_t deadline_ms, struct mf_buffer *line);

/* Monotonic time in milliseconds. */
int64_t vf_clock_ms(void);

/* ---- requests ---- */

/*
 * Asks a worker for the devices. Rows live in `arena`. KILN_ERR_NO_LOADER, _NO_DRIVER, _NO_DEVICE:
 * there is nothing to run on, the message says why. KILN_ERR_SYSTEM: the worker crashed or hung.
 */
enum kiln_result vf_pool_devices(const struct vf_options *options, struct mf_arena *arena,
                                 struct vf_device_row **rows, size_t *count,
                                 struct kiln_error *error);

/*
 * Runs every entry of the report's plan on every device of the report with options->jobs workers.
 * Progress goes to `progress` (NULL: none): one rewritten line on a terminal, else a line a job.
 * An error means that no worker could be run at all.
 */
enum kiln_result vf_pool_run(struct vf_report *report, FILE *progress, struct kiln_error *error);

#endif /* VF_POOL_H */
