/* SPDX-License-Identifier: MIT */
/* The forms of a report, as exact text, and joining of reports. */
#include "vf_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const dtypes[] = {"q4_0", "f32"};
static const char *const unknown[] = {"q4_0", "f32"};
static struct mf_artifact artifacts[] = {
    {.name = "m__a",
     .family = "matvec",
     .tier = "portable",
     .reference = "matvec",
     .dtypes = dtypes,
     .dtype_count = 2},
    {.name = "m__b",
     .family = "matvec",
     .tier = "subgroup",
     .reference = "matvec",
     .dtypes = dtypes,
     .dtype_count = 2},
    {.name = "z__c",
     .family = "<odd> & \"family\"",
     .tier = "portable",
     .reference = "none",
     .dtypes = unknown,
     .dtype_count = 2},
};
static struct mf_manifest manifest = {.artifacts = artifacts, .artifact_count = 3};

static const struct vf_device_row gpu = {.name = "GPU",
                                         .type = "discrete",
                                         .driver = "drv",
                                         .driver_info = "1.0",
                                         .api = "1.3.0",
                                         .ids = "1:2",
                                         .subgroup = "32",
                                         .index = 1};

/* Two artifacts with two cases each, and one without a reference. */
struct fixture {
    struct mf_arena arena;
    struct vf_options options;
    struct vf_plan plan;
    struct vf_report report;
};

static void make(struct fixture *f, const struct vf_device_row *devices, size_t count) {
    static const char *const argv[] = {"verify", "--seed", "5", NULL};

    *f = (struct fixture){0};
    assert_int_equal(vf_options_parse(3, (char **)argv, &f->arena, &f->options, NULL), KILN_OK);
    assert_int_equal(vf_plan_make(&manifest, &f->options, &f->plan, NULL), KILN_OK);
    assert_int_equal(vf_report_make(&f->plan, &f->options, devices, count, "no device", &f->report),
                     KILN_OK);
    assert_int_equal(vf_bundle_digest(&manifest, f->report.bundle_digest), KILN_OK);
}

static void release(struct fixture *f) {
    vf_report_release(&f->report);
    vf_plan_release(&f->plan);
    mf_arena_release(&f->arena);
}

/* m__a passes and fails, m__b is skipped and never ran. */
static void fill(struct fixture *f) {
    struct vf_report *r = &f->report;

    assert_int_equal(r->record_count, 5);
    vf_report_set(r, vf_report_record(r, 0, 0, 0), VF_STATUS_PASS, 0.25, 1e-7, 0.5, "");
    vf_report_set(r, vf_report_record(r, 0, 1, 0), VF_STATUS_SKIP, NAN, NAN, NAN,
                  "no # shaderInt8");
    vf_report_set(r, vf_report_record(r, 0, 2, 0), VF_STATUS_FAIL, INFINITY, NAN, 2.0,
                  "y: \"bad\"\n<nan> & co");
    assert_null(vf_report_record(r, 0, 4, 0));
    assert_null(vf_report_record(r, 2, 0, 0));
    assert_int_equal(vf_report_finish(r), KILN_OK);
}

static void test_summary(void **state) {
    struct fixture f;

    (void)state;
    make(&f, &gpu, 1);
    fill(&f);
    const struct vf_summary s = vf_report_summary(&f.report);
    assert_int_equal(s.pass, 1);
    assert_int_equal(s.fail, 3); /* bad values, never ran, no reference */
    assert_int_equal(s.skip, 1);
    const struct vf_record **sorted = vf_report_sorted(&f.report);
    assert_string_equal(sorted[0]->entry->artifact->name, "m__a");
    assert_string_equal(vf_record_case(sorted[0]), "512x256");
    assert_string_equal(vf_record_case(sorted[1]), "7x256");
    assert_string_equal(sorted[3]->reason, "never ran");
    assert_string_equal(vf_record_case(sorted[4]), "-");
    release(&f);
}

