/* The host's side of a probe: starts the child, hears what it finds, and names its death or
 * silence. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/ipc/patience.h"
#include "runtime/ipc/remote_private.h"
#include "runtime/plugin/registry_private.h"
#include "foundation/base/clock.h"

typedef struct probing {
	pctl_process process;
	pctl_ipc_channel ch;
	int control; /* its end ends the child */
	char stage[64];
	int has_result;
	const pctl_refused *refused;
	pctl_ipc_frame result;
} probing;

static pctl_status start(pctl_registry *r, const known_plugin *p, const pctl_call *call, probing *b)
{
	pctl_launch l = {.worker = r->worker,
			 .log = r->log,
			 .library = p->info.library,
			 .id = p->info.id,
			 .library_fd = p->sealed_fd,
			 .further_fd = -1,
			 .envp = pctl_worker_environment(r->arena, p, NULL, NULL),
			 .interfaces = p->info.interfaces,
			 .n_interfaces = p->info.n_interfaces,
			 .limits = r->rules.limits,
			 .probe = 1};
	pctl_status s;
	int channel;

	if (!l.envp)
		return pctl_no_memory(call, "a probe");
	s = pctl_worker_confinement(r, p, NULL, NULL, call, &l.confine);
	if (s)
		return s;
	s = pctl_launch_start(&l, call, &b->process, &channel, &b->control, &b->refused);
	if (!s)
		pctl_ipc_channel_init(&b->ch, channel);
	return s;
}

static void note_stage(probing *b, const pctl_ipc_frame *f)
{
	const pctl_ipc_scope scope = {NULL, NULL, NULL};
	pctl_ipc_in in = {f->payload, f->header.n_bytes, 0, 0};
	pctl_ipc_stage s;

	if (f->header.op == PCTL_IPC_PROBE_STAGE &&
	    pctl_ipc_unpack_all(&in, PCTL_IPC_SHAPE_stage, &scope, &s))
		snprintf(b->stage, sizeof(b->stage), "%s", s.name);
}

/* Hear it out; 0 when the time was over first. */
static int listen_to(probing *b, uint32_t timeout_ms)
{
	pctl_patience patience;

	pctl_patience_begin(&patience, pctl_clock_ms(), timeout_ms);
	for (;;) {
		struct pollfd fds[2] = {{b->ch.fd, POLLIN, 0}, {b->process.stderr_fd, POLLIN, 0}};
		const uint64_t now = pctl_clock_ms();
		pctl_ipc_frame f;
		int rc;

		while ((rc = pctl_ipc_next(&b->ch, &f)) > 0) {
			if (f.header.op == PCTL_IPC_PROBE_RESULT) {
				b->has_result = 1;
				b->result = f;
				return 1;
			}
			note_stage(b, &f);
		}
		if (rc < 0)
			return 1;
		if (pctl_patience_over(&patience, &b->process, now))
			return 0;
		if (poll(fds, 2, (int)pctl_patience_next(&patience, now)) <= 0)
			continue;
		pctl_process_drain(&b->process);
		if (fds[0].revents) {
			rc = pctl_ipc_fill(&b->ch);
			if (rc == 0 || (rc < 0 && errno != EAGAIN))
				return 1;
		}
	}
}

static void compare_ops(pctl_registry *r, known_plugin *p, const pctl_ipc_probed *found)
{
	char *seen = calloc(p->info.n_ops + 1u, 1);
	const char *bad = NULL;
	uint32_t i, k;

	for (i = 0; seen && i < found->n_ops && !bad; i++) {
		const pctl_ipc_found_op *op = &found->ops[i];

		for (k = 0; k < p->info.n_ops; k++)
			if (!seen[k] && !strcmp(p->info.ops[k].name, op->name) &&
			    p->info.ops[k].version == op->version)
				break;
		if (k == p->info.n_ops)
			bad = pctl_arena_printf(
				r->arena, "the library has the op %s@%u, which %s does not promise",
				op->name, op->version, p->info.manifest);
		else
			seen[k] = 1;
	}
	for (k = 0; seen && !bad && k < p->info.n_ops; k++)
		if (!seen[k])
			bad = pctl_arena_printf(
				r->arena, "%s promises the op %s@%u, which the library lacks",
				p->info.manifest, p->info.ops[k].name, p->info.ops[k].version);
	free(seen);
	if (bad)
		pctl_plugin_refuse(r, p, PC3023_PLUGIN_OPS, "probe", bad);
}

