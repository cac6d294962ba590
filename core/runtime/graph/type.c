/* Types of edges: parsing, sizes, printing. */
#include "runtime/graph/type.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/dtype/dtype.h"

#define LANES_AT 8u /* bits below are the element's dtype */

/* Vectors that kernels have of their own, and ports may ask for. */
static const struct vector {
	uint32_t dtype, lanes;
	const char *name;
} vectors[] = {{PCTL_SCALAR_F32, 2, "vec2<f32>"}, {PCTL_SCALAR_F32, 4, "vec4<f32>"},
	       {PCTL_SCALAR_F16, 2, "vec2<f16>"}, {PCTL_SCALAR_F16, 4, "vec4<f16>"},
	       {PCTL_SCALAR_I32, 2, "vec2<i32>"}, {PCTL_SCALAR_I32, 4, "vec4<i32>"},
	       {PCTL_SCALAR_U32, 2, "vec2<u32>"}, {PCTL_SCALAR_U32, 4, "vec4<u32>"}};
#define N_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

uint32_t pctl_dtype_vector(uint32_t dtype, uint32_t lanes)
{
	return lanes < 2 ? dtype : dtype | lanes << LANES_AT;
}

uint32_t pctl_dtype_element(uint32_t dtype)
{
	return dtype & ((1u << LANES_AT) - 1u);
}

static uint32_t lanes_of(uint32_t dtype)
{
	return dtype >> LANES_AT == 0 ? 1 : dtype >> LANES_AT;
}

uint32_t pctl_dtype_bytes(uint32_t dtype)
{
	const pctl_dtype *t = pctl_dtype_of(pctl_dtype_element(dtype));

	return t == NULL || t->block != 1 || t->bits % 8 != 0 ? 0 : t->bits / 8 * lanes_of(dtype);
}

uint32_t pctl_dtype_bits(uint32_t dtype)
{
	const pctl_dtype *t = pctl_dtype_of(pctl_dtype_element(dtype));

	return t == NULL || t->block != 1 ? 0 : t->bits * lanes_of(dtype);
}

uint32_t pctl_port_lanes(const pctl_port *port)
{
	return strncmp(port->type, "vec2<", 5) == 0   ? 2
	       : strncmp(port->type, "vec4<", 5) == 0 ? 4
						      : 1;
}

int pctl_op_has_vectors(const pctl_op_desc *d)
{
	for (uint32_t i = 0; i < d->n_in + d->n_out; i++)
		if (pctl_port_lanes(i < d->n_in ? &d->in[i] : &d->out[i - d->n_in]) != 1)
			return 1;
	return 0;
}

int pctl_type_places(const pctl_tensor_type *t, uint32_t lanes, pctl_tensor_type *out)
{
	*out = *t;
	if (lanes < 2)
		return 1;
	if (t->rank == 0 || t->rank > PCTL_RANK_MAX || t->dim[t->rank - 1] != lanes)
		return 0;
	out->dtype = pctl_dtype_vector(t->dtype, lanes);
	out->dim[--out->rank] = 0;
	return 1;
}

const char *pctl_dtype_name(uint32_t dtype)
{
	const pctl_dtype *t = pctl_dtype_of(dtype);

	for (uint32_t i = 0; i < N_VECTORS; i++)
		if (dtype == pctl_dtype_vector(vectors[i].dtype, vectors[i].lanes))
			return vectors[i].name;
	return t == NULL ? "?" : t->name;
}

const char *pctl_dtype_at(uint32_t i)
{
	const pctl_dtype *t = pctl_dtype_row(i);

	return t == NULL ? NULL : t->name;
}

