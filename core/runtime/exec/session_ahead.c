/* Kernels that will be wanted, compiled by further processes of the backend while the session's own compiles what is wanted now. What they compile
 * goes into the cache on the disk, and from there into the session by the build that would have compiled it. So nothing but time depends on them:
 * kernels come, and are refused, in the order in which they are asked for, by the session's own process. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "foundation/base/vec.h"
#include "runtime/exec/session_private.h"

#define HELPERS_MAX 3u
#define TURN_MS 20u /* how often a wait asks whether to stop */

typedef enum { WAITING, TAKEN, SETTLED } task_state;

/* took_ns: of a helper that compiled it; 0: none did. */
typedef struct task {
	struct pctl_session_built *built;
	char *path;
	task_state state;
	uint64_t took_ns;
} task;

typedef struct helper {
	struct pctl_session_ahead *ahead;
	pthread_t thread;
	pctl_backend_instance *instance;
	const pctl_backend *table;
	pctl_device *dev;
} helper;

/* lock: for the tasks; the rest is the session's thread's. */
struct pctl_session_ahead {
	pctl_session *s;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	PCTL_VEC(task) tasks;
	uint32_t n_open; /* that are not settled */
	atomic_uint is_over;
	helper helpers[HELPERS_MAX];
	uint32_t n_helpers;
};

/* ---- helpers ------------------------------------------------------------------------------ */

static uint32_t is_over(void *ctx)
{
	const struct pctl_session_ahead *a = ctx;

	return atomic_load(&a->is_over);
}

/* The last: the session's own process begins at the other end. Under the lock. */
static task *last_waiting(struct pctl_session_ahead *a)
{
	for (size_t i = a->tasks.n; i > 0; i--)
		if (a->tasks.items[i - 1].state == WAITING)
			return &a->tasks.items[i - 1];
	return NULL;
}

static void settle(struct pctl_session_ahead *a, task *t)
{
	t->state = SETTLED;
	a->n_open--;
	pthread_cond_broadcast(&a->moved);
}

/* 1: it lies on the disk now, unless that has no room. */
static int compile(const helper *h, const struct pctl_session_built *built, const char *path)
{
	const pctl_session *s = h->ahead->s;
	const pctl_call call = {
		.head = PCTL_HEAD(pctl_call), .ctx = h->ahead, .cancelled = is_over};
	pctl_kernel *k = NULL;

	if (h->table->kernel_build(h->dev, &call, built->wire, built->n_wire, s->o.build_flags,
				   NULL, 0, &k) != PCTL_OK)
		return 0;
	pctl_session_keep_compiled(s, h->table, h->dev, k, path, NULL, 0);
	h->table->kernel_destroy(h->dev, k);
	return 1;
}

