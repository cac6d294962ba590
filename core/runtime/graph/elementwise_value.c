/* The values of elementwise kernels: indices, what is bound, and the statements that compute a node under an index. A value that is read twice
 * under the same index is computed once. */
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

void pctl_element_write_word(struct pctl_element_writing *w, uint64_t value)
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

uint32_t pctl_element_chain_of(struct pctl_element_writing *w, uint32_t from,
			       const pctl_index_map *m)
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

uint64_t pctl_element_piece_of(uint64_t most, uint32_t bits)
{
	return bits < 8 ? most / STEP * STEP * (8 / bits) : most / (bits / 8) / STEP * STEP;
}

uint64_t pctl_element_piece_bytes(uint64_t n, uint32_t bits)
{
	return pctl_num_align(pctl_num_div_up(n * bits, 8), 4);
}

uint32_t pctl_element_bind(struct pctl_element_writing *w, const pctl_element_node *n,
			   uint32_t vector, uint32_t in_step)
{
	const uint32_t bits = pctl_dtype_bits(n->type.dtype);
	const uint64_t most = w->e->most_bytes;
	struct pctl_element_binding b = {.buffer = n->buffer,
					 .vector = vector,
					 .dtype = n->type.dtype,
					 .in_step = in_step,
					 .parts = 1,
					 .start = n->offset,
					 .offset = n->offset,
					 .n_bytes = n->n_bytes};
	const uint32_t first = w->bindings.n;
	uint64_t n_bytes = 0, each;

	for (uint32_t i = 0; i < first; i++) {
		const struct pctl_element_binding *other = &w->bindings.items[i];

		if (other->parts != 0 && other->buffer == b.buffer && other->vector == vector &&
		    other->in_step == in_step && other->start == b.start)
			return i;
	}
	(void)pctl_type_buffer_bytes(&n->type, &n_bytes);
	if (in_step && !w->piece.whole) {
		b.offset += w->piece.from * bits / 8;
		b.n_bytes = pctl_element_piece_bytes(w->piece.count, bits);
	} else if (most != 0 && n_bytes > most) {
		b.each = pctl_element_piece_of(most, bits);
		b.parts = b.each == 0 ? UINT32_MAX
				      : (uint32_t)pctl_num_div_up(n_bytes, b.each * bits / 8);
	}
	each = b.each * bits / 8;
	if (b.parts > 2 * PCTL_PORTS_MAX) {
		w->too_large = 1;
		b.parts = 1;
	}
	for (uint32_t k = 0, parts = b.parts; k < parts && !w->failed; k++) {
		if (parts != 1) {
			b.offset = n->offset + k * each;
			b.n_bytes = k + 1 < parts ? each : n_bytes - k * each;
		}
		b.parts = k == 0 ? parts : 0;
		w->failed |= !PCTL_VEC_PUSH(&w->bindings, b);
	}
	return first;
}

void pctl_element_write_read(struct pctl_element_writing *w, uint32_t binding, const char *index)
{
	if (binding >= w->bindings.n)
		return; /* there was no memory for it, which was noted */
	if (w->bindings.items[binding].parts == 1)
		pctl_str_addf(&w->body, "%sin%" PRIu32 "[%s]", prefix_of(w), binding, index);
	else
		pctl_str_addf(&w->body, "read%" PRIu32 "(%s)", binding, index);
}

void pctl_element_write_lane(struct pctl_element_writing *w, uint32_t value, uint32_t lane)
{
	const struct pctl_element_value *v = &w->values.items[value];

	if (!v->wide)
		pctl_str_addf(&w->body, "v%" PRIu32, value);
	else if (v->wide == 2)
		pctl_str_addf(&w->body, "v%" PRIu32 ".%c", value, "xyzw"[lane]);
	else
		pctl_str_addf(&w->body, "v%" PRIu32 "_%" PRIu32, value, lane);
}

int pctl_element_is_part(const struct pctl_element_writing *w, uint32_t dtype)
{
	return w->prefix != NULL && pctl_dtype_bytes(dtype) < 4 && dtype != PCTL_SCALAR_F16 &&
	       dtype != PCTL_SCALAR_BF16;
}

