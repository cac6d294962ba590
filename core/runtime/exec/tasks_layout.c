/* Placing the bindings of a submission; equal CIDs share their bytes. */
#include "runtime/exec/tasks_layout.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

/* Uploads by CID: open addressing over the digest, which is as good as random. 0 is free, else upload + 1. */
struct known {
	uint32_t *slots;
	uint32_t mask;
};

struct placing {
	pctl_task_layout *l;
	const pctl_layout_limits *limits;
	struct known known;
	uint64_t bytes;	     /* of all slabs */
	uint32_t current[2]; /* slab that inputs, outputs go to */
};

const pctl_var *pctl_task_var(const pctl_program *p, uint32_t group, uint32_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if ((v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM) &&
		    v->group == group && v->binding == binding)
			return v;
	}
	return NULL;
}

int pctl_task_works(const pctl_task *t)
{
	return t->groups[0] != 0 && t->groups[1] != 0 && t->groups[2] != 0 && t->n_output != 0 &&
	       pctl_task_var(t->unit->program, 1, 0) != NULL;
}

static int is_placed(const pctl_task *t, const pctl_task_binding *b)
{
	return b->n_bytes != 0 && pctl_task_works(t) &&
	       pctl_task_var(t->unit->program, b->group, b->binding) != NULL;
}

/* The slot of these bytes: the upload that has them, or the free slot where it will stand. */
static uint32_t slot_of(const struct placing *p, const pctl_task_binding *b)
{
	uint32_t at;

	memcpy(&at, b->cid->digest, sizeof(at));
	for (at &= p->known.mask;; at = (at + 1) & p->known.mask) {
		const uint32_t found = p->known.slots[at];
		const pctl_task_binding *other;

		if (found == 0)
			return at;
		other = p->l->uploads.items[found - 1].binding;
		if (other->n_bytes == b->n_bytes &&
		    memcmp(other->cid->digest, b->cid->digest, PCTL_DIGEST_BYTES) == 0)
			return at;
	}
}

static int is_known(const struct placing *p, const pctl_task_binding *b)
{
	return b->cid != NULL && p->known.slots[slot_of(p, b)] != 0;
}

uint64_t pctl_slab_bytes(const pctl_task_layout *l, uint32_t slab)
{
	const pctl_task_slab *s = &l->slabs.items[slab];

	return pctl_num_align(s->n_bytes + (s->is_zoned ? l->zones.behind : 0), 4);
}

uint64_t pctl_slab_key(const pctl_task_layout *l, uint32_t slab)
{
	return l->zones.key * UINT64_C(0xbf58476d1ce4e5b9) + slab;
}

/* What a task adds to the slabs, saturating; what it binds twice itself counts twice. */
static uint64_t cost(const struct placing *p, const pctl_task *t)
{
	uint64_t sum = 0, n = t->n_output;

	for (uint32_t i = 0;; i++) {
		if (n > UINT64_MAX - p->limits->align - p->limits->between)
			return UINT64_MAX;
		(void)pctl_num_add(sum, pctl_num_align(n + p->limits->between, p->limits->align),
				   &sum);
		while (i < t->n_bindings &&
		       (!is_placed(t, &t->bindings[i]) || is_known(p, &t->bindings[i])))
			i++;
		if (i >= t->n_bindings)
			return sum;
		n = t->bindings[i].n_bytes;
	}
}

static int new_slab(struct placing *p, int is_output)
{
	const pctl_task_slab slab = {.is_zoned = p->limits->zones.before != 0};

	if (!PCTL_VEC_PUSH(&p->l->slabs, slab))
		return 0;
	p->current[is_output] = p->l->slabs.n - 1;
	return 1;
}

/* The offset of n bytes more in a slab, UINT64_MAX: there is no room for them. */
static uint64_t offset_in(const struct placing *p, const pctl_task_slab *slab, uint64_t n)
{
	const pctl_layout_limits *limits = p->limits;
	const uint64_t behind = slab->is_zoned ? limits->zones.behind : 0;
	const uint64_t offset =
		slab->n_bytes == 0
			? (slab->is_zoned ? pctl_num_align(limits->zones.before, limits->align) : 0)
			: pctl_num_align(slab->n_bytes + limits->between, limits->align);

	return offset > limits->most_slab || behind > limits->most_slab - offset ||
			       n > limits->most_slab - offset - behind
		       ? UINT64_MAX
		       : offset;
}

