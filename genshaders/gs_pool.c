/* SPDX-License-Identifier: MIT */
#include "gs_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define POOL_THREAD_LIMIT 256
#define POOL_WATCH_NS 100000000L
#define POOL_STACK_BYTES ((size_t)16 << 20)

struct pool {
    atomic_size_t next;
    size_t job_count;
    gs_pool_job job;
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t finished_count;
};

size_t gs_pool_processor_count(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (size_t)count : 1;
}

static void *pool_work(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        size_t index = atomic_fetch_add(&pool->next, 1);
        if (index >= pool->job_count) {
            return NULL;
        }
        pool->job(pool->context, index);
        pthread_mutex_lock(&pool->mutex);
        pool->finished_count++;
        if (pool->finished_count == pool->job_count) {
            pthread_cond_signal(&pool->changed);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void pool_wait(struct pool *pool, gs_pool_watch watch, void *watch_context) {
    pthread_mutex_lock(&pool->mutex);
    while (pool->finished_count < pool->job_count) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POOL_WATCH_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&pool->changed, &pool->mutex, &until);
        size_t finished_count = pool->finished_count;
        pthread_mutex_unlock(&pool->mutex);
        if (watch != NULL) {
            watch(watch_context, finished_count, pool->job_count);
        }
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

enum kiln_result gs_pool_run(size_t thread_count, size_t job_count, gs_pool_job job, void *context,
                             gs_pool_watch watch, void *watch_context, struct kiln_error *error) {
    struct pool pool = {.job_count = job_count, .job = job, .context = context};
    pthread_t threads[POOL_THREAD_LIMIT];
    size_t started = 0;
    pthread_attr_t attributes;
    if (job_count == 0) {
        return KILN_OK;
    }
    thread_count = thread_count == 0 ? gs_pool_processor_count() : thread_count;
    thread_count = thread_count < job_count ? thread_count : job_count;
    thread_count = thread_count < POOL_THREAD_LIMIT ? thread_count : POOL_THREAD_LIMIT;
    if (pthread_mutex_init(&pool.mutex, NULL) != 0) {
        return kiln_error_set(error, KILN_ERR_SYSTEM, "cannot make a mutex");
    }
    if (pthread_cond_init(&pool.changed, NULL) != 0 || pthread_attr_init(&attributes) != 0) {
        return kiln_error_set(error, KILN_ERR_SYSTEM, "cannot make a condition variable");
    }
    pthread_attr_setstacksize(&attributes, POOL_STACK_BYTES); /* glslang recurses deeply */
    int status = 0;
    while (started < thread_count && status == 0) {
        status = pthread_create(&threads[started], &attributes, pool_work, &pool);
        started += status == 0;
    }
    if (started > 0) {
        pool_wait(&pool, watch, watch_context);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_attr_destroy(&attributes);
    pthread_cond_destroy(&pool.changed);
    pthread_mutex_destroy(&pool.mutex);
    return started > 0 ? KILN_OK
                       : kiln_error_set(error, KILN_ERR_SYSTEM, "cannot start a thread: %s",
                                        strerror(status));
}
