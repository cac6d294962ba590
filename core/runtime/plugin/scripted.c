/* Environments of scripted backends: the script itself and, where it wraps another backend's device, what that device's
 * own worker would have been given. What a script means is the backend's. */
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/cid.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

#define WRAP "wrap="
#define OWN_SET 4u

typedef struct scripted_env {
	pctl_driver_env env; /* first */
	struct scripted_env *next;
} scripted_env;

/* "a+b", however it was written: commas would end a selector in a list of them. */
static char *normal_form(pctl_arena *a, const char *script)
{
	char *out = pctl_arena_dup(a, script);

	for (char *c = out; c && *c; c++)
		if (*c == ',')
			*c = '+';
	return out;
}

/* The selector behind "wrap=" in the arena; NULL when nothing is wrapped. */
static const char *wrapped(pctl_arena *a, const char *script)
{
	const char *at = script;

	while (at && strncmp(at, WRAP, strlen(WRAP)) != 0) {
		at = strchr(at, '+');
		at += at != NULL;
	}
	return at ? pctl_arena_dup_n(a, at + strlen(WRAP), strcspn(at + strlen(WRAP), "+")) : NULL;
}

/* Twelve digits that differ where anything of `set` does. */
static pctl_status short_digest(const char *const *set, uint32_t n, const pctl_call *call,
				char out[13])
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_hasher *h = NULL;
	pctl_cid cid;
	pctl_status s = pctl_hasher_create(call, &h);

	for (uint32_t i = 0; !s && i < n; i++)
		s = pctl_hasher_update(h, set[i], strlen(set[i]) + 1);
	if (!s) {
		s = pctl_hasher_finish(h, &cid);
		h = NULL;
	}
	pctl_hasher_destroy(h);
	if (s)
		return s;
	pctl_digest_hex(cid.digest, hex);
	memcpy(out, hex, 12);
	out[12] = '\0';
	return PCTL_OK;
}

/* The wrapped device's part: its driver's settings, its library and number. */
static pctl_status add_wrapped(pctl_registry *r, const pctl_plugin_info *info, const char *selector,
			       uint32_t flags, const pctl_call *call, pctl_driver_env *env,
			       const char ***set)
{
	const pctl_plugin_info *inner;
	const pctl_device_entry *e;
	pctl_devices *list = NULL;
	char *id = strndup(selector, strcspn(selector, ":"));
	pctl_status s;
	uint32_t n = 0;

	inner = id ? pctl_registry_find(r, id) : NULL;
	free(id);
	if (info->selects != PCTL_SELECTS_LAYER || (inner && inner->selects))
		return pctl_refuse(call, PC3281_MOCK_WRAP, "\"%s\" cannot wrap \"%s\": %s",
				   info->id, selector,
				   info->selects == PCTL_SELECTS_LAYER
					   ? "that takes a script itself"
					   : "its manifest does not say that it is a layer");
	s = pctl_devices_find(r, selector, flags, call, &list, &e);
	if (s)
		return s;
	inner = pctl_registry_find(r, e->backend);
	if (flags & PCTL_DEVICES_IN_PROCESS && !inner->in_process_allowed) {
		s = pctl_refuse(
			call, PC3029_PLUGIN_ISOLATION,
			"backend \"%s\" runs in a worker only: %s does not allow in_process",
			inner->id, inner->manifest);
		goto out;
	}
	*set = pctl_arena_array(r->arena, e->env->n_set + OWN_SET + 1, sizeof(**set));
	s = *set ? PCTL_OK : pctl_no_memory(call, "a script");
	if (s)
		goto out;
	for (; n < e->env->n_set; n++)
		(*set)[n] = e->env->set[n];
	(*set)[n++] = pctl_arena_printf(r->arena, "PIPECTL_WRAP_LIBRARY=%s", inner->library);
	(*set)[n++] = pctl_arena_printf(r->arena, "PIPECTL_WRAP_ID=%s", inner->id);
	(*set)[n++] = pctl_arena_printf(r->arena, "PIPECTL_WRAP_INDEX=%u", e->in_driver);
	env->key = pctl_arena_dup(r->arena, e->env->key);
	env->file = e->env->file;
	env->wrapped = inner->id;
	env->chosen = e->env->chosen;
	env->n_chosen = e->env->n_chosen;
	env->calls = e->env->calls;
	env->n_calls = e->env->n_calls;
	env->programs = e->env->programs;
	env->n_programs = e->env->n_programs;
	env->n_set = n;
out:
	pctl_devices_destroy(list);
	return s;
}

static pctl_status make(pctl_registry *r, const pctl_plugin_info *info, const char *script,
			uint32_t flags, const pctl_call *call, pctl_driver_env *env)
{
	const char *selector, **set = NULL;
	char digest[13];
	pctl_status s = PCTL_OK;

	*env = (pctl_driver_env){.key = "", .script = normal_form(r->arena, script)};
	selector = env->script ? wrapped(r->arena, env->script) : NULL;
	if (selector)
		s = add_wrapped(r, info, selector, flags, call, env, &set);
	else
		set = pctl_arena_array(r->arena, OWN_SET + 1, sizeof(*set));
	if (s)
		return s;
	if (!env->script || !set || !env->key)
		return pctl_no_memory(call, "a script");
	set[env->n_set++] = pctl_arena_printf(r->arena, "PIPECTL_SCRIPT=%s", env->script);
	for (uint32_t i = 0; i < env->n_set; i++)
		if (!set[i])
			return pctl_no_memory(call, "a script");
	env->set = set;
	s = short_digest(set, env->n_set, call, digest);
	if (s)
		return s;
	env->key = pctl_arena_printf(r->arena, "%s%sscript-%s", env->key, *env->key ? "-" : "",
				     digest);
	return env->key ? PCTL_OK : pctl_no_memory(call, "a script");
}

pctl_status pctl_scripted_env(pctl_registry *r, const pctl_plugin_info *info, const char *script,
			      uint32_t flags, const pctl_call *call, const pctl_driver_env **out)
{
	/* Every info lies at the start of its plugin. */
	known_plugin *p = (known_plugin *)(uintptr_t)info;
	pctl_driver_env made;
	scripted_env *e;
	pctl_status s;

	*out = NULL;
	/* Made anew each time, since a driver may have gone; kept once, since sessions refer to it. */
	s = make(r, info, script, flags, call, &made);
	if (s)
		return s;
	for (e = p->scripts; e && strcmp(e->env.key, made.key) != 0;)
		e = e->next;
	if (!e) {
		e = pctl_arena_alloc(r->arena, sizeof(*e));
		if (!e)
			return pctl_no_memory(call, "a script");
		e->env = made;
		e->next = p->scripts;
		p->scripts = e;
	}
	*out = &e->env;
	return PCTL_OK;
}
