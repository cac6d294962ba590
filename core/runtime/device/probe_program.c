/* Generated programs of integers: arithmetic, branches, turns and arrays, of each invocation alone; and barriers amid exits, in
 * control that a workgroup agrees on. A program is drawn as lines, written as WGSL, and played (probe_play.c), a line for all invocations
 * before the next. Driver compilers go wrong over whole kernels, which single operations do not show. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "runtime/device/probe_private.h"
#include "runtime/device/probe_program.h"

#define BARRIER_PROGRAMS 3u

typedef struct drawing {
	pctl_arena *arena;
	uint64_t seed;
	int fuel, can_call;
	uint32_t loops; /* of the whole workgroup, around here: their counters are t0, t1 */
	int in_switch;	/* and what a break would leave */
} drawing;

static uint32_t draw(drawing *d, uint32_t n)
{
	return (uint32_t)(probe_random(d->seed++) % n);
}

static row *draw_row(drawing *d, uint32_t kind)
{
	row *r = pctl_arena_alloc(d->arena, sizeof(*r));

	if (r == NULL)
		return NULL;
	*r = (row){.kind = kind};
	r->a = draw(d, WORDS);
	r->b = draw(d, WORDS);
	r->c = 1 + draw(d, 60);
	r->how = draw(d, 8);
	return r;
}

/* ---- lines of an invocation's own; ways to leave: bits by BREAK, CONTINUE, RETURN ---- */

static row *draw_own(drawing *d, uint32_t n, int depth, uint32_t ways);

static row *draw_own_row(drawing *d, int depth, uint32_t ways)
{
	const uint32_t kind = draw(d, 9);
	row *r;

	if (kind == 8 && ways != 0) {
		if ((r = draw_row(d, LEAVE)) == NULL)
			return NULL;
		r->how = BREAK + r->how % 3;
		while (!(ways & 1u << r->how))
			r->how = r->how == RETURN ? BREAK : r->how + 1;
		return r;
	}
	if (kind < 5 || depth == 0)
		return draw_row(d, kind < 2 || kind > 4 ? SET
				   : kind == 2		? TAKE
				   : kind == 3		? PUT
							: COPY);
	if ((r = draw_row(d, kind == 5 ? LOOP : IF)) == NULL)
		return NULL;
	r->body = draw_own(d, 2, depth - 1, kind == 5 ? ways | 1u << BREAK | 1u << CONTINUE : ways);
	if (kind != 5 && r->how < 4)
		r->other = draw_own(d, 1, depth - 1, ways);
	return r;
}

static row *draw_own(drawing *d, uint32_t n, int depth, uint32_t ways)
{
	row *first = NULL, **at = &first;

	for (uint32_t i = 0; i < n && (*at = draw_own_row(d, depth, ways)) != NULL; i++)
		at = &(*at)->next;
	return first;
}

/* ---- lines that the whole workgroup comes to; ways: how some may leave at the end ---- */

static row *draw_all(drawing *d, uint32_t n, int depth, uint32_t ways);

static row *draw_all_row(drawing *d, int depth, uint32_t ways)
{
	const uint32_t kind = draw(d, 9);
	const int in_switch = d->in_switch;
	row *r;

	d->fuel--;
	if (depth == 0 || d->fuel <= 0 || kind > 5)
		return draw_row(d, d->can_call && kind == 6 ? CALL : MEET);
	r = draw_row(d, kind < 2 && d->loops < 2 ? ALL_LOOP : kind < 4 ? ALL_IF : ALL_SWITCH);
	if (r == NULL)
		return NULL;
	if (r->kind == ALL_LOOP) {
		d->in_switch = 0;
		r->a = d->loops++;
		r->body = draw_all(d, 2, depth - 1, 1u << CONTINUE);
		d->loops--;
		d->in_switch = in_switch;
		return r;
	}
	d->in_switch |= r->kind == ALL_SWITCH;
	r->body = draw_all(d, 1, depth - 1, r->kind == ALL_IF ? ways : 0);
	if (r->kind == ALL_SWITCH || r->how < 3)
		r->other = r->how & 1 ? draw_own(d, 2, 1, r->kind == ALL_IF ? 0 : ways)
				      : draw_all(d, 1, depth - 1, r->kind == ALL_IF ? 0 : ways);
	d->in_switch = in_switch;
	return r;
}

