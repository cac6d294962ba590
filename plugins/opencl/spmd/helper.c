/* Functions of the generated source that touch memory for all lanes. h are the lanes that do: nothing is formed into an access
 * for the others. Where all do, a row of neighbours is one vector, found from the number k of the first one's element: so no lane
 * has an address of its own there. Numbers are of 32 bits, and so are their sums. In the templates $N is the name, $T the vector, $E its
 * element, $S the address space, $W the number of lanes, $L{..} the text in braces for each lane, $i being its number and $x
 * the same in hexadecimal. */
#include "spmd/internal.h"

#include <stdio.h>
#include <string.h>

#define ALL "p_all(h)"

/* The loops over single lanes copy what they address, so that the vectors of those who all hit stay in registers. */
#define EACH_HIT                                                      \
	"\tconst uint$W m = h;\n\n\tfor (uint i = 0; i < $Wu; i++)\n" \
	"\t\tif (((const uint *)&m)[i])\n"

static const char *const templates[] = {
	[SPMD_LOAD] = "static inline $T $N(const $S uchar *p, ulong$W o, uint$W h)\n{\n"
		      "\tif (" ALL ")\n"
		      "\t\treturn ($T)($L{*(const $S $E *)(p + o.s$x)});\n"
		      "\t$T r = ($T)(0);\n\tconst ulong$W a = o;\n" EACH_HIT
		      "\t\t\t(($E *)&r)[i] = *(const $S $E *)(p + ((const ulong *)&a)[i]);\n"
		      "\treturn r;\n}\n\n",
	[SPMD_LOAD_NEXT] = "static inline $T $N(const $S uchar *p, uint k, uint$W h)\n{\n"
			   "\tconst $S $E *q = (const $S $E *)p;\n\n"
			   "\tif (" ALL ")\n"
			   "\t\treturn *(const $S p_$T *)(q + k);\n"
			   "\t$T r = ($T)(0);\n" EACH_HIT "\t\t\t(($E *)&r)[i] = q[k + i];\n"
			   "\treturn r;\n}\n\n",
	[SPMD_STORE] = "static inline void $N($S uchar *p, ulong$W o, uint$W h, $T x)\n{\n"
		       "\tif (" ALL ") {\n"
		       "\t\t$M{*($S $E *)(p + o.s$x) = x.s$x;}\n"
		       "\t\treturn;\n\t}\n"
		       "\tconst ulong$W a = o;\n\tconst $T y = x;\n" EACH_HIT
		       "\t\t\t*($S $E *)(p + ((const ulong *)&a)[i]) = ((const $E *)&y)[i];\n}\n\n",
	[SPMD_STORE_NEXT] =
		"static inline void $N($S uchar *p, uint k, uint$W h, $T x)\n{\n"
		"\t$S $E *q = ($S $E *)p;\n\n"
		"\tif (" ALL ") {\n"
		"\t\t*($S p_$T *)(q + k) = x;\n"
		"\t\treturn;\n\t}\n"
		"\tconst $T y = x;\n" EACH_HIT "\t\t\tq[k + i] = ((const $E *)&y)[i];\n}\n\n",
	[SPMD_LOAD_PRIVATE] = "static inline $T $N(const $E *q, uint$W k, uint$W h)\n{\n"
			      "\tconst uint$W i = (k & h) * (uint$W)($W);\n\n"
			      "\treturn ($C) ? ($T)($L{q[i.s$x + $iu]}) : ($T)(0);\n}\n\n",
	[SPMD_STORE_PRIVATE] =
		"static inline void $N($E *q, uint$W k, uint$W h, $T x)\n{\n"
		"\tfor (uint i = 0; i < $Wu; i++)\n"
		"\t\tif (((const uint *)&h)[i])\n"
		"\t\t\tq[((const uint *)&k)[i] * $Wu + i] = ((const $E *)&x)[i];\n}\n\n",
};

static const char *const tags[] = {
	[SPMD_LOAD] = "ld",	      [SPMD_LOAD_NEXT] = "ldn",	  [SPMD_LOAD_PAIRS] = "ld2",
	[SPMD_LOAD_FOURS] = "ld4",    [SPMD_STORE] = "st",	  [SPMD_STORE_NEXT] = "stn",
	[SPMD_STORE_PAIRS] = "st2",   [SPMD_STORE_FOURS] = "st4", [SPMD_LOAD_PRIVATE] = "ldp",
	[SPMD_STORE_PRIVATE] = "stp",
};

