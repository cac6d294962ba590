/* The probe: loads a plugin, opens it once, looks at what it offers and tells the host. Before each
 * step it says which one comes, so that a crash or hang can be named. */
#include <stdlib.h>
#include <string.h>

#include "runtime/ipc/launch.h"
#include "runtime/ipc/library.h"
#include "runtime/ipc/protocol.h"
#include "worker.h"

typedef struct probe {
	pctl_ipc_channel ch;
	pctl_ipc_out diags, facts;
	uint32_t n_diags;
} probe;

static void sink(void *ctx, const pctl_diag *d)
{
	probe *p = ctx;

	if (p->n_diags >= PCTL_IPC_DIAGS_MAX)
		return;
	pctl_ipc_put_diag(&p->diags, d);
	p->n_diags++;
}

static void stage(probe *p, const char *name)
{
	const pctl_ipc_stage s = {name};

	pctl_ipc_frame_begin(&p->ch, PCTL_IPC_PROBE_STAGE, 0);
	pctl_ipc_pack(&p->ch.out, PCTL_IPC_SHAPE_stage, &s, NULL);
	pctl_ipc_frame_end(&p->ch);
	pctl_ipc_send(&p->ch);
}

static int has_rule(const pctl_oplib *t, pctl_instance *inst, uint32_t i)
{
	const pctl_op_rules *r = t->rules(inst, i);

	return r && (r->n_laws || r->n_classes || r->n_boundaries);
}

static pctl_status list_ops(const worker_args *a, const pctl_library_instance *li,
			    const pctl_call *call, pctl_ipc_probed *out)
{
	const pctl_oplib *t = li->table;
	const uint32_t n = t->op_count(li->inst);
	pctl_ipc_found_op *ops;
	uint32_t i;

	if (n > PCTL_OPS_ROWS_MAX)
		return pctl_refuse(call, PC3023_PLUGIN_OPS, "%s: %u ops, more than %u", a->probe, n,
				   PCTL_OPS_ROWS_MAX);
	ops = calloc(n + 1u, sizeof(*ops));
	if (!ops)
		return pctl_no_memory(call, "the ops of a library");
	out->ops = ops;
	out->n_ops = n;
	for (i = 0; i < n; i++) {
		const pctl_op_desc *d = t->op_at(li->inst, i);

		if (!d || !PCTL_HAS(d, pctl_op_desc, hardware) || d->head.major != PCTL_ABI_MAJOR ||
		    !d->name)
			return pctl_refuse(call, PC3017_PLUGIN_SHORT,
					   "%s: op %u has no or a short description", a->probe, i);
		if (!has_rule(t, li->inst, i))
			return pctl_refuse(call, PC3025_PLUGIN_OP_RULES,
					   "%s: op %s@%u has no rules", a->probe, d->name,
					   d->version);
		ops[i] = (pctl_ipc_found_op){d->name, d->version};
	}
	return PCTL_OK;
}

static pctl_status examine(probe *p, const worker_args *a, const pctl_call *call)
{
	const char *main_interface = a->n_interfaces ? a->interfaces[0] : PCTL_BACKEND_INTERFACE;
	pctl_library_instance li = {0};
	pctl_ipc_probed found = {0};
	const pctl_plugin *plugin;
	pctl_library_host host;
	pctl_status s;
	void *handle;
	uint32_t i;

	stage(p, "loading it and running its constructors");
	s = pctl_library_load(PCTL_LAUNCH_LIBRARY_PATH, a->probe, call, &handle);
	if (s)
		return s;
	stage(p, "reading its symbol");
	s = pctl_library_plugin(handle, a->probe, a->id, call, &plugin);
	if (s)
		return s;
	found.version = plugin->version;
	found.abi_major = plugin->head.major;
	found.abi_minor = plugin->head.minor;
	stage(p, "open");
	pctl_library_host_init(&host, NULL, 0, 1);
	s = pctl_library_open(plugin, a->probe, main_interface, &host.host, call, &li);
	if (s)
		return s;
	stage(p, "listing what it offers");
	for (i = 1; i < a->n_interfaces && !s; i++)
		if (!plugin->interface(li.inst, a->interfaces[i]))
			s = pctl_refuse(call, PC3021_PLUGIN_INTERFACE, "%s: has no interface %s",
					a->probe, a->interfaces[i]);
	if (!s && !strcmp(main_interface, PCTL_OPLIB_INTERFACE))
		s = list_ops(a, &li, call, &found);
	/* Now: the words are the plugin's. */
	if (!s)
		pctl_ipc_pack(&p->facts, PCTL_IPC_SHAPE_probed, &found, NULL);
	free((void *)(uintptr_t)found.ops);
	stage(p, "close");
	pctl_library_close(&li);
	stage(p, "the end");
	return s;
}

int worker_probe(const worker_args *a)
{
	probe p = {0};
	const pctl_call call = {PCTL_HEAD(pctl_call), &p, sink, NULL, 0};
	pctl_status s;
	int ok;

	pctl_ipc_channel_init(&p.ch, PCTL_IPC_FD);
	s = examine(&p, a, &call);
	pctl_ipc_frame_begin(&p.ch, PCTL_IPC_PROBE_RESULT, 0);
	pctl_ipc_put_u32(&p.ch.out, (uint32_t)s);
	pctl_ipc_put_u32(&p.ch.out, p.n_diags);
	pctl_ipc_put(&p.ch.out, p.diags.data, p.diags.n);
	if (!s)
		pctl_ipc_put(&p.ch.out, p.facts.data, p.facts.n);
	ok = pctl_ipc_frame_end(&p.ch) && pctl_ipc_send(&p.ch) == 1;
	pctl_ipc_out_drop(&p.diags);
	pctl_ipc_out_drop(&p.facts);
	pctl_ipc_channel_close(&p.ch);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
