/* Matrix tiles by the matrix units of NVIDIA's devices, which its OpenCL C has as PTX alone: `mma.sync.m16n8k16` and
 * `m16n8k32`. A tile is a struct of words in private memory, which the compiler keeps in registers: the fragments of PTX in
 * their order. With g = lane / 4 and t = lane % 4, word number i of a lane's share is
 *   left    i = h * (M / 8) + r:            row g + 8 r, columns 16 h + 4 t and the three behind it
 *   right   i = c * (K / 16) + h:           column g + 8 c, rows 16 h + 4 t and the three below it
 *   result  i = (c * (M / 8) + r) * 2 + q:  row g + 8 r, column 8 c + 2 t + q
 * A product takes 8 columns at a time; 8 rows are the upper half of 16. The host has proved that everyone of whole warps
 * arrives, and marks what it has seen to: PCTL_INST_WHOLE. The assembly is volatile, as in subgroup.c. Floats are tile_float.c's. */
#include "clc/internal.h"

#include <stdio.h>

uint32_t emit_tile_words(const pctl_type *t)
{
	const uint32_t n = (uint32_t)t->width * t->columns / PCTL_TILE_LANES;

	return t->count == PCTL_TILE_RESULT || pctl_tile_is_float(t) ? n : n / 4;
}

/* Component (row, column), which are g or t times something and a constant. */
static void number(emitter *e, const emit_move *m, const char *row, const char *column)
{
	text_printf(&e->code, "((size_t)%s + (size_t)(%s) * %s + (%s))", m->offset,
		    m->by_rows ? row : column, m->stride, m->by_rows ? column : row);
}

/* A word of left or right: four components that lie behind each other, or `stride` apart. */
static void load_four(emitter *e, const emit_move *m, uint32_t i)
{
	const int is_left = m->t->count == PCTL_TILE_LEFT;
	const uint32_t inner = is_left ? m->t->columns : m->t->width;
	const uint32_t n_outer = (is_left ? m->t->width : m->t->columns) / 8;
	const uint32_t outer = is_left ? i % n_outer : i / (inner / 16);
	const uint32_t half = is_left ? i / n_outer : i % (inner / 16);
	const int in_line = m->by_rows == is_left;
	char across[32], along[32];

	snprintf(across, sizeof(across), "g + %uu", 8 * outer);
	for (uint32_t b = 0; b < (in_line ? 1u : 4u); b++) {
		snprintf(along, sizeof(along), "4u * t + %uu", 16 * half + b);
		text_add(&e->code, b ? " | " : "");
		text_printf(&e->code,
			    in_line ? "*(const %s uint *)(%s + "
				    : "(uint)*(const %s uchar *)(%s + ",
			    m->space, m->at);
		number(e, m, is_left ? across : along, is_left ? along : across);
		text_add(&e->code, ")");
		if (b)
			text_printf(&e->code, " << %uu", 8 * b);
	}
}

/* The word of a result as an lvalue. */
static void result_word(emitter *e, const emit_move *m, uint32_t i)
{
	const uint32_t halves = m->t->width / 8u, c = i / 2 / halves, r = i / 2 % halves;
	char row[32], column[32];

	snprintf(row, sizeof(row), "g + %uu", 8 * r);
	snprintf(column, sizeof(column), "2u * t + %uu", 8 * c + i % 2);
	text_printf(&e->code, "*(%s%s uint *)(%s + 4u * ", m->is_load ? "const " : "", m->space,
		    m->at);
	number(e, m, row, column);
	text_add(&e->code, ")");
}

/* All words of left by rows or of right by columns, out of workgroup memory: one instruction loads up to four blocks of eight
 * lines of 16 bytes, lane 8 j + i brings the address of line i of block j, and word j of each lane is the fragment's. */
static void load_blocks(emitter *e, const emit_move *m, const char *tile)
{
	const int is_left = m->t->count == PCTL_TILE_LEFT;
	const uint32_t halves = (is_left ? m->t->columns : m->t->width) / 16u;
	const uint32_t n = emit_tile_words(m->t), outer = n / halves;
	const char *block = "((uint)get_local_id(0) >> 3)";

	emit_indent(e);
	text_printf(&e->code,
		    "const uint line = ((uint)get_local_id(0) & 7u) + (%s / %uu & %uu) * 8u;\n",
		    block, is_left ? 1 : halves, outer - 1);
	emit_indent(e);
	text_printf(&e->code, "const uint second = (%s / %uu & %uu) * 16u;\n", block,
		    is_left ? outer : 1, halves - 1);
	emit_indent(e);
	text_printf(&e->code, "asm volatile(\"ldmatrix.sync.aligned.m8n8.x%u.shared.b16 {", n);
	for (uint32_t i = 0; i < n; i++)
		text_printf(&e->code, i ? ", %%%u" : "%%%u", i);
	text_printf(&e->code, "}, [%%%u];\" : ", n);
	for (uint32_t i = 0; i < n; i++)
		text_printf(&e->code, i ? ", \"=r\"(%s.a[%u])" : "\"=r\"(%s.a[%u])", tile, i);
	text_printf(&e->code,
		    " : \"r\"((uint)(ulong)(%s + %s + line * %s + second)) : \"memory\");\n", m->at,
		    m->offset, m->stride);
}

static void move_words(emitter *e, const emit_move *m, const char *tile)
{
	for (uint32_t i = 0; i < emit_tile_words(m->t); i++) {
		emit_indent(e);
		if (m->is_load)
			text_printf(&e->code, "%s.a[%u] = ", tile, i);
		if (m->t->count == PCTL_TILE_RESULT)
			result_word(e, m, i);
		else
			load_four(e, m, i);
		if (m->is_load)
			text_add(&e->code, ";\n");
		else
			text_printf(&e->code, " = %s.a[%u];\n", tile, i);
	}
}

