/* Reading a policy: the file, its ancestors, the built-in values below them, and the record made of
 * all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/policy/private.h"

static pctl_policy_state *state_of(const pctl_policy *p)
{
	return (pctl_policy_state *)(void *)(uintptr_t)p;
}

void pctl_policy_destroy(pctl_policy *p)
{
	pctl_policy_state *s = state_of(p);

	if (p == NULL)
		return;
	pctl_conf_settings_destroy(s->settings);
	for (uint32_t i = 0; i < s->n_layers; i++)
		pctl_conf_destroy(s->files[i]);
	pctl_arena_destroy(s->arena);
	free(s);
}

uint32_t pctl_policy_setting_count(const pctl_policy *p)
{
	return pctl_conf_settings_count(state_of(p)->settings);
}

const pctl_conf_setting *pctl_policy_setting_at(const pctl_policy *p, uint32_t i)
{
	return pctl_conf_settings_at(state_of(p)->settings, i);
}

const char *pctl_policy_origin(const pctl_policy *p, const char *key)
{
	const pctl_conf_setting *set = pctl_conf_settings_get(state_of(p)->settings, key);

	return set != NULL ? set->origin : NULL;
}

/* ---- from settings to the record ---------------------------------------------------------- */

static const pctl_conf_value *value_of(const pctl_policy_state *s, const char *key)
{
	return pctl_conf_settings_get(s->settings, key)->from;
}

static const char *text_of(const pctl_policy_state *s, const char *key)
{
	const pctl_conf_value *v = value_of(s, key);

	return v != NULL ? v->text : "";
}

static const char *const *texts_of(pctl_policy_state *s, const char *key, uint32_t *n)
{
	const pctl_conf_value *v = value_of(s, key);
	const char **out = pctl_arena_array(s->arena, v->n_items, sizeof(*out));

	*n = v->n_items;
	for (uint32_t i = 0; out != NULL && i < v->n_items; i++)
		out[i] = v->items[i]->text;
	return out;
}

static const char *const *pins_of(pctl_policy_state *s, uint32_t *n)
{
	const pctl_conf_value *v = value_of(s, "plugins.sha256");
	const char **out = pctl_arena_array(s->arena, v->n_items, 2 * sizeof(*out));

	*n = v->n_items;
	for (uint32_t i = 0; out != NULL && i < v->n_items; i++) {
		out[2 * i] = v->items[i]->key;
		out[2 * i + 1] = v->items[i]->text;
	}
	return out;
}

static const pctl_policy_cert *certs_of(pctl_policy_state *s, uint32_t *n)
{
	const pctl_conf_value *v = value_of(s, "certificate");
	pctl_policy_cert *out = pctl_arena_array(s->arena, v->n_items, sizeof(*out));

	*n = v->n_items;
	for (uint32_t i = 0; out != NULL && i < v->n_items; i++) {
		out[i].ops = pctl_conf_string_or(v->items[i], "ops", "");
		out[i].level = pctl_policy_word(pctl_policy_level_words,
						pctl_conf_string_or(v->items[i], "level", ""));
	}
	return out;
}

static uint32_t count_of(const pctl_policy_state *s, const char *key)
{
	uint64_t n = 0;

	(void)pctl_conf_as_u64(value_of(s, key), 0, UINT32_MAX, NULL, &n);
	return (uint32_t)n;
}

static void fill_worker(pctl_policy_state *s)
{
	pctl_worker_limits *w = &s->p.worker;

	(void)pctl_conf_as_bytes(value_of(s, "limits.worker.memory"), 0, UINT64_MAX, NULL,
				 &w->memory);
	(void)pctl_conf_as_bytes(value_of(s, "limits.worker.file"), 0, UINT64_MAX, NULL, &w->file);
	(void)pctl_conf_as_bytes(value_of(s, "limits.worker.folder"), 0, UINT64_MAX, NULL,
				 &w->folder);
	w->folder_files = count_of(s, "limits.worker.folder_files");
	w->tasks = count_of(s, "limits.worker.tasks");
	w->processes = count_of(s, "limits.worker.processes");
	w->files = count_of(s, "limits.worker.files");
	s->p.worker_share = count_of(s, "limits.worker.memory_share");
}

