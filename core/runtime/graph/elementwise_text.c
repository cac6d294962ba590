/* The text of elementwise kernels, and what is bound to it. A value that is read twice under the same index is computed once. */
#include "runtime/graph/elementwise_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

/* ---- indices ------------------------------------------------------------------------------ */

static int same_map(const pctl_index_map *a, const pctl_index_map *b)
{
	return a->rank == b->rank && a->simple == b->simple && a->offset == b->offset &&
	       memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0 &&
	       memcmp(a->stride, b->stride, a->rank * sizeof(a->stride[0])) == 0;
}

static uint32_t lie_under(const struct pctl_element_writing *w, uint32_t from,
			  const pctl_index_map *m)
{
	const uint32_t last = m->rank - 1;

	if (w->lanes == 1 || from != LIE_ROW)
		return from;
	if (m->dim[last] % w->lanes != 0)
		return LIE_ANY;
	if (m->stride[last] == 0)
		return LIE_SAME;
	for (uint32_t d = 0; d < last; d++)
		if (m->stride[d] % w->lanes != 0)
			return LIE_ANY;
	return m->stride[last] == 1 && m->offset % w->lanes == 0 ? LIE_ROW : LIE_ANY;
}

/* ---- text --------------------------------------------------------------------------------- */

const char *pctl_elementwise_type(uint32_t dtype)
{
	return dtype == PCTL_DTYPE_U128 ? "vec4<u32>" : pctl_dtype_name(dtype);
}

static void add_function_name(pctl_str_buf *s, const char *op, uint32_t dtype)
{
	for (; *op != '\0'; op++)
		pctl_str_add_n(s, *op == '.' ? "_" : op, 1);
	if (dtype != PCTL_SCALAR_U32)
		pctl_str_addf(s, "_%s", pctl_dtype_name(dtype));
}

static const char *prefix_of(const struct pctl_element_writing *w)
{
	return w->prefix == NULL ? "" : w->prefix;
}

static void add_at(struct pctl_element_writing *w, uint32_t word)
{
	pctl_str_addf(&w->body, "%sshape[%" PRIu32 "].%c", prefix_of(w), word / 4,
		      "xyzw"[word % 4]);
}

/* A number of the uniform block. */
static void add_word(struct pctl_element_writing *w, uint64_t value)
{
	const uint32_t at = w->words.n;

	w->too_wide |= value > UINT32_MAX;
	if (!PCTL_VEC_PUSH(&w->words, (uint32_t)value))
		w->failed = 1;
	add_at(w, at);
}

/* NAME: what the map, whose words begin at `first`, makes of the index `from`. Dimensions are taken off from the last. */
static void add_index(struct pctl_element_writing *w, const pctl_index_map *m, const char *from,
		      uint32_t first, const char *name)
{
	pctl_str_buf *s = &w->body;
	uint32_t least = 0; /* dimensions before it add nothing */

	while (m->simple && least < m->rank && m->stride[least] == 0)
		least++;
	pctl_str_addf(s, "\t\tvar %s = ", name);
	if (m->simple && m->offset == 0)
		pctl_str_add(s, "0u");
	else
		add_at(w, first);
	pctl_str_addf(s, ";\n\t\tvar r%s = %s;\n", name, from);
	for (uint32_t d = m->rank; d-- > least;) {
		if (!m->simple || m->stride[d] != 0) {
			pctl_str_addf(s, "\t\t%s += r%s", name, name);
			if (d != 0) {
				pctl_str_add(s, " % ");
				add_at(w, first + 1 + 2 * d);
			}
			if (!m->simple || m->stride[d] != 1) {
				pctl_str_add(s, " * ");
				add_at(w, first + 2 + 2 * d);
			}
			pctl_str_add(s, ";\n");
		}
		if (d > least) {
			pctl_str_addf(s, "\t\tr%s /= ", name);
			add_at(w, first + 1 + 2 * d);
			pctl_str_add(s, ";\n");
		}
	}
}

/* The words of a map: the offset, then extent and stride of each dimension. */
static uint32_t put_map(struct pctl_element_writing *w, const pctl_index_map *m)
{
	const uint32_t first = w->words.n;
	const uint64_t offset = m->offset;

	w->too_wide |= offset > UINT32_MAX;
	w->failed |= !PCTL_VEC_PUSH(&w->words, (uint32_t)offset);
	for (uint32_t d = 0; d < m->rank; d++) {
		w->too_wide |= m->dim[d] > UINT32_MAX || m->stride[d] > UINT32_MAX;
		w->failed |= !PCTL_VEC_PUSH(&w->words, (uint32_t)m->dim[d]) ||
			     !PCTL_VEC_PUSH(&w->words, (uint32_t)m->stride[d]);
	}
	return first;
}