typedef struct names {
	const char *name, *element, *space;
	uint32_t width;
} names;

static uint32_t element_number(const char *element)
{
	return element[0] == 'f' ? 1 : element[0] == 'd' ? 2 : element[1] == 'l' ? 3 : 0;
}

static void expand(text *t, const char *s, const names *n);

/* The text in braces for each lane; between two of them a separator. Where the text behind it begins. */
static const char *each_lane(text *t, const char *s, const names *n, const char *separator)
{
	const char *end = strchr(s, '}');
	char inner[128];

	snprintf(inner, sizeof(inner), "%.*s", (int)(end - s), s);
	for (uint32_t i = 0; i < n->width; i++) {
		text_add(t, i ? separator : "");
		for (const char *c = inner; *c; c++) {
			if (c[0] == '$' && c[1] == 'x')
				text_printf(t, "%x", i);
			else if (c[0] == '$' && c[1] == 'i')
				text_printf(t, "%u", i);
			else {
				const char one[3] = {c[0], c[0] == '$' ? c[1] : 0, 0};

				expand(t, one, n);
				c += c[0] == '$';
				continue;
			}
			c++;
		}
	}
	return end;
}

static void expand(text *t, const char *s, const names *n)
{
	for (; *s; s++) {
		if (*s != '$') {
			text_addn(t, s, 1);
			continue;
		}
		switch (*++s) {
		case 'N':
			text_add(t, n->name);
			break;
		case 'T':
			text_printf(t, "%s%u", n->element, n->width);
			break;
		case 'E':
			text_add(t, n->element);
			break;
		case 'S':
			text_add(t, n->space);
			break;
		case 'W':
			text_printf(t, "%u", n->width);
			break;
		case 'C': /* the mask as a condition for elements of this size */
			if (element_number(n->element) >= 2)
				text_printf(t, "convert_long%u(as_int%u(h)) != (long%u)(0)",
					    n->width, n->width, n->width);
			else
				text_printf(t, "h != (uint%u)(0)", n->width);
			break;
		case 'L':
			s = each_lane(t, s + 2, n, ", ");
			break;
		default:
			s = each_lane(t, s + 2, n, "\n\t\t");
			break;
		}
	}
}

/* ---- elements of two and four, side by side in each lane ---- */

static void head(text *t, const names *n, uint32_t group, int is_store)
{
	text_printf(t, "static inline void %s(%s%s uchar *p, uint k, uint%u h", n->name,
		    is_store ? "" : "const ", n->space, n->width);
	for (uint32_t c = 0; c < group; c++)
		text_printf(t, ", %s%u %sx%u", n->element, n->width, is_store ? "" : "*", c);
	text_printf(t,
		    ")\n{\n\t%s%s %s *q = (%s%s %s *)p;\n\n\tif (p_all(h)) {\n\t\tq += (ulong)k * "
		    "%uu;\n",
		    is_store ? "" : "const ", n->space, n->element, is_store ? "" : "const ",
		    n->space, n->element, group);
}

static void lanes_one_by_one(text *t, const names *n, uint32_t group, int is_store)
{
	text_printf(t, "\t\treturn;\n\t}\n");
	for (uint32_t c = 0; c < group && !is_store; c++)
		text_printf(t, "\t*x%u = (%s%u)(0);\n", c, n->element, n->width);
	for (uint32_t c = 0; c < group && is_store; c++)
		text_printf(t, "\tconst %s%u y%u = x%u;\n", n->element, n->width, c, c);
	text_printf(t,
		    "\tconst uint%u m = h;\n\n\tfor (uint i = 0; i < %uu; i++) {\n"
		    "\t\tif (!((const uint *)&m)[i])\n\t\t\tcontinue;\n",
		    n->width, n->width);
	for (uint32_t c = 0; c < group; c++) {
		if (is_store)
			text_printf(t,
				    "\t\tq[(ulong)(k + i) * %uu + %uu] = ((const %s *)&y%u)[i];\n",
				    group, c, n->element, c);
		else
			text_printf(t, "\t\t((%s *)x%u)[i] = q[(ulong)(k + i) * %uu + %uu];\n",
				    n->element, c, group, c);
	}
	text_add(t, "\t}\n}\n\n");
}

