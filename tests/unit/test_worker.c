/* SPDX-License-Identifier: MIT */
/*
 * The worker protocol and the pool, without Vulkan: the pool starts this very program again with
 * --worker, which then plays a worker that misbehaves as the environment variable FAKE_WORKER says.
 */
#include "vf_message.h"
#include "vf_pool.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the worker's part ---- */

static void answer(int output, const char *format, ...) {
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (write(output, text, (size_t)length) != length) {
        _exit(9);
    }
}

/* What to do when an entry starts: FAKE_WORKER is "KIND:DEVICE:ENTRY" or "". */
static void misbehave(int output, unsigned long device, unsigned long entry) {
    const char *wish = getenv("FAKE_WORKER");
    char kind[16] = "";
    unsigned long on_device = 0;
    unsigned long on_entry = 0;

    if (!wish || sscanf(wish, "%15[^:]:%lu:%lu", kind, &on_device, &on_entry) != 3 ||
        device != on_device || (entry != on_entry && strcmp(kind, "always") != 0)) {
        return;
    }
    if (strcmp(kind, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers catch it */
        raise(SIGSEGV);
    } else if (strcmp(kind, "always") == 0) {
        abort();
    } else if (strcmp(kind, "exit") == 0) {
        _exit(7);
    } else if (strcmp(kind, "hang") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(kind, "lost") == 0) {
        answer(output, "result\t%lu\t%lu\tfail\tnan\tnan\tnan\tdevice lost\n", device, entry);
        _exit(3);
    } else if (strcmp(kind, "garbage") == 0) {
        answer(output, "result\t99\t99\tpass\t0\t0\t0\t\nwhat?\n\nresult\t0\n");
    }
}

static void play_run(int output, char *items) {
    for (char *at = items; *at;) {
        const unsigned long device = strtoul(at, &at, 10);
        const unsigned long entry = strtoul(at + 1, &at, 10);
        answer(output, "start\t%lu\t%lu\n", device, entry);
        misbehave(output, device, entry);
        answer(output, "result\t%lu\t%lu\tpass\t%a\tnan\t%a\t100%%25 of %%09tab\n", device, entry,
               0.5, 0.25);
        at += strspn(at, " ");
    }
    answer(output, "end\t0\t\n");
}

static void play_devices(int output) {
    const char *wish = getenv("FAKE_WORKER");

    if (wish && strcmp(wish, "no-driver") == 0) {
        answer(output, "end\t%d\tno driver here\n", (int)KILN_ERR_NO_DRIVER);
        return;
    }
    if (wish && strcmp(wish, "list-crash") == 0) {
        abort();
    }
    answer(output, "device\tA %%25\tcpu\td\ti\t1.3.0\t1:2\t8 (8-8)\n");
    answer(output, "device\tB\tdiscrete\td\ti\t1.3.0\t1:2\t32 (32-32)\nend\t0\t\n");
}

static int play_worker(const char *descriptors) {
    int input = -1;
    int output = -1;
    char *line = NULL;
    size_t capacity = 0;

    if (getenv("FAKE_WORKER") && strcmp(getenv("FAKE_WORKER"), "stillborn") == 0) {
        return 5;
    }
    if (sscanf(descriptors, "%d,%d", &input, &output) != 2) {
        return 2;
    }
    FILE *requests = fdopen(input, "r");
    while (requests && getline(&line, &capacity, requests) > 0) {
        char *fields[VF_FIELD_MAX];
        line[strlen(line) - 1] = '\0';
        const size_t count = vf_message_split(line, fields);
        if (count == 3 && strcmp(fields[0], "run") == 0) {
            play_run(output, fields[2]);
        } else if (strcmp(fields[0], "devices") == 0) {
            play_devices(output);
        }
    }
    free(line);
    return 0;
}

/* ---- the tests ---- */

static const char *const q4_0[] = {"q4_0", "f32"};
static const char *const q8_0[] = {"q8_0", "f32"};
static struct mf_artifact artifacts[] = {
    {.name = "a", .reference = "matvec", .dtypes = q4_0, .dtype_count = 2},
    {.name = "b", .reference = "matvec", .dtypes = q4_0, .dtype_count = 2},
    {.name = "c", .reference = "matvec", .dtypes = q8_0, .dtype_count = 2},
    {.name = "d", .reference = "none", .dtypes = q8_0, .dtype_count = 2},
};
static struct mf_manifest manifest = {.artifacts = artifacts, .artifact_count = 4};

struct fixture {
    struct mf_arena arena;
    struct vf_options options;
    struct vf_plan plan;
    struct vf_report report;
};

/* Runs the plan with the fake worker on devices A and B; suite `full` has many cases an artifact.
 */
static void run(struct fixture *f, const char *wish, const char *suite) {
    const char *argv[] = {"verify", "--timeout", "1", "--suite", suite, NULL};
    struct vf_device_row *rows = NULL;
    size_t count = 0;
    struct kiln_error error = {0};

    *f = (struct fixture){0};
    setenv("FAKE_WORKER", "", 1);
    assert_int_equal(vf_options_parse(5, (char **)argv, &f->arena, &f->options, NULL), KILN_OK);
    assert_int_equal(vf_plan_make(&manifest, &f->options, &f->plan, NULL), KILN_OK);
    assert_int_equal(vf_pool_devices(&f->options, &f->arena, &rows, &count, &error), KILN_OK);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].name, "A %");
    assert_string_equal(rows[1].subgroup, "32 (32-32)");
    assert_int_equal(vf_report_make(&f->plan, &f->options, rows, count, "", &f->report), KILN_OK);
    setenv("FAKE_WORKER", wish, 1);
    if (vf_pool_run(&f->report, NULL, &error) != KILN_OK) {
        fail_msg("%s", error.message);
    }
    /* No process is left behind. */
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void release(struct fixture *f) {
    vf_report_release(&f->report);
    vf_plan_release(&f->plan);
    mf_arena_release(&f->arena);
}

