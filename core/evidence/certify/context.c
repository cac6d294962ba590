/* Implementation of context.h. */
#include "evidence/certify/context.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/exec/open.h"
#include "runtime/exec/run.h"

#define FURTHER_MAX 8u

typedef struct host {
	pctl_proof_context context; /* first: its hooks get back to the whole */
	pctl_certify_context_options o;
	pctl_devices *devices, *reference_devices;
	const pctl_device_entry *reference_entry;
	pctl_open_device device, reference, sanitizer, further[FURTHER_MAX];
} host;

static host *host_of(pctl_proof_context *b)
{
	return (host *)(void *)b;
}

static pctl_status open_on(host *h, const pctl_device_entry *e, uint32_t build_flags,
			   const pctl_call *call, pctl_open_device *out)
{
	const pctl_open_options o = {
		.registry = h->o.registry,
		.profiles = h->o.profiles,
		.cache_dir = h->o.cache_dir,
		.flags = (h->o.flags & PCTL_CERTIFY_IN_PROCESS ? PCTL_RUN_IN_PROCESS : 0) |
			 (h->o.flags & PCTL_CERTIFY_DEBUG ? PCTL_RUN_DEBUG : 0),
		.build_flags = build_flags};

	return pctl_open_entry(&o, e, call, out);
}

static void close_sessions(host *h)
{
	for (uint32_t i = 0; i < FURTHER_MAX; i++)
		pctl_open_close(&h->further[i]);
	pctl_open_close(&h->sanitizer);
	pctl_open_close(&h->reference);
	pctl_open_close(&h->device);
	h->context.device = h->context.reference = h->context.sanitizer = NULL;
}

static pctl_status open_sessions(host *h, const pctl_call *call)
{
	pctl_status status = open_on(h, h->context.entry, 0, call, &h->device);

	if (status == PCTL_OK)
		status = open_on(h, h->reference_entry, 0, call, &h->reference);
	if (status == PCTL_OK && h->o.flags & PCTL_CERTIFY_SANITIZER)
		status = open_on(h, h->reference_entry, PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT,
				 call, &h->sanitizer);
	if (status != PCTL_OK) {
		close_sessions(h);
		return status;
	}
	h->context.device = h->device.session;
	h->context.reference = h->reference.session;
	h->context.sanitizer = h->sanitizer.session;
	return PCTL_OK;
}

static pctl_status open_again(pctl_proof_context *b, const pctl_call *call, pctl_session **out)
{
	host *h = host_of(b);

	*out = NULL;
	for (uint32_t i = 0; i < FURTHER_MAX; i++) {
		if (h->further[i].session == NULL) {
			const pctl_status status = open_on(h, b->entry, 0, call, &h->further[i]);

			*out = h->further[i].session;
			return status;
		}
	}
	return pctl_refuse(call, PC1_INTERNAL, "more than %u further sessions", FURTHER_MAX);
}

static void close_again(pctl_proof_context *b, pctl_session *s)
{
	host *h = host_of(b);

	for (uint32_t i = 0; s != NULL && i < FURTHER_MAX; i++)
		if (h->further[i].session == s)
			pctl_open_close(&h->further[i]);
}

static pctl_status find_devices(host *h, const char *selector, const pctl_call *call)
{
	const uint32_t flags = h->o.flags & PCTL_CERTIFY_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0;
	pctl_status status = pctl_devices_find(h->o.registry, selector, flags, call, &h->devices,
					       &h->context.entry);

	if (status == PCTL_OK && h->context.entry->state != PCTL_DEVICE_USABLE)
		status = pctl_refuse(call, PC5207_NO_DEVICE, "%s is not usable: %s", selector,
				     h->context.entry->cause);
	if (status == PCTL_OK)
		status = pctl_devices_find(h->o.registry, PCTL_REFERENCE, flags, call,
					   &h->reference_devices, &h->reference_entry);
	return status;
}

pctl_status pctl_certify_context_open(const pctl_certify_context_options *o, const char *selector,
				      const pctl_call *call, pctl_proof_context **out)
{
	host *h = calloc(1, sizeof(*h));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (h == NULL)
		return pctl_no_memory(call, "a proof");
	h->o = *o;
	h->context = (pctl_proof_context){.registry = o->registry,
					  .ops = o->ops,
					  .kernels = o->kernels,
					  .profiles = o->profiles,
					  .open_again = open_again,
					  .close_again = close_again,
					  .seed = o->params->seed,
					  .cases = o->params->cases,
					  .flags = o->params->pairs ? PCTL_PROOF_PAIRS : 0,
					  .regressions = o->regressions,
					  .n_regressions = o->n_regressions};
	if (o->shapes != NULL)
		h->context.shapes.seed = *o->shapes;
	else
		status = pctl_shapes_draw(call, &h->context.shapes.seed);
	if (status == PCTL_OK && selector != NULL)
		status = find_devices(h, selector, call);
	if (status == PCTL_OK && selector != NULL)
		status = open_sessions(h, call);
	if (status == PCTL_OK)
		*out = &h->context;
	else
		pctl_certify_context_close(&h->context);
	return status;
}

pctl_status pctl_certify_context_reopen(pctl_proof_context *b, const pctl_call *call)
{
	close_sessions(host_of(b));
	return open_sessions(host_of(b), call);
}

void pctl_certify_context_close(pctl_proof_context *b)
{
	host *h;

	if (b == NULL)
		return;
	h = host_of(b);
	close_sessions(h);
	pctl_devices_destroy(h->devices);
	pctl_devices_destroy(h->reference_devices);
	free(h);
}
