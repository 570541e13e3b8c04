/* SPDX-License-Identifier: MIT */
#include "gs_progress.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_COLUMNS 40
#define QUIET_S 0.3 /* a run that ends sooner shows nothing */

static double monotonic_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void gs_progress_begin(struct gs_progress *progress, FILE *stream) {
    *progress = (struct gs_progress){
        .stream = stream,
        .terminal = stream != NULL && isatty(fileno(stream)) == 1,
        .started_s = monotonic_s(),
    };
}

double gs_progress_seconds(const struct gs_progress *progress) {
    return monotonic_s() - progress->started_s;
}

static void bar_draw(struct gs_progress *progress, size_t finished_count, size_t job_count) {
    char bar[BAR_COLUMNS + 1];
    size_t filled = finished_count * BAR_COLUMNS / job_count;
    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', filled);
    bar[BAR_COLUMNS] = 0;
    fprintf(progress->stream, "\r[%s] %zu/%zu", bar, finished_count, job_count);
    fflush(progress->stream);
    progress->drawn = true;
}

void gs_progress_watch(void *context, size_t finished_count, size_t job_count) {
    struct gs_progress *progress = context;
    if (progress->stream == NULL || job_count == 0 || gs_progress_seconds(progress) < QUIET_S) {
        return;
    }
    size_t tenth = finished_count * 10 / job_count;
    if (progress->terminal) {
        bar_draw(progress, finished_count, job_count);
    } else if (tenth > progress->last_tenth) {
        fprintf(progress->stream, "genshaders: %zu of %zu variants\n", finished_count, job_count);
        progress->last_tenth = tenth;
    }
}

void gs_progress_end(struct gs_progress *progress) {
    if (progress->drawn) {
        fprintf(progress->stream, "\r%*s\r", BAR_COLUMNS + 32, "");
        fflush(progress->stream);
        progress->drawn = false;
    }
}
