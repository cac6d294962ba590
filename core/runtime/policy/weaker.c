/* Inheritance: is a child's value weaker than its ancestor's? One rule for each kind of key. */
#include <stdio.h>
#include <string.h>

#include "runtime/policy/private.h"

typedef int (*weaker_fn)(const pctl_conf_value *child, const pctl_conf_value *parent,
			 const pctl_conf_field *f);

/* Words stand strictest first. */
static int word_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
		       const pctl_conf_field *f)
{
	return pctl_policy_word(f->words, child->text) > pctl_policy_word(f->words, parent->text);
}

static int verify_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			 const pctl_conf_field *f)
{
	uint32_t a, b;

	(void)f;
	return pctl_policy_parse_verify(child->text, &a) &&
	       pctl_policy_parse_verify(parent->text, &b) && a < b;
}

/* Fewer that must agree, or a smaller share of those asked. One of one asks for nothing. */
static int quorum_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			 const pctl_conf_field *f)
{
	uint32_t k, n, pk, pn;

	(void)f;
	if (!pctl_policy_parse_quorum(child->text, &k, &n) ||
	    !pctl_policy_parse_quorum(parent->text, &pk, &pn))
		return 0;
	return pn > 1 && (k < pk || k * pn < pk * n);
}

/* 0 is no limit. */
static int limit_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			const pctl_conf_field *f)
{
	uint64_t a = 0, b = 0;

	if (f->kind == PCTL_FIELD_BYTES) {
		(void)pctl_conf_as_bytes(child, 0, UINT64_MAX, NULL, &a);
		(void)pctl_conf_as_bytes(parent, 0, UINT64_MAX, NULL, &b);
	} else if (f->kind == PCTL_FIELD_DURATION) {
		(void)pctl_conf_as_duration(child, 0, UINT64_MAX, NULL, &a);
		(void)pctl_conf_as_duration(parent, 0, UINT64_MAX, NULL, &b);
	} else {
		(void)pctl_conf_as_u64(child, 0, UINT64_MAX, NULL, &a);
		(void)pctl_conf_as_u64(parent, 0, UINT64_MAX, NULL, &b);
	}
	return b != 0 && (a == 0 || a > b);
}

static int has_text(const pctl_conf_value *list, const char *text)
{
	for (uint32_t i = 0; i < list->n_items; i++)
		if (strcmp(list->items[i]->text, text) == 0)
			return 1;
	return 0;
}

static int contains(const pctl_conf_value *all, const pctl_conf_value *some)
{
	for (uint32_t i = 0; i < some->n_items; i++)
		if (!has_text(all, some->items[i]->text))
			return 0;
	return 1;
}

/* 0 is the strictest: none. */
static int number_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			 const pctl_conf_field *f)
{
	uint64_t a = 0, b = 0;

	(void)f;
	(void)pctl_conf_as_u64(child, 0, UINT64_MAX, NULL, &a);
	(void)pctl_conf_as_u64(parent, 0, UINT64_MAX, NULL, &b);
	return a > b;
}

/* A list of what is allowed may only shrink; empty means all. */
static int allowed_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			  const pctl_conf_field *f)
{
	(void)f;
	return parent->n_items > 0 && (child->n_items == 0 || !contains(parent, child));
}

/* Who may sign: named once, the list may only shrink. Empty is nobody, and names nobody yet. */
static int signers_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			  const pctl_conf_field *f)
{
	(void)f;
	return parent->n_items > 0 && !contains(parent, child);
}

/* A list of what is forbidden may only grow. */
static int forbidden_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			    const pctl_conf_field *f)
{
	(void)f;
	return !contains(child, parent);
}

/* Every pin stays. */
static int pins_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
		       const pctl_conf_field *f)
{
	(void)f;
	for (uint32_t i = 0; i < parent->n_items; i++) {
		const pctl_conf_value *own = pctl_conf_get(child, parent->items[i]->key);

		if (own == NULL || strcmp(own->text, parent->items[i]->text) != 0)
			return 1;
	}
	return 0;
}

/* For every rule of the parent the child has one of the same glob, or of "*", that asks for at
 * least as much. */