uint32_t pctl_dtype_find(const char *name, size_t n)
{
	const pctl_dtype *t = pctl_dtype_named(name, n);

	return t == NULL ? PCTL_SCALAR_NONE : t->id;
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static const char *skip_spaces(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

static pctl_status bad_type(const char *text, const char *why, const pctl_pos *pos,
			    const pctl_call *call)
{
	return pctl_refuse_at(call, PC4020_TYPE_SYNTAX, pos,
			      "write it as u32[m,2], u32|i32[n] or u64[...]",
			      "\"%s\" is not a type: %s", text, why);
}

static pctl_status parse_shape(const char *text, const char *s, pctl_arena *arena,
			       const pctl_pos *pos, const pctl_call *call, pctl_type_pattern *out)
{
	s = skip_spaces(s + 1);
	if (strncmp(s, "...", 3) == 0) {
		out->any_shape = 1;
		s = skip_spaces(s + 3);
	} else {
		for (;;) {
			size_t n = word_length(s);
			pctl_dim_pattern *d;

			if (n == 0 || out->rank == PCTL_RANK_MAX)
				return bad_type(text,
						n == 0 ? "a dimension is missing"
						       : "more than 8 dimensions",
						pos, call);
			d = &out->dim[out->rank++];
			if (isdigit((unsigned char)*s)) {
				if (!pctl_num_parse_u64(s, n, &d->value))
					return bad_type(text, "a dimension is no number that fits",
							pos, call);
			} else {
				d->name = pctl_arena_dup_n(arena, s, n);
				if (d->name == NULL)
					return pctl_no_memory(call, "a type");
			}
			s = skip_spaces(s + n);
			if (*s != ',')
				break;
			s = skip_spaces(s + 1);
		}
	}
	if (*s != ']' || *skip_spaces(s + 1) != '\0')
		return bad_type(text, "']' is missing, or something follows it", pos, call);
	return PCTL_OK;
}

/* "vec4<f32>" at s: its length, its element and lanes; 0: it is none. */
static size_t vector_at(const char *s, uint32_t *dtype, uint32_t *lanes)
{
	for (uint32_t i = 0; i < N_VECTORS; i++) {
		const size_t n = strlen(vectors[i].name);

		if (strncmp(s, vectors[i].name, n) != 0)
			continue;
		*dtype = vectors[i].dtype;
		*lanes = vectors[i].lanes;
		return n;
	}
	return 0;
}

pctl_status pctl_port_parse(const char *text, pctl_arena *arena, const pctl_pos *pos,
			    const pctl_call *call, pctl_type_pattern *out)
{
	const char *s = skip_spaces(text);

	memset(out, 0, sizeof(*out));
	for (;;) {
		uint32_t dtype, lanes = 0;
		size_t n = vector_at(s, &dtype, &lanes);

		if (n == 0) {
			n = word_length(s);
			dtype = pctl_dtype_find(s, n);
		}
		if (dtype == PCTL_SCALAR_NONE)
			return bad_type(text, "no such element type", pos, call);
		if (out->n_dtypes != 0 && lanes != out->lanes)
			return bad_type(text, "its alternatives are not vectors of one length", pos,
					call);
		out->lanes = lanes;
		if (out->n_dtypes == PCTL_DTYPES_MAX)
			return bad_type(text, "too many alternatives", pos, call);
		out->dtype[out->n_dtypes++] = dtype;
		s = skip_spaces(s + n);
		if (*s != '|')
			break;
		s = skip_spaces(s + 1);
	}
	if (out->lanes != 0 && strcmp(s, "[...]") != 0)
		return bad_type(text, "a vector's shape is written [...]", pos, call);
	if (*s == '[')
		return parse_shape(text, s, arena, pos, call, out);
	return *s == '\0' ? PCTL_OK
			  : bad_type(text, "something follows the element type", pos, call);
}

pctl_status pctl_type_parse(const char *text, pctl_arena *arena, const pctl_pos *pos,
			    const pctl_call *call, pctl_type_pattern *out)
{
	const pctl_status status = pctl_port_parse(text, arena, pos, call, out);

	return status == PCTL_OK && out->lanes != 0
		       ? bad_type(text, "vectors are a function's; a tensor of them has elements",
				  pos, call)
		       : status;
}

int pctl_type_elements(const pctl_tensor_type *t, uint64_t *out)
{
	uint64_t n = 1;
	int fits = 1;

	for (uint32_t i = 0; i < t->rank; i++) {
		if (t->dim[i] == 0) {
			*out = 0;
			return 1;
		}
		fits &= pctl_num_mul(n, t->dim[i], &n);
	}
	*out = fits ? n : UINT64_MAX;
	return fits;
}

int pctl_type_bytes(const pctl_tensor_type *t, uint64_t *out)
{
	const pctl_dtype *type = pctl_dtype_of(t->dtype);
	uint64_t n;

	if (t->dtype >> LANES_AT != 0) {
		*out = UINT64_MAX;
		return pctl_type_elements(t, &n) &&
		       pctl_num_mul(n, pctl_dtype_bytes(t->dtype), out);
	}
	if (type == NULL || !pctl_type_elements(t, &n) || !pctl_dtype_size(type, n, out) ||
	    (type->block != 1 && (t->rank == 0 || t->dim[t->rank - 1] % type->block != 0))) {
		*out = UINT64_MAX;
		return 0;
	}
	return 1;
}

int pctl_type_buffer_bytes(const pctl_tensor_type *t, uint64_t *out)
{
	if (!pctl_type_bytes(t, out) || !pctl_num_add(*out, 3, out))
		return 0;
	*out &= ~3ull;
	return 1;
}

int pctl_pattern_concrete(const pctl_type_pattern *p, pctl_tensor_type *out)
{
	*out = (pctl_tensor_type){.dtype = p->dtype[0], .rank = p->rank};
	if (p->n_dtypes != 1 || p->any_shape)
		return 0;
	for (uint32_t i = 0; i < p->rank; i++) {
		if (p->dim[i].name != NULL)
			return 0;
		out->dim[i] = p->dim[i].value;
	}
	return 1;
}

int pctl_type_equal(const pctl_tensor_type *a, const pctl_tensor_type *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

static const char *into_arena(pctl_arena *arena, pctl_str_buf *s)
{
	const char *copy = s->failed ? NULL : pctl_arena_dup_n(arena, s->data, s->n);

	pctl_str_drop(s);
	return copy == NULL ? "?" : copy;
}

const char *pctl_type_text(pctl_arena *arena, const pctl_tensor_type *t)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, pctl_dtype_name(t->dtype));
	for (uint32_t i = 0; i < t->rank; i++)
		pctl_str_addf(&s, "%s%" PRIu64, i == 0 ? "[" : ",", t->dim[i]);
	if (t->rank != 0)
		pctl_str_add(&s, "]");
	return into_arena(arena, &s);
}

void pctl_pattern_any(pctl_type_pattern *out)
{
	memset(out, 0, sizeof(*out));
	out->any_shape = 1;
	for (uint32_t i = 0; pctl_dtype_row(i) != NULL && i < PCTL_DTYPES_MAX; i++)
		out->dtype[out->n_dtypes++] = pctl_dtype_row(i)->id;
}

int pctl_pattern_is_any(const pctl_type_pattern *p)
{
	return p->any_shape && pctl_dtype_row(p->n_dtypes) == NULL;
}

const char *pctl_pattern_text(pctl_arena *arena, const pctl_type_pattern *p)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	if (pctl_pattern_is_any(p))
		return "any";
	for (uint32_t i = 0; i < p->n_dtypes; i++)
		pctl_str_addf(&s, "%s%s", i == 0 ? "" : "|",
			      pctl_dtype_name(pctl_dtype_vector(p->dtype[i], p->lanes)));
	if (p->any_shape)
		pctl_str_add(&s, "[...]");
	for (uint32_t i = 0; i < p->rank; i++) {
		pctl_str_add(&s, i == 0 ? "[" : ",");
		if (p->dim[i].name != NULL)
			pctl_str_add(&s, p->dim[i].name);
		else
			pctl_str_addf(&s, "%" PRIu64, p->dim[i].value);
	}
	if (p->rank != 0)
		pctl_str_add(&s, "]");
	return into_arena(arena, &s);
}