static void test_no_device(void **state) {
    struct fixture f;

    (void)state;
    make(&f, NULL, 0);
    const struct vf_summary s = vf_report_summary(&f.report);
    assert_int_equal(s.skip, 4);
    assert_int_equal(s.fail, 1); /* a missing reference needs no device to be wrong */
    assert_string_equal(vf_report_record(&f.report, 0, 0, 0)->reason, "no device");
    release(&f);
}

static void test_twins(void **state) {
    const struct vf_device_row rows[] = {gpu, gpu};
    struct fixture f;

    (void)state;
    make(&f, rows, 2);
    assert_string_equal(f.report.devices[0].label, "GPU #1");
    assert_int_equal(f.report.record_count, 10);
    release(&f);
}

static void test_json(void **state) {
    static const char first_case[] = "    {\n"
                                     "      \"artifact\": \"m__a\",\n"
                                     "      \"device\": \"GPU\",\n"
                                     "      \"dims\": {\n"
                                     "        \"k\": 256,\n"
                                     "        \"nout\": 512\n"
                                     "      },\n"
                                     "      \"dtypes\": [\n"
                                     "        \"q4_0\",\n"
                                     "        \"f32\"\n"
                                     "      ],\n"
                                     "      \"family\": \"matvec\",\n"
                                     "      \"max_abs\": 0.25,\n"
                                     "      \"reason\": \"\",\n"
                                     "      \"rel\": 1e-07,\n"
                                     "      \"scale\": 0.5,\n"
                                     "      \"status\": \"pass\",\n"
                                     "      \"tier\": \"portable\"\n"
                                     "    },\n";
    static const char failed[] = "      \"max_abs\": null,\n"
                                 "      \"reason\": \"y: \\\"bad\\\"\\n<nan> & co\",\n"
                                 "      \"rel\": null,\n"
                                 "      \"scale\": 2.0,\n"
                                 "      \"status\": \"fail\",\n";
    static const char summary[] = "  \"summary\": {\n"
                                  "    \"fail\": 3,\n"
                                  "    \"pass\": 1,\n"
                                  "    \"skip\": 1\n"
                                  "  }\n";
    struct mf_buffer text = {0};
    struct fixture f;

    (void)state;
    make(&f, &gpu, 1);
    fill(&f);
    assert_int_equal(vf_report_json(&f.report, &text), KILN_OK);
    assert_non_null(strstr(text.data, first_case));
    assert_non_null(strstr(text.data, failed));
    assert_non_null(strstr(text.data, summary));
    assert_non_null(strstr(text.data, "  \"seed\": 5,\n  \"suite\": \"quick\","));
    mf_buffer_release(&text);
    release(&f);
}

static void test_tap(void **state) {
    static const char expected[] =
        "TAP version 13\n"
        "1..5\n"
        "ok 1 - m__a/512x256 on GPU\n"
        "not ok 2 - m__a/7x256 on GPU\n"
        "  ---\n"
        "  message: \"y: \\\"bad\\\"\\x0A<nan> & co\"\n"
        "  replay: \"verify --bundle spv --device GPU --seed 5 --replay m__a/7x256\"\n"
        "  max_abs: null\n"
        "  rel: null\n"
        "  scale: 2.0\n"
        "  ...\n"
        "ok 3 - m__b/512x256 on GPU # SKIP no \\# shaderInt8\n"
        "not ok 4 - m__b/7x256 on GPU\n"
        "  ---\n"
        "  message: \"never ran\"\n"
        "  replay: \"verify --bundle spv --device GPU --seed 5 --replay m__b/7x256\"\n"
        "  max_abs: null\n"
        "  rel: null\n"
        "  scale: null\n"
        "  ...\n"
        "not ok 5 - z__c/- on GPU\n"
        "  ---\n"
        "  message: \"there is no CPU reference 'none'\"\n"
        "  replay: \"verify --bundle spv --device GPU --seed 5 --replay z__c/-\"\n"
        "  max_abs: null\n"
        "  rel: null\n"
        "  scale: null\n"
        "  ...\n";
    struct mf_buffer text = {0};
    struct fixture f;

    (void)state;
    make(&f, &gpu, 1);
    fill(&f);
    assert_int_equal(vf_report_tap(&f.report, &text), KILN_OK);
    assert_string_equal(text.data, expected);
    mf_buffer_release(&text);
    release(&f);
}

