/* Making types and laying them out; see layout_type.h. */
#include "evidence/suite/layout_type.h"

#include <string.h>

#include "evidence/suite/trial.h"

enum { SCALAR, VECTOR, MATRIX, ARRAY, STRUCT };

#define MEMBERS 4u
#define DEPTH 3u

struct type {
	const char *name;
	uint32_t kind, scalar, count; /* components, columns, elements, members */
	uint32_t align, size, stride;
	const struct type *elem;
	const struct type *member[MEMBERS];
	uint32_t offset[MEMBERS];
};

struct making {
	pctl_arena *a;
	layout_struct *out;
	uint64_t seed, counter;
	int uniform, failed, structs;
};

static const struct {
	const char *name;
	uint32_t bytes;
} scalars[LAYOUT_SCALARS] = {{"u32", 4}, {"i32", 4}, {"u64", 8}, {"i64", 8}, {"f32", 4}};

uint32_t layout_scalar_bytes(uint32_t scalar)
{
	return scalars[scalar].bytes;
}

static uint32_t pick(struct making *m, uint32_t n)
{
	return (uint32_t)(suite_mix(m->seed, m->counter++) >> 33) % n;
}

static uint32_t up(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

static struct type *new_type(struct making *m, struct type t)
{
	struct type *out = pctl_arena_alloc(m->a, sizeof(*out));

	if (out == NULL || t.name == NULL) {
		m->failed = 1;
		return NULL;
	}
	*out = t;
	return out;
}

/* vec2: twice the scalar; vec3 and vec4: aligned as four scalars, vec3 three of them long. */
static struct type *vector(struct making *m, uint32_t scalar, uint32_t n)
{
	const uint32_t bytes = scalars[scalar].bytes;

	return new_type(m, (struct type){.name = pctl_arena_printf(m->a, "vec%u<%s>", n,
								   scalars[scalar].name),
					 .kind = VECTOR,
					 .scalar = scalar,
					 .count = n,
					 .align = bytes * (n == 2 ? 2 : 4),
					 .size = bytes * n});
}

static struct type *matrix(struct making *m)
{
	const uint32_t scalar = LAYOUT_F32, columns = 2 + pick(m, 3), rows = 2 + pick(m, 3);
	const struct type *column = vector(m, scalar, rows);
	uint32_t stride;

	if (column == NULL)
		return NULL;
	stride = up(column->size, column->align);
	return new_type(m, (struct type){.name = pctl_arena_printf(m->a, "mat%ux%u<%s>", columns,
								   rows, scalars[scalar].name),
					 .kind = MATRIX,
					 .scalar = scalar,
					 .count = columns,
					 .align = column->align,
					 .size = columns * stride,
					 .stride = stride,
					 .elem = column});
}

static struct type *any_type(struct making *m, uint32_t depth);

static struct type *array(struct making *m, uint32_t depth)
{
	const uint32_t n = 1 + pick(m, 3);
	const struct type *elem = any_type(m, depth + 1);
	uint32_t stride;

	if (elem == NULL)
		return NULL;
	stride = up(elem->size, elem->align);
	/* Uniform memory takes strides of 16 bytes alone. */
	if (m->uniform && stride % 16 != 0) {
		elem = vector(m, LAYOUT_U32 + pick(m, 2), 4);
		stride = 16;
	}
	if (elem == NULL)
		return NULL;
	return new_type(
		m, (struct type){.name = pctl_arena_printf(m->a, "array<%s, %u>", elem->name, n),
				 .kind = ARRAY,
				 .count = n,
				 .align = elem->align,
				 .size = n * stride,
				 .stride = stride,
				 .elem = elem});
}

/* Uniform memory wants structs and arrays, and what follows them, at multiples of 16. */
static int wants_16(const struct making *m, const struct type *before, const struct type *t)
{
	return m->uniform && (t->kind >= ARRAY || before == NULL || before->kind >= ARRAY);
}

static struct type *structure(struct making *m, uint32_t depth)
{
	struct type t = {.kind = STRUCT, .align = 1, .count = 1 + pick(m, MEMBERS)};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	uint32_t at = 0;

	t.name = pctl_arena_printf(m->a, "S%d", m->structs++);
	for (uint32_t i = 0; i < t.count && !m->failed; i++) {
		const struct type *member = t.member[i] = any_type(m, depth + 1);
		uint32_t align, size;

		if (member == NULL)
			break;
		align = member->align;
		size = member->size;
		if (wants_16(m, i == 0 ? NULL : t.member[i - 1], member) && align < 16)
			align = 16;
		else if (pick(m, 8) == 0)
			align *= 2;
		if (pick(m, 8) == 0)
			size += 4 * (1 + pick(m, 5));
		if (align != member->align)
			pctl_str_addf(&text, "\t@align(%u)", align);
		if (size != member->size)
			pctl_str_addf(&text, "\t@size(%u)", size);
		pctl_str_addf(&text, "\tm%u: %s,\n", i, member->name);
		t.offset[i] = up(at, align);
		at = t.offset[i] + size;
		if (align > t.align)
			t.align = align;
	}
	t.size = up(at, t.align);
	if (!m->failed && text.data != NULL && t.name != NULL)
		pctl_str_addf(&m->out->texts, "struct %s {\n%s}\n", t.name, text.data);
	m->failed |= text.failed || m->out->texts.failed;
	pctl_str_drop(&text);
	return m->failed ? NULL : new_type(m, t);
}

static struct type *any_type(struct making *m, uint32_t depth)
{
	const uint32_t what = pick(m, depth >= DEPTH ? 7 : 12), scalar = pick(m, LAYOUT_SCALARS);

	if (what < 3)
		return new_type(m, (struct type){.name = scalars[scalar].name,
						 .kind = SCALAR,
						 .scalar = scalar,
						 .count = 1,
						 .align = scalars[scalar].bytes,
						 .size = scalars[scalar].bytes});
	if (what < 6)
		return vector(m, scalar, 2 + pick(m, 3));
	if (what == 6)
		return matrix(m);
	return what < 10 ? array(m, depth) : structure(m, depth);
}

static void list_leaves(struct making *m, const struct type *t, const char *path, uint32_t offset)
{
	layout_struct *out = m->out;

	if (path == NULL || m->failed) {
		m->failed = 1;
		return;
	}
	if (t->kind == SCALAR) {
		if (out->n_leaves < LAYOUT_LEAVES)
			out->leaves[out->n_leaves++] = (layout_leaf){path, t->scalar, offset};
		return;
	}
	for (uint32_t i = 0; i < t->count && out->n_leaves < LAYOUT_LEAVES; i++) {
		if (t->kind == VECTOR)
			out->leaves[out->n_leaves++] =
				(layout_leaf){pctl_arena_printf(m->a, "%s.%c", path, "xyzw"[i]),
					      t->scalar, offset + i * scalars[t->scalar].bytes};
		else if (t->kind == STRUCT)
			list_leaves(m, t->member[i], pctl_arena_printf(m->a, "%s.m%u", path, i),
				    offset + t->offset[i]);
		else
			list_leaves(m, t->elem, pctl_arena_printf(m->a, "%s[%u]", path, i),
				    offset + i * t->stride);
	}
}

int layout_make(pctl_arena *a, uint64_t seed, int uniform, layout_struct *out)
{
	struct making m = {.a = a, .out = out, .seed = seed, .uniform = uniform};
	const struct type *t;

	memset(out, 0, sizeof(*out));
	t = structure(&m, 0);
	if (t == NULL)
		return 0;
	out->name = t->name;
	out->size = t->size;
	list_leaves(&m, t, "", 0);
	return !m.failed;
}
