/* An adapter held against the model that it is to be added to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/file/adapter_private.h"

#define NAME_SIZE 160u
#define TOLD 20u

static const pctl_model_role roles[] = {
	PCTL_ROLE_Q,	  PCTL_ROLE_K,		 PCTL_ROLE_V,	      PCTL_ROLE_QKV,
	PCTL_ROLE_O,	  PCTL_ROLE_GATE,	 PCTL_ROLE_UP,	      PCTL_ROLE_GATE_UP,
	PCTL_ROLE_DOWN,	  PCTL_ROLE_SHARED_GATE, PCTL_ROLE_SHARED_UP, PCTL_ROLE_SHARED_DOWN,
	PCTL_ROLE_OUTPUT,
};

pctl_model_role pctl_adapter_role(uint32_t i)
{
	return i < sizeof(roles) / sizeof(roles[0]) ? roles[i] : PCTL_ROLES;
}

/* GGUF files of these families have general.architecture llama. */
const char *pctl_adapter_architecture(pctl_model_family f)
{
	return f == PCTL_MODEL_MISTRAL || f == PCTL_MODEL_MIXTRAL ? "llama"
								  : pctl_model_family_name(f);
}

/* What the file's names are made of: its weight's in GGUF, the module's elsewhere. */
static void module_name(pctl_model_layout layout, const pctl_model_shape *s, pctl_model_role role,
			const char *layer, char *out, size_t n)
{
	size_t length;

	pctl_model_name(s, role, layout, layer, 0, out, n);
	length = strlen(out);
	if (layout == PCTL_MODEL_LAYOUT_SAFETENSORS && length > 7)
		out[length - 7] = '\0'; /* ".weight" */
}

void pctl_adapter_name(pctl_model_layout layout, const pctl_model_shape *s, pctl_model_role role,
		       const char *layer, uint32_t matrix, char *out, size_t n)
{
	char module[NAME_SIZE];

	module_name(layout, s, role, layer, module, sizeof(module));
	if (layout == PCTL_MODEL_LAYOUT_GGUF)
		snprintf(out, n, "%s.lora_%c", module, matrix ? 'b' : 'a');
	else
		snprintf(out, n, "base_model.model.%s.lora_%c.weight", module, matrix ? 'B' : 'A');
}

