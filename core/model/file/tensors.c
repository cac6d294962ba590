/* Which tensor plays which role: by name, and held against the description. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/file/private.h"

#define NAME_SIZE 128u
#define TOLD 20u /* of one kind; how many more there are is said */

/* A tensor that is there; is_used: it plays a role. */
typedef struct found {
	const char *name;
	const pctl_tensor_entry *entry;
	uint64_t index;
	uint32_t file, is_used;
} found;

typedef struct search {
	pctl_model *m;
	model_faults *f;
	found *all;
	uint64_t n, n_missing, n_wrong, n_surplus;
} search;

static int by_name(const void *a, const void *b)
{
	return strcmp(((const found *)a)->name, ((const found *)b)->name);
}

const char *model_shape_text(const pctl_tensor_type *t, char out[192])
{
	size_t n = 0;

	out[n++] = '[';
	for (uint32_t i = 0; i < t->rank; i++)
		n += (size_t)snprintf(out + n, 192 - n, "%s%" PRIu64, i ? "," : "", t->dim[i]);
	snprintf(out + n, 192 - n, "]");
	return out;
}

static int type_good(pctl_model_role role, uint32_t dtype)
{
	const pctl_dtype *t = pctl_dtype_of(dtype);

	if (t == NULL || !pctl_model_dtype_good(t))
		return 0;
	return !pctl_model_role_is_small(role) ||
	       (t->kind == PCTL_DTYPE_KIND_FLOAT && t->bits >= 16);
}

static void take(search *s, pctl_model_role role, uint32_t layer, uint32_t expert)
{
	char name[NAME_SIZE], is[192], want_text[192], number[16];
	pctl_model_tensor *t = &s->m->tensors[s->m->n];
	const found key = {.name = name};
	pctl_tensor_type want;
	found *at;

	snprintf(number, sizeof(number), "%" PRIu32, layer);
	pctl_model_name(&s->m->shape, role, s->m->layout, number, expert, name, sizeof(name));
	pctl_model_expected(&s->m->shape, role, s->m->layout, &want);
	at = bsearch(&key, s->all, s->n, sizeof(*s->all), by_name);
	if (at == NULL) {
		if (s->n_missing++ < TOLD)
			model_fault(s->f, PC6284_MODEL_TENSOR_MISSING, NULL,
				    "there is no tensor \"%s\" %s", name,
				    model_shape_text(&want, want_text));
		return;
	}
	at->is_used = 1;
	*t = (pctl_model_tensor){.role = role,
				 .layer = layer,
				 .expert = expert,
				 .name = at->name,
				 .type = at->entry->type,
				 .n_bytes = at->entry->n_bytes,
				 .file = at->file,
				 .index = at->index};
	s->m->n++;
	if (t->type.rank != want.rank || memcmp(t->type.dim, want.dim, sizeof(want.dim)) != 0) {
		if (s->n_wrong++ < TOLD)
			model_fault(s->f, PC6285_MODEL_TENSOR_SHAPE, NULL,
				    "tensor \"%s\" is %s, the description asks for %s", name,
				    model_shape_text(&t->type, is),
				    model_shape_text(&want, want_text));
	} else if (!type_good(role, t->type.dtype) && s->n_wrong++ < TOLD) {
		model_fault(s->f, PC6287_MODEL_TENSOR_TYPE, NULL,
			    "tensor \"%s\" has the type %.40s, which weights cannot have", name,
			    at->entry->stored);
	}
}

/* The roles in their order, layer by layer. */
static void take_all(search *s)
{
	const pctl_model_shape *shape = &s->m->shape;
	uint32_t layers, experts;

	for (uint32_t part = 0; part < shape->n_layers + 2; part++)
		for (uint32_t i = 0; i < PCTL_ROLES; i++) {
			const pctl_model_role role = (pctl_model_role)i;
			const int before = role < PCTL_ROLE_ATTN_NORM,
				  behind = role >= PCTL_ROLE_OUTPUT_NORM;
			const uint32_t at = before   ? 0
					    : behind ? (uint32_t)shape->n_layers + 1
					    : part == 0 || part > shape->n_layers ? UINT32_MAX
										  : part;

			if (at != part ||
			    !pctl_model_needs(shape, role, s->m->layout, &layers, &experts) ||
			    !pctl_model_layer_has(shape, role, part - 1))
				continue;
			for (uint32_t e = 0; e < experts; e++)
				take(s, role, before || behind ? 0 : part - 1, e);
		}
}