/* The variable that holds an index of an element. */
static void index_name(const struct pctl_element_writing *w, uint32_t chain, uint32_t lane,
		       char out[48])
{
	const struct pctl_element_chain *c = &w->chains.items[chain];

	if (c->lie == LIE_ANY)
		snprintf(out, 48, "k%" PRIu32 "_%" PRIu32, chain, lane);
	else if (c->lie == LIE_ROW && lane != 0)
		snprintf(out, 48, "(k%" PRIu32 " + %" PRIu32 "u)", chain, lane);
	else
		snprintf(out, 48, "k%" PRIu32, chain);
}

static uint32_t chain_of(struct pctl_element_writing *w, uint32_t from, const pctl_index_map *m)
{
	struct pctl_element_chain c = {.from = from, .map = m};
	const uint32_t number = w->chains.n;
	char name[48], source[48];
	uint32_t first;

	if (m->rank == 0)
		return from;
	for (uint32_t i = 1; i < w->chains.n; i++)
		if (w->chains.items[i].from == from && same_map(w->chains.items[i].map, m))
			return i;
	c.lie = lie_under(w, w->chains.items[from].lie, m);
	if (!PCTL_VEC_PUSH(&w->chains, c)) {
		w->failed = 1;
		return from;
	}
	first = put_map(w, m);
	for (uint32_t lane = 0; lane < (c.lie == LIE_ANY ? w->lanes : 1); lane++) {
		index_name(w, number, lane, name);
		index_name(w, from, lane, source);
		add_index(w, m, source, first, name);
	}
	return number;
}

/* The bindings of an input for this piece: the first one's number. */
static uint32_t binding_of(struct pctl_element_writing *w, const pctl_element_node *n,
			   uint32_t vector, uint32_t in_step)
{
	const uint64_t width = pctl_dtype_bytes(n->type.dtype), most = w->e->most_bytes;
	struct pctl_element_binding b = {.buffer = n->buffer,
					 .vector = vector,
					 .dtype = n->type.dtype,
					 .in_step = in_step,
					 .parts = 1,
					 .start = n->offset,
					 .offset = n->offset,
					 .n_bytes = n->n_bytes};
	const uint32_t first = w->bindings.n;
	uint64_t n_bytes = 0;

	for (uint32_t i = 0; i < first; i++) {
		const struct pctl_element_binding *other = &w->bindings.items[i];

		if (other->parts != 0 && other->buffer == b.buffer && other->vector == vector &&
		    other->in_step == in_step && other->start == b.start)
			return i;
	}
	(void)pctl_type_buffer_bytes(&n->type, &n_bytes);
	if (in_step && !w->piece.whole) {
		b.offset += w->piece.from * width;
		b.n_bytes = pctl_num_align(w->piece.count * width, 4);
	} else if (most != 0 && n_bytes > most) {
		b.each = most / width / STEP * STEP;
		b.parts = b.each == 0 ? UINT32_MAX
				      : (uint32_t)pctl_num_div_up(n_bytes, b.each * width);
	}
	if (b.parts > 2 * PCTL_PORTS_MAX) {
		w->too_large = 1;
		b.parts = 1;
	}
	for (uint32_t k = 0, parts = b.parts; k < parts && !w->failed; k++) {
		if (parts != 1) {
			b.offset = n->offset + k * b.each * width;
			b.n_bytes = k + 1 < parts ? b.each * width : n_bytes - k * b.each * width;
		}
		b.parts = k == 0 ? parts : 0;
		w->failed |= !PCTL_VEC_PUSH(&w->bindings, b);
	}
	return first;
}

/* An element, or a vector of four, of an input by an index in words. */
static void add_read(struct pctl_element_writing *w, uint32_t binding, const char *index)
{
	if (binding >= w->bindings.n)
		return; /* there was no memory for it, which was noted */
	if (w->bindings.items[binding].parts == 1)
		pctl_str_addf(&w->body, "%sin%" PRIu32 "[%s]", prefix_of(w), binding, index);
	else
		pctl_str_addf(&w->body, "read%" PRIu32 "(%s)", binding, index);
}