static void test_junit(void **state) {
    static const char expected[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"verify\" tests=\"5\" failures=\"3\">\n"
        "  <testsuite name=\"&lt;odd&gt; &amp; &quot;family&quot; on GPU\" tests=\"1\" "
        "failures=\"1\" errors=\"0\" skipped=\"0\">\n"
        "    <testcase classname=\"z__c\" name=\"-\">\n"
        "      <failure message=\"there is no CPU reference 'none'\">verify --bundle spv --device "
        "GPU --seed 5 --replay z__c/-</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "  <testsuite name=\"matvec on GPU\" tests=\"4\" failures=\"2\" errors=\"0\" "
        "skipped=\"1\">\n"
        "    <testcase classname=\"m__a\" name=\"512x256\"/>\n"
        "    <testcase classname=\"m__a\" name=\"7x256\">\n"
        "      <failure message=\"y: &quot;bad&quot;&#10;&lt;nan&gt; &amp; co\">verify --bundle "
        "spv --device GPU --seed 5 --replay m__a/7x256</failure>\n"
        "    </testcase>\n"
        "    <testcase classname=\"m__b\" name=\"512x256\">\n"
        "      <skipped message=\"no # shaderInt8\"/>\n"
        "    </testcase>\n"
        "    <testcase classname=\"m__b\" name=\"7x256\">\n"
        "      <failure message=\"never ran\">verify --bundle spv --device GPU --seed 5 --replay "
        "m__b/7x256</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n";
    struct mf_buffer text = {0};
    struct fixture f;

    (void)state;
    make(&f, &gpu, 1);
    fill(&f);
    assert_int_equal(vf_report_junit(&f.report, &text), KILN_OK);
    assert_string_equal(text.data, expected);
    mf_buffer_release(&text);
    release(&f);
}

static void test_table(void **state) {
    struct mf_buffer text = {0};
    struct fixture f;

    (void)state;
    make(&f, &gpu, 1);
    fill(&f);
    assert_int_equal(vf_report_table(&f.report, &text), KILN_OK);
    assert_non_null(strstr(text.data, "  matvec         q4_0 f32         portable       1      1"
                                      "      0  1.00e-07       inf\n"));
    assert_non_null(strstr(text.data, "  matvec         q4_0 f32         subgroup       0      1"
                                      "      1         -         -\n"));
    assert_non_null(strstr(text.data, "FAIL m__b/7x256 on GPU\n  never ran\n  verify --bundle spv "
                                      "--device GPU --seed 5 --replay m__b/7x256\n"));
    mf_buffer_release(&text);
    release(&f);
}

/* ---- merge ---- */

#define DEVICE(name) "{\"device\":\"" name "\"}"
#define CASE(status) "{\"artifact\":\"a\",\"status\":\"" status "\"}"

static struct vf_merge_input input(const char *path, const char *text) {
    return (struct vf_merge_input){path, text, strlen(text)};
}

static const char one[] = "{\"bundle\":\"b1\",\"seed\":1,\"suite\":\"quick\",\"devices\":[" DEVICE(
    "A") "],\"cases\":[" CASE("pass") "," CASE("fail") "],\"summary\":{\"pass\":1,\"fail\":1,"
                                                       "\"skip\":0}}";
static const char two[] =
    "{\"bundle\":\"b1\",\"seed\":2,\"suite\":\"quick\",\"devices\":[" DEVICE("A") "," DEVICE(
        "B") "],\"cases\":[" CASE("skip") "],\"summary\":{\"pass\":0,\"fail\":0,\"skip\":1}}";

static void test_merge(void **state) {
    const struct vf_merge_input inputs[] = {input("1.json", one), input("2.json", two)};
    struct mf_buffer text = {0};
    struct vf_summary s;
    struct mf_json *root = NULL;

    (void)state;
    assert_int_equal(vf_report_merge(inputs, 2, &text, &s, NULL), KILN_OK);
    assert_true(s.pass == 1 && s.fail == 1 && s.skip == 1);
    assert_int_equal(mf_json_parse(text.data, text.size_bytes, "merged", &root, NULL), KILN_OK);
    assert_int_equal(mf_json_count(mf_json_child(root, "cases")), 3);
    assert_int_equal(mf_json_count(mf_json_child(root, "devices")), 2);
    assert_int_equal(mf_json_type(mf_json_child(root, "seed")), MF_JSON_NULL);
    assert_int_equal(mf_json_type(mf_json_child(root, "suite")), MF_JSON_STRING);
    /* A merged report can be merged again. */
    const struct vf_merge_input again[] = {input("m.json", text.data)};
    struct mf_buffer second = {0};
    assert_int_equal(vf_report_merge(again, 1, &second, &s, NULL), KILN_OK);
    assert_string_equal(second.data, text.data);
    mf_json_release(&root);
    mf_buffer_release(&text);
    mf_buffer_release(&second);
}

static void test_merge_refuses(void **state) {
    static const struct {
        const char *text;
        enum kiln_result result;
        const char *message;
    } rows[] = {
        {"{\"bundle\":\"b2\",\"devices\":[],\"cases\":[],\"summary\":{\"pass\":0,\"fail\":0,"
         "\"skip\":0}}",
         KILN_ERR_MISMATCH, "2.json"},
        {"{\"bundle\":\"b1\",\"devices\":[],\"cases\":[" CASE(
             "pass") "],\"summary\":{\"pass\":2,\"fail\":0,\"skip\":0}}",
         KILN_ERR_FORMAT, "counts"},
        {"{\"bundle\":\"b1\",\"devices\":[],\"cases\":[" CASE(
             "passed") "],\"summary\":{\"pass\":1,\"fail\":0,\"skip\":0}}",
         KILN_ERR_FORMAT, "cases[0].status"},
        {"{\"bundle\":\"b1\",\"devices\":[],\"summary\":{}}", KILN_ERR_FORMAT, "cases"},
        {"[1]", KILN_ERR_FORMAT, "2.json"},
        {"{", KILN_ERR_FORMAT, "2.json"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct vf_merge_input inputs[] = {input("1.json", one),
                                                input("2.json", rows[i].text)};
        struct mf_buffer text = {0};
        struct kiln_error error = {0};
        struct vf_summary s;

        assert_int_equal(vf_report_merge(inputs, 2, &text, &s, &error), rows[i].result);
        if (!strstr(error.message, rows[i].message)) {
            fail_msg("row %zu: '%s'", i, error.message);
        }
        mf_buffer_release(&text);
    }
}

/* The digest changes with each of the things it stands for, and with nothing else. */
static void test_digest(void **state) {
    struct mf_artifact changed[3];
    const struct mf_manifest other = {.artifacts = changed, .artifact_count = 3};
    char before[MF_HASH_TEXT_BYTES];
    char after[MF_HASH_TEXT_BYTES];

    (void)state;
    memcpy(changed, artifacts, sizeof changed);
    assert_int_equal(vf_bundle_digest(&manifest, before), KILN_OK);
    changed[0].tier = "other";
    assert_int_equal(vf_bundle_digest(&other, after), KILN_OK);
    assert_string_equal(before, after);
    changed[1].content.bytes[3] ^= 1;
    assert_int_equal(vf_bundle_digest(&other, after), KILN_OK);
    assert_string_not_equal(before, after);
    changed[1].content.bytes[3] ^= 1;
    changed[2].name = "z__d";
    assert_int_equal(vf_bundle_digest(&other, after), KILN_OK);
    assert_string_not_equal(before, after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),       cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_twins),         cmocka_unit_test(test_json),
        cmocka_unit_test(test_tap),           cmocka_unit_test(test_junit),
        cmocka_unit_test(test_table),         cmocka_unit_test(test_merge),
        cmocka_unit_test(test_merge_refuses), cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
