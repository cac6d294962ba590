/* Kernels as text for people; see emit.h. */
#include "host/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/contract.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/open.h"

typedef struct emission {
	const pctl_kernel_module *unit;
	const char *language;
	const pctl_run_options *how;
	const pctl_call *call; /* what is said of a device that does not do is kept here */
	pctl_emitted_kernel *out;
} emission;

static pctl_status emit_ir(const emission *e, pctl_session *s)
{
	pctl_program *legal = NULL;
	pctl_status status = pctl_session_legal(s, e->unit, e->call, &legal);

	if (status == PCTL_OK) {
		e->out->text = pctl_program_print(legal);
		status = e->out->text == NULL ? pctl_no_memory(e->call, "a listing") : PCTL_OK;
	}
	pctl_program_destroy(legal);
	if (status == PCTL_OK)
		e->out->n = strlen(e->out->text);
	return status;
}

static pctl_status emit_source(const emission *e, pctl_session *s)
{
	char language[PCTL_NAME_MAX];
	char *text;
	uint64_t n;
	pctl_status status = pctl_session_source(s, e->unit, e->call, &text, &n, language);

	if (status != PCTL_OK)
		return status;
	if (strcmp(language, e->language) != 0) {
		free(text);
		return pctl_refuse(e->call, PC3218_KERNEL_SOURCE, "%s is given \"%s\", not \"%s\"",
				   pctl_session_name(s), language, e->language);
	}
	e->out->text = text;
	e->out->n = n;
	for (uint64_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') ||
		    (unsigned char)text[i] > 0x7e)
			text[i] = '?'; /* a stranger's bytes on somebody's terminal */
	return PCTL_OK;
}

/* What of range contracts (compiler/legalize/contract.h) a person wants to know of the kernel. */
static pctl_status note_contract(const emission *e, pctl_session *s)
{
	const pctl_program *p = e->unit->program;
	const pctl_contract_proof *proof;
	const pctl_status status = pctl_session_contract(s, e->unit, e->call, &proof);

	if (status != PCTL_OK)
		return status;
	if (proof->verdict == PCTL_CONTRACT_PROVEN)
		snprintf(e->out->note, sizeof(e->out->note),
			 "where every f32 of its read-only buffers is zero, or finite and of a "
			 "magnitude "
			 "from 2^%d to 2^%d, another program runs, in which %" PRIu32
			 " operations have no guards",
			 PCTL_CONTRACT_LEAST, PCTL_CONTRACT_MOST, proof->n_operations);
	else if (proof->verdict == PCTL_CONTRACT_UNPROVEN)
		snprintf(e->out->note, sizeof(e->out->note),
			 "its guards stay whatever its buffers hold: %.80s:%" PRIu32 ":%" PRIu32
			 ": %s",
			 proof->where.file < p->n_origin_files ? p->origin_files[proof->where.file]
							       : e->unit->name,
			 proof->where.line, proof->where.column, proof->why);
	return PCTL_OK;
}

static pctl_status try_device(const emission *e, const pctl_device_entry *entry)
{
	const pctl_open_options o = {.registry = e->how->registry,
				     .policy = e->how->policy,
				     .profiles = e->how->profiles,
				     .flags = e->how->flags};
	pctl_open_device device;
	pctl_status status = pctl_open_entry(&o, entry, e->call, &device);

	if (status == PCTL_OK)
		status = strcmp(e->language, PCTL_EMIT_IR) == 0 ? emit_ir(e, device.session)
								: emit_source(e, device.session);
	if (status == PCTL_OK)
		status = note_contract(e, device.session);
	if (status == PCTL_OK)
		snprintf(e->out->device, sizeof(e->out->device), "%s",
			 pctl_session_name(device.session));
	pctl_open_close(&device);
	return status;
}

static pctl_status try_named(const emission *e)
{
	const uint32_t flags = pctl_open_list_flags(e->how->flags);
	pctl_status first = PCTL_OK, status = PCTL_OK;

	for (uint32_t i = 0; i < e->how->n_backends && e->out->text == NULL; i++) {
		const pctl_device_entry *entry;
		pctl_devices *list = NULL;

		status = pctl_devices_find(e->how->registry, e->how->backends[i], flags, e->call,
					   &list, &entry);
		if (status == PCTL_OK)
			status = try_device(e, entry);
		pctl_devices_destroy(list);
		if (first == PCTL_OK)
			first = status;
	}
	return e->out->text != NULL ? PCTL_OK : first;
}

static pctl_status try_all(const emission *e)
{
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	uint8_t *taken = NULL;
	pctl_status first = PCTL_OK,
		    status = pctl_devices_list(e->how->registry, NULL,
					       pctl_open_list_flags(e->how->flags), e->call, &list);

	if (status == PCTL_OK) {
		taken = calloc((size_t)pctl_devices_count(list) + 1, 1);
		if (taken == NULL)
			status = pctl_no_memory(e->call, "a list of devices");
	}
	while (taken != NULL && e->out->text == NULL &&
	       (entry = pctl_open_next(e->how->policy, list, taken, 0)) != NULL) {
		status = try_device(e, entry);
		if (first == PCTL_OK)
			first = status;
	}
	free(taken);
	pctl_devices_destroy(list);
	if (status == PCTL_OK && e->out->text == NULL)
		return pctl_refuse(e->call, PC3218_KERNEL_SOURCE, "there is no device to ask");
	return e->out->text != NULL ? PCTL_OK : first != PCTL_OK ? first : status;
}

pctl_status pctl_emit_kernel(const pctl_kernel_module *unit, const char *language,
			     const pctl_run_options *how, const pctl_call *call,
			     pctl_emitted_kernel *out)
{
	pctl_diag_list *kept = pctl_diag_list_create();
	emission e = {unit, language, how, NULL, out};
	pctl_status status;

	*out = (pctl_emitted_kernel){.text = NULL};
	if (kept == NULL)
		return pctl_no_memory(call, "a listing");
	pctl_diag_list_set_cancel(kept, call->cancelled, call->ctx);
	e.call = pctl_diag_list_call(kept);
	status = how->n_backends != 0 ? try_named(&e) : try_all(&e);
	/* What was said of one that does not do is only of interest when none does. */
	for (uint32_t i = 0; status != PCTL_OK && i < pctl_diag_list_count(kept); i++)
		(void)pctl_emit(call, pctl_diag_list_at(kept, i));
	pctl_diag_list_destroy(kept);
	return status;
}

void pctl_emitted_kernel_close(pctl_emitted_kernel *e)
{
	free(e->text);
	*e = (pctl_emitted_kernel){.text = NULL};
}
