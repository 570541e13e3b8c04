/* SPDX-License-Identifier: MIT */
#include "vf_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t vf_clock_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_pair(int pair[2]) {
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0) {
            close(pair[i]);
        }
        pair[i] = -1;
    }
}

/* In the child: only async-signal-safe calls until exec. */
static void child_exec(char **argv, int request_end, int answer_end) {
    fcntl(request_end, F_SETFD, 0);
    fcntl(answer_end, F_SETFD, 0);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* drivers that print must not spoil our output */
    execv("/proc/self/exe", argv);
    _exit(127);
}

enum kiln_result vf_process_start(const struct vf_options *options, struct vf_process *process,
                                  struct kiln_error *error) {
    int requests[2] = {-1, -1};
    int answers[2] = {-1, -1};
    char descriptors[48];
    char **argv = calloc((size_t)options->argc + 3, sizeof *argv);
    enum kiln_result result = KILN_OK;
    static char flag[] = "--worker";

    *process = (struct vf_process){.input = -1, .output = -1};
    if (!argv) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "out of memory");
    }
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
        result = kiln_error_set(error, KILN_ERR_SYSTEM, "pipe: %s", strerror(errno));
        goto done;
    }
    snprintf(descriptors, sizeof descriptors, "%d,%d", requests[0], answers[1]);
    argv[0] = options->argv[0];
    argv[1] = flag;
    argv[2] = descriptors;
    for (int i = 1; i < options->argc; i++) {
        argv[i + 2] = options->argv[i];
    }
    const pid_t pid = fork();
    if (pid == 0) {
        child_exec(argv, requests[0], answers[1]);
    }
    if (pid < 0) {
        result = kiln_error_set(error, KILN_ERR_SYSTEM, "fork: %s", strerror(errno));
        goto done;
    }
    process->pid = pid;
    process->input = requests[1];
    process->output = answers[0];
    requests[1] = answers[0] = -1;
done:
    close_pair(requests);
    close_pair(answers);
    free(argv);
    return result;
}

bool vf_process_line(struct vf_process *process, struct mf_buffer *line) {
    char *end = process->text.size_bytes
                    ? memchr(process->text.data, '\n', process->text.size_bytes)
                    : NULL;

    mf_buffer_clear(line);
    if (!end) {
        return false;
    }
    const size_t length = (size_t)(end - process->text.data);
    mf_buffer_append(line, process->text.data, length);
    memmove(process->text.data, end + 1, process->text.size_bytes - length - 1);
    process->text.size_bytes -= length + 1;
    process->text.data[process->text.size_bytes] = '\0';
    return true;
}

bool vf_process_read(struct vf_process *process) {
    char bytes[4096];
    const ssize_t count = read(process->output, bytes, sizeof bytes);

    if (count > 0) {
        return mf_buffer_append(&process->text, bytes, (size_t)count) == KILN_OK;
    }
    return count < 0 && (errno == EINTR || errno == EAGAIN);
}

bool vf_process_wait_line(struct vf_process *process, int64_t deadline_ms, struct mf_buffer *line) {
    while (!vf_process_line(process, line)) {
        struct pollfd poll_for = {.fd = process->output, .events = POLLIN};
        const int64_t left = deadline_ms - vf_clock_ms();

        if (left <= 0 || (poll(&poll_for, 1, (int)(left > 60000 ? 60000 : left)) > 0 &&
                          !vf_process_read(process))) {
            return false;
        }
    }
    return true;
}

void vf_process_end(struct vf_process *process, bool kill_first, char *text, size_t size) {
    int status = 0;

    text[0] = '\0';
    if (process->pid > 0) {
        if (kill_first) {
            kill(process->pid, SIGKILL);
        }
        close(process->input);
        close(process->output);
        while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status)) {
            snprintf(text, size, "crash (signal %d, %s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        } else {
            snprintf(text, size, "crash (exit status %d)", WEXITSTATUS(status));
        }
    }
    mf_buffer_release(&process->text);
    *process = (struct vf_process){.input = -1, .output = -1};
}