/* How one element of a value is read. */
static void add_element(struct pctl_element_writing *w, uint32_t value, uint32_t lane)
{
	const struct pctl_element_value *v = &w->values.items[value];

	if (!v->wide)
		pctl_str_addf(&w->body, "v%" PRIu32, value);
	else if (v->wide == 2)
		pctl_str_addf(&w->body, "v%" PRIu32 ".%c", value, "xyzw"[lane]);
	else
		pctl_str_addf(&w->body, "v%" PRIu32 "_%" PRIu32, value, lane);
}

static void add_input(struct pctl_element_writing *w, uint32_t number, struct pctl_element_value *v)
{
	const pctl_element_node *n = &w->e->nodes[v->node];
	const uint32_t lie = w->chains.items[v->chain].lie;
	const int in_step = v->chain == 0 && (lie == LIE_ROW || !w->piece.whole);
	const uint32_t b = binding_of(w, n, lie == LIE_ROW, !w->piece.whole && in_step);
	char name[48], at[64];

	v->wide = lie == LIE_ROW ? 2 : lie == LIE_ANY;
	for (uint32_t lane = 0; lane < (v->wide == 1 ? w->lanes : 1); lane++) {
		index_name(w, v->chain, lane, name);
		pctl_str_addf(&w->body, "\t\tlet v%" PRIu32, number);
		if (v->wide == 1)
			pctl_str_addf(&w->body, "_%" PRIu32, lane);
		snprintf(at, sizeof(at), "%s%s", in_step ? "i" : name,
			 lie == LIE_ROW && !in_step ? " / 4u" : "");
		pctl_str_add(&w->body, " = ");
		add_read(w, b, at);
		pctl_str_add(&w->body, ";\n");
	}
}

static uint32_t value_of(struct pctl_element_writing *w, uint32_t node, uint32_t chain);

static void add_call(struct pctl_element_writing *w, uint32_t number, struct pctl_element_value *v)
{
	const pctl_element_node *n = &w->e->nodes[v->node];
	uint32_t in[PCTL_PORTS_MAX];

	for (uint32_t i = 0; i < n->n_in; i++) {
		in[i] = value_of(w, n->in[i], chain_of(w, v->chain, &n->map[i]));
		if (w->failed)
			return;
		v->wide |= w->values.items[in[i]].wide != 0;
	}
	for (uint32_t lane = 0; lane < (v->wide ? w->lanes : 1); lane++) {
		pctl_str_addf(&w->body, "\t\tlet v%" PRIu32, number);
		if (v->wide)
			pctl_str_addf(&w->body, "_%" PRIu32, lane);
		pctl_str_add(&w->body, " = ");
		add_function_name(&w->body, n->op, n->operand);
		for (uint32_t i = 0; i < n->n_in; i++) {
			pctl_str_add(&w->body, i == 0 ? "(" : ", ");
			add_element(w, in[i], lane);
		}
		pctl_str_add(&w->body, ");\n");
	}
}

/* The value of a node under an index, written when it is first asked for. */
static uint32_t value_of(struct pctl_element_writing *w, uint32_t node, uint32_t chain)
{
	const pctl_element_node *n = &w->e->nodes[node];
	struct pctl_element_value v = {.node = node, .chain = chain};
	uint32_t number;

	if (n->kind == PCTL_ELEMENT_VIEW)
		return value_of(w, n->in[0], chain_of(w, chain, &n->map[0]));
	for (uint32_t i = 0; i < w->values.n; i++)
		if (w->values.items[i].node == node && w->values.items[i].chain == chain)
			return i;
	/* Operands come first, and may be many: the number is taken when they are there. */
	if (n->kind == PCTL_ELEMENT_FUNCTION)
		for (uint32_t i = 0; i < n->n_in && !w->failed; i++)
			(void)value_of(w, n->in[i], chain_of(w, chain, &n->map[i]));
	number = w->values.n;
	if (w->failed || !PCTL_VEC_PUSH(&w->values, v)) {
		w->failed = 1;
		return 0;
	}
	if (n->kind == PCTL_ELEMENT_INPUT)
		add_input(w, number, &v);
	else if (n->kind == PCTL_ELEMENT_GIVEN)
		pctl_str_addf(&w->body, "\t\tlet v%" PRIu32 " = bitcast<%s>(bits);\n", number,
			      pctl_elementwise_type(n->type.dtype));
	else
		add_call(w, number, &v);
	w->values.items[number] = v;
	return number;
}

