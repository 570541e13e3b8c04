/* SPDX-License-Identifier: MIT */
/*
 * vf_golden: checks decoders and quantisers against golden vectors made by another implementation.
 *
 * A golden directory holds index.json and, per type and case, raw files (tests/golden is one):
 *   index.json: {"types": [{"name", "dir", "block_elements", "type_bytes", "ggml_type_id"
 * (optional), "cases": [{"case", "blocks", "elements", "files": {"<file>": {"bytes", "sha256"},
 * ...}}, ...]}, ...]}; other keys are notes <dir>/<case>/blocks.bin   raw blocks in order
 *   <dir>/<case>/deq_f32.bin  the binary32 value of every element, little-endian
 *   <dir>/<case>/in_f32.bin   only where the blocks were made from an input: that input
 *
 * Per case these checks, each one row:
 *   files     every listed file exists, has its size and SHA-256, and sizes agree with the counts
 *   decode    vf_decode gives every value bit for bit (zeros of either sign are equal)
 *   quantize  with in_f32.bin and a quantiser: the blocks byte for byte where the encoder is
 *             stated, otherwise an RMS error of at most 1.05 times that of the golden blocks. Not
 * for q8_1 and q8_k, activation types whose sums may legitimately differ repack    where the type
 * has a repacked one and decode passed: the blocks repacked by the loader decode to the same
 * values; the row's type is the repacked one, and its vector follows A failed files check is the
 * case's only row. A type this build does not know gives one failing row of check "type". An index
 * that does not follow its form ends the run: what is wrong is unclear.
 *
 * Nothing is printed. Thread safety: no state; the callbacks run on the calling thread.
 */
#ifndef VF_GOLDEN_H
#define VF_GOLDEN_H

#include "kiln_result.h"
#include "mf_dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* One result. The strings live until the callback returns; case_name is "" for a "type" row. */
struct vf_golden_row {
    const char *type; /* name in the index; the repacked type's for "repack" */
    const char *case_name;
    const char *check; /* "type", "files", "decode", "quantize" or "repack" */
    bool passed;
    const char *detail; /* one line: counts when passed, what differs where when failed */
};

/* One vector whose files are sound: raw blocks and the values they stand for. Borrowed likewise. */
struct vf_golden_vector {
    enum mf_dtype dtype;
    const char *type;
    const char *case_name;
    const uint8_t *blocks; /* element_count / block_elements blocks of dtype */
    uint64_t element_count;
    const float *values; /* element_count expected values */
};

struct vf_golden_callbacks {
    void *user;
    /* Called for every row. NULL: rows are only counted. */
    void (*row)(void *user, const struct vf_golden_row *row);
    /*
     * Called for every vector after its rows, and for it repacked where that is possible, so that
     * the same data can go through kernels on a device; NULL: not. Its own results are its own to
     * report. A failure ends the run with it.
     */
    enum kiln_result (*vector)(void *user, const struct vf_golden_vector *vector,
                               struct kiln_error *error);
};

struct vf_golden_summary {
    uint32_t type_count;
    uint32_t case_count;
    uint32_t pass_count; /* rows */
    uint32_t fail_count;
};

/*
 * Runs all checks of a directory. KILN_OK: at least one row and all passed. KILN_ERR_MISMATCH: all
 * ran and some failed. Otherwise the run ended early, *error says where: KILN_ERR_NOT_FOUND or
 * KILN_ERR_IO (no index.json), KILN_ERR_FORMAT, KILN_ERR_DUPLICATE or KILN_ERR_PATH (its content;
 * also an index without types), KILN_ERR_MEMORY, or what callbacks->vector returned. *summary
 * counts the rows so far in every case. `callbacks` may be NULL.
 */
enum kiln_result vf_golden_run(const char *directory, const struct vf_golden_callbacks *callbacks,
                               struct vf_golden_summary *summary, struct kiln_error *error);

#endif /* VF_GOLDEN_H */
