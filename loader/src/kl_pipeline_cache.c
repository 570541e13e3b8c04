/* SPDX-License-Identifier: MIT */
#include "kl_pipeline.h"

#include <stdlib.h>
#include <string.h>

/*
 * An entry is put in place, empty, by the first thread that asks; that thread makes the pipeline
 * without the lock and wakes the others. Entries are allocated one by one: their addresses stay.
 */
struct kl_entry {
    const struct mf_artifact *artifact; /* of `bundle`, or of the pipeline's own reference */
    bool ready;                         /* `pipeline` is set */
    bool failed;                        /* the next thread tries for itself */
    size_t waiting;
    struct kiln_pipeline *pipeline;
    struct kl_entry *next;
};

struct kl_pipeline_cache {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct kl_entry *entries;
};

enum kiln_result kl_pipeline_cache_create(struct kl_pipeline_cache **cache,
                                          struct kiln_error *error) {
    *cache = NULL;
    struct kl_pipeline_cache *made = calloc(1, sizeof(*made));
    if (!made) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for the set of pipelines");
    }
    if (pthread_mutex_init(&made->mutex, NULL) != 0) {
        free(made);
        return kiln_error_set(error, KILN_ERR_SYSTEM, "pthread_mutex_init failed");
    }
    if (pthread_cond_init(&made->changed, NULL) != 0) {
        pthread_mutex_destroy(&made->mutex);
        free(made);
        return kiln_error_set(error, KILN_ERR_SYSTEM, "pthread_cond_init failed");
    }
    *cache = made;
    return KILN_OK;
}

void kl_pipeline_cache_destroy(struct kl_pipeline_cache **cache) {
    if (!*cache) {
        return;
    }
    for (struct kl_entry *entry = (*cache)->entries; entry;) {
        struct kl_entry *next = entry->next;
        kiln_pipeline_destroy(&entry->pipeline);
        free(entry);
        entry = next;
    }
    pthread_cond_destroy(&(*cache)->changed);
    pthread_mutex_destroy(&(*cache)->mutex);
    free(*cache);
    *cache = NULL;
}

static bool kl_entry_fits(const struct kl_entry *entry, const struct mf_artifact *artifact) {
    return mf_hash_equal(&entry->artifact->content, &artifact->content) &&
           mf_hash_equal(&entry->artifact->iface, &artifact->iface) &&
           strcmp(entry->artifact->name, artifact->name) == 0;
}

/* Called with the lock held; may wait. NULL: nobody has it or makes it. */
static struct kiln_pipeline *kl_pipeline_cache_find(struct kl_pipeline_cache *cache,
                                                    const struct mf_artifact *artifact) {
    struct kl_entry *entry = cache->entries;
    while (entry) {
        if (entry->failed || !kl_entry_fits(entry, artifact)) {
            entry = entry->next;
            continue;
        }
        entry->waiting++;
        while (!entry->ready && !entry->failed) {
            pthread_cond_wait(&cache->changed, &cache->mutex);
        }
        entry->waiting--;
        if (entry->ready) {
            return entry->pipeline;
        }
        entry = cache->entries; /* another thread may be at it by now */
    }
    return NULL;
}

/* Takes a failed entry off the list once nobody waits on it. Called with the lock held. */
static void kl_pipeline_cache_sweep(struct kl_pipeline_cache *cache) {
    for (struct kl_entry **link = &cache->entries; *link;) {
        struct kl_entry *entry = *link;
        if (entry->failed && entry->waiting == 0) {
            *link = entry->next;
            free(entry);
        } else {
            link = &entry->next;
        }
    }
}

enum kiln_result kiln_pipeline_get(struct kiln_device *device, struct kiln_bundle *bundle,
                                   const struct mf_artifact *artifact,
                                   struct kiln_pipeline **pipeline, struct kiln_error *error) {
    struct kl_pipeline_cache *cache = device->pipelines;
    struct kl_entry *fresh = calloc(1, sizeof(*fresh));
    *pipeline = NULL;
    if (!fresh) {
        return kiln_error_set(error, KILN_ERR_MEMORY, "no memory for a pipeline");
    }
    fresh->artifact = artifact;
    pthread_mutex_lock(&cache->mutex);
    *pipeline = kl_pipeline_cache_find(cache, artifact);
    if (*pipeline) {
        kl_pipeline_cache_sweep(cache);
        pthread_mutex_unlock(&cache->mutex);
        free(fresh);
        return KILN_OK;
    }
    fresh->next = cache->entries;
    cache->entries = fresh;
    pthread_mutex_unlock(&cache->mutex);

    struct kiln_pipeline *made = NULL;
    enum kiln_result result = kiln_pipeline_create(device, bundle, artifact, NULL, 0, &made, error);

    pthread_mutex_lock(&cache->mutex);
    fresh->pipeline = made;
    fresh->ready = result == KILN_OK;
    fresh->failed = result != KILN_OK;
    pthread_cond_broadcast(&cache->changed);
    kl_pipeline_cache_sweep(cache);
    pthread_mutex_unlock(&cache->mutex);
    *pipeline = made;
    return result;
}