int pctl_pattern_has_dtype(const pctl_type_pattern *p, uint32_t dtype)
{
	for (uint32_t i = 0; i < p->n_dtypes; i++) {
		if (p->dtype[i] == dtype)
			return 1;
	}
	return 0;
}

int pctl_type_from_bytes(const pctl_type_pattern *p, uint64_t n_bytes,
			 int (*value_of)(void *ctx, const char *name, uint64_t *out), void *ctx,
			 pctl_tensor_type *out)
{
	const pctl_dtype *type = pctl_dtype_of(p->dtype[0]);
	uint64_t known = 1, bits, want;
	uint32_t open = PCTL_RANK_MAX;

	memset(out, 0, sizeof(*out));
	out->dtype = p->dtype[0];
	out->rank = p->any_shape ? 1 : p->rank;
	if (p->any_shape)
		open = 0;
	for (uint32_t i = 0; i < p->rank && !p->any_shape; i++) {
		out->dim[i] = p->dim[i].value;
		if (p->dim[i].name != NULL && !value_of(ctx, p->dim[i].name, &out->dim[i])) {
			if (open != PCTL_RANK_MAX)
				return -1;
			open = i;
			continue;
		}
		if (!pctl_num_mul(known, out->dim[i], &known))
			return 0;
	}
	if (open == PCTL_RANK_MAX)
		return pctl_type_bytes(out, &want) && want == n_bytes;
	if (known == 0)
		return n_bytes == 0;
	/* In bits of so many blocks, or elements: of whole ones that leave nothing behind the last. */
	if (!pctl_num_mul(known, type->bits, &bits) || !pctl_num_mul(n_bytes, 8, &want))
		return 0;
	if (!pctl_num_mul(want, type->block, &want) || want % bits != 0)
		return 0;
	out->dim[open] = want / bits;
	return pctl_type_bytes(out, &want) && want == n_bytes;
}