static row *draw_all(drawing *d, uint32_t n, int depth, uint32_t ways)
{
	row *first = NULL, **at = &first;

	for (uint32_t i = 0; i < n; i++) {
		if (draw(d, 3) == 0 && depth > 0 && (*at = draw_row(d, ALL_LEAVE)) != NULL) {
			(*at)->how = d->loops == 0  ? RETURN
				     : d->in_switch ? CONTINUE + (*at)->how % 2
						    : BREAK + (*at)->how % 3;
			(*at)->body = draw_own(d, 1, 0, 0);
			at = &(*at)->next;
		}
		if ((*at = draw_all_row(d, depth, i + 1 == n ? ways : 0)) == NULL)
			return first;
		at = &(*at)->next;
	}
	*at = draw_own(d, 1 + draw(d, 2), 2, ways);
	return first;
}

/* ---- as text ---- */

static void write_rows(pctl_str_buf *s, const row *r, const char *leave, uint32_t depth);

static void write_set(pctl_str_buf *s, const row *r)
{
	static const char *const ways[] = {"x%u = x%u * %uu + x%u",
					   "x%u = (x%u >> (%uu & 31u)) ^ x%u",
					   "x%u = x%u + (%uu << (x%u & 31u))",
					   "x%u = x%u - min(%uu, x%u)",
					   "x%u = x%u / %uu + x%u",
					   "x%u = (x%u %% %uu) ^ ~x%u",
					   "x%u = countOneBits(x%u) * %uu + x%u",
					   "x%u = select(x%u, %uu, bitcast<i32>(x%u) < 0i)"};

	pctl_str_addf(s, ways[r->how], r->a, r->b, r->c, (r->a + r->c) % WORDS);
	pctl_str_add(s, ";\n");
}

static void write_agreed(pctl_str_buf *s, const row *r, uint32_t depth)
{
	char turn[16] = "0u";

	if (depth > 0)
		snprintf(turn, sizeof(turn), "t%" PRIu32, r->b % depth);
	if (r->c % 3 == 0)
		pctl_str_addf(s, "((g + %s + %" PRIu32 "u) & 3u)", turn, r->c);
	else
		pctl_str_addf(s,
			      "(workgroupUniformLoad(&flags[(g + %s + %" PRIu32 "u) & 7u]) & 3u)",
			      turn, r->c);
}

/* Half of the indices may lie outside, where a load gives 0 and a store does nothing. */
static const char *index_of(const row *r)
{
	return r->how < 4 ? "& 7u" : "% 6u";
}

static const char *const jumps[] = {[BREAK] = "break", [CONTINUE] = "continue"};

static void write_leave(pctl_str_buf *s, uint32_t how, const char *leave)
{
	pctl_str_addf(s, "%s;\n}\n", how == RETURN ? leave : jumps[how]);
}

