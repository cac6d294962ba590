/* Ports of a job that runs a machine, by their names. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/conf/conf.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/vm.h"

/* "r7", "r7_2", "kv_2": 1 and the numbers; *has_instance where one is named. */
static int numbered(const char *name, const char *word, uint64_t *number, uint64_t *instance,
		    int *has_instance)
{
	const size_t n = strlen(word);
	const char *mark;

	if (strncmp(name, word, n) != 0)
		return 0;
	mark = strchr(name + n, '_');
	*has_instance = mark != NULL;
	if (mark != NULL && !pctl_num_parse_u64(mark + 1, strlen(mark + 1), instance))
		return 0;
	if (number == NULL)
		return mark == name + n;
	return pctl_num_parse_u64(
		name + n, mark == NULL ? strlen(name + n) : (size_t)(mark - (name + n)), number);
}

static int find_part(const pctl_vm_part *parts, uint32_t n, const char *name, uint32_t kind,
		     pctl_vm_port *out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(parts[i].name, name) != 0)
			continue;
		*out = (pctl_vm_port){kind, 0, i, parts[i].at, parts[i].n_bytes};
		return 1;
	}
	return 0;
}

static int find(const pctl_vm_desc *d, const char *name, int is_output, pctl_vm_port *out)
{
	uint64_t number = 0, instance = is_output ? d->instances - 1u : 0;
	int has = 0;

	if (find_part(d->heap, d->n_heap, name, PCTL_VM_PORT_HEAP, out) ||
	    find_part(d->globals, d->n_globals, name, PCTL_VM_PORT_GLOBALS, out))
		return 1;
	if (numbered(name, "r", &number, &instance, &has)) {
		*out = (pctl_vm_port){PCTL_VM_PORT_REGISTER, (uint32_t)instance, (uint32_t)number,
				      0, 4ull * d->width};
		return number < PCTL_VM_REGISTERS && instance < d->instances;
	}
	if (numbered(name, "kv", NULL, &instance, &has)) {
		if (instance >= d->instances)
			return 0;
		*out = (pctl_vm_port){PCTL_VM_PORT_GLOBALS, (uint32_t)instance, 0,
				      pctl_vm_kv_at(d, (uint32_t)instance), d->kv_bytes};
		return d->kv_bytes != 0;
	}
	if (strcmp(name, "globals") == 0)
		*out = (pctl_vm_port){PCTL_VM_PORT_GLOBALS, 0, 0, 0, pctl_vm_globals_all(d)};
	else if (strcmp(name, "control") == 0)
		*out = (pctl_vm_port){PCTL_VM_PORT_CONTROL, 0, 0, 0,
				      4ull * PCTL_VM_CONTROL * d->instances};
	else if (strcmp(name, "metrics") == 0)
		*out = (pctl_vm_port){PCTL_VM_PORT_METRICS, 0, 0, 0,
				      4ull * PCTL_VM_METRICS * d->instances};
	else
		return 0;
	return 1;
}

static pctl_status unknown(const pctl_vm_desc *d, const char *name, const pctl_pos *pos,
			   const pctl_call *call)
{
	const char *names[24] = {"r0", "r30", "globals", "control", "metrics"};
	uint32_t n = 5;
	char *hint;
	pctl_status status;

	for (uint32_t i = 0; i < d->n_heap && n < 24; i++)
		names[n++] = d->heap[i].name;
	for (uint32_t i = 0; i < d->n_globals && n < 24; i++)
		names[n++] = d->globals[i].name;
	hint = pctl_conf_hint_names(name, names, n);
	status = pctl_refuse_at(call, PC4405_VM_PLACE, pos, hint,
				"machine \"%s\" of %" PRIu32 " instances has no place \"%s\"",
				d->name, d->instances, name);
	free(hint);
	return status;
}

pctl_status pctl_vm_port_find(const pctl_vm_desc *d, const char *name, int is_output,
			      const pctl_pos *pos, const pctl_call *call, pctl_vm_port *out)
{
	memset(out, 0, sizeof(*out));
	if (!find(d, name, is_output, out))
		return unknown(d, name, pos, call);
	if (is_output ? out->kind == PCTL_VM_PORT_HEAP : out->kind == PCTL_VM_PORT_METRICS)
		return pctl_refuse_at(call, PC4405_VM_PLACE, pos, NULL,
				      "\"%s\" of machine \"%s\" is %s", name, d->name,
				      is_output ? "read, and no output" : "made, and no input");
	return PCTL_OK;
}