static void assert_summary(const struct fixture *f, size_t pass, size_t fail) {
    const struct vf_summary s = vf_report_summary(&f->report);

    assert_int_equal(s.pass, pass);
    assert_int_equal(s.fail, fail);
    assert_int_equal(s.skip, 0);
}

static void test_sound(void **state) {
    struct fixture f;

    (void)state;
    run(&f, "", "quick");
    /* 3 artifacts × 2 cases × 2 devices; d has no reference, on 2 devices. */
    assert_summary(&f, 12, 2);
    const struct vf_record *r = vf_report_record(&f.report, 0, 3, 1);
    assert_true(r->max_abs == 0.5 && r->rel != r->rel && r->scale == 0.25);
    assert_string_equal(r->reason, "100% of \ttab");
    release(&f);
}

/* Only the entry in flight is blamed, and all others still run. One job: entry 1 is artifact b. */
static void test_blame(void **state) {
    (void)state;
    manifest.artifact_count = 2;
    static const struct {
        const char *wish, *reason;
    } rows[] = {{"crash:1:1", "crash (signal 11"},
                {"exit:1:1", "crash (exit status 7)"},
                {"hang:1:1", "timeout after 1 s"},
                {"lost:1:1", "device lost"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        run(&f, rows[i].wish, "quick");
        assert_summary(&f, 7, 1);
        const struct vf_record *r = vf_report_record(&f.report, 0, 1, 1);
        assert_int_equal(r->status, VF_STATUS_FAIL);
        if (strncmp(r->reason, rows[i].reason, strlen(rows[i].reason)) != 0) {
            fail_msg("reason '%s', expected '%s'", r->reason, rows[i].reason);
        }
        release(&f);
    }
    manifest.artifact_count = 4;
}

/* An artifact that always crashes on a device costs two processes, not one a case. */
static void test_two_strikes(void **state) {
    struct fixture f;
    size_t crashed = 0;
    size_t not_run = 0;

    (void)state;
    manifest.artifact_count = 1;
    run(&f, "always:0:0", "seeds");
    assert_summary(&f, 7, 7); /* seven cases: device 1 passes them all */
    for (size_t i = 0; i < f.report.record_count; i++) {
        const char *reason = f.report.records[i].reason;
        crashed += strncmp(reason, "crash (signal 6", 15) == 0;
        not_run += strncmp(reason, "not run: it crashed", 19) == 0;
    }
    assert_int_equal(crashed, 2);
    assert_int_equal(not_run, 5);
    release(&f);
    manifest.artifact_count = 4;
}

/* Workers that die before they start anything: the run ends, and nothing passes. */
static void test_stillborn(void **state) {
    struct fixture f;

    (void)state;
    run(&f, "stillborn", "quick");
    assert_summary(&f, 0, 14);
    assert_non_null(strstr(vf_report_record(&f.report, 0, 0, 0)->reason, "did not start"));
    release(&f);
}

/* Lines that make no sense change nothing. */
static void test_garbage(void **state) {
    struct fixture f;

    (void)state;
    run(&f, "garbage:0:0", "quick");
    assert_summary(&f, 12, 2);
    release(&f);
}

static void test_devices_fail(void **state) {
    static const char *const argv[] = {"verify", NULL};
    static const struct {
        const char *wish;
        enum kiln_result result;
        const char *message;
    } rows[] = {{"no-driver", KILN_ERR_NO_DRIVER, "no driver here"},
                {"list-crash", KILN_ERR_SYSTEM, "crash (signal 6"},
                {"stillborn", KILN_ERR_SYSTEM, "exit status 5"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mf_arena arena = {0};
        struct vf_options options;
        struct vf_device_row *devices = NULL;
        size_t count = 0;
        struct kiln_error error = {0};

        setenv("FAKE_WORKER", rows[i].wish, 1);
        assert_int_equal(vf_options_parse(1, (char **)argv, &arena, &options, NULL), KILN_OK);
        assert_int_equal(vf_pool_devices(&options, &arena, &devices, &count, &error),
                         rows[i].result);
        assert_non_null(strstr(error.message, rows[i].message));
        mf_arena_release(&arena);
    }
}

static void test_messages(void **state) {
    char text[260];
    char *fields[VF_FIELD_MAX];
    struct mf_buffer line = {0};

    (void)state;
    for (int i = 1; i < 256; i++) {
        text[i - 1] = (char)i;
    }
    memcpy(text + 255, "%41", 4); /* must not come back as 'A' */
    vf_message_field(&line, "first");
    vf_message_field(&line, text);
    vf_message_field(&line, "");
    vf_message_format(&line, "%d", 42);
    assert_int_equal(vf_message_end(&line), KILN_OK);
    assert_ptr_equal(strchr(line.data, '\n'), line.data + line.size_bytes - 1);
    line.data[line.size_bytes - 1] = '\0';
    assert_int_equal(vf_message_split(line.data, fields), 4);
    assert_string_equal(fields[0], "first");
    assert_string_equal(fields[1], text);
    assert_string_equal(fields[2], "");
    assert_string_equal(fields[3], "42");
    mf_buffer_release(&line);
    char many[] = "0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12%4";
    assert_int_equal(vf_message_split(many, fields), VF_FIELD_MAX);
    assert_string_equal(fields[VF_FIELD_MAX - 1], "11\t12%4");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),     cmocka_unit_test(test_sound),
        cmocka_unit_test(test_blame),        cmocka_unit_test(test_two_strikes),
        cmocka_unit_test(test_stillborn),    cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_devices_fail),
    };

    if (argc > 2 && strcmp(argv[1], "--worker") == 0) {
        return play_worker(argv[2]);
    }
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
