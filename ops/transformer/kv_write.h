/* What the files of transformer.kv_write share. */
#ifndef PIPECTL_OPS_TRANSFORMER_KV_WRITE_H
#define PIPECTL_OPS_TRANSFORMER_KV_WRITE_H

#include "kv.h"

enum { KV_CACHE, KV_X, KV_START, KV_COUNT, KV_PAGES };

typedef struct kv_write {
	sequences s;
	kv_cache c;
} kv_write;

pctl_status kv_write_of(const kit_use *u, kv_write *w);

/* kv_write_laws.c */
#define KV_WRITE_PROBLEMS 48u
void kv_problem(kit_problem *p);
void kv_law_kept(kit_law *l);
void kv_law_in_two(kit_law *l);
void kv_law_paged(kit_law *l);
void kv_law_read(kit_law *l);

#endif
