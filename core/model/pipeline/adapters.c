/* What adapters add to a projection: a job for each, in their order (SEMANTICS.md 19.5). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/pipeline/ops.h"
#include "model/pipeline/private.h"

#define IN_SIZE 900u

/* The pair that use i of the plan adds to a role of a layer; NULL: none. */
static const pctl_adapter_pair *pair_of(const model_text *w, uint32_t i, pctl_model_role role,
					uint64_t layer)
{
	return pctl_adapter_pair_of(w->plan->adapters[i].adapter, role, (uint32_t)layer);
}

static void input_name(const model_text *w, uint32_t i, const char *tensor, char out[REF_SIZE])
{
	char plain[REF_SIZE];

	text_input_name(tensor, plain);
	if (w->plan->unrolled)
		text_print(out, REF_SIZE, "lora_%" PRIu32 "_%.170s", i, plain);
	else
		text_print(out, REF_SIZE, "lora_%" PRIu32 "/%.170s", i, tensor);
}

static void matrix_name(const model_text *w, uint32_t i, pctl_model_role role, uint32_t matrix,
			char out[REF_SIZE])
{
	char name[REF_SIZE], input[REF_SIZE];

	pctl_adapter_name(pctl_adapter_facts_of(w->plan->adapters[i].adapter)->layout, w->s, role,
			  w->layer, matrix, name, sizeof(name));
	input_name(w, i, name, input);
	text_print(out, REF_SIZE, "$%.190s", input);
}

/* Rows of B as the model's rows of q and k lie: both are pairs of a head, once with what turns together side by side and once half a head apart. */
static void reorder(model_text *w, const char *id, uint32_t i, const pctl_adapter_pair *p,
		    pctl_model_role role, char b[REF_SIZE])
{
	const int from = pctl_adapter_has_neighbours(w->plan->adapters[i].adapter),
		  to = w->s->rope.pairing == PCTL_MODEL_NEIGHBOURS;
	const uint64_t half = w->s->head_dim / 2, m = p->types[1].dim[0], r = p->types[1].dim[1];
	char in[IN_SIZE], attr[160], name[64];

	if ((role != PCTL_ROLE_Q && role != PCTL_ROLE_K) || from == to)
		return;
	text_print(name, sizeof(name), "%s_lora%" PRIu32 "_heads", id, i);
	text_job(w, name, OP_RESHAPE, text_print(in, sizeof(in), "x = \"%s\";", b),
		 text_print(attr, sizeof(attr),
			    "shape = \"%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\";",
			    m / w->s->head_dim, from ? half : 2, from ? 2 : half, r));
	text_print(in, sizeof(in), "x = \"%s%s.y\";", w->prefix, name);
	text_print(name, sizeof(name), "%s_lora%" PRIu32 "_turned", id, i);
	text_job(w, name, OP_TRANSPOSE, in, "axes = \"0,2,1,3\";");
	text_print(in, sizeof(in), "x = \"%s%s.y\";", w->prefix, name);
	text_print(name, sizeof(name), "%s_lora%" PRIu32 "_rows", id, i);
	text_job(w, name, OP_RESHAPE, in,
		 text_print(attr, sizeof(attr), "shape = \"%" PRIu64 ",%" PRIu64 "\";", m, r));
	text_print(b, REF_SIZE, "%s%s.y", w->prefix, name);
}

void text_adapted(model_text *w, const char *id, const char *x, pctl_model_role role,
		  char y[REF_SIZE])
{
	char a[REF_SIZE], b[REF_SIZE], in[IN_SIZE], attr[64], name[64];

	for (uint32_t i = 0; i < w->plan->n_adapters; i++) {
		const pctl_adapter_use *use = &w->plan->adapters[i];
		const pctl_adapter_pair *p = pair_of(w, i, role, w->number);

		if (use->set != w->plan->set || p == NULL)
			continue;
		matrix_name(w, i, role, 0, a);
		matrix_name(w, i, role, 1, b);
		reorder(w, id, i, p, role, b);
		text_print(name, sizeof(name), "%s_lora%" PRIu32, id, i);
		text_job(w, name, OP_LORA,
			 text_print(in, sizeof(in),
				    "y0 = \"%s\"; x = \"%s\"; a = \"%s\"; b = \"%s\";", y, x, a, b),
			 text_print(attr, sizeof(attr), "scale = \"%.9g\";",
				    (double)pctl_adapter_scale(use->adapter, p, use->by)));
		text_print(y, REF_SIZE, "%s%s.y", w->prefix, name);
	}
}

static void each_matrix(const model_text *w, uint32_t i, const char *path, pctl_str_buf *inputs)
{
	const pctl_adapter_pair *p;
	char name[REF_SIZE];

	for (uint64_t k = 0; (p = pctl_adapter_at(w->plan->adapters[i].adapter, k)) != NULL; k++)
		for (uint32_t m = 0; m < 2; m++) {
			input_name(w, i, p->names[m], name);
			pctl_str_addf(inputs,
				      "%s : { type = \"%s[%" PRIu64 ",%" PRIu64
				      "]\"; file = \"%s:%s\"; };\n",
				      name, pctl_dtype_of(p->types[m].dtype)->name,
				      p->types[m].dim[0], p->types[m].dim[1], path, p->names[m]);
		}
}

void text_adapter_inputs(const model_text *w, pctl_str_buf *inputs)
{
	const char *path;

	for (uint32_t i = 0; i < w->plan->n_adapters; i++) {
		if (w->plan->adapters[i].set != w->plan->set)
			continue;
		(void)pctl_adapter_file(w->plan->adapters[i].adapter, &path);
		if (w->plan->unrolled)
			each_matrix(w, i, path, inputs);
		else
			pctl_str_addf(inputs, "lora_%" PRIu32 " : { tensors = \"%s\"; };\n", i,
				      path);
	}
}

int text_adapted_alike(const model_text *w, uint64_t layer, uint64_t other)
{
	for (uint32_t i = 0; i < w->plan->n_adapters; i++)
		for (uint32_t k = 0; pctl_adapter_role(k) != PCTL_ROLES; k++) {
			const pctl_model_role role = pctl_adapter_role(k);
			const pctl_adapter_pair *p = pair_of(w, i, role, layer),
						*q = pair_of(w, i, role, other);

			/* Ranks may differ in GGUF, and scales with them. The output is in no layer. */
			if (role == PCTL_ROLE_OUTPUT)
				continue;
			if ((p == NULL) != (q == NULL) ||
			    (p != NULL && p->types[0].dim[0] != q->types[0].dim[0]))
				return 0;
		}
	return 1;
}