static const char half[] = "enable f16;\n";

int pctl_element_functions(const pctl_elementwise *e, pctl_str_buf *s)
{
	int has_half = 0;

	for (uint32_t i = 0; i < e->n_nodes; i++)
		has_half |= e->nodes[i].text != NULL &&
			    strncmp(e->nodes[i].text, half, sizeof(half) - 1) == 0;
	for (uint32_t i = 0; i < e->n_nodes; i++) {
		const char *text = e->nodes[i].text;
		uint32_t before = 0;

		while (before < i && (e->nodes[before].text == NULL || text == NULL ||
				      strcmp(e->nodes[before].text, text) != 0))
			before++;
		if (text == NULL || before < i)
			continue;
		pctl_str_add(s, strncmp(text, half, sizeof(half) - 1) == 0 ? text + sizeof(half) - 1
									   : text);
		pctl_str_add(s, "\n");
	}
	return has_half;
}

/* Functions, each once; `enable f16;` stands before all else. */
static void add_functions(const pctl_elementwise *e, pctl_str_buf *s)
{
	pctl_str_buf functions = PCTL_STR_BUF_INIT;

	if (pctl_element_functions(e, &functions))
		pctl_str_add(s, half);
	if (functions.data != NULL)
		pctl_str_add(s, functions.data);
	s->failed |= functions.failed;
	pctl_str_drop(&functions);
}

/* What finds an index among the bindings of an input that has several. of: as in add_declarations. */
static void add_reader(const struct pctl_element_writing *w, pctl_str_buf *s, uint32_t first,
		       const char *of)
{
	const struct pctl_element_binding *b = &w->bindings.items[first];
	const char *type = of != NULL ? of : pctl_elementwise_type(b->dtype);
	const uint32_t width = pctl_dtype_bytes(b->dtype);
	/* Elements that are only copied are words, or parts of one. */
	const uint64_t each = b->vector			? b->each / 4
			      : of != NULL && width < 4 ? b->each * width / 4
							: b->each;

	if (b->parts < 2)
		return;
	pctl_str_addf(s,
		      b->vector ? "fn read%" PRIu32 "(k: u32) -> vec4<%s> {\n"
				: "fn read%" PRIu32 "(k: u32) -> %s {\n",
		      first, type);
	for (uint32_t k = 0; k + 1 < b->parts; k++)
		pctl_str_addf(s,
			      "\tif (k < %" PRIu64 "u) {\n\t\treturn in%" PRIu32 "[k - %" PRIu64
			      "u];\n\t}\n",
			      each * (k + 1), first + k, each * k);
	pctl_str_addf(s, "\treturn in%" PRIu32 "[k - %" PRIu64 "u];\n}\n", first + b->parts - 1,
		      each * (b->parts - 1));
}

static void add_declarations(const struct pctl_element_writing *w, pctl_str_buf *s, const char *of,
			     const char *out)
{
	for (uint32_t i = 0; i < w->bindings.n; i++) {
		const struct pctl_element_binding *b = &w->bindings.items[i];
		const char *type = of != NULL ? of : pctl_elementwise_type(b->dtype);

		pctl_str_addf(s,
			      "@group(0) @binding(%" PRIu32 ") var<storage, read> in%" PRIu32
			      ": array<",
			      i, i);
		pctl_str_addf(s, b->vector ? "vec4<%s>>;\n" : "%s>;\n", type);
	}
	for (uint32_t i = 0; i < w->bindings.n; i++)
		add_reader(w, s, i, of);
	pctl_str_addf(s, "@group(1) @binding(0) var<storage, read_write> out: array<%s>;\n", out);
	if (w->words.n != 0)
		pctl_str_addf(s,
			      "@group(2) @binding(0) var<uniform> shape: array<vec4<u32>, %" PRIu32
			      ">;\n",
			      (w->words.n + 3) / 4);
	pctl_str_addf(s,
		      "@compute @workgroup_size(%u)\n"
		      "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n",
		      PCTL_ELEMENTWISE_INVOCATIONS);
}