static void write_row(pctl_str_buf *s, const row *r, const char *leave, uint32_t depth)
{
	switch (r->kind) {
	case SET:
		write_set(s, r);
		break;
	case TAKE:
		pctl_str_addf(s, "x%u ^= held[x%u %s];\n", r->a, r->b, index_of(r));
		break;
	case PUT:
		pctl_str_addf(s, "held[x%u %s] = x%u;\n", r->a, index_of(r), r->b);
		break;
	case COPY:
		pctl_str_addf(s,
			      "{\nvar old = held;\nheld[x%u %s] = x%u;\nx%u += old[x%u %s];\nif "
			      "(x%u & 1u) == 0u "
			      "{\nheld = old;\n}\n}\n",
			      r->a, index_of(r), r->b, r->b, r->a, index_of(r), r->b);
		break;
	case IF:
	case LEAVE:
		pctl_str_addf(s, "if (x%u & %uu) == 0u {\n", r->a, r->c);
		if (r->kind == LEAVE) {
			write_leave(s, r->how, leave);
			break;
		}
		write_rows(s, r->body, leave, depth);
		pctl_str_add(s, "} else {\n");
		write_rows(s, r->other, leave, depth);
		pctl_str_add(s, "}\n");
		break;
	case LOOP:
		pctl_str_addf(s, "for (var k = 0u; k < (x%u & 3u); k++) {\n", r->a);
		write_rows(s, r->body, leave, depth);
		pctl_str_add(s, "}\n");
		break;
	case MEET:
		pctl_str_addf(s,
			      "workgroupBarrier();\npassed[li] = x%u;\nworkgroupBarrier();\nx%u = "
			      "x%u * 3u + passed[(li * %uu + "
			      "%uu) & 63u];\n",
			      r->a, r->b, r->b, 1 + r->how, r->c);
		break;
	case ALL_IF:
	case ALL_LEAVE:
		pctl_str_add(s, "if ");
		write_agreed(s, r, depth);
		pctl_str_add(s, " < 2u {\n");
		write_rows(s, r->body, leave, depth);
		if (r->kind == ALL_LEAVE) {
			write_leave(s, r->how, leave);
			break;
		}
		pctl_str_add(s, "} else {\n");
		write_rows(s, r->other, leave, depth);
		pctl_str_add(s, "}\n");
		break;
	case ALL_SWITCH:
		pctl_str_add(s, "switch ");
		write_agreed(s, r, depth);
		pctl_str_add(s, " {\ncase 0u, 3u: {\n");
		write_rows(s, r->body, leave, depth);
		pctl_str_add(s, "}\ndefault: {\n");
		write_rows(s, r->other, leave, depth);
		pctl_str_add(s, "}\n}\n");
		break;
	case ALL_LOOP:
		pctl_str_addf(s, "for (var t%u = 0u; t%u < %uu; t%u++) {\n", r->a, r->a, TURNS,
			      r->a);
		write_rows(s, r->body, leave, depth + 1);
		pctl_str_add(s, "}\n");
		break;
	default:
		pctl_str_add(s, "meet(g, li);\n");
		break;
	}
}

static void write_rows(pctl_str_buf *s, const row *r, const char *leave, uint32_t depth)
{
	for (; r != NULL; r = r->next)
		write_row(s, r, leave, depth);
}

static void write_head(pctl_str_buf *s, int barriers)
{
	pctl_str_add(
		s, "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
		   "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
		   "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
		   "@group(0) @binding(2) var<uniform> u : Counts;\n"
		   "var<private> x0 : u32;\nvar<private> x1 : u32;\nvar<private> x2 : u32;\n"
		   "var<private> x3 : u32;\nvar<private> held : array<u32, 6>;\n"
		   "fn save(i : u32) {\nr[4u * i] = x0 ^ held[0];\nr[4u * i + 1u] = x1 ^ held[1] ^ "
		   "held[4];\n"
		   "r[4u * i + 2u] = x2 ^ held[2] ^ held[5];\nr[4u * i + 3u] = x3 ^ held[3];\n}\n");
	if (barriers)
		pctl_str_add(s, "var<workgroup> passed : array<u32, 64>;\nvar<workgroup> flags : "
				"array<u32, 8>;\n");
}

static const char main_text[] =
	"@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id : vec3<u32>,\n"
	"@builtin(workgroup_id) wid : vec3<u32>, @builtin(local_invocation_index) li : u32) {\nlet "
	"g = wid.x;\n"
	"x0 = a[4u * id.x];\nx1 = a[4u * id.x + 1u];\nx2 = a[4u * id.x + 2u];\nx3 = a[4u * id.x + "
	"3u];\n";

/* ---- one program ---- */

typedef struct program {
	pctl_str_buf text;
	played rows;
} program;

