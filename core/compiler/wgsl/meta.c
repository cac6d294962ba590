/* Metadata comments, `//# max uniforms.n = 64` and the like: read before the text is checked, their
 * names looked up after it. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/wgsl/check.h"

#define MAX_MAXIMA 256u /* of a text */

/* A declared maximum, as written. */
struct max_note {
	struct max_note *next;
	const char *path; /* a.b.c, not terminated */
	uint32_t n_path;
	uint32_t pos;
	uint64_t value;
	pctl_max resolved;
	struct decl *var;
};

struct cursor {
	struct wgsl *c;
	const struct source *src;
	const char *p, *end;
};

static uint32_t pos_of(const struct cursor *k, const char *p)
{
	return k->src->base + (uint32_t)(p - k->src->text);
}

static void skip_blank(struct cursor *k)
{
	while (k->p < k->end && (*k->p == ' ' || *k->p == '\t' || *k->p == '\r'))
		k->p++;
}

/* Up to a blank or one of the stop characters. */
static size_t word(struct cursor *k, const char *stops, const char **start)
{
	skip_blank(k);
	*start = k->p;
	while (k->p < k->end && *k->p != ' ' && *k->p != '\t' && *k->p != '\r' &&
	       !strchr(stops, *k->p))
		k->p++;
	return (size_t)(k->p - *start);
}

static int accept(struct cursor *k, char ch)
{
	skip_blank(k);
	if (k->p == k->end || *k->p != ch)
		return 0;
	k->p++;
	return 1;
}

static void malformed(struct cursor *k, const char *start, const char *form)
{
	pctl_wgsl_error(k->c, PC2114_WGSL_META, pos_of(k, start), pos_of(k, k->end),
			pctl_wgsl_format(k->c, "the form is `//# %s`", form),
			"this metadata comment cannot be understood");
}

static int number(struct cursor *k, uint64_t *out)
{
	const char *start;
	size_t n = word(k, ",", &start);

	return pctl_num_parse_u64(start, n, out);
}

static int at_end(struct cursor *k)
{
	skip_blank(k);
	return k->p == k->end;
}

static void dispatch(struct cursor *k, const char *start)
{
	uint64_t v[3] = {1, 1, 1};
	uint32_t n = 0;

	do {
		if (n == 3 || !number(k, &v[n]) || v[n] > UINT32_MAX || !v[n])
			goto bad;
		n++;
	} while (accept(k, ','));
	if (!at_end(k))
		goto bad;
	if (k->c->has_dispatch) {
		pctl_wgsl_error(k->c, PC2114_WGSL_META, pos_of(k, start), pos_of(k, k->end), NULL,
				"the maximum dispatch is declared twice");
		return;
	}
	k->c->has_dispatch = 1;
	for (n = 0; n < 3; n++)
		k->c->max_dispatch[n] = (uint32_t)v[n];
	return;
bad:
	malformed(k, start, "max dispatch = 1024,1,1");
}

static void turns(struct cursor *k, const char *start)
{
	uint64_t v;

	if (!number(k, &v) || !at_end(k) || !v || v > PCTL_TURNS_MAX) {
		malformed(k, start, "max turns = 32768");
		return;
	}
	if (k->c->max_turns)
		pctl_wgsl_error(k->c, PC2114_WGSL_META, pos_of(k, start), pos_of(k, k->end), NULL,
				"the maximum of turns is declared twice");
	k->c->max_turns = (uint32_t)v;
}

static void maximum(struct cursor *k, const char *start)
{
	struct max_note *m;
	const char *path;
	size_t n = word(k, "=", &path);
	uint64_t v;

	if (!n || !accept(k, '=')) {
		malformed(k, start, "max NAME.MEMBER = 64");
		return;
	}
	if (n == 8 && !memcmp(path, "dispatch", 8)) {
		dispatch(k, start);
		return;
	}
	/* No budgets in consensus: there it is the name of a uniform like any other. */
	if (n == 5 && !memcmp(path, "turns", 5) &&
	    !(k->c->options->flags & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1))) {
		turns(k, start);
		return;
	}
	if (!number(k, &v) || !at_end(k)) {
		malformed(k, start, "max NAME.MEMBER = 64");
		return;
	}
	m = WGSL_NEW(k->c, struct max_note);
	m->path = path;
	m->n_path = (uint32_t)n;
	m->pos = pos_of(k, path);
	m->value = v;
	m->next = k->c->maxima;
	k->c->maxima = m;
}

static void scale(struct cursor *k, const char *start)
{
	uint64_t v;

	if (!accept(k, '=') || !number(k, &v) || !at_end(k) || !v) {
		malformed(k, start, "scale = 1000000");
		return;
	}
	if (k->c->has_scale)
		pctl_wgsl_error(k->c, PC2114_WGSL_META, pos_of(k, start), pos_of(k, k->end), NULL,
				"the scale is declared twice");
	k->c->has_scale = 1;
	k->c->scale = v;
}