/* Room for n bytes; 0 for lack of memory. */
static int place(struct placing *p, int is_output, uint64_t n, pctl_task_place *out)
{
	uint32_t *current = &p->current[is_output];
	pctl_task_slab *slab = *current == PCTL_TASK_NOWHERE ? NULL : &p->l->slabs.items[*current];
	uint64_t offset = slab == NULL ? UINT64_MAX : offset_in(p, slab, n), before;

	if (offset == UINT64_MAX) {
		if (!new_slab(p, is_output))
			return 0;
		slab = &p->l->slabs.items[*current];
		offset = offset_in(p, slab, n);
	}
	/* More than a buffer may have with its zones, or at all, which the device will say. */
	if (offset == UINT64_MAX) {
		slab->is_zoned = 0;
		offset = 0;
	}
	before = slab->n_bytes == 0 ? 0 : pctl_slab_bytes(p->l, *current);
	slab->n_bytes = offset + n;
	p->bytes += pctl_slab_bytes(p->l, *current) - before;
	*out = (pctl_task_place){*current, 0, offset};
	return 1;
}

static int place_input(struct placing *p, const pctl_task *t, const pctl_task_binding *b,
		       pctl_task_place *out)
{
	pctl_task_upload upload = {{PCTL_TASK_NOWHERE, 0, 0}, b, (uint32_t)(t - p->l->tasks), 0};
	uint32_t slot = 0;

	*out = upload.at;
	if (!is_placed(t, b))
		return 1;
	if (b->cid != NULL) {
		slot = slot_of(p, b);
		if (p->known.slots[slot] != 0) {
			*out = p->l->uploads.items[p->known.slots[slot] - 1].at;
			return 1;
		}
	}
	if (!place(p, 0, b->n_bytes, &upload.at) || !PCTL_VEC_PUSH(&p->l->uploads, upload))
		return 0;
	if (b->cid != NULL)
		p->known.slots[slot] = p->l->uploads.n;
	*out = upload.at;
	return 1;
}

static int place_task(struct placing *p, const pctl_task *t, pctl_task_place *inputs,
		      pctl_task_place *output)
{
	*output = (pctl_task_place){PCTL_TASK_NOWHERE, 0, 0};
	for (uint32_t i = 0; i < t->n_bindings; i++) {
		if (!place_input(p, t, &t->bindings[i], &inputs[i]))
			return 0;
	}
	return !pctl_task_works(t) || place(p, 1, t->n_output, output);
}

static int known_create(struct known *k, uint64_t n)
{
	uint32_t size = 16;

	while (size < (1u << 30) && size < 2 * n)
		size *= 2;
	k->mask = size - 1;
	k->slots = calloc(size, sizeof(*k->slots));
	return k->slots != NULL;
}

pctl_status pctl_layout_make(const pctl_task *tasks, uint32_t n, const pctl_layout_limits *limits,
			     const pctl_call *call, pctl_task_layout *out)
{
	struct placing p = {
		.l = out, .limits = limits, .current = {PCTL_TASK_NOWHERE, PCTL_TASK_NOWHERE}};
	pctl_status status = PCTL_E_NOMEM;
	uint64_t n_bindings = 0, at = 0;

	*out = (pctl_task_layout){.tasks = tasks, .zones = limits->zones};
	n = n < limits->most_tasks ? n : limits->most_tasks;
	for (uint32_t i = 0; i < n; i++)
		n_bindings += tasks[i].n_bindings;
	out->inputs = calloc(n_bindings + 1, sizeof(*out->inputs));
	out->outputs = calloc(n + 1u, sizeof(*out->outputs));
	if (out->inputs == NULL || out->outputs == NULL || !known_create(&p.known, n_bindings))
		goto out;
	while (out->n < n) {
		const pctl_task *t = &tasks[out->n];
		const uint64_t more = cost(&p, t);

		if (out->n != 0 &&
		    (p.bytes > limits->most_bytes || more > limits->most_bytes - p.bytes))
			break;
		if (!place_task(&p, t, out->inputs + at, &out->outputs[out->n]))
			goto out;
		at += t->n_bindings;
		out->n++;
	}
	status = PCTL_OK;
out:
	free(p.known.slots);
	return status == PCTL_OK ? PCTL_OK : pctl_no_memory(call, "a submission");
}

void pctl_layout_clear(pctl_task_layout *l)
{
	free(l->inputs);
	free(l->outputs);
	free(l->slabs.items);
	free(l->uploads.items);
	*l = (pctl_task_layout){0};
}