static void load_group(text *t, const names *n, uint32_t group)
{
	const uint32_t w = n->width;

	head(t, n, group, 0);
	for (uint32_t k = 0; k < group; k++)
		text_printf(t, "\t\tconst %s%u y%u = ((const %s p_%s%u *)q)[%u];\n", n->element, w,
			    k, n->space, n->element, w, k);
	for (uint32_t c = 0; c < group; c++) {
		text_printf(t, "\t\t*x%u = (%s%u)(", c, n->element, w);
		for (uint32_t i = 0; i < w; i++)
			text_printf(t, "%sy%u.s%x", i ? ", " : "", (i * group + c) / w,
				    (i * group + c) % w);
		text_add(t, ");\n");
	}
	lanes_one_by_one(t, n, group, 0);
}

static void store_group(text *t, const names *n, uint32_t group)
{
	const uint32_t w = n->width;

	head(t, n, group, 1);
	for (uint32_t k = 0; k < group; k++) {
		text_printf(t, "\t\t((%s p_%s%u *)q)[%u] = (%s%u)(", n->space, n->element, w, k,
			    n->element, w);
		for (uint32_t i = 0; i < w; i++)
			text_printf(t, "%sx%u.s%x", i ? ", " : "", (k * w + i) % group,
				    (k * w + i) / group);
		text_add(t, ");\n");
	}
	lanes_one_by_one(t, n, group, 1);
}

const char *spmd_access(spmd *s, uint32_t kind, int local, const char *element, char *buf)
{
	const uint32_t slot = (kind * 2 + (uint32_t)local) * 4 + element_number(element);
	const names n = {.name = buf,
			 .element = element,
			 .space = local ? "__local" : "__global",
			 .width = s->width};

	snprintf(buf, 40, "p_%s_%s%s", tags[kind], element,
		 kind >= SPMD_LOAD_PRIVATE ? ""
		 : local		   ? "_l"
					   : "_g");
	if (s->have[slot / 64] & (1ull << (slot % 64)))
		return buf;
	s->have[slot / 64] |= 1ull << (slot % 64);
	if (templates[kind])
		expand(&s->e.helpers, templates[kind], &n);
	else if (kind == SPMD_LOAD_PAIRS || kind == SPMD_LOAD_FOURS)
		load_group(&s->e.helpers, &n, kind == SPMD_LOAD_PAIRS ? 2 : 4);
	else
		store_group(&s->e.helpers, &n, kind == SPMD_STORE_PAIRS ? 2 : 4);
	return buf;
}

/* ---- atomics: lane by lane, in order ---- */

/* What is done to the old value, where no other work-item sees it; and between them. */
static const struct {
	uint16_t op;
	uint8_t n_values;
	const char *tag, *alone, *shared;
} atomics[] = {
	{PCTL_OP_ATOMIC_LOAD, 0, "load", "old", "*a"},
	{PCTL_OP_ATOMIC_STORE, 1, "store", "x", "*a = x"},
	{PCTL_OP_ATOMIC_ADD, 1, "add", "old + x", "atomic_add(a, x)"},
	{PCTL_OP_ATOMIC_SUB, 1, "sub", "old - x", "atomic_sub(a, x)"},
	{PCTL_OP_ATOMIC_MIN, 1, "min", "min(old, x)", "atomic_min(a, x)"},
	{PCTL_OP_ATOMIC_MAX, 1, "max", "max(old, x)", "atomic_max(a, x)"},
	{PCTL_OP_ATOMIC_AND, 1, "and", "old & x", "atomic_and(a, x)"},
	{PCTL_OP_ATOMIC_OR, 1, "or", "old | x", "atomic_or(a, x)"},
	{PCTL_OP_ATOMIC_XOR, 1, "xor", "old ^ x", "atomic_xor(a, x)"},
	{PCTL_OP_ATOMIC_EXCHANGE, 1, "xchg", "x", "atomic_xchg(a, x)"},
	{PCTL_OP_ATOMIC_CAS, 2, "cas", "old == x ? y : old", "atomic_cmpxchg(a, x, y)"},
};