static void take_result(pctl_registry *r, known_plugin *p, const probing *b, pctl_diag_list *l)
{
	pctl_arena *arena = pctl_arena_create();
	const pctl_ipc_scope scope = {arena, NULL, NULL};
	pctl_ipc_probed found;
	pctl_ipc_in body;
	pctl_status status;
	uint32_t code;

	if (!arena || !pctl_remote_decode(b->result.payload, b->result.header.n_bytes, p->info.id,
					  arena, pctl_diag_list_call(l), &status, &body))
		goto malformed;
	if (status) {
		const char *why = pctl_plugin_first_error(r->arena, l, &code);

		/* The plugin's own words come before the code of the step that failed. */
		if (pctl_diag_list_count(l)) {
			const pctl_diag *d = pctl_diag_list_at(l, pctl_diag_list_count(l) - 1);

			if (d->code != code && d->severity == PCTL_SEVERITY_ERROR) {
				code = d->code;
				why = pctl_arena_printf(r->arena, "%s (%s)", d->message, why);
			}
		}
		pctl_plugin_refuse(r, p, code, "probe", why);
		goto out;
	}
	if (!pctl_ipc_unpack_all(&body, PCTL_IPC_SHAPE_probed, &scope, &found))
		goto malformed;
	p->info.abi_major = found.abi_major;
	p->info.abi_minor = found.abi_minor;
	p->info.version = pctl_arena_dup(r->arena, found.version);
	compare_ops(r, p, &found);
	goto out;
malformed:
	pctl_plugin_refuse(r, p, PC3026_PLUGIN_CRASH, "probe",
			   pctl_arena_printf(r->arena, "%s: the examination's answer is malformed",
					     p->info.library));
out:
	pctl_arena_destroy(arena);
}

static void name_end(pctl_registry *r, known_plugin *p, const probing *b)
{
	char cause[512];

	if (b->process.reaped &&
	    pctl_confine_over(&r->rules.limits, b->process.status, cause, sizeof(cause))) {
		pctl_plugin_refuse(r, p, PC3112_WORKER_RESOURCES, "probe",
				   pctl_arena_printf(r->arena, "%s: during %s, %s", p->info.library,
						     b->stage, cause));
		return;
	}
	pctl_process_cause(&b->process, cause, sizeof(cause));
	pctl_plugin_refuse(r, p,
			   b->process.reaped && WIFEXITED(b->process.status) ? PC3028_PLUGIN_EXIT
									     : PC3026_PLUGIN_CRASH,
			   "probe",
			   pctl_arena_printf(r->arena,
					     "%s: during %s, the process that examined it %s",
					     p->info.library, b->stage, cause));
}

/* What the confinement kept from a plugin that was refused may be why. */
static void add_refused(pctl_registry *r, known_plugin *p, const probing *b)
{
	char words[512];

	if (p->info.state == PCTL_PLUGIN_REFUSED && p->info.why &&
	    pctl_refused_words(b->refused, 0, words, sizeof(words)))
		p->info.why = pctl_arena_printf(
			r->arena, "%s; the confinement refused it %s (manifest key \"calls\")",
			p->info.why, words);
}

void pctl_probe_run(pctl_registry *r, known_plugin *p)
{
	probing b = {.stage = "start", .control = -1};
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t code;

	pctl_ipc_channel_init(&b.ch, -1);
	b.process.stderr_fd = -1;
	if (!l)
		return;
	if (!r->worker) {
		pctl_plugin_refuse(r, p, PC3101_WORKER_MISSING, "probe",
				   "pipectl-worker is neither beside the executable nor in its "
				   "libexec directory");
		goto out;
	}
	if (start(r, p, pctl_diag_list_call(l), &b)) {
		const char *why = pctl_plugin_first_error(r->arena, l, &code);

		pctl_plugin_refuse(r, p, code, "probe", why);
		goto out;
	}
	if (!listen_to(&b, r->probe_ms)) {
		pctl_plugin_refuse(r, p, PC3027_PLUGIN_HANG, "probe",
				   pctl_arena_printf(r->arena, "%s: did not finish %s within %u ms",
						     p->info.library, b.stage, r->probe_ms));
	} else if (b.has_result) {
		take_result(r, p, &b, l);
		/* The process may still fall over its destructors; only its answer counts. */
		pctl_patience_reap(&b.process, 1000);
	} else {
		pctl_patience_reap(&b.process, 1000);
		name_end(r, p, &b);
	}
out:
	pctl_refused_note(r, p, "", b.refused);
	add_refused(r, p, &b);
	pctl_refused_drop(b.refused);
	pctl_process_kill(&b.process);
	pctl_process_drop(&b.process);
	pctl_ipc_channel_close(&b.ch);
	if (b.control >= 0)
		close(b.control);
	pctl_diag_list_destroy(l);
}
