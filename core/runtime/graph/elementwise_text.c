/* The text of elementwise kernels around their values (elementwise_value.c): functions, declarations, the entry point. */
#include "runtime/graph/elementwise_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

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
	const uint32_t bits = pctl_dtype_bits(b->dtype);
	/* Elements that are only copied are words, or parts of one. */
	const uint64_t each = b->vector			? b->each / 4
			      : of != NULL && bits < 32 ? b->each * bits / 32
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
	const uint32_t value = pctl_element_write_value(w, e->n_nodes - 1, 0);
	char vector[24];

	if (w->failed)
		return;
	pctl_str_addf(&w->body, w->lanes == 1 ? "\t\tout[i] = " : "\t\tout[i] = vec4<%s>(", type);
	for (uint32_t lane = 0; lane < w->lanes; lane++) {
		pctl_str_add(&w->body, lane == 0 ? "" : ", ");
		pctl_element_write_lane(w, value, lane);
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
		*chain = pctl_element_chain_of(w, *chain, &w->e->nodes[node].map[0]);
	return node;
}

/* Elements that are only moved are words, or parts of one: no kernel that copies asks a device for a type. */
static void write_copy(struct pctl_element_writing *w, pctl_str_buf *s, uint64_t n)
{
	const pctl_elementwise *e = w->e;
	const uint32_t bits = pctl_dtype_bits(e->nodes[e->n_nodes - 1].type.dtype);
	const char *type = bits <= 32 ? "u32" : bits == 64 ? "vec2<u32>" : "vec4<u32>";
	const uint32_t parts = bits < 32 ? 32 / bits : 1;
	const uint64_t rows = pctl_num_div_up(n, parts);
	uint32_t chain, node;
	char at[64];

	if (bits >= 32) {
		node = through_views(w, &chain);
		(void)pctl_element_bind(w, &e->nodes[node], 0, 0);
		snprintf(at, sizeof(at), "k%" PRIu32, chain);
		pctl_str_add(&w->body, "\t\tout[i] = ");
		pctl_element_write_read(w, 0, at);
		pctl_str_add(&w->body, ";\n");
	} else {
		pctl_str_add(&w->body, "\t\tvar word = 0u;\n\t\tfor (var part = 0u; part < ");
		pctl_str_addf(&w->body,
			      "%" PRIu32 "u; part++) {\n\t\tlet k0 = i * %" PRIu32
			      "u + part%s;\n\t\tif (k0 < ",
			      parts, parts, w->piece.whole ? "" : " + shape[0].x");
		pctl_element_write_word(w, w->piece.from + n);
		pctl_str_add(&w->body, ") {\n");
		node = through_views(w, &chain);
		(void)pctl_element_bind(w, &e->nodes[node], 0, 0);
		snprintf(at, sizeof(at), "k%" PRIu32 " / %" PRIu32 "u", chain, parts);
		pctl_str_add(&w->body, "\t\tword |= ((");
		pctl_element_write_read(w, 0, at);
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
			      pctl_element_is_part(w, w->bindings.items[i].dtype)
				      ? "u32"
				      : pctl_elementwise_type(w->bindings.items[i].dtype));
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
	const uint32_t dtype = e->nodes[last].type.dtype;
	const char *type = pctl_dtype_bytes(dtype) == 8 ? "u64" : "u32";
	uint32_t value;

	*w = (struct pctl_element_writing){
		.e = e, .lanes = 1, .piece = {.whole = 1}, .prefix = function};
	w->too_wide = from > UINT32_MAX;
	if (!PCTL_VEC_PUSH(&w->chains, all) ||
	    (from != 0 && !PCTL_VEC_PUSH(&w->words, (uint32_t)from)))
		w->failed = 1;
	value = w->failed ? 0 : pctl_element_write_value(w, last, 0);
	pctl_str_addf(&s, "fn %s(i: u32", function);
	if (strncmp(function, "write", 5) == 0)
		pctl_str_addf(&s, ", bits: %s", type);
	pctl_str_addf(&s, ") -> %s {\n\t\tlet k0 = i", type);
	if (from != 0)
		pctl_str_addf(&s, " + %sshape[0].x", function);
	pctl_str_addf(&s, ";\n%s\t\treturn ", w->body.data == NULL ? "" : w->body.data);
	if (pctl_element_is_part(w, dtype))
		pctl_str_addf(&s, "v%" PRIu32 ";\n}\n", value);
	else if (pctl_dtype_bytes(dtype) == 2)
		pctl_str_addf(&s, "bitcast<u32>(vec2<%s>(v%" PRIu32 ", %s(0.0f)));\n}\n",
			      pctl_elementwise_type(dtype), value, pctl_elementwise_type(dtype));
	else
		pctl_str_addf(&s, "bitcast<%s>(v%" PRIu32 ");\n}\n", type, value);
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