/* Element `index` of the words of an input that is made of parts of them. */
static void add_part(struct pctl_element_writing *w, uint32_t number, uint32_t binding,
		     uint32_t dtype, const char *index)
{
	const uint32_t bits = 8 * pctl_dtype_bytes(dtype), parts = 32 / bits;
	char at[80];

	snprintf(at, sizeof(at), "%s / %" PRIu32 "u", index, parts);
	pctl_str_addf(&w->body, "\t\tlet v%" PRIu32 " = (", number);
	pctl_element_write_read(w, binding, at);
	pctl_str_addf(&w->body, " >> ((%s %% %" PRIu32 "u) * %" PRIu32 "u)) & %uu;\n", index, parts,
		      bits, (1u << bits) - 1);
}

/* What a plan op gives, out of its bits. */
static void add_given(struct pctl_element_writing *w, uint32_t number, uint32_t dtype)
{
	const char *type = pctl_elementwise_type(dtype);

	pctl_str_addf(&w->body, "\t\tlet v%" PRIu32 " = ", number);
	if (pctl_element_is_part(w, dtype))
		pctl_str_addf(&w->body, "bits & %uu;\n", (1u << 8 * pctl_dtype_bytes(dtype)) - 1);
	else if (pctl_dtype_bytes(dtype) == 2)
		pctl_str_addf(&w->body, "bitcast<vec2<%s>>(bits).x;\n", type);
	else
		pctl_str_addf(&w->body, "bitcast<%s>(bits);\n", type);
}

static void add_input(struct pctl_element_writing *w, uint32_t number, struct pctl_element_value *v)
{
	const pctl_element_node *n = &w->e->nodes[v->node];
	const uint32_t lie = w->chains.items[v->chain].lie;
	const int in_step = v->chain == 0 && (lie == LIE_ROW || !w->piece.whole);
	const uint32_t b = pctl_element_bind(w, n, lie == LIE_ROW, !w->piece.whole && in_step);
	char name[48], at[64];

	if (pctl_element_is_part(w, n->type.dtype)) {
		index_name(w, v->chain, 0, name);
		add_part(w, number, b, n->type.dtype, name);
		return;
	}
	v->wide = lie == LIE_ROW ? 2 : lie == LIE_ANY;
	for (uint32_t lane = 0; lane < (v->wide == 1 ? w->lanes : 1); lane++) {
		index_name(w, v->chain, lane, name);
		pctl_str_addf(&w->body, "\t\tlet v%" PRIu32, number);
		if (v->wide == 1)
			pctl_str_addf(&w->body, "_%" PRIu32, lane);
		snprintf(at, sizeof(at), "%s%s", in_step ? "i" : name,
			 lie == LIE_ROW && !in_step ? " / 4u" : "");
		pctl_str_add(&w->body, " = ");
		pctl_element_write_read(w, b, at);
		pctl_str_add(&w->body, ";\n");
	}
}

static void add_call(struct pctl_element_writing *w, uint32_t number, struct pctl_element_value *v)
{
	const pctl_element_node *n = &w->e->nodes[v->node];
	uint32_t in[PCTL_PORTS_MAX];

	for (uint32_t i = 0; i < n->n_in; i++) {
		in[i] = pctl_element_write_value(w, n->in[i],
						 pctl_element_chain_of(w, v->chain, &n->map[i]));
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
			pctl_element_write_lane(w, in[i], lane);
		}
		pctl_str_add(&w->body, ");\n");
	}
}

uint32_t pctl_element_write_value(struct pctl_element_writing *w, uint32_t node, uint32_t chain)
{
	const pctl_element_node *n = &w->e->nodes[node];
	struct pctl_element_value v = {.node = node, .chain = chain};
	uint32_t number;

	if (n->kind == PCTL_ELEMENT_VIEW)
		return pctl_element_write_value(w, n->in[0],
						pctl_element_chain_of(w, chain, &n->map[0]));
	for (uint32_t i = 0; i < w->values.n; i++)
		if (w->values.items[i].node == node && w->values.items[i].chain == chain)
			return i;
	/* Operands come first, and may be many: the number is taken when they are there. */
	if (n->kind == PCTL_ELEMENT_FUNCTION)
		for (uint32_t i = 0; i < n->n_in && !w->failed; i++)
			(void)pctl_element_write_value(w, n->in[i],
						       pctl_element_chain_of(w, chain, &n->map[i]));
	number = w->values.n;
	if (w->failed || !PCTL_VEC_PUSH(&w->values, v)) {
		w->failed = 1;
		return 0;
	}
	if (n->kind == PCTL_ELEMENT_INPUT)
		add_input(w, number, &v);
	else if (n->kind == PCTL_ELEMENT_GIVEN)
		add_given(w, number, n->type.dtype);
	else
		add_call(w, number, &v);
	w->values.items[number] = v;
	return number;
}