/* Tables that old checkpoints keep and everybody computes anew. */
static int is_left_over(const char *name)
{
	static const char ending[] = ".rotary_emb.inv_freq";
	const size_t n = strlen(name), k = sizeof(ending) - 1;

	return n > k && strcmp(name + n - k, ending) == 0;
}

static void surplus(search *s)
{
	for (uint64_t i = 0; i < s->n; i++)
		if (!s->all[i].is_used && !is_left_over(s->all[i].name) && s->n_surplus++ < TOLD)
			model_fault(s->f, PC6286_MODEL_TENSOR_SURPLUS, NULL,
				    "nothing is known of the tensor \"%.200s\"", s->all[i].name);
	if (s->n_missing > TOLD || s->n_wrong > TOLD || s->n_surplus > TOLD)
		model_fault(s->f,
			    s->n_missing > TOLD ? PC6284_MODEL_TENSOR_MISSING
			    : s->n_wrong > TOLD ? PC6285_MODEL_TENSOR_SHAPE
						: PC6286_MODEL_TENSOR_SURPLUS,
			    NULL,
			    "in all %" PRIu64 " tensors are missing, %" PRIu64
			    " are other than asked for, %" PRIu64 " are too many",
			    s->n_missing, s->n_wrong, s->n_surplus);
}

static uint64_t how_many(const pctl_model *m)
{
	uint32_t layers, experts;
	uint64_t n = 0;

	for (uint32_t i = 0; i < PCTL_ROLES; i++)
		if (pctl_model_needs(&m->shape, (pctl_model_role)i, m->layout, &layers, &experts))
			n += (uint64_t)layers * experts;
	return n;
}

void model_find_tensors(pctl_model *m, model_faults *f)
{
	search s = {.m = m, .f = f};
	const pctl_tensor_entry *e;
	pctl_tensor_file *file;
	uint64_t n = 0;

	for (uint32_t k = 0; (file = pctl_tensor_shards_file(m->shards, k)) != NULL; k++)
		for (uint64_t i = 0; pctl_tensor_file_at(file, i) != NULL; i++)
			n++;
	/* What is asked for and far from there is told by a few of them. */
	if (how_many(m) > n + 65536) {
		model_fault(f, PC6284_MODEL_TENSOR_MISSING, NULL,
			    "the description asks for %" PRIu64 " tensors, there are %" PRIu64,
			    how_many(m), n);
		return;
	}
	s.all = calloc(n + 1, sizeof(*s.all));
	m->tensors = calloc(how_many(m) + 1, sizeof(*m->tensors));
	if (s.all == NULL || m->tensors == NULL) {
		f->status = pctl_no_memory(f->call, "the tensors of a model");
		free(s.all);
		return;
	}
	for (uint32_t k = 0; (file = pctl_tensor_shards_file(m->shards, k)) != NULL; k++)
		for (uint64_t i = 0; (e = pctl_tensor_file_at(file, i)) != NULL; i++)
			s.all[s.n++] = (found){e->name, e, i, k, 0};
	qsort(s.all, s.n, sizeof(*s.all), by_name);
	take_all(&s);
	surplus(&s);
	free(s.all);
}

/* Sorted by layer and role: found by halves. */
static int order(const pctl_model_tensor *t, uint32_t part, pctl_model_role role, uint32_t expert,
		 uint32_t n_layers)
{
	const uint32_t at = t->role < PCTL_ROLE_ATTN_NORM      ? 0
			    : t->role >= PCTL_ROLE_OUTPUT_NORM ? n_layers + 1
							       : t->layer + 1;

	if (at != part)
		return at < part ? -1 : 1;
	if (t->role != role)
		return t->role < role ? -1 : 1;
	return t->expert < expert ? -1 : t->expert > expert;
}

const pctl_model_tensor *pctl_model_tensor_of(const pctl_model *m, pctl_model_role role,
					      uint32_t layer, uint32_t expert)
{
	const uint32_t n_layers = (uint32_t)m->shape.n_layers;
	const uint32_t part = role < PCTL_ROLE_ATTN_NORM      ? 0
			      : role >= PCTL_ROLE_OUTPUT_NORM ? n_layers + 1
							      : layer + 1;
	uint64_t from = 0, to = m->n;

	while (from < to) {
		const uint64_t mid = from + (to - from) / 2;
		const int o = order(&m->tensors[mid], part, role, expert, n_layers);

		if (o == 0)
			return &m->tensors[mid];
		if (o < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}
