/* Ranges of one loop handed out to threads; see threads.h. */
#include "foundation/tensorfile/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS_MAX 64u

typedef struct loop {
	uint64_t n, step;
	pctl_threads_each *each;
	void *ctx;
	atomic_uint_fast64_t next, bad; /* the next range's first item; the lowest that failed */
} loop;

/* Ranges are taken in order: what is behind an item that failed is left, what is before it is done by whoever took it. */
static void *work(void *ctx)
{
	loop *l = ctx;

	for (;;) {
		const uint64_t first = atomic_fetch_add(&l->next, l->step);
		uint_fast64_t bad = atomic_load(&l->bad);
		uint64_t found;

		if (first >= l->n || first > bad)
			return NULL;
		found = l->each(l->ctx, first, l->n - first < l->step ? l->n - first : l->step);
		while (found < bad && !atomic_compare_exchange_weak(&l->bad, &bad, found))
			;
	}
}

/* Processors that the process may use. */
static uint32_t processors(void)
{
	cpu_set_t cpus;
	uint32_t count;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return 1;
	count = (uint32_t)CPU_COUNT(&cpus);
	return count < 1 ? 1 : count < THREADS_MAX ? count : THREADS_MAX;
}

uint64_t pctl_threads_run(uint64_t n, uint64_t step, pctl_threads_each *each, void *ctx)
{
	loop l = {.n = n, .step = step, .each = each, .ctx = ctx, .bad = UINT64_MAX};
	uint64_t ranges = n / step + (n % step != 0);
	pthread_t threads[THREADS_MAX];
	uint32_t most = ranges > 1 ? processors() : 1, made = 0;

	/* The caller is one of them. */
	while (made + 1 < most && made + 1 < ranges &&
	       pthread_create(&threads[made], NULL, work, &l) == 0)
		made++;
	work(&l);
	for (uint32_t i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	return l.bad;
}
