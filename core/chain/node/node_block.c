/* A block handed over and its answer handed back (node_block.h). */
#include "chain/node/node_block.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "chain/node/first_error.h"

enum { IDLE = 0, ASKED, ENDED };

struct node_block {
	const pctl_node_service *service;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int fd;
	uint32_t state, is_over;
	pctl_request request;
	pctl_response response;
	node_first_error error;
	pctl_status status;
};

pctl_status node_block_open(const pctl_node_service *service, const pctl_call *call,
			    node_block **out)
{
	node_block *b = calloc(1, sizeof(*b));

	*out = NULL;
	if (b == NULL)
		return pctl_no_memory(call, "a node");
	b->service = service;
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
	pctl_request_destroy(&b->request);
	pctl_response_destroy(&b->response);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	close(b->fd);
	free(b);
}

/* ---- the loop ------------------------------------------------------------------------------ */

void node_block_begin(node_block *b, pctl_request *r)
{
	pthread_mutex_lock(&b->lock);
	b->request = *r;
	b->state = ASKED;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	memset(r, 0, sizeof(*r));
}

int node_block_fd(const node_block *b)
{
	return b->fd;
}

int node_block_ended(node_block *b, int waits, pctl_status *status, uint32_t *code,
		     const char **words, pctl_response *out)
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
		*code = b->error.code;
		*words = b->error.text;
		*out = b->response;
		memset(&b->response, 0, sizeof(b->response));
		pctl_request_destroy(&b->request);
		(void)!read(b->fd, &count, sizeof(count));
	}
	pthread_mutex_unlock(&b->lock);
	return ended;
}

void node_block_over(node_block *b)
{
	pthread_mutex_lock(&b->lock);
	b->is_over = 1;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

/* ---- the other thread ---------------------------------------------------------------------- */

void node_block_work(node_block *b, const pctl_call *outer)
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
		b->status = b->service->serve(b->service->ctx, &b->request, &call, &b->response);
		pthread_mutex_lock(&b->lock);
		b->state = ENDED;
		(void)!write(b->fd, &one, sizeof(one));
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
}
