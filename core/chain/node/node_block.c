/* Work handed over and its end handed back (node_block.h). */
#include "chain/node/node_block.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { IDLE = 0, ASKED, ENDED };

struct node_block {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int fd;
	uint32_t state, is_over;
	node_block_fn run;
	void *ctx;
	node_first_error error;
	pctl_status status;
};

pctl_status node_block_open(const pctl_call *call, node_block **out)
{
	node_block *b = calloc(1, sizeof(*b));

	*out = NULL;
	if (b == NULL)
		return pctl_no_memory(call, "a node");
	b->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->fd < 0) {
		free(b);
		return pctl_no_memory(call, "a node");
	}
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	*out = b;
	return PCTL_OK;
}

void node_block_close(node_block *b)
{
	if (b == NULL)
		return;
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	close(b->fd);
	free(b);
}

/* ---- the loop ------------------------------------------------------------------------------ */

void node_block_begin(node_block *b, node_block_fn run, void *ctx)
{
	pthread_mutex_lock(&b->lock);
	b->run = run;
	b->ctx = ctx;
	b->state = ASKED;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

int node_block_fd(const node_block *b)
{
	return b->fd;
}

int node_block_ended(node_block *b, int waits, pctl_status *status, node_first_error *e)
{
	uint64_t count;
	int ended;

	pthread_mutex_lock(&b->lock);
	while (waits && b->state == ASKED)
		pthread_cond_wait(&b->changed, &b->lock);
	ended = b->state == ENDED;
	if (ended) {
		b->state = IDLE;
		*status = b->status;
		*e = b->error;
		(void)!read(b->fd, &count, sizeof(count));
	}
	pthread_mutex_unlock(&b->lock);
	return ended;
}

/* ---- the other thread ---------------------------------------------------------------------- */

static void over(node_block *b)
{
	pthread_mutex_lock(&b->lock);
	b->is_over = 1;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

static void work(node_block *b, const pctl_call *outer)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		pctl_call call;

		while (b->state != ASKED && !b->is_over)
			pthread_cond_wait(&b->changed, &b->lock);
		if (b->state != ASKED)
			break;
		pthread_mutex_unlock(&b->lock);
		call = node_keep_first(&b->error, outer);
		b->status = b->run(b->ctx, &call);
		pthread_mutex_lock(&b->lock);
		b->state = ENDED;
		(void)!write(b->fd, &one, sizeof(one));
		pthread_cond_broadcast(&b->changed);
	}
	b->is_over = 0;
	pthread_mutex_unlock(&b->lock);
}

typedef struct looping {
	node_block *block;
	node_block_fn loop;
	void *ctx;
	const pctl_call *call;
	pctl_status status;
} looping;

static void *run_loop(void *ctx)
{
	looping *l = ctx;

	l->status = l->loop(l->ctx, l->call);
	over(l->block);
	return NULL;
}

pctl_status node_block_beside(node_block *b, node_block_fn loop, void *ctx, const pctl_call *call)
{
	looping l = {.block = b, .loop = loop, .ctx = ctx, .call = call};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_loop, &l) != 0)
		return pctl_no_memory(call, "a node");
	work(b, call);
	pthread_join(thread, NULL);
	return l.status;
}