static pctl_status fill(pctl_policy_state *s, const pctl_call *call)
{
	pctl_policy *p = &s->p;

	p->about = text_of(s, "about");
	p->max_class = 1 + pctl_policy_word(pctl_policy_class_words, text_of(s, "class"));
	p->race = pctl_policy_word(pctl_policy_race_words, text_of(s, "race"));
	(void)pctl_conf_as_u64(value_of(s, "race_cost"), 0, UINT64_MAX - 1, NULL, &p->race_cost);
	p->max_turns = count_of(s, "max_turns");
	(void)pctl_policy_parse_verify(text_of(s, "verify"), &p->verify_ppm);
	p->verify = p->verify_ppm == 0	       ? PCTL_VERIFY_NONE
		    : p->verify_ppm == 1000000 ? PCTL_VERIFY_ALL
					       : PCTL_VERIFY_SAMPLE;
	(void)pctl_policy_parse_quorum(text_of(s, "quorum"), &p->quorum_k, &p->quorum_n);
	p->only_confined = strcmp(text_of(s, "plugins.confinement"), "required") == 0;
	p->only_apart = strcmp(text_of(s, "plugins.namespaces"), "required") == 0;
	p->in_process = strcmp(text_of(s, "plugins.isolation"), "in-process") == 0;
	p->memo = pctl_policy_word(pctl_policy_memo_words, text_of(s, "memo"));
	(void)pctl_conf_as_bytes(value_of(s, "memo_bytes"), 0, UINT64_MAX, NULL, &p->memo_bytes);
	p->deprecated = strcmp(text_of(s, "deprecated"), "warn") == 0;
	p->dirty = strcmp(text_of(s, "dirty"), "allow") == 0;
	p->must_sign = strcmp(text_of(s, "signed"), "required") == 0;
	p->telemetry = strcmp(text_of(s, "telemetry"), "local") == 0;
	(void)pctl_conf_as_bytes(value_of(s, "limits.memory"), 0, UINT64_MAX, NULL,
				 &p->memory_bytes);
	p->memory_by = pctl_policy_origin(p, "limits.memory");
	(void)pctl_conf_as_duration(value_of(s, "limits.time"), 0, UINT64_MAX, NULL, &p->time_ms);
	fill_worker(s);
	for (uint32_t i = 0; i < PCTL_N_EXTENTS; i++) {
		char key[64];

		snprintf(key, sizeof(key), "limits.program.%s", pctl_extent_key(i));
		(void)pctl_conf_as_u64(value_of(s, key), 0, INT64_MAX, NULL, &p->program.most[i]);
	}
	p->certs = certs_of(s, &p->n_certs);
	p->order = texts_of(s, "backends.order", &p->n_order);
	p->allowed = texts_of(s, "backends.allowed", &p->n_allowed);
	p->forbidden = texts_of(s, "backends.forbidden", &p->n_forbidden);
	p->plugins = texts_of(s, "plugins.allowed", &p->n_plugins);
	p->pins = pins_of(s, &p->n_pins);
	p->signers = texts_of(s, "signers", &p->n_signers);
	if (p->certs == NULL || p->order == NULL || p->allowed == NULL || p->forbidden == NULL ||
	    p->plugins == NULL || p->pins == NULL || p->signers == NULL)
		return pctl_no_memory(call, "a policy");
	return PCTL_OK;
}

/* ---- layers ------------------------------------------------------------------------------- */

static const pctl_conf_field file_fields[] = {
	{.key = "policy", .kind = PCTL_FIELD_ANY, .doc = "the policy"},
};
static const pctl_conf_schema file_schema = PCTL_CONF_SCHEMA("a policy file", file_fields);

/* Take a parsed file in as the next layer, checked. The state owns it in any case. */
static pctl_status add_layer(pctl_policy_state *s, pctl_conf *file, const pctl_call *call)
{
	const pctl_conf_value *root = pctl_conf_root(file), *group = pctl_conf_get(root, "policy");
	pctl_status first, status;

	s->files[s->n_layers] = file;
	s->layers[s->n_layers++] = group;
	first = pctl_conf_check(root, &file_schema, call);
	status = group == NULL
			 ? pctl_refuse_at(call, PC4304_POLICY_NO_GROUP, &root->pos,
					  "write policy : { ... };", "there is no group \"policy\"")
			 : pctl_conf_check(group, pctl_policy_schema(), call);
	return first != PCTL_OK ? first : status;
}

static pctl_status refuse_parent(const pctl_conf_value *v, const char *why, const pctl_call *call)
{
	return pctl_refuse_at(call, PC4302_POLICY_INHERITS, &v->pos, NULL,
			      "cannot inherit from \"%.200s\": %s", v->text, why);
}

