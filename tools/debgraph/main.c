/* pipectl-debgraph: Debian package stanzas on standard input to a graph in two files. Nodes are
 * packages, an edge goes from a package to each package that can satisfy one of its dependencies.
 * Format: README.md beside this file. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/output.h"

#define INPUT_MAX (1ull << 30)

/* A piece of the input. */
typedef struct text {
	const char *at;
	size_t n;
} text;

typedef struct stanza {
	text package, provides, depends, pre_depends;
	uint32_t skip; /* known to dpkg and not installed */
	uint32_t node;
} stanza;

typedef struct provision {
	text name;
	uint32_t node;
} provision;

typedef struct graph {
	stanza *stanzas;
	text *names; /* sorted, each once */
	provision *provisions;
	uint64_t *edges; /* source << 32 | target */
	size_t n_stanzas, n_names, n_provisions, n_edges;
	size_t cap_stanzas, cap_provisions, cap_edges;
} graph;

static int fail(const char *what)
{
	fprintf(stderr, "pipectl-debgraph: %s\n", what);
	return 1;
}

/* Room for one more element; 0 when memory is short. */
static int grow(void **items, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 1024;
	void *more;

	if (n < *cap)
		return 1;
	more = reallocarray(*items, want, size);
	if (!more)
		return 0;
	*items = more;
	*cap = want;
	return 1;
}

static int text_compare(const text *a, const text *b)
{
	int order = memcmp(a->at, b->at, a->n < b->n ? a->n : b->n);

	return order ? order : (a->n > b->n) - (a->n < b->n);
}

static int name_compare(const void *a, const void *b)
{
	return text_compare(a, b);
}

