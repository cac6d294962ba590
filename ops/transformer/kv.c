/* Caches of keys and values; see kv.h. */
#include "kv.h"

#include <stdio.h>

pctl_status kv_cache_of(const kit_use *u, uint32_t port, uint32_t pages, uint64_t n, kv_cache *out)
{
	const pctl_tensor_type *c = &u->q->in[port], *list = &u->q->in[pages];

	*out = (kv_cache){port,	     pages,	c->dtype,  list->dim[1] != 0, c->dim[1],
			  c->dim[2], c->dim[3], c->dim[1], list->dim[1],      c->dim[0]};
	if (!tensor_is_float(c->dtype) || c->rank != 4)
		return kit_refuse_type(u, port, u->op->desc.in[port].type);
	if (list->dtype != PCTL_SCALAR_U32 || list->rank != 2 || list->dim[0] != n)
		return kit_refuse_type(u, pages,
				       "u32[b,n_pages], of no pages where the cache is plain");
	if (!out->paged && c->dim[0] != n)
		return kit_refuse_type(u, port, "a part for each sequence");
	if (out->paged)
		out->capacity = out->n_pages * out->page;
	if (kit_limit(u, "elements", kit_elements(list), TENSOR_ELEMENTS_MAX) != PCTL_OK ||
	    kit_limit(u, "positions", out->capacity, TENSOR_ELEMENTS_MAX) != PCTL_OK)
		return PCTL_E_LIMIT;
	return kit_limit(u, "elements", kit_elements(c), TENSOR_ELEMENTS_MAX);
}

uint32_t kv_place_text(const kit_plan *p, kit_wgsl *w, const kv_cache *c, uint32_t number,
		       uint32_t first, kit_slot *slots)
{
	char text[480];

	kit_wgsl_add(w, "const KV_NOWHERE: u32 = 0xffffffffu;\n");
	if (!c->paged) {
		snprintf(text, sizeof(text),
			 "fn kv_place(b: u32, p: u32) -> u32 {\n\treturn b * params.v[%u].x + "
			 "p;\n}\n",
			 number);
		kit_wgsl_add(w, text);
		return 0;
	}
	snprintf(text, sizeof(text),
		 "@group(0) @binding(%u) var<storage, read> pages: array<u32>;\n"
		 "fn kv_entry(b: u32, p: u32) -> u32 {\n\treturn b * params.v[%u].z + p / "
		 "params.v[%u].y;\n}\n"
		 "fn kv_place(b: u32, p: u32) -> u32 {\n\tlet page = pages[kv_entry(b, p)];\n"
		 "\treturn select(KV_NOWHERE, page * params.v[%u].y + p %% params.v[%u].y, page < "
		 "params.v[%u].w);\n}\n",
		 first, number, number, number, number, number);
	kit_wgsl_add(w, text);
	slots[0] = (kit_slot)KIT_ALL(kit_in(p, c->pages));
	return 1;
}

void kv_params(const kv_cache *c, uint32_t v[4])
{
	v[0] = (uint32_t)c->capacity;
	v[1] = (uint32_t)c->page;
	v[2] = (uint32_t)c->n_pages;
	v[3] = (uint32_t)c->pool;
}

uint64_t kv_place(const kv_cache *c, const pctl_span *in, uint64_t b, uint64_t p)
{
	uint64_t page;

	if (!c->paged)
		return b * c->capacity + p;
	page = tensor_get(in[c->pages].data, b * c->n_pages + p / c->page, 4);
	return page < c->pool ? page * c->page + p % c->page : UINT64_MAX;
}

void kv_problem_pages(kit_problem *p, const kv_cache *c, uint64_t n, uint32_t wrong)
{
	const uint64_t count = c->paged ? n * c->n_pages : 0;
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 2, {n, c->paged ? c->n_pages : 0}};
	const uint64_t turn = kit_random(p->seed, p->number + 77);
	uint32_t *pages = kit_scratch(&p->use, 4 * count + 4);

	if (pages == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	/* Every entry another page: the pool has no fewer than there are entries. */
	for (uint64_t i = 0; i < count; i++)
		pages[i] = (uint32_t)(c->pool - 1 - (i + turn) % c->pool);
	if (count != 0 && wrong == 1)
		pages[turn % count] = (uint32_t)(c->pool + turn % 2);
	if (count > 1 && wrong == 2)
		pages[turn % count] = pages[(turn + 1) % count];
	kit_problem_input(p, c->pages, &t, pages);
	kit_scratch_free(&p->use, pages);
}