int pctl_wgsl_is_subgroup_size(uint64_t n)
{
	return n >= PCTL_SUBGROUP_SIZE_MIN && n <= PCTL_SUBGROUP_SIZE_MAX && !(n & (n - 1));
}

static void subgroup(struct cursor *k, const char *start)
{
	uint64_t v;

	if (!accept(k, '=') || !number(k, &v) || !at_end(k)) {
		malformed(k, start, "subgroup = 32");
		return;
	}
	if (!pctl_wgsl_is_subgroup_size(v)) {
		pctl_wgsl_error(k->c, PC2222_WGSL_SUBGROUP_SIZE, pos_of(k, start),
				pos_of(k, k->end), "write 4, 8, 16, 32, 64 or 128",
				"a subgroup has no %" PRIu64 " lanes here", v);
		v = PCTL_SUBGROUP_SIZE_MAX;
	}
	if (k->c->subgroup_size)
		pctl_wgsl_error(k->c, PC2114_WGSL_META, pos_of(k, start), pos_of(k, k->end), NULL,
				"the subgroup size is declared twice");
	k->c->subgroup_size = (uint32_t)v;
}

static void comment(struct wgsl *c, const struct source *src, const struct comment *note)
{
	/* The last one is none of the consensus rules'. */
	static const char *const known[] = {"max", "scale", "use", "subgroup"};
	const uint32_t n_known = c->options->flags & PCTL_WGSL_CONSENSUS ? 3 : 4;
	struct cursor k = {.c = c, .src = src};
	const char *start, *op;
	size_t n;

	k.p = src->text + (note->pos - src->base);
	k.end = k.p + note->len;
	n = word(&k, "=", &start);
	while (k.end > start && (k.end[-1] == ' ' || k.end[-1] == '\t' || k.end[-1] == '\r'))
		k.end--;
	if (!note->at_top) {
		pctl_wgsl_error(c, PC2114_WGSL_META, note->pos - 3, pos_of(&k, k.end),
				"move it to the top, or write `//` for a plain comment",
				"metadata must stand before everything else");
	} else if (n == 3 && !memcmp(start, "max", 3)) {
		maximum(&k, start);
	} else if (n == 5 && !memcmp(start, "scale", 5)) {
		scale(&k, start);
	} else if (n_known == 4 && n == 8 && !memcmp(start, "subgroup", 8)) {
		subgroup(&k, start);
	} else if (n == 3 && !memcmp(start, "use", 3)) {
		n = word(&k, "", &op);
		if (!n || !at_end(&k))
			malformed(&k, start, "use int.popcount@1");
		else
			pctl_wgsl_use(c, op, n, pos_of(&k, op), pos_of(&k, op + n));
	} else {
		char key[32] = {0};

		memcpy(key, start, n < sizeof(key) ? n : sizeof(key) - 1);
		pctl_wgsl_error(c, PC2114_WGSL_META, pos_of(&k, start), pos_of(&k, start + n),
				pctl_wgsl_hint_nearest(c, key, known, n_known),
				"metadata \"%s\" is unknown; there are max, scale%s use%s", key,
				n_known == 4 ? "," : " and", n_known == 4 ? " and subgroup" : "");
	}
}

void pctl_wgsl_meta(struct wgsl *c, struct source *src)
{
	const struct comment *note;

	for (note = src->comments; note; note = note->next)
		comment(c, src, note);
}

/* ---- after checking ---- */

static void no_such(struct wgsl *c, const struct max_note *m, const char *what)
{
	pctl_wgsl_error(c, PC2115_WGSL_META_NAME, m->pos, m->pos + m->n_path, NULL, "\"%.*s\" %s",
			(int)m->n_path, m->path, what);
}

static int find_member(struct wgsl *c, struct max_note *m, const struct structure *s,
		       const char *name, size_t n)
{
	const char **names = pctl_wgsl_alloc(c, (s->n_members + 1) * sizeof(*names));
	uint32_t i;

	for (i = 0; i < s->n_members; i++) {
		names[i] = pctl_wgsl_sym_text(c, s->at[i]->sym);
		if (strlen(names[i]) != n || memcmp(names[i], name, n) != 0)
			continue;
		if (m->resolved.n_path == 4)
			return 0;
		m->resolved.path[m->resolved.n_path++] = i;
		return 1;
	}
	pctl_wgsl_error(
		c, PC2115_WGSL_META_NAME, m->pos, m->pos + m->n_path,
		pctl_wgsl_hint_nearest(c, pctl_wgsl_format(c, "%.*s", (int)n, name), names, i),
		"struct %s has no member \"%.*s\"", pctl_wgsl_sym_text(c, s->decl->sym), (int)n,
		name);
	return -1;
}

