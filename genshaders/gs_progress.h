/* SPDX-License-Identifier: MIT */
/*
 * gs_progress: tells a person how far a run is. On a terminal one line is redrawn in place;
 * elsewhere at most one plain line for each tenth of the work.
 *
 * Used by the command line only: it writes to the stream it is given. One thread at a time.
 */
#ifndef GS_PROGRESS_H
#define GS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gs_progress {
    FILE *stream; /* NULL: silent */
    bool terminal;
    bool drawn;
    size_t last_tenth;
    double started_s; /* monotonic */
};

void gs_progress_begin(struct gs_progress *progress, FILE *stream);

/* A gs_pool_watch; context is a struct gs_progress *. */
void gs_progress_watch(void *context, size_t finished_count, size_t job_count);

/* Clears the bar. */
void gs_progress_end(struct gs_progress *progress);

/* Seconds since gs_progress_begin. */
double gs_progress_seconds(const struct gs_progress *progress);

#endif /* GS_PROGRESS_H */