static int is_layer(const pctl_policy_state *s, const char *path)
{
	for (uint32_t i = 0; i < s->n_layers; i++)
		if (strcmp(pctl_conf_source_name(s->files[i], 0), path) == 0)
			return 1;
	return 0;
}

/* Read the parent that the last layer names. *more is 0 when it names none. */
static pctl_status add_parent(pctl_policy_state *s, const pctl_call *call, int *more)
{
	const pctl_conf_value *group = s->layers[s->n_layers - 1],
			      *v = pctl_conf_get(group, "inherits");
	pctl_conf *file = NULL;
	pctl_status status;
	char *path, *found = NULL;

	*more = v != NULL;
	if (v == NULL)
		return PCTL_OK;
	if (s->n_layers >= PCTL_POLICY_CHAIN_MAX)
		return refuse_parent(v, "more than 8 files inherit from each other", call);
	path = pctl_conf_beside(v->pos.file, v->text);
	if (path != NULL && !pctl_file_exists(path) && s->find != NULL)
		found = s->find(s->find_ctx, v->text);
	if (found != NULL) {
		free(path);
		path = found;
	}
	if (path == NULL)
		return pctl_no_memory(call, "a path");
	if (is_layer(s, path))
		status = refuse_parent(v, "it inherits from itself", call);
	else if (!pctl_file_exists(path))
		status = refuse_parent(v,
				       s->find == NULL
					       ? "there is no such file"
					       : "there is no such file in its directory, and no "
						 "policy of the installation has that name",
				       call);
	else if (pctl_conf_read_file(path, call, &file) != PCTL_OK ||
		 add_layer(s, file, call) != PCTL_OK)
		status = refuse_parent(v, "it has errors of its own", call);
	else
		status = PCTL_OK;
	free(path);
	return status;
}

static pctl_status add_ancestors(pctl_policy_state *s, const pctl_call *call)
{
	pctl_status first = PCTL_OK;
	int more = 1;

	while (more && first == PCTL_OK)
		first = add_parent(s, call, &more);
	for (uint32_t i = 0; first == PCTL_OK && i < s->n_layers; i++) {
		const pctl_status status = pctl_policy_check_weaker(s->layers[i], s->layers + i + 1,
								    s->n_layers - i - 1, call);

		if (status != PCTL_OK)
			first = status;
	}
	return first;
}

static pctl_status finish(pctl_policy_state *s, const pctl_call *call)
{
	pctl_conf *file = NULL;
	pctl_status status;

	status = pctl_conf_read_text(PCTL_CONF_BUILT_IN, pctl_policy_built_in,
				     strlen(pctl_policy_built_in), call, &file);
	if (status == PCTL_OK)
		status = add_layer(s, file, call);
	if (status == PCTL_OK)
		status = pctl_conf_settings_create(pctl_policy_schema(), s->layers, s->n_layers,
						   call, &s->settings);
	return status == PCTL_OK ? fill(s, call) : status;
}

static pctl_policy_state *create(void)
{
	pctl_policy_state *s = calloc(1, sizeof(*s));

	if (s != NULL && (s->arena = pctl_arena_create()) == NULL) {
		free(s);
		s = NULL;
	}
	return s;
}

/* path NULL: the built-in policy. */
static pctl_status read_policy(const char *path, pctl_policy_find find, void *ctx,
			       const pctl_call *call, pctl_policy **out)
{
	pctl_policy_state *s = create();
	pctl_conf *file = NULL;
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (s == NULL)
		return pctl_no_memory(call, "a policy");
	s->find = find;
	s->find_ctx = ctx;
	if (path != NULL) {
		status = pctl_conf_read_file(path, call, &file);
		if (status == PCTL_OK)
			status = add_layer(s, file, call);
		if (status == PCTL_OK)
			status = add_ancestors(s, call);
		s->p.path = pctl_arena_dup(s->arena, path);
	}
	if (status == PCTL_OK)
		status = finish(s, call);
	if (status != PCTL_OK) {
		pctl_policy_destroy(&s->p);
		return status;
	}
	*out = &s->p;
	return PCTL_OK;
}

pctl_status pctl_policy_default(const pctl_call *call, pctl_policy **out)
{
	return read_policy(NULL, NULL, NULL, call, out);
}

pctl_status pctl_policy_read(const char *path, pctl_policy_find find, void *ctx,
			     const pctl_call *call, pctl_policy **out)
{
	return read_policy(path, find, ctx, call, out);
}
