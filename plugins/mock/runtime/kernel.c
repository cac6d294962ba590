/* Kernels: the program as the host legalised it, changed as the script wants, in the operations the inner device has. */
#include "runtime/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/edit.h"

/* 1: a program that makes this device's compiler explode. */
static int explodes(const mock_script *script, const pctl_program *p, uint32_t in_job)
{
	for (uint32_t i = 0; i < script->n; i++) {
		const mock_fault *f = &script->faults[i];

		if (f->kind == MOCK_EXPLODE && (in_job || !f->late) && p->n_insts > f->value)
			return 1;
	}
	return 0;
}

static int has_optional(const pctl_program *p)
{
	int has = (p->caps & PCTL_CAP_SUBGROUPS) != 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		has |= p->insts[i].op == PCTL_OP_DOT4_I8 || p->insts[i].op == PCTL_OP_DOT4_U8;
	return has;
}

/* Without an end: the host's limits of a build are what ends it. */
static void explode(void)
{
	for (volatile uint64_t turns = 0;; turns++) {
		volatile char *p = turns % (1u << 24) == 0 ? malloc(1u << 20) : NULL;

		for (size_t i = 0; p != NULL && i < 1u << 20; i += 4096)
			p[i] = 1;
	}
}

/* The wire form for the inner device, and which bindings the program writes (k may be NULL). */
static pctl_status translate(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			     uint64_t n, pctl_kernel *k, uint8_t **out, uint64_t *n_out)
{
	const uint32_t in_job = call && PCTL_TRACE_JOB(call->trace_id) != 0;
	const mock_script *script = &dev->inst->script;
	pctl_program *p = NULL;
	mock_edit e = {.failed = 0};
	pctl_status s = pctl_program_decode(wire, n, call, &p);

	*out = NULL;
	*n_out = 0;
	if (s != PCTL_OK)
		return s;
	if (k)
		k->written = calloc(p->n_vars + 1u, sizeof(*k->written));
	for (uint32_t i = 0; k && k->written && i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_STORAGE && p->vars[i].access & PCTL_ACCESS_WRITE)
			k->written[k->n_written++] =
				(mock_slot){p->vars[i].group, p->vars[i].binding};
	if (k && explodes(script, p, in_job))
		explode();
	if (k)
		k->is_optional = (uint32_t)has_optional(p);
	if (k && k->is_optional && mock_has(dev, MOCK_BRITTLE) && !dev->inst->in_host)
		abort();
	mock_edit_open(p, &e);
	for (uint32_t i = 0; k && i < script->n && !e.failed; i++)
		if (mock_is_mutation(&script->faults[i]) && (!script->faults[i].late || in_job))
			mock_mutate(&e, &script->faults[i]);
	if (dev->is_reference && !e.failed)
		mock_make_strict(&e);
	if (e.failed || (k && !k->written)) {
		s = pctl_refuse(call, PC2_NOMEM, "no memory to look at the program");
		goto out;
	}
	s = pctl_program_verify(&e.p, call);
	if (s == PCTL_OK)
		s = pctl_program_encode(&e.p, call, out, n_out);
	if (s != PCTL_OK)
		s = pctl_refuse(call, PC3284_MOCK_MUTATION,
				"the script \"%s\" makes no valid program of this one",
				dev->inst->text ? dev->inst->text : "");
out:
	mock_edit_close(&e);
	pctl_program_destroy(p);
	return s;
}

pctl_status mock_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire, uint64_t n,
			  pctl_support *out)
{
	uint8_t *changed;
	uint64_t n_changed;
	pctl_status s;

	if (!dev || !out || (!wire && n))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "supports: a pointer is missing");
	/* The reference would take them, but this is to be a device like others. */
	if (dev->is_reference) {
		pctl_program *p = NULL;
		const uint64_t strict = pctl_program_decode(wire, n, NULL, &p) == PCTL_OK &&
					p->caps & PCTL_CAP_STRICT_FLOAT;

		pctl_program_destroy(p);
		if (strict) {
			*out = (pctl_support){.head = PCTL_HEAD(pctl_support),
					      .code = PC3210_KERNEL_CAPABILITY};
			snprintf(out->reason, sizeof(out->reason),
				 "a mock has no strict float operations: programs are legalised");
			return PCTL_OK;
		}
	}
	s = translate(dev, NULL, wire, n, NULL, &changed, &n_changed);
	if (s == PCTL_E_NOMEM)
		return pctl_refuse(call, PC2_NOMEM, "no memory to look at the program");
	if (s != PCTL_OK && dev->t == &mock_synthetic) {
		*out = (pctl_support){.head = PCTL_HEAD(pctl_support),
				      .code = PC3215_KERNEL_REFUSED};
		snprintf(out->reason, sizeof(out->reason), "this is no program");
		return PCTL_OK;
	}
	/* What is no program the inner backend refuses in its own words. */
	s = dev->t->supports(dev->inner, call, changed ? changed : wire, changed ? n_changed : n,
			     out);
	free(changed);
	return s;
}

pctl_status mock_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			      uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
			      pctl_kernel **out)
{
	pctl_kernel *k;
	uint8_t *changed = NULL;
	uint64_t n_changed = 0;
	pctl_status s;

	if (!dev || !out || (!wire && n))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: a pointer is missing");
	*out = NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return pctl_no_memory(call, "a kernel");
	s = translate(dev, call, wire, n, k, &changed, &n_changed);
	if (s == PCTL_OK)
		s = dev->t->kernel_build(dev->inner, call, changed, n_changed, flags, cache,
					 cache_bytes, &k->inner);
	free(changed);
	if (s != PCTL_OK) {
		free(k->written);
		free(k);
		return s;
	}
	k->dev = dev;
	k->refs = 1;
	*out = k;
	return PCTL_OK;
}

pctl_status mock_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
			      uint64_t capacity, void *out, uint64_t *n_out)
{
	return dev->t->kernel_cache(dev->inner, call, k->inner, capacity, out, n_out);
}

void mock_kernel_release(pctl_kernel *k)
{
	if (!k || --k->refs)
		return;
	k->dev->t->kernel_destroy(k->dev->inner, k->inner);
	free(k->written);
	free(k);
}

void mock_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	if (dev && k && k->dev == dev)
		mock_kernel_release(k);
}
