/* The beginning and the end of a connection to a worker; see remote.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ipc/remote_private.h"

#define START_MS 30000u
#define CALL_MS 120000u
#define GRACE_MS 10000u
#define EXIT_MS 3000u /* for a driver's exit handlers */
#define WINDOW_BYTES (4u << 20)

static pctl_status start(pctl_remote *r, const pctl_remote_options *o, const pctl_call *call)
{
	int channel = -1;
	pctl_status s = pctl_launch_start(&o->launch, call, &r->process, &channel, &r->control_fd,
					  &r->refused);

	if (!s)
		pctl_ipc_channel_init(&r->ch, channel);
	return s;
}

static pctl_status greet(pctl_remote *r, uint32_t start_ms, const pctl_call *call)
{
	const pctl_ipc_hello ask = {PCTL_IPC_VERSION, pctl_ipc_table_hash()};
	pctl_ipc_greeting reply;
	pctl_status s;

	pctl_remote_begin(r, PCTL_IPC_HELLO, &ask, call);
	r->ch.out_fds[0] = r->window.fd;
	r->ch.n_out_fds = 1;
	s = pctl_remote_ask(r, call, start_ms, &reply);
	if (s)
		return s;
	if (reply.version != ask.version || reply.table != ask.table)
		return pctl_remote_bad_reply(r, call, "hello");
	pctl_remote_fill_table(&r->table, reply.optional);
	return PCTL_OK;
}

pctl_status pctl_remote_open(const pctl_remote_options *o, const pctl_call *call, pctl_remote **out)
{
	pctl_remote *r = calloc(1, sizeof(*r));
	pctl_status s;

	*out = NULL;
	if (!r)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a worker");
	pthread_mutex_init(&r->lock, NULL);
	pctl_ipc_channel_init(&r->ch, -1);
	r->process.stderr_fd = -1;
	r->control_fd = -1;
	r->window.fd = -1;
	r->next_id = 1;
	r->call_ms = o->call_ms ? o->call_ms : CALL_MS;
	r->grace_ms = o->grace_ms ? o->grace_ms : GRACE_MS;
	r->build_cpu_ms = o->build_cpu_ms ? o->build_cpu_ms : r->call_ms;
	r->build_memory = o->build_memory;
	r->first_run_ms = o->first_run_ms;
	r->limits = o->launch.limits;
	r->arena = pctl_arena_create();
	atomic_init(&r->next_ticket, 1);
	r->traced = o->traced;
	r->lost_code = o->lost_code;
	r->over_folder = o->over_folder;
	snprintf(r->id, sizeof(r->id), "%s", o->launch.id);
	if (!r->arena)
		s = pctl_no_memory(call, "a worker");
	else if (!pctl_ipc_window_create(o->window_bytes ? o->window_bytes : WINDOW_BYTES,
					 &r->window))
		s = pctl_refuse(call, PC3102_WORKER_START, "no shared memory: %s", strerror(errno));
	else
		s = start(r, o, call);
	if (!s)
		s = greet(r, o->start_ms ? o->start_ms : START_MS, call);
	if (s) {
		pctl_remote_close(r);
		return s;
	}
	*out = r;
	return PCTL_OK;
}

void pctl_remote_close(pctl_remote *r)
{
	if (!r)
		return;
	if (!r->lost && r->process.pid && pctl_remote_begin(r, PCTL_IPC_BYE, NULL, NULL)) {
		pctl_remote_ask(r, NULL, r->grace_ms, NULL);
		if (r->process.pid)
			pctl_patience_reap(&r->process, EXIT_MS);
	}
	if (r->over_folder && r->process.reaped && !r->process.killed &&
	    pctl_confine_over_folder(r->process.status))
		*r->over_folder = 1;
	pctl_process_kill(&r->process);
	pctl_process_drop(&r->process);
	pctl_ipc_channel_close(&r->ch);
	pctl_arena_destroy(r->arena);
	if (r->control_fd >= 0)
		close(r->control_fd);
	pctl_ipc_window_close(&r->window);
	pctl_refused_drop(r->refused);
	pthread_mutex_destroy(&r->lock);
	pctl_remote_first_drop(r);
	free(r->free_ids);
	free(r);
}

const pctl_backend *pctl_remote_table(const pctl_remote *r)
{
	return &r->table;
}

pctl_instance *pctl_remote_instance(pctl_remote *r)
{
	/* An instance is opaque to its users; this one is the remote itself. */
	return (pctl_instance *)(void *)r;
}

const char *pctl_remote_lost(const pctl_remote *r)
{
	return r->lost ? r->cause : NULL;
}

int pctl_remote_at_fault(const pctl_remote *r)
{
	return r->lost && !r->blameless;
}

pid_t pctl_remote_pid(const pctl_remote *r)
{
	return r->process.pid;
}

const pctl_refused *pctl_remote_refused(const pctl_remote *r)
{
	return r->refused;
}