const char *spmd_atomic(spmd *s, uint16_t op, int local, int is_signed, char *buf)
{
	const int is_compare = op == PCTL_OP_ATOMIC_MIN || op == PCTL_OP_ATOMIC_MAX;
	const char *type = is_signed && is_compare ? "int" : "uint";
	const char *space = local ? "__local" : "__global";
	text *t = &s->e.helpers;
	const uint32_t w = s->width;
	uint32_t k = 0, slot;

	while (atomics[k].op != op)
		k++;
	snprintf(buf, 40, "p_%s_%s_%s", atomics[k].tag, type, local ? "l" : "g");
	slot = k * 4 + (uint32_t)local * 2 + (type[0] == 'i');
	if (s->have_atomics & (1ull << slot))
		return buf;
	s->have_atomics |= 1ull << slot;
	text_printf(t, "static inline uint%u %s(%s uchar *p, ulong%u o, uint%u h", w, buf, space, w,
		    w);
	for (uint32_t i = 0; i < atomics[k].n_values; i++)
		text_printf(t, ", uint%u v%u", w, i);
	text_printf(t,
		    ")\n{\n\tuint%u r = (uint%u)(0);\n\n\tfor (uint i = 0; i < %uu; i++) {\n"
		    "\t\tvolatile %s %s *a = (volatile %s %s *)(p + ((const ulong *)&o)[i]);\n",
		    w, w, w, space, type, space, type);
	for (uint32_t i = 0; i < atomics[k].n_values; i++)
		text_printf(t, "\t\tconst %s %c = ((const %s *)&v%u)[i];\n", type, "xy"[i], type,
			    i);
	text_add(t, "\n\t\tif (!((const uint *)&h)[i])\n\t\t\tcontinue;\n");
	if (local)
		text_printf(t, "\t\tconst %s old = *a;\n\n\t\t((%s *)&r)[i] = old;\n\t\t*a = %s;\n",
			    type, type, atomics[k].alone);
	else if (op == PCTL_OP_ATOMIC_STORE)
		text_printf(t, "\t\t%s;\n", atomics[k].shared);
	else
		text_printf(t, "\t\t((%s *)&r)[i] = %s;\n", type, atomics[k].shared);
	text_add(t, "\t}\n\treturn r;\n}\n\n");
	return buf;
}

/* Whether any lane of a mask is set, or all: halves on halves, for PoCL asks lane by lane in its any() and all(). */
static void reduction(text *t, const char *name, const char *symbol, uint32_t w)
{
	text_printf(t, "static inline uint %s(uint%u m)\n{\n", name, w);
	if (w == 16)
		text_printf(t, "\tuint8 x = m.lo %s m.hi;\n\tuint4 y = x.lo %s x.hi;\n", symbol,
			    symbol);
	else
		text_printf(t, "\tuint4 y = m.lo %s m.hi;\n", symbol);
	text_printf(t, "\tuint2 z = y.lo %s y.hi;\n\n\treturn z.s0 %s z.s1;\n}\n\n", symbol,
		    symbol);
}

/* Vectors that begin at any element, the numbers of the lanes, and whether any lane is left. */
void spmd_prelude(spmd *s)
{
	static const char *const elements[] = {"uint", "ulong", "float", "double"};
	text *t = &s->e.types;
	const uint32_t w = s->width;

	for (uint32_t i = 0; i < 4; i++)
		if (i != 3 || (s->e.p->caps & PCTL_CAP_F64))
			text_printf(t, "typedef %s%u p_%s%u __attribute__((aligned(%u)));\n",
				    elements[i], w, elements[i], w, i % 2 ? 8u : 4u);
	text_printf(t, "\nstatic inline uint%u p_lanes(void)\n{\n\treturn (uint%u)(", w, w);
	for (uint32_t i = 0; i < w; i++)
		text_printf(t, i ? ", %u" : "%u", i);
	text_add(t, ");\n}\n\n");
	reduction(t, "p_any", "|", w);
	reduction(t, "p_all", "&", w);
}
