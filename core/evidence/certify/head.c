/* The head of a certificate as lines, as it stands in journals, and units as lines, as they stand in units.tsv. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "evidence/certify/certificate.h"

#define JOURNAL_SCHEMA "pipectl.journal/3"
#define FIELDS_MAX 12u

static void add_pairs(pctl_str_buf *s, const char *key, const pctl_certificate_pair *pairs,
		      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(s, "%s\t%s\t%s\n", key, pairs[i].key, pairs[i].value);
}

pctl_status pctl_certificate_head_text(const pctl_certificate *c, pctl_str_buf *out,
				       const pctl_call *call)
{
	const pctl_proof_params *p = &c->params;
	char level[8], hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_str_addf(out, "schema\t" JOURNAL_SCHEMA "\npipectl\t%s\ndevice\t%s\ndriver\t%s\n",
		      c->version, c->device, c->driver);
	pctl_str_addf(out, "selector\t%s\nprofile\t%s\n", c->selector, c->profile);
	pctl_str_addf(out, "backend\t%s\nbackend-version\t%s\nbackend-sha256\t%s\n", c->backend,
		      c->backend_version, c->backend_sha256);
	pctl_str_addf(out, "driver-files\t%s\n", c->driver_files);
	pctl_str_addf(out, "semantics\t%s\nsuite\t%s\nkit\t%s\nhost\t%s\n", c->semantics, c->suite,
		      c->kit, c->host);
	add_pairs(out, "identity", c->identity, c->n_identity);
	add_pairs(out, "library", c->libraries, c->n_libraries);
	pctl_str_addf(out, "level\t%s\nops\t%s\nseed\t%" PRIu64 "\ncases\t%" PRIu64 "\n",
		      pctl_level_name(p->level, p->track, level), p->ops == NULL ? "" : p->ops,
		      p->seed, p->cases);
	pctl_str_addf(out, "programs\t%" PRIu64 "\npairs\t%u\n", p->programs, p->pairs);
	for (uint32_t i = 0; i < c->n_regressions; i++)
		pctl_str_addf(out, "regression\t%s\n", c->regressions[i]);
	pctl_str_addf(out, "plan\t%s\n", pctl_digest_hex(c->plan, hex));
	return out->failed ? pctl_no_memory(call, "a certificate") : PCTL_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct head_lists {
	pctl_certificate_pair *identity, *libraries;
	const char **regressions;
	uint32_t n_lines;
} head_lists;

static int take_pair(char *value, pctl_certificate_pair *list, uint32_t *n)
{
	char *tab = strchr(value, '\t');

	if (tab == NULL)
		return 0;
	*tab = '\0';
	list[(*n)++] = (pctl_certificate_pair){value, tab + 1};
	return 1;
}

/* One line; 0: it is not one of a head. */
static int take_line(pctl_certificate *c, head_lists *l, char *line)
{
	pctl_proof_params *p = &c->params;
	const struct {
		const char *key, **text;
	} texts[] = {{"pipectl", &c->version},
		     {"device", &c->device},
		     {"driver", &c->driver},
		     {"selector", &c->selector},
		     {"profile", &c->profile},
		     {"backend", &c->backend},
		     {"backend-version", &c->backend_version},
		     {"backend-sha256", &c->backend_sha256},
		     {"driver-files", &c->driver_files},
		     {"semantics", &c->semantics},
		     {"suite", &c->suite},
		     {"kit", &c->kit},
		     {"host", &c->host}};
	const struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {{"seed", &p->seed}, {"cases", &p->cases}, {"programs", &p->programs}};
	char *value = strchr(line, '\t');
	uint64_t pairs;

	if (value == NULL)
		return 0;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(line, texts[i].key) == 0) {
			*texts[i].text = value;
			return 1;
		}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(line, numbers[i].key) == 0)
			return pctl_num_parse_u64(value, strlen(value), numbers[i].value);
	if (strcmp(line, "schema") == 0)
		return strcmp(value, JOURNAL_SCHEMA) == 0;
	if (strcmp(line, "identity") == 0)
		return take_pair(value, l->identity, &c->n_identity);
	if (strcmp(line, "library") == 0)
		return take_pair(value, l->libraries, &c->n_libraries);
	if (strcmp(line, "regression") == 0) {
		l->regressions[c->n_regressions++] = value;
		return 1;
	}
	if (strcmp(line, "level") == 0)
		return pctl_level_parse(value, &p->level, &p->track);
	if (strcmp(line, "ops") == 0) {
		p->ops = value[0] == '\0' ? NULL : value;
		return 1;
	}
	if (strcmp(line, "pairs") == 0 && pctl_num_parse_u64(value, strlen(value), &pairs)) {
		p->pairs = pairs != 0;
		return 1;
	}
	return strcmp(line, "plan") == 0 && pctl_digest_parse_hex(value, c->plan);
}