static void draw_program(program *m, drawing *d)
{
	pctl_str_buf *s = &m->text;

	write_head(s, m->rows.barriers);
	for (uint32_t i = 0; !m->rows.barriers && i < PARTS; i++) {
		m->rows.parts[i] = draw_own(d, 5, 3, 1u << RETURN);
		pctl_str_addf(s, "fn part%u() {\n", i);
		write_rows(s, m->rows.parts[i], "return", 0);
		pctl_str_add(s, "}\n");
	}
	if (m->rows.barriers) {
		d->fuel = 4;
		m->rows.meet = draw_all(d, 2, 2, 1u << RETURN);
		pctl_str_add(s, "fn meet(g : u32, li : u32) {\n");
		write_rows(s, m->rows.meet, "return", 0);
		pctl_str_add(s, "}\n");
		d->fuel = 6;
		d->can_call = 1;
		m->rows.main = draw_all(d, 2, 3, 1u << RETURN);
	}
	pctl_str_add(s, main_text);
	if (m->rows.barriers)
		pctl_str_add(s, "if li < 8u {\nflags[li] = x3;\n}\nworkgroupBarrier();\n");
	write_rows(s, m->rows.main, "save(id.x);\nreturn", 0);
	for (uint32_t i = 0; !m->rows.barriers && i < PARTS; i++)
		pctl_str_addf(s, "part%u();\n", i);
	pctl_str_add(s, "save(id.x);\n}\n");
}

#define ALL_WORDS (WORDS * LANES * GROUPS)

/* 1: every word is right, or the device does not take the program. */
static int is_right(probe *p, const program *m, uint64_t number, char why[sizeof(pctl_witness)])
{
	uint32_t *in = calloc(3 * ALL_WORDS, sizeof(*in)), at = 0;
	uint32_t *out = in + ALL_WORDS, *want = in + 2 * ALL_WORDS;

	if (in == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		return 1;
	}
	for (uint32_t i = 0; i < ALL_WORDS; i++)
		in[i] = (uint32_t)(probe_random(number + i) >> (probe_random(number ^ i) & 31));
	for (uint32_t g = 0; g < GROUPS; g++)
		probe_play(&m->rows, g, in + ALL_WORDS / GROUPS * g, want + ALL_WORDS / GROUPS * g);
	if (!probe_run(p, m->text.data, 0, LANES * GROUPS, in, ALL_WORDS, out, ALL_WORDS)) {
		free(in);
		return 1;
	}
	p->out->cases += LANES * GROUPS;
	while (at < ALL_WORDS && out[at] == want[at])
		at++;
	if (at < ALL_WORDS)
		snprintf(why, sizeof(pctl_witness),
			 "%s: word %u of program %" PRIu64 " is 0x%x, not 0x%x",
			 m->rows.barriers ? "barriers amid exits" : "a program of integers", at,
			 number, out[at], want[at]);
	free(in);
	return at == ALL_WORDS;
}

static void one(probe *p, uint32_t fact, uint32_t i)
{
	/* Those of a claim's check are drawn anew: whoever knew them could be right about these alone. */
	const uint64_t number = p->draw + ((uint64_t)(0x60u + fact) << 40) + ((uint64_t)i << 20);
	program m = {.text = PCTL_STR_BUF_INIT, .rows.barriers = fact == PCTL_FACT_BARRIERS};
	drawing d = {.arena = pctl_arena_create(), .seed = number};
	char why[sizeof(pctl_witness)];

	if (d.arena != NULL)
		draw_program(&m, &d);
	if (d.arena == NULL || pctl_arena_failed(d.arena) || m.text.data == NULL)
		p->status = pctl_no_memory(p->call, "a probe");
	else if (!is_right(p, &m, number, why) && p->out->facts[fact] != PCTL_NATIVE_WRONG) {
		p->out->facts[fact] = PCTL_NATIVE_WRONG;
		snprintf(p->out->fact_witness[fact].text, sizeof(pctl_witness), "%s", why);
	}
	pctl_str_drop(&m.text);
	pctl_arena_destroy(d.arena);
}

void probe_programs(probe *p)
{
	if (p->status == PCTL_OK)
		one(p, PCTL_FACT_INT32, 0);
	for (uint32_t i = 0; i < BARRIER_PROGRAMS && p->status == PCTL_OK; i++)
		one(p, PCTL_FACT_BARRIERS, i);
}