void emit_tile_move(emitter *e, uint32_t v, const pctl_inst *in, int local)
{
	const uint32_t stores = (uint32_t)pctl_op_stores(in->op);
	text offset = {0}, stride = {0}, tile = {0};
	int blocks;
	emit_move m = {.t = &e->p->types[pctl_tile_moved(e->p, e->fn, in)],
		       .space = local ? "__local" : "__global",
		       .at = "p",
		       .is_load = !pctl_op_stores(in->op),
		       .by_rows = in->op == PCTL_OP_TILE_LOAD_ROWS ||
				  in->op == PCTL_OP_TILE_STORE_ROWS};

	emit_value(e, &offset, pctl_arg(e->p, in, stores));
	emit_value(e, &stride, pctl_arg(e->p, in, stores + 1));
	m.offset = text_str(&offset);
	m.stride = text_str(&stride);
	if (stores) {
		emit_value(e, &tile, pctl_arg(e->p, in, 0));
	} else {
		emit_declare(e, v, in->type);
		text_printf(&tile, "v%u", v);
	}
	/* An array inside another that is missed. */
	if (e->cond.n && !stores)
		emit_fill_zero(e, in->type, text_str(&tile));
	emit_indent(e);
	if (e->cond.n)
		text_printf(&e->code, "if (%s) ", text_str(&e->cond));
	text_add(&e->code, "{\n");
	e->indent++;
	emit_indent(e);
	text_add(&e->code, "const uint g = ((uint)get_local_id(0) & 31u) >> 2, t = "
			   "(uint)get_local_id(0) & 3u;\n");
	emit_indent(e);
	text_printf(&e->code, "%s%s uchar *p = %s;\n", stores ? "" : "const ", m.space,
		    text_str(&e->scratch));
	/* Everyone takes part in those, so nobody may be left out. */
	blocks = local && !e->cond.n &&
		 ((m.t->count == PCTL_TILE_LEFT && m.by_rows) ||
		  (m.t->count == PCTL_TILE_RIGHT && !m.by_rows));
	if (pctl_tile_is_float(m.t))
		emit_tile_float_move(e, &m, text_str(&tile), blocks);
	else if (blocks)
		load_blocks(e, &m, text_str(&tile));
	else
		move_words(e, &m, text_str(&tile));
	e->indent--;
	emit_indent(e);
	text_add(&e->code, "}\n");
	e->code.no_memory |= offset.no_memory | stride.no_memory | tile.no_memory;
	text_free(&offset);
	text_free(&stride);
	text_free(&tile);
}

/* Eight columns of a product: words of d from `first` on. */
static void eight_columns(emitter *e, uint32_t v, const pctl_inst *in, uint32_t c)
{
	const pctl_type *left = &e->p->types[pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, 0))];
	const uint32_t rows = left->width / 8u, halves = left->columns / 16u, first = c * rows * 2;
	const char *component = left->scalar == PCTL_SCALAR_I8 ? "s8" : "u8";

	emit_indent(e);
	text_printf(&e->code, "asm volatile(\"mma.sync.aligned.m16n8k%u.row.col.s32.%s.%s.s32 ",
		    left->columns, component, component);
	text_printf(
		&e->code,
		halves == 2
			? "{%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, "
			  "{%%10, %%11, %%12, %%13};\" : "
			: "{%%0, %%1, %%2, %%3}, {%%4, %%5}, {%%6}, {%%7, %%8, %%9, %%10};\" : ");
	for (uint32_t i = 0; i < 4; i++) {
		text_add(&e->code, i ? ", \"=r\"(" : "\"=r\"(");
		if (i / 2 < rows)
			text_printf(&e->code, "v%u.a[%u])", v, first + i);
		else
			text_printf(&e->code, "n%u)", i);
	}
	for (uint32_t i = 0; i < 2 * halves; i++) {
		text_add(&e->code, i ? ", \"r\"(" : " : \"r\"(");
		if (i % 2 < rows) {
			emit_arg(e, in, 0);
			text_printf(&e->code, ".a[%u])", i / 2 * rows + i % 2);
		} else {
			text_add(&e->code, "0u)");
		}
	}
	for (uint32_t i = 0; i < halves; i++) {
		text_add(&e->code, ", \"r\"(");
		emit_arg(e, in, 1);
		text_printf(&e->code, ".a[%u])", c * halves + i);
	}
	for (uint32_t i = 0; i < 4; i++) {
		text_add(&e->code, ", \"r\"(");
		if (i / 2 < rows) {
			emit_arg(e, in, 2);
			text_printf(&e->code, ".a[%u])", first + i);
		} else {
			text_add(&e->code, "0u)");
		}
	}
	text_add(&e->code, ");\n");
}

void emit_tile_product(emitter *e, uint32_t v, const pctl_inst *in)
{
	const pctl_type *t = &e->p->types[in->type];

	emit_declare(e, v, in->type);
	emit_indent(e);
	text_add(&e->code, "{\n");
	e->indent++;
	if (!pctl_tile_is_float(t) && t->width == 8) {
		emit_indent(e);
		text_add(&e->code, "uint n2, n3; /* of rows that are not there */\n");
	}
	if (pctl_tile_is_float(t))
		emit_tile_float_product(e, v, in);
	for (uint32_t c = 0; !pctl_tile_is_float(t) && c < t->columns / 8u; c++)
		eight_columns(e, v, in, c);
	e->indent--;
	emit_indent(e);
	text_add(&e->code, "}\n");
}
