/* What is in force for every key of a schema, over layers of groups, and where each value came
 * from. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/conf/schema.h"

struct pctl_conf_settings {
	pctl_arena *arena;
	PCTL_VEC(pctl_conf_setting) all;
};

static void put_value(pctl_str_buf *s, const pctl_conf_value *v)
{
	if (v->kind >= PCTL_CONF_STRING) {
		pctl_str_add(s, v->text);
		return;
	}
	for (uint32_t i = 0; i < v->n_items; i++) {
		const pctl_conf_value *item = v->items[i];
		const int composite = item->kind < PCTL_CONF_STRING;

		pctl_str_addf(s, "%s", i > 0 ? ", " : "");
		if (item->key != NULL)
			pctl_str_addf(s, "%s = ", item->key);
		pctl_str_add(s, composite ? "(" : "");
		put_value(s, item);
		pctl_str_add(s, composite ? ")" : "");
	}
}

static const char *value_text(pctl_arena *arena, const pctl_conf_value *v)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text, *copy;

	put_value(&s, v);
	text = pctl_str_finish(&s);
	copy = pctl_arena_dup(arena, text);
	free(text);
	return copy;
}

static int add_setting(pctl_conf_settings *s, const char *key, const pctl_conf_field *f,
		       const pctl_conf_value *const *layers, uint32_t n_layers)
{
	pctl_conf_setting set = {.key = key, .field = f, .origin = "built in"};

	for (uint32_t i = 0; i < n_layers && set.from == NULL; i++)
		set.from = pctl_conf_get(layers[i], f->key);
	if (set.from != NULL) {
		set.value = value_text(s->arena, set.from);
		if (strcmp(set.from->pos.file, PCTL_CONF_BUILT_IN) != 0)
			set.origin = pctl_arena_printf(s->arena, "%s:%" PRIu32, set.from->pos.file,
						       set.from->pos.line);
	} else {
		set.value =
			pctl_arena_dup(s->arena, f->default_text != NULL ? f->default_text : "");
	}
	return set.value != NULL && set.origin != NULL && PCTL_VEC_PUSH(&s->all, set);
}

static int add_group(pctl_conf_settings *s, const char *prefix, const pctl_conf_schema *schema,
		     const pctl_conf_value *const *layers, uint32_t n_layers)
{
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const pctl_conf_field *f = &schema->fields[i];
		const char *key = pctl_arena_printf(s->arena, "%s%s", prefix, f->key);
		const pctl_conf_value *inner[PCTL_CONF_LAYERS_MAX];

		if (key == NULL)
			return 0;
		if (f->kind != PCTL_FIELD_GROUP || f->group == NULL) {
			if (!add_setting(s, key, f, layers, n_layers))
				return 0;
			continue;
		}
		for (uint32_t k = 0; k < n_layers; k++)
			inner[k] = pctl_conf_get(layers[k], f->key);
		key = pctl_arena_printf(s->arena, "%s.", key);
		if (key == NULL || !add_group(s, key, f->group, inner, n_layers))
			return 0;
	}
	return 1;
}

pctl_status pctl_conf_settings_create(const pctl_conf_schema *schema,
				      const pctl_conf_value *const *layers, uint32_t n_layers,
				      const pctl_call *call, pctl_conf_settings **out)
{
	pctl_conf_settings *s;

	*out = NULL;
	if (n_layers > PCTL_CONF_LAYERS_MAX)
		return pctl_refuse(call, PC1_INTERNAL, "%" PRIu32 " layers of settings", n_layers);
	s = calloc(1, sizeof(*s));
	if (s == NULL || (s->arena = pctl_arena_create()) == NULL ||
	    !add_group(s, "", schema, layers, n_layers)) {
		pctl_conf_settings_destroy(s);
		return pctl_no_memory(call, "settings");
	}
	*out = s;
	return PCTL_OK;
}

void pctl_conf_settings_destroy(pctl_conf_settings *s)
{
	if (s == NULL)
		return;
	free(s->all.items);
	pctl_arena_destroy(s->arena);
	free(s);
}

uint32_t pctl_conf_settings_count(const pctl_conf_settings *s)
{
	return s->all.n;
}

const pctl_conf_setting *pctl_conf_settings_at(const pctl_conf_settings *s, uint32_t i)
{
	return i < s->all.n ? &s->all.items[i] : NULL;
}

const pctl_conf_setting *pctl_conf_settings_get(const pctl_conf_settings *s, const char *key)
{
	for (uint32_t i = 0; i < s->all.n; i++)
		if (strcmp(s->all.items[i].key, key) == 0)
			return &s->all.items[i];
	return NULL;
}