/* `x` of a vector; UINT32_MAX: it has none of that name. */
static uint32_t component(const struct type *t, const char *name, size_t n)
{
	static const char letters[] = "xyzwrgba";
	const char *at = n == 1 ? strchr(letters, *name) : NULL;
	const uint32_t i = at ? (uint32_t)(at - letters) % 4 : UINT32_MAX;

	return t->kind == TY_VECTOR && i < t->width ? i : UINT32_MAX;
}

/* One step of a path from *p on, `.member`, `.x` or `[2]`: the type that it leads to. NULL: there is none such, or more
 * steps than a maximum has. 1 in *said: that was reported. */
static const struct type *follow(struct wgsl *c, struct max_note *m, const struct type *t,
				 const char **p, int *said)
{
	const char *start = *p + 1, *end = m->path + m->n_path, *stop = start;
	/* The rules of old know members alone. */
	const int is_old = (c->options->flags & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1)) != 0;
	const int is_index = **p == '[';
	uint64_t i = UINT32_MAX;
	int found;

	if (!is_index && **p != '.')
		return NULL;
	while (stop < end && (is_index ? *stop != ']' : *stop != '.' && *stop != '['))
		stop++;
	*p = stop + is_index;
	if (t->kind == TY_STRUCT && !is_index) {
		found = find_member(c, m, t->structure, start, (size_t)(stop - start));
		*said = found < 0;
		return found <= 0
			       ? NULL
			       : t->structure->at[m->resolved.path[m->resolved.n_path - 1]]->type;
	}
	if (!is_index)
		i = component(t, start, (size_t)(stop - start));
	else if (stop == end || !pctl_num_parse_u64(start, (size_t)(stop - start), &i) ||
		 i >= (t->kind == TY_ARRAY    ? t->count
		       : t->kind == TY_VECTOR ? t->width
					      : 0))
		return NULL;
	if (i == UINT32_MAX || is_old || m->resolved.n_path == 4)
		return NULL;
	m->resolved.path[m->resolved.n_path++] = (uint32_t)i;
	return t->elem;
}

static void resolve(struct wgsl *c, struct max_note *m)
{
	const char *p = m->path, *end = m->path + m->n_path;
	const struct type *t;
	struct decl *d;
	uint32_t sym;
	int said = 0;

	while (p < end && *p != '.' && *p != '[')
		p++;
	sym = pctl_wgsl_intern(c, m->path, (size_t)(p - m->path)); /* may move the table */
	d = c->syms[sym].global;
	if (!d || d->kind != DECL_VAR || d->space != PCTL_SPACE_UNIFORM) {
		if (!d || d->kind != DECL_ERROR)
			no_such(c, m, d ? "is no uniform variable" : "is declared nowhere");
		return;
	}
	for (t = d->type; p < end && t && t->kind != TY_ERROR;)
		t = follow(c, m, t, &p, &said);
	if (said)
		return;
	if (t && t->kind == TY_ERROR)
		return;
	if (!t || t->kind != TY_SCALAR || !pctl_wgsl_is_integer(t->scalar)) {
		no_such(c, m, "is no integer of a uniform variable");
		return;
	}
	if (m->value > (UINT64_MAX >> (64 - pctl_scalar_bits(t->scalar) +
				       (uint32_t)pctl_scalar_is_signed(t->scalar)))) {
		no_such(c, m, "has a type that cannot hold this maximum");
		return;
	}
	m->var = d;
	m->resolved.value = m->value;
}

/* Bring the list into the order of the text. */
static void reverse(struct wgsl *c)
{
	struct max_note *m, *first = NULL, *next;

	for (m = c->maxima; m; m = next) {
		next = m->next;
		m->next = first;
		first = m;
	}
	c->maxima = first;
}

void pctl_wgsl_meta_check(struct wgsl *c)
{
	struct max_note *m, *o;
	uint32_t n = 0;

	reverse(c);
	for (m = c->maxima; m; m = m->next) {
		if (++n > MAX_MAXIMA) {
			no_such(c, m, "is one maximum too many; the limit is 256");
			return;
		}
		resolve(c, m);
		for (o = c->maxima; o != m && m->var; o = o->next)
			if (o->var == m->var && o->resolved.n_path == m->resolved.n_path &&
			    !memcmp(o->resolved.path, m->resolved.path, sizeof(m->resolved.path))) {
				no_such(c, m, "has a maximum already");
				break;
			}
	}
}

void pctl_wgsl_meta_lower(struct wgsl *c)
{
	struct max_note *m;

	for (m = c->maxima; m; m = m->next) {
		m->resolved.var = m->var->index;
		pctl_build_max(c->builder, &m->resolved);
	}
	pctl_build_meta(c->builder, c->max_dispatch, c->scale);
	pctl_build_turns(c->builder, c->max_turns);
}
