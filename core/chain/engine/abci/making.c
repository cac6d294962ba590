/* See making.h. */
#include "chain/engine/abci/making.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain/engine/abci/snapshots.h"
#include "chain/node/first_error.h"

struct pctl_abci_making {
	pctl_abci *what;
	pctl_chain *chain; /* apart, held to the moment */
	pctl_store *store;
	int hold; /* what was state at that moment stays in the store, though blocks make it expire */
	const pctl_call *outer;
	uint64_t height;
	pthread_t thread;
	node_first_error error;
	pctl_status status;
	int is_busy;
	atomic_int is_over; /* the thread has nothing more to do */
};

pctl_status pctl_abci_making_open(const pctl_call *call, pctl_abci_making **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "a snapshot");
	(*out)->hold = -1;
	return PCTL_OK;
}

static void *make(void *ctx)
{
	pctl_abci_making *m = ctx;
	const pctl_call call = node_keep_first(&m->error, m->outer);

	m->status = pctl_abci_snapshot_make(m->chain, m->what->snapshots, &call);
	atomic_store(&m->is_over, 1);
	return NULL;
}

static void release(pctl_abci_making *m)
{
	if (m->chain != NULL)
		pctl_chain_moment_end(pctl_cursor(m->chain));
	pctl_chain_close(m->chain);
	pctl_store_release(m->hold);
	pctl_store_close(m->store);
	m->chain = NULL;
	m->store = NULL;
	m->hold = -1;
}

static void tell(const pctl_abci_making *m)
{
	char text[sizeof(m->error.text) + 96];

	if (m->status == PCTL_OK || pctl_is_cancelled(m->outer) || m->what->told == NULL)
		return;
	snprintf(text, sizeof(text), "the snapshot of block %" PRIu64 " is not made: %s", m->height,
		 m->error.text);
	m->what->told(m->what->told_ctx, m->error.code, text);
}

void pctl_abci_making_begin(pctl_abci_making *m, pctl_abci *what, const pctl_call *call)
{
	const pctl_call first = node_keep_first(&m->error, call);
	pctl_status status;

	m->what = what;
	m->outer = call;
	m->height = what->due;
	what->due = 0;
	if (m->height == 0 || what->snapshots == NULL)
		return;
	status = pctl_chain_open_apart(what->chain, &first, &m->chain, &m->store);
	if (status == PCTL_OK)
		status = pctl_store_hold(m->store, &first, &m->hold);
	if (status == PCTL_OK)
		status = pctl_chain_moment_begin(pctl_cursor(m->chain), &first);
	atomic_store(&m->is_over, 0);
	if (status == PCTL_OK && pthread_create(&m->thread, NULL, make, m) != 0)
		status = pctl_no_memory(&first, "a snapshot");
	m->is_busy = status == PCTL_OK;
	if (m->is_busy)
		return; /* m->status is the thread's until it is joined */
	m->status = status;
	release(m);
	tell(m);
}

int pctl_abci_making_is_busy(const pctl_abci_making *m)
{
	return m->is_busy;
}

int pctl_abci_making_ended(pctl_abci_making *m, int waits)
{
	if (!m->is_busy || (!waits && !atomic_load(&m->is_over)))
		return 0;
	pthread_join(m->thread, NULL);
	m->is_busy = 0;
	release(m);
	tell(m);
	return 1;
}

void pctl_abci_making_close(pctl_abci_making *m)
{
	if (m == NULL)
		return;
	(void)pctl_abci_making_ended(m, 1);
	free(m);
}