int pctl_adapter_has_neighbours(const pctl_adapter *a)
{
	static const char *const names[] = {"llama", "deepseek"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (a->facts.layout == PCTL_MODEL_LAYOUT_GGUF &&
		    strcmp(a->facts.architecture, names[i]) == 0)
			return 1;
	return 0;
}

typedef struct fitting {
	pctl_adapter *a;
	const pctl_model *m;
	model_faults *f;
	uint64_t n_missing, n_wrong;
} fitting;

static pctl_adapter_pair *find(const pctl_adapter *a, const char *module)
{
	uint64_t from = 0, to = a->n;

	while (from < to) {
		const uint64_t mid = from + (to - from) / 2;
		const int o = strcmp(module, a->pairs[mid].module);

		if (o == 0)
			return &a->pairs[mid];
		if (o < 0)
			to = mid;
		else
			from = mid + 1;
	}
	return NULL;
}

/* What is missing is told of those that say what they are for. */
static void missing(fitting *w, pctl_model_role role, const char *module, uint64_t layer)
{
	if (w->a->facts.layout != PCTL_MODEL_LAYOUT_SAFETENSORS ||
	    (w->a->all_linear && role == PCTL_ROLE_OUTPUT) ||
	    adapter_wants(w->a, module, layer) != 1)
		return;
	if (w->n_missing++ < TOLD)
		model_fault(w->f, PC6297_ADAPTER_TENSOR, NULL,
			    "target_modules asks for \"%.200s\", and no tensors are of it", module);
}

static void take(fitting *w, pctl_model_role role, uint32_t layer)
{
	const pctl_model_shape *s = pctl_model_shape_of(w->m);
	char module[NAME_SIZE], number[16], is[192], want_text[192];
	pctl_tensor_type want, made = {.rank = 2};
	pctl_adapter_pair *p;

	snprintf(number, sizeof(number), "%" PRIu32, layer);
	module_name(w->a->facts.layout, s, role, number, module, sizeof(module));
	p = find(w->a, module);
	if (p == NULL) {
		missing(w, role, module, role == PCTL_ROLE_OUTPUT ? UINT64_MAX : layer);
		return;
	}
	p->role = role;
	p->layer = layer;
	pctl_model_expected(s, role, PCTL_MODEL_LAYOUT_SAFETENSORS, &want);
	made.dim[0] = p->types[1].dim[0];
	made.dim[1] = p->types[0].dim[1];
	if (memcmp(made.dim, want.dim, sizeof(want.dim)) != 0 && w->n_wrong++ < TOLD)
		model_fault(w->f, PC6298_ADAPTER_BASE, NULL,
			    "\"%.200s\" is for a projection %s, the model's is %s", module,
			    model_shape_text(&made, is), model_shape_text(&want, want_text));
}

static int by_place(const void *x, const void *y)
{
	const pctl_adapter_pair *a = x, *b = y;

	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	return a->role < b->role ? -1 : a->role > b->role;
}

static void take_all(fitting *w)
{
	const pctl_model_shape *s = pctl_model_shape_of(w->m);
	uint32_t layers, experts;
	uint64_t n_strange = 0;

	for (uint32_t i = 0; pctl_adapter_role(i) != PCTL_ROLES; i++) {
		const pctl_model_role role = pctl_adapter_role(i);

		if (!pctl_model_needs(s, role, PCTL_MODEL_LAYOUT_SAFETENSORS, &layers, &experts))
			continue;
		for (uint32_t layer = 0; layer < layers; layer++)
			if (pctl_model_layer_has(s, role, layer))
				take(w, role, layer);
	}
	for (uint64_t i = 0; i < w->a->n; i++)
		if (w->a->pairs[i].role == PCTL_ROLES && n_strange++ < TOLD)
			model_fault(w->f, PC6298_ADAPTER_BASE, NULL,
				    "the model has no projection \"%.200s\"",
				    w->a->pairs[i].module);
	if (n_strange > TOLD || w->n_wrong > TOLD || w->n_missing > TOLD)
		model_fault(w->f, PC6298_ADAPTER_BASE, NULL,
			    "in all %" PRIu64 " projections are not there, %" PRIu64
			    " have another shape, %" PRIu64 " are missing",
			    n_strange, w->n_wrong, w->n_missing);
	qsort(w->a->pairs, w->a->n, sizeof(*w->a->pairs), by_place);
}

pctl_status pctl_adapter_fit(pctl_adapter *a, const pctl_model *m, const pctl_call *call)
{
	model_faults f = {call, a->path, PCTL_OK};
	fitting w = {.a = a, .m = m, .f = &f};
	const char *base = pctl_adapter_architecture(pctl_model_shape_of(m)->family);

	if (a->facts.architecture != NULL && strcmp(a->facts.architecture, base) != 0) {
		model_fault(&f, PC6298_ADAPTER_BASE, NULL,
			    "general.architecture is \"%.100s\", the model's is \"%s\"",
			    a->facts.architecture, base);
		return f.status;
	}
	take_all(&w);
	a->fitted = 1;
	return f.status;
}

const pctl_adapter_pair *pctl_adapter_pair_of(const pctl_adapter *a, pctl_model_role role,
					      uint32_t layer)
{
	const pctl_adapter_pair key = {.role = role, .layer = layer};

	return a->fitted ? bsearch(&key, a->pairs, a->n, sizeof(*a->pairs), by_place) : NULL;
}

pctl_status pctl_adapters_open(const pctl_model *m, const pctl_adapter_ask *asks, uint32_t n,
			       const pctl_call *call, pctl_adapters *out)
{
	pctl_status status = PCTL_OK;

	*out = (pctl_adapters){.n = 0};
	if (n > PCTL_ADAPTERS_MAX)
		return pctl_refuse(call, PC6299_ADAPTER_USE,
				   "%" PRIu32 " adapters are more than %u", n, PCTL_ADAPTERS_MAX);
	out->opened = calloc(n + 1ull, sizeof(*out->opened));
	out->uses = calloc(n + 1ull, sizeof(*out->uses));
	if (out->opened == NULL || out->uses == NULL)
		return pctl_no_memory(call, "adapters");
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (!(asks[i].by >= -1e6f && asks[i].by <= 1e6f))
			return pctl_refuse(call, PC6299_ADAPTER_USE,
					   "%s: a scale of %g is none of -1e6 to 1e6", asks[i].path,
					   (double)asks[i].by);
		status = pctl_adapter_open(asks[i].path, call, &out->opened[i]);
		out->n += status == PCTL_OK;
		out->uses[i] = (pctl_adapter_use){out->opened[i], asks[i].set, asks[i].by};
		if (status == PCTL_OK)
			status = pctl_adapter_fit(out->opened[i], m, call);
	}
	return status;
}

void pctl_adapters_close(pctl_adapters *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		pctl_adapter_close(a->opened[i]);
	free(a->opened);
	free(a->uses);
	*a = (pctl_adapters){.n = 0};
}
