/* Matrix tiles of floats by the matrix units of NVIDIA's devices: `mma.sync.m16n8k8`, `m16n8k16` (9.0) and `m8n8k4` (8.0), which add
 * the products of f64 up as a chain of fma along K. A tile is a struct of bits in private memory: the fragments of PTX in their
 * order. With g = lane / 4 and t = lane % 4, number i of a lane's share is
 *   left    i = h * (M / 8) + r:   row g + 8 r, column 4 h + t
 *   right   i = h:                 row 4 h + t, column g
 *   result  i = 2 r + q:           row g + 8 r, column 2 t + q
 * Factors of f32 stay what they are until they are multiplied. */
#include "clc/internal.h"

#include <stdio.h>

#define NAN_BITS "0x7ff8000000000000ul"

/* Component (row, column) of one of a lane's share, as C. */
static void place_of(const pctl_type *t, uint32_t i, char row[32], char column[32])
{
	const uint32_t halves = t->width / 8u;

	if (t->count == PCTL_TILE_LEFT) {
		snprintf(row, 32, "g + %uu", 8 * (i % halves));
		snprintf(column, 32, "%uu + t", 4 * (i / halves));
	} else if (t->count == PCTL_TILE_RIGHT) {
		snprintf(row, 32, "%uu + t", 4 * i);
		snprintf(column, 32, "g");
	} else {
		snprintf(row, 32, "g + %uu", 8 * (i / 2));
		snprintf(column, 32, "2u * t + %uu", i % 2);
	}
}

static void element(emitter *e, const emit_move *m, uint32_t i)
{
	const int is_wide = m->t->scalar == PCTL_SCALAR_F64;
	char row[32], column[32];

	place_of(m->t, i, row, column);
	text_printf(&e->code, "*(%s%s %s *)(%s + %uu * ((size_t)%s + (size_t)(%s) * %s + (%s)))",
		    m->is_load ? "const " : "", m->space, is_wide ? "ulong" : "uint", m->at,
		    is_wide ? 8 : 4, m->offset, m->by_rows ? row : column, m->stride,
		    m->by_rows ? column : row);
}

/* Up to four blocks of eight lines of four f32, that lie behind each other in workgroup memory: lane 8 j + i brings the address
 * of line i of block j, and each lane gets a word of every block, which is the fragment's. */
static void load_blocks(emitter *e, const emit_move *m, const char *tile, uint32_t first,
			uint32_t n)
{
	const uint32_t halves = m->t->count == PCTL_TILE_LEFT ? m->t->width / 8u : 1;
	const char *block = "((uint)get_local_id(0) >> 3 & 3u)";

	emit_indent(e);
	text_printf(&e->code, "asm volatile(\"ldmatrix.sync.aligned.m8n8.x%u.shared.b16 {", n);
	for (uint32_t i = 0; i < n; i++)
		text_printf(&e->code, i ? ", %%%u" : "%%%u", i);
	text_printf(&e->code, "}, [%%%u];\" : ", n);
	for (uint32_t i = 0; i < n; i++)
		text_printf(&e->code, i ? ", \"=r\"(%s.a[%u])" : "\"=r\"(%s.a[%u])", tile,
			    first + i);
	text_printf(&e->code,
		    " : \"r\"((uint)(ulong)(%s + 4u * (%s + (((uint)get_local_id(0) & 7u) + "
		    "(%s & %uu) * 8u) * %s + (%uu + %s / %uu) * 4u))) : \"memory\");\n",
		    m->at, m->offset, block, halves - 1, m->stride, first / halves, block, halves);
}

void emit_tile_float_move(emitter *e, const emit_move *m, const char *tile, int blocks)
{
	const uint32_t n = emit_tile_words(m->t);

	if (blocks && m->t->scalar == PCTL_SCALAR_F32) {
		for (uint32_t i = 0; i < n; i += 4)
			load_blocks(e, m, tile, i, n - i < 4 ? n - i : 4);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		emit_indent(e);
		if (m->is_load) {
			text_printf(&e->code, "%s.a[%u] = ", tile, i);
			element(e, m, i);
			text_add(&e->code, ";\n");
		} else {
			element(e, m, i);
			text_printf(&e->code,
				    " = (%s.a[%u] & 0x7ffffffffffffffful) > 0x7ff0000000000000ul "
				    "? " NAN_BITS " : %s.a[%u];\n",
				    tile, i, tile, i);
		}
	}
}

static void factor(emitter *e, const pctl_inst *in, uint32_t which, uint32_t i, uint8_t scalar)
{
	text_add(&e->code,
		 scalar == PCTL_SCALAR_F32 ? "\"d\"((double)as_float(" : "\"d\"(as_double(");
	emit_arg(e, in, which);
	text_printf(&e->code, ".a[%u]))", i);
}

/* One instruction: sums n of them from `first` on, of n_left factors from `left` on and n_right from `right` on. */
static void multiply(emitter *e, const pctl_inst *in, const char *shape, uint32_t first, uint32_t n,
		     uint32_t left, uint32_t n_left, uint32_t right, uint32_t n_right)
{
	const pctl_type *l = &e->p->types[pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, 0))];
	const uint32_t counts[4] = {n, n_left, n_right, n};
	uint32_t at = 0;

	emit_indent(e);
	text_printf(&e->code, "asm volatile(\"mma.sync.aligned.%s.row.col.f64.f64.f64.f64 ", shape);
	for (uint32_t part = 0; part < 4; part++) {
		text_add(&e->code, part ? ", {" : "{");
		for (uint32_t i = 0; i < counts[part]; i++)
			text_printf(&e->code, i ? ", %%%u" : "%%%u", at++);
		text_add(&e->code, "}");
	}
	text_add(&e->code, ";\" : ");
	for (uint32_t i = 0; i < n; i++)
		text_printf(&e->code, i ? ", \"=d\"(d%u)" : "\"=d\"(d%u)", first + i);
	text_add(&e->code, " : ");
	for (uint32_t i = 0; i < n_left; i++) {
		factor(e, in, 0, left + i, l->scalar);
		text_add(&e->code, ", ");
	}
	for (uint32_t i = 0; i < n_right; i++) {
		factor(e, in, 1, right + i, l->scalar);
		text_add(&e->code, ", ");
	}
	for (uint32_t i = 0; i < n; i++)
		text_printf(&e->code, i ? ", \"d\"(d%u)" : "\"d\"(d%u)", first + i);
	text_add(&e->code, ");\n");
}

void emit_tile_float_product(emitter *e, uint32_t v, const pctl_inst *in)
{
	const pctl_type *t = &e->p->types[in->type];
	const pctl_type *l = &e->p->types[pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, 0))];
	const uint32_t halves = t->width / 8u, n = 2 * halves, steps = l->columns / 4u;

	for (uint32_t i = 0; i < n; i++) {
		emit_indent(e);
		text_printf(&e->code, "double d%u = as_double(", i);
		emit_arg(e, in, 2);
		text_printf(&e->code, ".a[%u]);\n", i);
	}
	if (halves == 2 && steps > 1 && (e->flags & EMIT_MMA_WIDE)) {
		multiply(e, in, steps == 2 ? "m16n8k8" : "m16n8k16", 0, 4, 0, 2 * steps, 0, steps);
	} else {
		for (uint32_t h = 0; h < steps; h++)
			for (uint32_t r = 0; r < halves; r++)
				multiply(e, in, "m8n8k4", 2 * r, 2, h * halves + r, 1, h, 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		emit_indent(e);
		text_printf(&e->code, "v%u.a[%u] = as_ulong(d%u);\n", v, i, i);
	}
}
