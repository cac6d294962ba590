/* Threads that share one dispatch. They know nothing of programs: they call a function once each.
 */
#include "runtime/device.h"
#include "kernels/elementary.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct helper {
	pctl_cpu_pool *pool;
	pthread_t thread;
	uint32_t number;
	uint32_t reserved;
} helper;

struct pctl_cpu_pool {
	pthread_mutex_t lock;
	pthread_cond_t start, finished;
	helper *helpers;
	uint32_t n_helpers; /* threads besides the caller's */
	uint32_t n_running;
	uint64_t round;
	uint32_t stop;
	uint32_t reserved;
	void (*work)(void *ctx, uint32_t thread);
	void *ctx;
};

uint32_t pctl_cpu_pool_processors(void)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	if (n < 1)
		n = 1;
	return (uint32_t)n < PCTL_CPU_MAX_THREADS ? (uint32_t)n : PCTL_CPU_MAX_THREADS;
}

static void *help(void *arg)
{
	helper *h = arg;
	pctl_cpu_pool *pool = h->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->round == seen && !pool->stop)
			pthread_cond_wait(&pool->start, &pool->lock);
		if (pool->stop)
			break;
		seen = pool->round;
		pthread_mutex_unlock(&pool->lock);
		pool->work(pool->ctx, h->number);
		pthread_mutex_lock(&pool->lock);
		if (--pool->n_running == 0)
			pthread_cond_signal(&pool->finished);
	}
	pthread_mutex_unlock(&pool->lock);
	pctl_cpu_elementary_forget();
	return NULL;
}

pctl_cpu_pool *pctl_cpu_pool_create(uint32_t n_threads)
{
	pctl_cpu_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->start, NULL);
	pthread_cond_init(&pool->finished, NULL);
	pool->helpers = calloc(n_threads, sizeof(*pool->helpers));
	for (uint32_t i = 0; pool->helpers && i + 1 < n_threads; i++) {
		helper *h = &pool->helpers[i];

		h->pool = pool;
		h->number = i + 1;
		/* Fewer threads only mean less speed. */
		if (pthread_create(&h->thread, NULL, help, h) != 0)
			break;
		pool->n_helpers++;
	}
	return pool;
}

void pctl_cpu_pool_destroy(pctl_cpu_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = 1;
	pthread_cond_broadcast(&pool->start);
	pthread_mutex_unlock(&pool->lock);
	for (uint32_t i = 0; i < pool->n_helpers; i++)
		pthread_join(pool->helpers[i].thread, NULL);
	pthread_cond_destroy(&pool->start);
	pthread_cond_destroy(&pool->finished);
	pthread_mutex_destroy(&pool->lock);
	free(pool->helpers);
	free(pool);
}

void pctl_cpu_pool_run(pctl_cpu_pool *pool, void (*work)(void *ctx, uint32_t thread), void *ctx)
{
	pthread_mutex_lock(&pool->lock);
	pool->work = work;
	pool->ctx = ctx;
	pool->n_running = pool->n_helpers;
	pool->round++;
	pthread_cond_broadcast(&pool->start);
	pthread_mutex_unlock(&pool->lock);
	work(ctx, 0);
	pthread_mutex_lock(&pool->lock);
	while (pool->n_running)
		pthread_cond_wait(&pool->finished, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}