static int certificate_weaker(const pctl_conf_value *child, const pctl_conf_value *parent,
			      const pctl_conf_field *f)
{
	(void)f;
	for (uint32_t i = 0; i < parent->n_items; i++) {
		const char *glob = pctl_conf_string_or(parent->items[i], "ops", "");
		const uint32_t level =
			pctl_policy_word(pctl_policy_level_words,
					 pctl_conf_string_or(parent->items[i], "level", ""));
		int kept = level == 0;

		for (uint32_t k = 0; k < child->n_items && !kept; k++) {
			const char *own = pctl_conf_string_or(child->items[k], "ops", "");

			kept = (strcmp(own, glob) == 0 || strcmp(own, "*") == 0) &&
			       pctl_policy_word(
				       pctl_policy_level_words,
				       pctl_conf_string_or(child->items[k], "level", "")) >= level;
		}
		if (!kept)
			return 1;
	}
	return 0;
}

static const struct {
	const char *key;
	weaker_fn weaker;
} rules[] = {
	{"class", word_weaker},
	{"race", word_weaker},
	{"race_cost", limit_weaker},
	{"max_turns", number_weaker},
	{"memo", word_weaker},
	{"memo_bytes", limit_weaker},
	{"deprecated", word_weaker},
	{"dirty", word_weaker},
	{"signed", word_weaker},
	{"telemetry", word_weaker},
	{"plugins.isolation", word_weaker},
	{"plugins.confinement", word_weaker},
	{"plugins.namespaces", word_weaker},
	{"verify", verify_weaker},
	{"quorum", quorum_weaker},
	{"limits.memory", limit_weaker},
	{"limits.time", limit_weaker},
	{"limits.worker.memory", limit_weaker},
	{"limits.worker.memory_share", limit_weaker},
	{"limits.worker.tasks", limit_weaker},
	{"limits.worker.processes", limit_weaker},
	{"limits.worker.file", limit_weaker},
	{"limits.worker.files", limit_weaker},
	{"limits.worker.folder", limit_weaker},
	{"limits.worker.folder_files", limit_weaker},
#define PCTL_EXTENT(NAME, key, unit, doc) {"limits.program." #key, limit_weaker},
#include "compiler/analysis/extents.def"
#undef PCTL_EXTENT
	{"backends.allowed", allowed_weaker},
	{"plugins.allowed", allowed_weaker},
	{"signers", signers_weaker},
	{"backends.forbidden", forbidden_weaker},
	{"plugins.sha256", pins_weaker},
	{"certificate", certificate_weaker},
};

/* The field behind a dotted key of one or two parts. */
static const pctl_conf_field *field_of(const char *key)
{
	const pctl_conf_schema *schema = pctl_policy_schema();
	const pctl_conf_field *f = NULL;

	while (schema != NULL) {
		const size_t n = strcspn(key, ".");

		f = NULL;
		for (uint32_t i = 0; i < schema->n_fields && f == NULL; i++)
			if (strncmp(schema->fields[i].key, key, n) == 0 &&
			    schema->fields[i].key[n] == 0)
				f = &schema->fields[i];
		if (f == NULL || key[n] == 0)
			break;
		schema = f->group;
		key += n + 1;
	}
	return f;
}

static pctl_status refuse_weaker(const char *key, const pctl_conf_value *child,
				 const pctl_conf_value *parent, const pctl_call *call)
{
	const pctl_note note = {parent->pos, "the policy it inherits from says this"};
	char text[256];
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = PC4301_POLICY_WEAKER,
		       .severity = PCTL_SEVERITY_ERROR,
		       .pos = child->pos,
		       .subject = key,
		       .message = text,
		       .notes = &note,
		       .n_notes = 1};

	if (child->text != NULL && parent->text != NULL)
		snprintf(text, sizeof(text), "\"%s\" = %.64s allows more than the inherited %.64s",
			 key, child->text, parent->text);
	else
		snprintf(text, sizeof(text), "\"%s\" allows more than the list it inherits", key);
	return pctl_emit(call, &d);
}

pctl_status pctl_policy_check_weaker(const pctl_conf_value *child,
				     const pctl_conf_value *const *ancestors, uint32_t n,
				     const pctl_call *call)
{
	pctl_status first = PCTL_OK;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const pctl_conf_value *own = pctl_conf_find(child, rules[i].key), *above = NULL;

		for (uint32_t k = 0; k < n && above == NULL; k++)
			above = pctl_conf_find(ancestors[k], rules[i].key);
		if (own != NULL && above != NULL &&
		    rules[i].weaker(own, above, field_of(rules[i].key))) {
			const pctl_status status = refuse_weaker(rules[i].key, own, above, call);

			if (first == PCTL_OK)
				first = status;
		}
	}
	return first;
}
