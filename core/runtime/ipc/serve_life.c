/* A server's beginning and end, what it emits and whether its call is cancelled; see serve.h. */
#include <stdlib.h>

#include "runtime/ipc/serve_objects.h"

static void sink(void *ctx, const pctl_diag *d)
{
	pctl_ipc_server *s = ctx;

	if (s->n_diags >= PCTL_IPC_DIAGS_MAX)
		return;
	pctl_ipc_put_diag(&s->diags, d);
	s->n_diags++;
}

/* The host waits for the last request it sent: cancelling that cancels the posted ones before it,
 * too. */
static uint32_t cancelled(void *ctx)
{
	pctl_ipc_server *s = ctx;
	const unsigned seq = atomic_load_explicit(&s->seq, memory_order_relaxed);
	const unsigned last = atomic_load_explicit(&s->cancelled_seq, memory_order_relaxed);

	return seq != 0 && last != 0 && last - seq < 1u << 31;
}

pctl_ipc_server *pctl_ipc_server_create(void)
{
	pctl_ipc_server *s = calloc(1, sizeof(*s));
	const pctl_call call = {PCTL_HEAD(pctl_call), s, sink, cancelled, 0};

	if (!s)
		return NULL;
	s->arena = pctl_arena_create();
	s->inlined = malloc(PCTL_IPC_INLINE_MAX);
	if (!s->arena || !s->inlined) {
		pctl_arena_destroy(s->arena);
		free(s->inlined);
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->call = call;
	s->window.fd = -1;
	s->fd = -1;
	s->open_status = PCTL_E_INTERNAL;
	return s;
}

void pctl_ipc_server_clear(pctl_ipc_server *s)
{
	if (s->table)
		pctl_serve_objects_clear(s, 0);
	s->table = NULL;
	s->ops = NULL;
}

void pctl_ipc_server_destroy(pctl_ipc_server *s)
{
	if (!s)
		return;
	pctl_ipc_server_clear(s);
	pctl_ipc_window_close(&s->window);
	pctl_ipc_out_drop(&s->diags);
	pctl_ipc_out_drop(&s->record);
	pctl_arena_destroy(s->arena);
	pthread_mutex_destroy(&s->lock);
	free(s->objects);
	free(s->tickets);
	free(s->inlined);
	free(s);
}

const pctl_call *pctl_ipc_server_call(pctl_ipc_server *s)
{
	return &s->call;
}

void pctl_ipc_server_set(pctl_ipc_server *s, pctl_status status, const pctl_backend *table,
			 pctl_instance *inst)
{
	s->open_status = status;
	s->table = status ? NULL : table;
	s->inst = inst;
}

void pctl_ipc_server_set_ops(pctl_ipc_server *s, pctl_status status, const pctl_oplib *table,
			     pctl_instance *inst)
{
	s->open_status = status;
	s->ops = status ? NULL : table;
	s->inst = inst;
}
