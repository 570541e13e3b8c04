/* SPDX-License-Identifier: MIT */
/*
 * What an engine does, in the small: y = W x with 2 x 32 weights in raw Q4_0 blocks. Every weight is
 * 1 in the first row and -2 in the second, x is 0, 1, 2 ... 31, so y is 496 and -992.
 *
 *   cc matvec.c $(pkg-config --cflags --libs kiln) && ./a.out spv
 */
#include <kiln/kiln.h>

#include <stdio.h>
#include <string.h>

enum { ROWS = 2, COLUMNS = 32, BLOCK_BYTES = 18 };

static enum kiln_result run(struct kiln_device *device, struct kiln_bundle *bundle, float y[ROWS],
                            struct kiln_error *error) {
    /* A Q4_0 block: the scale as f16 (1 and -2), then 16 bytes of nibbles; 9 stands for 9 - 8. */
    unsigned char blocks[ROWS][BLOCK_BYTES] = {{0x00, 0x3c}, {0x00, 0xc0}};
    float x[COLUMNS];
    memset(blocks[0] + 2, 0x99, 16);
    memset(blocks[1] + 2, 0x99, 16);
    for (int i = 0; i < COLUMNS; i++) {
        x[i] = (float)i;
    }

    const char *const dtypes[] = {"q4_0", "f32"};
    const struct mf_dim dims[] = {{"nout", ROWS}, {"k", COLUMNS}};
    const struct kiln_query query = {
        .family = "matvec", .dtypes = dtypes, .dtype_count = 2, .dims = dims, .dim_count = 2};
    const struct mf_artifact *artifact = NULL;
    struct kiln_pipeline *pipeline = NULL;
    struct kiln_buffer *weights = NULL, *input = NULL, *output = NULL;
    enum kiln_result result = kiln_select(kiln_bundle_manifest(bundle), kiln_device_info(device),
                                          &query, &artifact, NULL, error);
    if (result != KILN_OK ||
        (result = kiln_pipeline_get(device, bundle, artifact, &pipeline, error)) != KILN_OK ||
        (result = kiln_buffer_create(device, sizeof blocks, &weights, error)) != KILN_OK ||
        (result = kiln_buffer_create(device, sizeof x, &input, error)) != KILN_OK ||
        (result = kiln_buffer_create(device, ROWS * sizeof *y, &output, error)) != KILN_OK ||
        (result = kiln_buffer_upload(weights, 0, blocks, sizeof blocks, error)) != KILN_OK ||
        (result = kiln_buffer_upload(input, 0, x, sizeof x, error)) != KILN_OK) {
        goto done;
    }
    const struct kiln_range ranges[] = {kiln_buffer_range("weights", weights, 0, sizeof blocks),
                                        kiln_buffer_range("x", input, 0, sizeof x),
                                        kiln_buffer_range("y", output, 0, ROWS * sizeof *y)};
    const struct kiln_dispatch dispatch = {
        .pipeline = pipeline, .ranges = ranges, .range_count = 3, .dims = dims, .dim_count = 2};
    result = kiln_quick_run(&dispatch, 10000, NULL, error);
    if (result == KILN_OK) {
        result = kiln_buffer_download(output, 0, y, ROWS * sizeof *y, error);
    }

done:
    kiln_buffer_destroy(&output);
    kiln_buffer_destroy(&input);
    kiln_buffer_destroy(&weights);
    return result;
}

int main(int argc, char **argv) {
    struct kiln_device *device = NULL;
    struct kiln_bundle *bundle = NULL;
    struct kiln_error error = {KILN_OK, ""};
    float y[ROWS] = {0.0f, 0.0f};
    enum kiln_result result =
        kiln_bundle_open_directory(argc > 1 ? argv[1] : "spv", &bundle, &error);
    if (result == KILN_OK) {
        result = kiln_quick_open_device(NULL, NULL, KILN_CPU_LAST_RESORT, &device, &error);
    }
    if (result == KILN_OK) {
        result = run(device, bundle, y, &error);
    }
    kiln_device_close(&device);
    kiln_bundle_close(&bundle);
    if (result != KILN_OK) {
        fprintf(stderr, "%s\n", error.message);
        return result == KILN_ERR_NO_LOADER || result == KILN_ERR_NO_DRIVER ||
                       result == KILN_ERR_NO_DEVICE
                   ? 77
                   : 1;
    }
    printf("%g %g\n", (double)y[0], (double)y[1]);
    return y[0] == 496.0f && y[1] == -992.0f ? 0 : 1;
}
