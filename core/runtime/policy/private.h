/* What the files of policy.h share: the parsed forms of its string values and the layers behind a
 * policy. Internal. */
#ifndef PIPECTL_RUNTIME_POLICY_PRIVATE_H
#define PIPECTL_RUNTIME_POLICY_PRIVATE_H

#include "foundation/base/arena.h"
#include "runtime/policy/policy.h"

#define PCTL_POLICY_CHAIN_MAX 8u

/* A policy with the files it came from, the strongest first; the last layer is built in. */
typedef struct pctl_policy_state {
	pctl_policy p;
	pctl_arena *arena;
	pctl_conf *files[PCTL_POLICY_CHAIN_MAX + 1];
	const pctl_conf_value *layers[PCTL_POLICY_CHAIN_MAX + 1];
	uint32_t n_layers;
	pctl_conf_settings *settings;
	pctl_policy_find find; /* or NULL; while files are read */
	void *find_ctx;
} pctl_policy_state;

extern const char *const pctl_policy_built_in;

/* "none" 0, "all" 1000000, "sample=0.25" 250000; 1 on success. */
int pctl_policy_parse_verify(const char *text, uint32_t *ppm);
/* "2 of 3"; 1 on success. */
int pctl_policy_parse_quorum(const char *text, uint32_t *k, uint32_t *n);
/* Index of a word in a NULL-terminated table, UINT32_MAX when it is not there. */
uint32_t pctl_policy_word(const char *const *words, const char *text);
extern const char *const pctl_policy_class_words[];
extern const char *const pctl_policy_race_words[];
extern const char *const pctl_policy_level_words[];
extern const char *const pctl_policy_memo_words[];

/* Report every key of `child` that is weaker than the nearest of its n ancestors which sets it. */
pctl_status pctl_policy_check_weaker(const pctl_conf_value *child,
				     const pctl_conf_value *const *ancestors, uint32_t n,
				     const pctl_call *call);

/* '*' matches any run of characters, all else itself. */
int pctl_policy_glob(const char *glob, const char *text);

#endif
