/* What the readers of adapters share. */
#ifndef PIPECTL_MODEL_FILE_ADAPTER_PRIVATE_H
#define PIPECTL_MODEL_FILE_ADAPTER_PRIVATE_H

#include "model/file/adapter.h"
#include "model/file/private.h"

/*
 * targets    target_modules: names that modules end with, n_targets of them; "all-linear" alone: all_linear
 * pattern    target_modules as one pattern that whole names of modules match, compiled (adapter_targets.c); NULL: none
 * layers     layers_to_transform, n_layers of them; NULL: all
 * fitted     pairs lie by layer and role
 */
struct pctl_adapter {
	pctl_arena *arena;
	const char *path, *config;
	pctl_tensor_file *file;
	pctl_adapter_facts facts;
	pctl_adapter_pair *pairs;
	uint64_t n;
	const char **targets;
	uint64_t *layers;
	uint32_t n_targets, n_layers;
	int all_linear, fitted;
	void *pattern;
};

/* Fill a->facts and targets from adapter_config.json, or from the keys of a GGUF file. */
void adapter_read_config(pctl_adapter *a, const char *text, uint64_t n, model_faults *f);
void adapter_read_gguf(pctl_adapter *a, model_faults *f);

/* adapter_targets.c: compile a pattern (PC6295 where it is none); its end. */
void adapter_pattern(pctl_adapter *a, const char *text, model_faults *f);
void adapter_pattern_end(pctl_adapter *a);
/* 1: target_modules asks for that module, of that layer (UINT64_MAX: of none). -1: the pattern takes too long to tell. */
int adapter_wants(const pctl_adapter *a, const char *module, uint64_t layer);
/* 1: a module's name ends with that part of names. */
int adapter_ends(const char *module, const char *target);
/* The number behind the last "layers." of a module's name; UINT64_MAX: it is in no layer. */
uint64_t adapter_layer_of(const char *module);

#endif