static int provision_compare(const void *a, const void *b)
{
	const provision *x = a, *y = b;
	int order = text_compare(&x->name, &y->name);

	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int edge_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int text_is(text t, const char *word)
{
	return t.n == strlen(word) && memcmp(t.at, word, t.n) == 0;
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static text trim(text t)
{
	while (t.n && is_blank(t.at[0])) {
		t.at++;
		t.n--;
	}
	while (t.n && is_blank(t.at[t.n - 1]))
		t.n--;
	return t;
}

/* The name in front of "(>= 2)", ":any" and the like. */
static text name_of(text t)
{
	size_t n = 0;

	t = trim(t);
	while (n < t.n && !is_blank(t.at[n]) && !strchr("(:[<", t.at[n]))
		n++;
	t.n = n;
	return t;
}

/* Cut the next name off a list separated by ',' and '|'; 0 at the end. */
static int list_next(text *list, text *out)
{
	size_t n = 0;

	if (!list->at || list->n == 0)
		return 0;
	while (n < list->n && list->at[n] != ',' && list->at[n] != '|')
		n++;
	*out = name_of((text){list->at, n});
	if (n < list->n)
		n++;
	list->at += n;
	list->n -= n;
	return 1;
}

static void stanza_field(stanza *s, text key, text value)
{
	if (text_is(key, "Package"))
		s->package = trim(value);
	else if (text_is(key, "Provides"))
		s->provides = value;
	else if (text_is(key, "Depends"))
		s->depends = value;
	else if (text_is(key, "Pre-Depends"))
		s->pre_depends = value;
	else if (text_is(key, "Status"))
		s->skip = !text_is(trim(value), "install ok installed");
}

/* End of the line that begins at `at`, with its newline. */
static size_t line_end(const char *data, size_t n, size_t at)
{
	const char *end = memchr(data + at, '\n', n - at);

	return end ? (size_t)(end - data) + 1 : n;
}

static int stanza_close(graph *g, stanza *s)
{
	if (s->package.n && !s->skip) {
		if (!grow((void **)&g->stanzas, g->n_stanzas, &g->cap_stanzas, sizeof(*s)))
			return 0;
		g->stanzas[g->n_stanzas++] = *s;
	}
	memset(s, 0, sizeof(*s));
	return 1;
}

/* All stanzas; a value reaches over the lines that begin with a blank. */
static int parse(graph *g, const char *data, size_t n)
{
	stanza s = {0};

	for (size_t at = 0; at < n;) {
		size_t end = line_end(data, n, at);
		const char *colon;

		if (trim((text){data + at, end - at}).n == 0) {
			if (!stanza_close(g, &s))
				return 0;
			at = end;
			continue;
		}
		colon = memchr(data + at, ':', end - at);
		while (end < n && (data[end] == ' ' || data[end] == '\t'))
			end = line_end(data, n, end);
		if (colon) {
			const size_t value = (size_t)(colon - data) + 1;

			stanza_field(&s, (text){data + at, value - 1 - at},
				     (text){data + value, end - value});
		}
		at = end;
	}
	return stanza_close(g, &s);
}

/* Number the packages by the order of their names. */
static int number(graph *g)
{
	g->names = calloc(g->n_stanzas + 1, sizeof(*g->names));
	if (!g->names)
		return 0;
	for (size_t i = 0; i < g->n_stanzas; i++)
		g->names[i] = g->stanzas[i].package;
	qsort(g->names, g->n_stanzas, sizeof(*g->names), name_compare);
	for (size_t i = 0; i < g->n_stanzas; i++)
		if (i == 0 || text_compare(&g->names[i], &g->names[g->n_names - 1]) != 0)
			g->names[g->n_names++] = g->names[i];
	for (size_t i = 0; i < g->n_stanzas; i++) {
		const text *found = bsearch(&g->stanzas[i].package, g->names, g->n_names,
					    sizeof(*g->names), name_compare);

		g->stanzas[i].node = (uint32_t)(found - g->names);
	}
	return 1;
}

static int provide(graph *g)
{
	for (size_t i = 0; i < g->n_stanzas; i++) {
		text list = g->stanzas[i].provides, name;

		while (list_next(&list, &name)) {
			if (!grow((void **)&g->provisions, g->n_provisions, &g->cap_provisions,
				  sizeof(*g->provisions)))
				return 0;
			g->provisions[g->n_provisions++] = (provision){name, g->stanzas[i].node};
		}
	}
	if (g->n_provisions)
		qsort(g->provisions, g->n_provisions, sizeof(*g->provisions), provision_compare);
	return 1;
}

static int edge_add(graph *g, uint32_t source, uint32_t target)
{
	if (source == target)
		return 1;
	if (!grow((void **)&g->edges, g->n_edges, &g->cap_edges, sizeof(*g->edges)))
		return 0;
	g->edges[g->n_edges++] = (uint64_t)source << 32 | target;
	return 1;
}

/* Edges to the package of that name, or else to all that provide it. */
static int resolve(graph *g, uint32_t source, const text *name)
{
	const text *real = bsearch(name, g->names, g->n_names, sizeof(*g->names), name_compare);
	size_t low = 0, high = g->n_provisions;

	if (real)
		return edge_add(g, source, (uint32_t)(real - g->names));
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (text_compare(&g->provisions[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < g->n_provisions && text_compare(&g->provisions[low].name, name) == 0; low++)
		if (!edge_add(g, source, g->provisions[low].node))
			return 0;
	return 1;
}

static int connect_all(graph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_stanzas; i++) {
		text lists[2] = {g->stanzas[i].depends, g->stanzas[i].pre_depends}, name;

		for (int k = 0; k < 2; k++)
			while (list_next(&lists[k], &name))
				if (name.n && !resolve(g, g->stanzas[i].node, &name))
					return 0;
	}
	if (g->n_edges)
		qsort(g->edges, g->n_edges, sizeof(*g->edges), edge_compare);
	for (size_t i = 0; i < g->n_edges; i++)
		if (i == 0 || g->edges[i] != g->edges[n - 1])
			g->edges[n++] = g->edges[i];
	g->n_edges = n;
	return 1;
}

/* The reason goes to standard error; files are the old ones or whole. */
static void say(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "pipectl-debgraph: %s\n", d->message);
}

static pctl_status put_edges(const graph *g, pctl_output *to, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (size_t i = 0; status == PCTL_OK && i < g->n_edges; i++) {
		unsigned char bytes[8];

		for (int k = 0; k < 4; k++) {
			bytes[k] = (unsigned char)(g->edges[i] >> (32 + 8 * k) & 255);
			bytes[4 + k] = (unsigned char)(g->edges[i] >> (8 * k) & 255);
		}
		status = pctl_output_put(to, bytes, sizeof(bytes), call);
	}
	return status;
}

static pctl_status put_names(const graph *g, pctl_output *to, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (size_t i = 0; status == PCTL_OK && i < g->n_names; i++) {
		status = pctl_output_put(to, g->names[i].at, g->names[i].n, call);
		if (status == PCTL_OK)
			status = pctl_output_put(to, "\n", 1, call);
	}
	return status;
}

static int write_all(const graph *g, const char *edges_path, const char *names_path)
{
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = say};
	pctl_output *edges = NULL, *names = NULL;
	pctl_status status = pctl_output_open(edges_path, 1, &call, &edges);

	if (status == PCTL_OK)
		status = put_edges(g, edges, &call);
	if (status == PCTL_OK)
		status = pctl_output_open(names_path, 1, &call, &names);
	if (status == PCTL_OK)
		status = put_names(g, names, &call);
	if (status == PCTL_OK) {
		status = pctl_output_commit(edges, &call);
		edges = NULL;
	}
	if (status == PCTL_OK) {
		status = pctl_output_commit(names, &call);
		names = NULL;
	}
	pctl_output_discard(edges);
	pctl_output_discard(names);
	return status != PCTL_OK;
}

static char *read_all(FILE *f, size_t *n_out)
{
	size_t n = 0, cap = 0, got;
	char *data = NULL;

	do {
		if (n == cap) {
			char *more =
				cap < INPUT_MAX ? realloc(data, cap ? cap * 2 : 1 << 20) : NULL;

			if (!more) {
				free(data);
				return NULL;
			}
			data = more;
			cap = cap ? cap * 2 : 1 << 20;
		}
		got = fread(data + n, 1, cap - n, f);
		n += got;
	} while (got);
	*n_out = n;
	return data;
}

int main(int argc, char **argv)
{
	graph g = {0};
	size_t n = 0;
	char *data;
	int status = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: pipectl-debgraph EDGES NAMES < STANZAS\n");
		return 2;
	}
	data = read_all(stdin, &n);
	if (!data)
		return fail("the input is over 1 GiB, or there is no memory for it");
	if (!parse(&g, data, n) || !number(&g) || !provide(&g) || !connect_all(&g)) {
		fail("no memory");
		goto out;
	}
	if (g.n_names == 0) {
		fail("no package in the input");
		goto out;
	}
	status = write_all(&g, argv[1], argv[2]);
	if (status == 0)
		fprintf(stderr, "%zu packages, %zu dependencies\n", g.n_names, g.n_edges);
out:
	free(g.stanzas);
	free(g.names);
	free(g.provisions);
	free(g.edges);
	free(data);
	return status;
}
