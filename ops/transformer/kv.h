/* Caches of keys and values, plain and paged (SEMANTICS.md 18.4). */
#ifndef PIPECTL_OPS_TRANSFORMER_KV_H
#define PIPECTL_OPS_TRANSFORMER_KV_H

#include "sequences.h"

/*
 * port       the cache: [n, capacity, heads, d], or where it is paged a pool [pool, page, heads, d]
 * pages      port of u32[n, n_pages]; no elements: the cache is plain
 * capacity   positions of a sequence
 */
typedef struct kv_cache {
	uint32_t port, pages, dtype, paged;
	uint64_t capacity, heads, d, page, n_pages, pool;
} kv_cache;

/* PC4201 unless cache and pages are of these shapes, for n sequences. */
pctl_status kv_cache_of(const kit_use *u, uint32_t port, uint32_t pages, uint64_t n, kv_cache *out);

/*
 * WGSL: fn kv_place(b: u32, p: u32) -> u32, the row of a cache that position p of sequence b has, and KV_NOWHERE where its page is out of range; it reads
 * params.v[number]: capacity, page, n_pages, pool. Of a paged one `pages` is binding `first`; the number of slots.
 */
uint32_t kv_place_text(const kit_plan *p, kit_wgsl *w, const kv_cache *c, uint32_t number,
		       uint32_t first, kit_slot *slots);
void kv_params(const kv_cache *c, uint32_t v[4]);
/* The same in plain C; UINT64_MAX. */
uint64_t kv_place(const kv_cache *c, const pctl_span *in, uint64_t b, uint64_t p);

/* The use of a problem: a pool's pages in a mixed order for n sequences, or none. wrong: 1 out of range, 2 named twice. */
void kv_problem_pages(kit_problem *p, const kv_cache *c, uint64_t n, uint32_t wrong);

#endif