/* Elements as values of their type, through functions. */
static void write_values(struct pctl_element_writing *w, pctl_str_buf *s, uint64_t n)
{
	const pctl_elementwise *e = w->e;
	const uint32_t dtype = e->nodes[e->n_nodes - 1].type.dtype;
	const int padded = pctl_dtype_bytes(dtype) == 2 && n % 2 != 0;
	const char *type = pctl_elementwise_type(dtype);
	const uint32_t value = value_of(w, e->n_nodes - 1, 0);
	char vector[24];

	if (w->failed)
		return;
	pctl_str_addf(&w->body, w->lanes == 1 ? "\t\tout[i] = " : "\t\tout[i] = vec4<%s>(", type);
	for (uint32_t lane = 0; lane < w->lanes; lane++) {
		pctl_str_add(&w->body, lane == 0 ? "" : ", ");
		add_element(w, value, lane);
	}
	pctl_str_add(&w->body, w->lanes == 1 ? ";\n" : ");\n");
	snprintf(vector, sizeof(vector), "vec4<%s>", type);
	add_functions(e, s);
	add_declarations(w, s, NULL, w->lanes == 1 ? type : vector);
	pctl_str_addf(s,
		      "\tlet i = id.x%s;\n\tif (i < arrayLength(&out)%s) {\n\t\tlet k0 = i%s%s;\n",
		      n / w->lanes > ROW ? " + id.y * 16776960u" : "", padded ? " - 1u" : "",
		      w->lanes == 1 ? "" : " * 4u", w->piece.whole ? "" : " + shape[0].x");
	pctl_str_add(s, w->body.data);
	pctl_str_add(s, "\t}\n}\n");
}

/* The index in the input under all views from the last node down; the input's number. */
static uint32_t through_views(struct pctl_element_writing *w, uint32_t *chain)
{
	uint32_t node = w->e->n_nodes - 1;

	*chain = 0;
	for (; w->e->nodes[node].kind == PCTL_ELEMENT_VIEW; node = w->e->nodes[node].in[0])
		*chain = chain_of(w, *chain, &w->e->nodes[node].map[0]);
	return node;
}

/* Elements that are only moved are words, or parts of one: no kernel that copies asks a device for a type. */
static void write_copy(struct pctl_element_writing *w, pctl_str_buf *s, uint64_t n)
{
	const pctl_elementwise *e = w->e;
	const uint32_t bits = 8 * pctl_dtype_bytes(e->nodes[e->n_nodes - 1].type.dtype);
	const char *type = bits <= 32 ? "u32" : bits == 64 ? "vec2<u32>" : "vec4<u32>";
	const uint32_t parts = bits < 32 ? 32 / bits : 1;
	const uint64_t rows = pctl_num_div_up(n, parts);
	uint32_t chain, node;
	char at[64];

	if (bits >= 32) {
		node = through_views(w, &chain);
		(void)binding_of(w, &e->nodes[node], 0, 0);
		snprintf(at, sizeof(at), "k%" PRIu32, chain);
		pctl_str_add(&w->body, "\t\tout[i] = ");
		add_read(w, 0, at);
		pctl_str_add(&w->body, ";\n");
	} else {
		pctl_str_add(&w->body, "\t\tvar word = 0u;\n\t\tfor (var part = 0u; part < ");
		pctl_str_addf(&w->body,
			      "%" PRIu32 "u; part++) {\n\t\tlet k0 = i * %" PRIu32
			      "u + part%s;\n\t\tif (k0 < ",
			      parts, parts, w->piece.whole ? "" : " + shape[0].x");
		add_word(w, w->piece.from + n);
		pctl_str_add(&w->body, ") {\n");
		node = through_views(w, &chain);
		(void)binding_of(w, &e->nodes[node], 0, 0);
		snprintf(at, sizeof(at), "k%" PRIu32 " / %" PRIu32 "u", chain, parts);
		pctl_str_add(&w->body, "\t\tword |= ((");
		add_read(w, 0, at);
		pctl_str_addf(&w->body,
			      " >> ((k%" PRIu32 " %% %" PRIu32 "u) * %" PRIu32
			      "u)) & %uu) << (part * %" PRIu32
			      "u);\n\t\t}\n\t\t}\n\t\tout[i] = word;\n",
			      chain, parts, bits, (1u << bits) - 1, bits);
	}
	add_declarations(w, s, type, type);
	pctl_str_addf(s, "\tlet i = id.x%s;\n\tif (i < arrayLength(&out)) {\n%s",
		      rows > ROW ? " + id.y * 16776960u" : "",
		      bits < 32	       ? ""
		      : w->piece.whole ? "\t\tlet k0 = i;\n"
				       : "\t\tlet k0 = i + shape[0].x;\n");
	if (w->body.data != NULL)
		pctl_str_add(s, w->body.data);
	pctl_str_add(s, "\t}\n}\n");
}