static void *help(void *ctx)
{
	helper *h = ctx;
	struct pctl_session_ahead *a = h->ahead;
	int goes_on = 1;

	pthread_mutex_lock(&a->lock);
	while (goes_on && !atomic_load(&a->is_over)) {
		task *t = last_waiting(a);
		const struct pctl_session_built *built;
		const char *path;
		uint64_t began, took;
		size_t number;

		if (t == NULL) {
			pthread_cond_wait(&a->moved, &a->lock);
			continue;
		}
		t->state = TAKEN;
		number = (size_t)(t - a->tasks.items);
		built = t->built;
		path = t->path;
		pthread_mutex_unlock(&a->lock);
		began = pctl_clock_ns();
		goes_on = compile(h, built, path);
		took = pctl_clock_ns() - began;
		pthread_mutex_lock(&a->lock);
		t = &a->tasks.items[number]; /* more may have come meanwhile */
		t->took_ns = goes_on ? took : 0;
		settle(a, t);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static uint32_t processors(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (uint32_t)CPU_COUNT(&cpus) : 1;
}

/* One that cannot be opened is done without. */
static void open_helper(struct pctl_session_ahead *a, const pctl_call *call)
{
	helper *h = &a->helpers[a->n_helpers];

	*h = (helper){.ahead = a};
	if (pctl_session_aside(a->s, call, &h->instance, &h->table, &h->dev) != PCTL_OK)
		return;
	if (h->instance != NULL && pthread_create(&h->thread, NULL, help, h) == 0)
		a->n_helpers++;
	else
		pctl_session_aside_close(h->instance, h->dev, call);
}

/* ---- tasks -------------------------------------------------------------------------------- */

static struct pctl_session_ahead *begin(pctl_session *s)
{
	struct pctl_session_ahead *a = calloc(1, sizeof(*a));

	if (a == NULL || pthread_mutex_init(&a->lock, NULL) != 0) {
		free(a);
		return NULL;
	}
	if (pthread_cond_init(&a->moved, NULL) != 0) {
		pthread_mutex_destroy(&a->lock);
		free(a);
		return NULL;
	}
	a->s = s;
	return a;
}

static void add(struct pctl_session_ahead *a, struct pctl_session_built *built, char *path)
{
	const task t = {built, path, WAITING, 0};
	int added;

	pthread_mutex_lock(&a->lock);
	added = PCTL_VEC_PUSH(&a->tasks, t);
	a->n_open += (uint32_t)added;
	pthread_cond_signal(&a->moved);
	pthread_mutex_unlock(&a->lock);
	if (!added)
		free(path);
	built->is_foreseen = 1;
}

void pctl_session_end_ahead(pctl_session *s)
{
	struct pctl_session_ahead *a = s->ahead;

	if (a == NULL)
		return;
	pthread_mutex_lock(&a->lock);
	atomic_store(&a->is_over, 1u);
	pthread_cond_broadcast(&a->moved);
	pthread_mutex_unlock(&a->lock);
	for (uint32_t i = 0; i < a->n_helpers; i++) {
		pthread_join(a->helpers[i].thread, NULL);
		pctl_session_aside_close(a->helpers[i].instance, a->helpers[i].dev, NULL);
	}
	for (size_t i = 0; i < a->tasks.n; i++) {
		a->tasks.items[i].built->is_foreseen = 0;
		free(a->tasks.items[i].path);
	}
	free(a->tasks.items);
	pthread_cond_destroy(&a->moved);
	pthread_mutex_destroy(&a->lock);
	free(a);
	s->ahead = NULL;
}

/* A device whose kernels are compiled by processors, in a process of its own, and whose compiled kernels can be kept. */
int pctl_session_looks_ahead(const pctl_session *s)
{
	return !s->is_never_ahead && s->o.device_kind == PCTL_DEVICE_CPU && s->cache_dir != NULL &&
	       s->o.table->kernel_cache != NULL && s->o.backend != NULL &&
	       pctl_backend_instance_worker(s->o.backend) != 0 && processors() > 1;
}

void pctl_session_foresee(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call)
{
	pctl_call quiet = *call;
	struct pctl_session_ahead *a;

	quiet.diag = NULL;
	if (!pctl_session_looks_ahead(s))
		return;
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		struct pctl_session_built *built;
		char *path;

		if (plan->steps[i].kind != PCTL_STEP_KERNEL)
			continue;
		if (pctl_session_entry(s, plan->steps[i].unit, &quiet, &built) != PCTL_OK)
			return;
		if (built->kernel != NULL || built->is_foreseen)
			continue;
		path = pctl_session_cache_path(s, built, &quiet);
		if (path == NULL || pctl_file_exists(path) ||
		    (s->ahead == NULL && (s->ahead = begin(s)) == NULL)) {
			free(path);
			continue;
		}
		add(s->ahead, built, path);
	}
	/* One alone is compiled where it is wanted. */
	a = s->ahead;
	while (a != NULL && a->n_helpers < HELPERS_MAX && a->n_helpers + 1 < processors() &&
	       a->n_helpers + 1 < a->tasks.n) {
		const uint32_t before = a->n_helpers;

		open_helper(a, &quiet);
		if (a->n_helpers == before) {
			s->is_never_ahead = 1;
			break;
		}
	}
}

uint64_t pctl_session_claim(pctl_session *s, const struct pctl_session_built *built,
			    const pctl_call *call)
{
	struct pctl_session_ahead *a = s->ahead;
	uint64_t took_ns = 0;
	task *t = NULL;

	if (a == NULL || !built->is_foreseen)
		return 0;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; t == NULL && i < a->tasks.n; i++)
		t = a->tasks.items[i].built == built ? &a->tasks.items[i] : NULL;
	if (t != NULL && t->state == WAITING)
		settle(a, t);
	while (t != NULL && t->state == TAKEN && !pctl_is_cancelled(call)) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TURN_MS * 1000000l;
		until.tv_sec += until.tv_nsec / 1000000000l;
		until.tv_nsec %= 1000000000l;
		(void)pthread_cond_timedwait(&a->moved, &a->lock, &until);
	}
	if (t != NULL)
		took_ns = t->took_ns;
	pthread_mutex_unlock(&a->lock);
	return took_ns;
}

void pctl_session_judge_ahead(pctl_session *s, uint64_t compiled_ns, uint64_t loaded_ns)
{
	struct pctl_session_ahead *a = s->ahead;
	int is_done;

	if (a == NULL)
		return;
	/* What the driver lets us keep is no compiled kernel. */
	if (compiled_ns != 0 && loaded_ns > compiled_ns / 2)
		s->is_never_ahead = 1;
	pthread_mutex_lock(&a->lock);
	is_done = s->is_never_ahead || a->n_open == 0;
	pthread_mutex_unlock(&a->lock);
	if (is_done)
		pctl_session_end_ahead(s);
}