static uint32_t count_lines(const char *text)
{
	uint32_t n = 1;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

pctl_status pctl_certificate_head_read(pctl_certificate *c, const char *name, const char *text,
				       size_t n, const pctl_call *call)
{
	char *copy = pctl_arena_dup_n(c->arena, text, n), *at = copy;
	const uint32_t n_lines = copy == NULL ? 0 : count_lines(copy);
	head_lists l = {pctl_arena_array(c->arena, n_lines, sizeof(*l.identity)),
			pctl_arena_array(c->arena, n_lines, sizeof(*l.libraries)),
			pctl_arena_array(c->arena, n_lines, sizeof(*l.regressions)), n_lines};

	if (copy == NULL || l.identity == NULL || l.libraries == NULL || l.regressions == NULL)
		return pctl_no_memory(call, "a certificate");
	while (*at != '\0') {
		char *line = at, *end = strchr(at, '\n');

		at = end == NULL ? at + strlen(at) : end + 1;
		if (end != NULL)
			*end = '\0';
		if (!take_line(c, &l, line))
			return pctl_refuse(call, PC5504_FORM,
					   "%s: the line \"%.80s\" is no line "
					   "of a head",
					   name, line);
	}
	c->identity = l.identity;
	c->libraries = l.libraries;
	c->regressions = l.regressions;
	return c->params.level != 0 ? PCTL_OK
				    : pctl_refuse(call, PC5504_FORM, "%s: it has no level", name);
}

/* ---- units -------------------------------------------------------------------------------- */

static uint32_t kind_of(const char *name)
{
	uint32_t kind = 1;

	while (kind < PCTL_UNIT_KINDS && strcmp(pctl_unit_kind_name(kind), name) != 0)
		kind++;
	return kind;
}

static int number(const char *text, uint64_t max, uint64_t *out)
{
	return pctl_num_parse_u64(text, strlen(text), out) && *out <= max;
}

static int take_unit(pctl_certificate_unit *u, char *line)
{
	char *f[FIELDS_MAX];
	uint64_t level, track, flags;
	uint32_t n = 0;

	for (char *at = line; at != NULL && n < FIELDS_MAX; n++) {
		f[n] = at;
		at = strchr(at, '\t');
		if (at != NULL)
			*at++ = '\0';
	}
	if (n != 11 || (u->kind = kind_of(f[0])) == PCTL_UNIT_KINDS ||
	    !number(f[1], PCTL_LEVEL_MAX, &level) || !number(f[2], 3, &track) ||
	    !number(f[3], UINT32_MAX, &flags) || !number(f[4], UINT64_MAX, &u->planned) ||
	    !number(f[5], UINT64_MAX / 2, &u->n_blocks))
		return 0;
	u->level = (uint32_t)level;
	u->track = (uint32_t)track;
	u->flags = (uint32_t)flags;
	u->subject = f[6];
	u->op = f[7];
	u->name = f[8];
	u->domain = f[9];
	u->program = f[10];
	u->value = u->cause = "";
	return u->n_blocks != 0;
}

pctl_status pctl_certificate_units_read(pctl_certificate *c, const char *name, const char *text,
					const pctl_call *call)
{
	char *copy = pctl_arena_dup(c->arena, text), *at = copy;

	if (copy != NULL)
		c->units = pctl_arena_array(c->arena, count_lines(copy), sizeof(*c->units));
	if (copy == NULL || c->units == NULL)
		return pctl_no_memory(call, "a certificate");
	while (*at != '\0') {
		char *end = strchr(at, '\n');

		if (end == NULL)
			return pctl_refuse(call, PC5504_FORM, "%s: it ends within a line", name);
		*end = '\0';
		if (!take_unit(&c->units[c->n_units], at))
			return pctl_refuse(call, PC5504_FORM, "%s: line %u is no unit", name,
					   c->n_units + 1);
		c->n_units++;
		at = end + 1;
	}
	return PCTL_OK;
}

pctl_status pctl_certificate_units_text(const pctl_certificate *c, pctl_str_buf *out,
					const pctl_call *call)
{
	for (uint32_t i = 0; i < c->n_units; i++) {
		const pctl_certificate_unit *u = &c->units[i];

		pctl_str_addf(out, "%s\t%u\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%s\t%s\t%s\n",
			      pctl_unit_kind_name(u->kind), u->level, u->track, u->flags,
			      u->planned, u->n_blocks, u->subject, u->op, u->name, u->domain,
			      u->program);
	}
	return out->failed ? pctl_no_memory(call, "a certificate") : PCTL_OK;
}