int pctl_element_has_function(const pctl_elementwise *e)
{
	for (uint32_t i = 0; i < e->n_nodes; i++)
		if (e->nodes[i].kind == PCTL_ELEMENT_FUNCTION)
			return 1;
	return 0;
}

/* Four elements an invocation: where there is a vector of four of each type, and no element is left over. */
int pctl_element_can_be_wide(const pctl_elementwise *e, uint64_t n)
{
	for (uint32_t i = 0; i < e->n_nodes; i++)
		if (pctl_dtype_bytes(e->nodes[i].type.dtype) > 4 ||
		    pctl_dtype_element(e->nodes[i].type.dtype) != e->nodes[i].type.dtype)
			return 0;
	return n % 4 == 0 && pctl_element_has_function(e);
}

/* The variables of a function, behind it. */
static void add_function_variables(const struct pctl_element_writing *w, uint32_t binding,
				   pctl_str_buf *s)
{
	uint32_t i = 0;

	for (; i < w->bindings.n; i++)
		pctl_str_addf(s,
			      "@group(%u) @binding(%" PRIu32 ") var<storage, read> %sin%" PRIu32
			      ": array<%s>;\n",
			      PCTL_THROUGH_GROUP, binding + i, w->prefix, i,
			      pctl_elementwise_type(w->bindings.items[i].dtype));
	if (w->words.n != 0)
		pctl_str_addf(s,
			      "@group(%u) @binding(%" PRIu32
			      ") var<uniform> %sshape: array<vec4<u32>, %" PRIu32 ">;\n",
			      PCTL_THROUGH_GROUP, binding + i, w->prefix, (w->words.n + 3) / 4);
}

char *pctl_element_function(struct pctl_element_writing *w, const pctl_elementwise *e,
			    uint32_t last, const char *function, uint32_t first_binding,
			    uint64_t from)
{
	const struct pctl_element_chain all = {.lie = LIE_SAME};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	uint32_t value;

	*w = (struct pctl_element_writing){
		.e = e, .lanes = 1, .piece = {.whole = 1}, .prefix = function};
	w->too_wide = from > UINT32_MAX;
	if (!PCTL_VEC_PUSH(&w->chains, all) ||
	    (from != 0 && !PCTL_VEC_PUSH(&w->words, (uint32_t)from)))
		w->failed = 1;
	value = w->failed ? 0 : value_of(w, last, 0);
	pctl_str_addf(&s, "fn %s(i: u32%s) -> u32 {\n\t\tlet k0 = i", function,
		      strncmp(function, "write", 5) == 0 ? ", bits: u32" : "");
	if (from != 0)
		pctl_str_addf(&s, " + %sshape[0].x", function);
	pctl_str_addf(&s, ";\n%s\t\treturn bitcast<u32>(v%" PRIu32 ");\n}\n",
		      w->body.data == NULL ? "" : w->body.data, value);
	add_function_variables(w, first_binding, &s);
	if (w->failed || w->body.failed) {
		pctl_str_drop(&s);
		return NULL;
	}
	return pctl_str_finish(&s);
}

void pctl_element_end(struct pctl_element_writing *w)
{
	pctl_str_drop(&w->body);
	free(w->chains.items);
	free(w->values.items);
	free(w->bindings.items);
	free(w->words.items);
}

char *pctl_element_text(struct pctl_element_writing *w, const pctl_elementwise *e, uint32_t lanes,
			const struct pctl_element_piece *piece)
{
	const uint64_t n = piece->count;
	const struct pctl_element_chain all = {.lie = lanes == 1 ? LIE_SAME : LIE_ROW};
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	*w = (struct pctl_element_writing){.e = e, .lanes = lanes, .piece = *piece};
	/* Where the piece begins is the first word. */
	if (!PCTL_VEC_PUSH(&w->chains, all) ||
	    (!piece->whole && !PCTL_VEC_PUSH(&w->words, (uint32_t)piece->from)))
		w->failed = 1;
	else if (pctl_element_has_function(e))
		write_values(w, &s, n);
	else
		write_copy(w, &s, n);
	if (w->failed || w->body.failed) {
		pctl_str_drop(&s);
		return NULL;
	}
	return pctl_str_finish(&s);
}
