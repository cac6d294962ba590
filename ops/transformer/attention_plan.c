/* How transformer.attention is carried out (attention.h). Tokens go in passes, so that scores have a bounded place: scores, then the greatest and the sum of weights of each line, then weights times
 * values. Where the host has shown f64 that is sums with a bound, the keys of the last step in splits, and exact sums of what is in doubt; elsewhere all of it exact sums of integers. */
#include <stdio.h>

#include "attention.h"
#include "common/tensors/tile.h"
#include "kernels.h"

#define PASS_BYTES (256ull << 20) /* of scores, and of parts */
#define GROUPS_WANTED 1024u	  /* workgroups that keep a device busy */
#define TILES_MOST 512u		  /* of a split */
#define TILES_FEW 24u		  /* where turns of an invocation are limited */
#define ELEMENTS 8u		  /* of a workgroup of exact sums */
#define LINE_LANES 256u		  /* of attention_line.wgsl */
#define LINE_BYTES 32768u
#define LINE_GROUPS 512u /* so many workgroups, or as few elements a workgroup as go */
#define LINE_ELEMENTS 16u
#define FEW_LINES 8u	     /* of a block of attention_scores_few.wgsl */
#define FEW_D 256u	     /* so that queries have a place there */
#define SETTLE_TURNS 400u    /* of an element beside its keys */
#define TILE_LINES_LEAST 48u /* with fewer lines tiles of 64 are not filled */
#define TILE_BYTES 1536u     /* of workgroup memory beside the tile's own */

/*
 * lines   heads of a pass's tokens that share keys; blocks of block of them
 * words   of a line in `out`; per: elements of a workgroup there
 * tiled   lines are many: sums go by tiles of 64 of them
 * whole   lines are few and the device is no processor: what follows the scores is one dispatch
 * few     and heads are no longer than has a place: lanes share a key's elements
 */
typedef struct pass {
	const attention *a;
	uint32_t first, tokens, lines, block, blocks, tiles, splits, split_tiles, chunks, per,
		words, steps;
	uint32_t params, scores, rows, weights, parts, out, before, found, bad;
	int quick, tiled, whole, few, is_first, is_last;
	tensor_tile tile;
	uint32_t (*numbers)[4]; /* of attention_place.wgsl */
} pass;

static uint32_t power_from(uint64_t n)
{
	uint32_t p = 16;

	while (p < n)
		p *= 2;
	return p;
}

/* ---- texts ---------------------------------------------------------------------------------- */

typedef struct text {
	kit_wgsl w;
	kit_slot slots[15];
	uint32_t n_slots;
} text;

static uint32_t bind(text *t, const char *name, const char *access, const char *element,
		     uint32_t buffer)
{
	char line[160];

	snprintf(line, sizeof(line), "@group(0) @binding(%u) var<storage, %s> %s: array<%s>;\n",
		 t->n_slots, access, name, element);
	kit_wgsl_add(&t->w, line);
	t->slots[t->n_slots] = (kit_slot)KIT_ALL(buffer);
	return t->n_slots++;
}

static void add_number(kit_wgsl *w, const char *name, uint32_t n)
{
	char line[80];

	snprintf(line, sizeof(line), "const %s: u32 = %uu;\n", name, n);
	kit_wgsl_add(w, line);
}

/* attention_place.wgsl and what it wants. */
static void add_place(kit_plan *p, text *t, const pass *s, uint32_t found)
{
	kit_wgsl_add(&t->w, s->a->causal ? "const CAUSAL: bool = true;\n"
					 : "const CAUSAL: bool = false;\n");
	add_number(&t->w, "LINES", s->block);
	t->n_slots += sequences_text(p, &t->w, &s->a->s, found, t->n_slots, t->slots + t->n_slots);
	t->n_slots += kv_place_text(p, &t->w, &s->a->k, 2, t->n_slots, t->slots + t->n_slots);
	kit_wgsl_add(&t->w, KERNEL_ATTENTION_PLACE);
	kit_wgsl_add(&t->w,
		     s->few ? KERNEL_ATTENTION_FEW_SCORE_PLACE : KERNEL_ATTENTION_SCORE_PLACE);
}

static void add_reads(kit_plan *p, text *t, const char *name, uint32_t port)
{
	bind(t, name, "read", "u32", kit_in(p, port));
	kit_wgsl_named(&t->w, kit_codec_bits(p->use->q->in[port].dtype), name);
}

static void add_exact(text *t)
{
	kit_wgsl_add(&t->w, tensor_float_format_of(PCTL_SCALAR_F32)->text);
	kit_wgsl_add(&t->w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(&t->w, KERNEL_EXACT_SUM);
}

static void add_joined(text *t)
{
	add_exact(t);
	kit_wgsl_add(&t->w, "const ROWS: u32 = 1u;\n");
	kit_wgsl_add(&t->w, KERNEL_SUM_LANES);
}

static void add_score(kit_plan *p, text *t, const pass *s)
{
	kit_wgsl_add(&t->w, s->a->cap != 0 ? "const CAPPED: bool = true;\n"
					   : "const CAPPED: bool = false;\n");
	kit_wgsl_add(&t->w, KERNEL_ATTENTION_SCORE);
	if (s->a->k.paged) {
		bind(t, "bad", "read_write", "atomic<u32>", s->bad);
		kit_wgsl_add(
			&t->w,
			"fn lost(b: u32, p: u32) {\n\tatomicMin(&bad[0], kv_entry(b, p));\n}\n");
	} else {
		kit_wgsl_add(&t->w, "fn lost(b: u32, p: u32) {\n}\n");
	}
	add_reads(p, t, "q", ATTENTION_Q);
	add_reads(p, t, "k", ATTENTION_K);
}

static void add_more(const kit_plan *p, text *t)
{
	kit_wgsl_add(
		&t->w,
		(p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0
			? "fn more(a: f64, b: f64, s: f64) -> f64 {\n\treturn fma(a, b, s);\n}\n"
			: "fn more(a: f64, b: f64, s: f64) -> f64 {\n\treturn s + a * b;\n}\n");
}

static text begin(kit_plan *p, const pass *s, int in_tiles)
{
	text t = {.w = kit_wgsl_make(p->use, 32768), .n_slots = !s->whole};

	if (in_tiles)
		tensor_tile_begin(&s->tile, &t.w);
	t.slots[0] = (kit_slot)KIT_ALL(s->params);
	if (s->whole)
		tensor_written_numbers(&t.w, 0, s->numbers, 6);
	else
		kit_wgsl_add(&t.w, KERNEL_ELEMENT_PARAMS);
	return t;
}

static void run_local(kit_plan *p, text *t, kit_kernel kernel, uint64_t groups)
{
	kernel.text = t->w.text;
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&t->w);
	kit_run(p, &kernel, kernel.local * groups, t->slots, t->n_slots);
	kit_wgsl_free(&t->w);
}

static void run(kit_plan *p, text *t, const char *name, uint32_t steps, uint64_t groups)
{
	run_local(p, t, (kit_kernel){name, NULL, 64, "steps", steps}, groups);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static uint64_t shared_of(const attention *a)
{
	return a->s.n * a->k.heads;
}

static uint64_t score_words(const pass *s)
{
	return shared_of(s->a) * s->blocks * s->block * s->tiles * ATTENTION_TILE;
}

/* A kernel of elements over the places of scores, or over those of y. */
static tensor_kernel elements(kit_plan *p, const pass *s, const char *name, uint64_t n,
			      uint64_t bytes, uint64_t turns, text *t)
{
	tensor_kernel k = tensor_kernel_begin(p, name, n, bytes, turns);

	*t = (text){.w = k.w, .n_slots = 1};
	add_place(p, t, s, SEQUENCES_NONE);
	return k;
}

static void elements_run(tensor_kernel *k, text *t, uint32_t v[][4], uint32_t to)
{
	k->w = t->w;
	k->n_slots = t->n_slots;
	memcpy(k->slots + 1, t->slots + 1, (t->n_slots - 1) * sizeof(t->slots[0]));
	memcpy(k->params.v, v, sizeof(k->params.v));
	tensor_kernel_run(k, to);
}

static void add_scores_tile(const kit_plan *p, const pass *s, kit_wgsl *w)
{
	tensor_tile_head(p, &s->tile, w, 1);
	kit_wgsl_add(w, KERNEL_ATTENTION_SCORES_TILE);
	tensor_tile_sums(&s->tile, w);
	kit_wgsl_add(w, KERNEL_ATTENTION_SCORES_TILE_LOOP);
	tensor_tile_multiply(&s->tile, w);
	kit_wgsl_add(w, KERNEL_ATTENTION_SCORES_TILE_END);
	tensor_tile_stages(&s->tile, w);
	kit_wgsl_add(w, KERNEL_ATTENTION_SCORES_TILE_GIVE);
}

static void scores(kit_plan *p, const pass *s, uint32_t v[][4])
{
	text t;

	if (s->quick) {
		const kit_kernel kernel = {s->few ? "transformer/attention_scores_few.wgsl"
						  : "transformer/attention_scores.wgsl",
					   NULL,
					   s->tiled ? TENSOR_TILE_LOCAL
					   : s->few ? LINE_LANES
						    : 64,
					   "steps", power_from(s->a->d)};

		t = begin(p, s, s->tiled);
		add_place(p, &t, s, SEQUENCES_NONE);
		add_score(p, &t, s);
		add_exact(&t);
		tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
		bind(&t, "scores", "read_write", "u32", s->scores);
		kit_wgsl_add(&t.w, KERNEL_ROOT_ABOVE);
		kit_wgsl_add(&t.w, KERNEL_ATTENTION_EXACTLY);
		if (s->tiled) {
			add_scores_tile(p, s, &t.w);
		} else {
			add_more(p, &t);
			if (s->few) {
				add_number(&t.w, "D", s->a->d <= 64 ? 64 : power_from(s->a->d));
				kit_wgsl_add(&t.w, KERNEL_ATTENTION_FEW_PLACE);
			}
			kit_wgsl_add(&t.w, s->few ? KERNEL_ATTENTION_SCORES_FEW
						  : KERNEL_ATTENTION_SCORES);
		}
		run_local(p, &t, kernel, shared_of(s->a) * s->blocks * s->tiles * (s->few ? 2 : 1));
	} else {
		tensor_kernel k = elements(p, s, "transformer/attention_scores_exact.wgsl",
					   score_words(s), 4, s->a->d, &t);

		add_score(p, &t, s);
		add_exact(&t);
		kit_wgsl_add(&t.w, KERNEL_ATTENTION_SCORES_EXACT);
		elements_run(&k, &t, v, s->scores);
	}
}

/* The first pass looks at what sequences say of themselves. */
static void add_look(text *t, const pass *s)
{
	kit_wgsl_add(&t->w, s->is_first ? "fn look(i: u32) {\n\tif (i < 2u) "
					  "{\n\t\tsequences_look(i, params.v[1].x, "
					  "params.v[0].x, params.v[2].x);\n\t}\n}\n"
					: "fn look(i: u32) {\n}\n");
}

static void rows(kit_plan *p, const pass *s)
{
	text t = begin(p, s, 0);

	add_place(p, &t, s, s->is_first ? s->found : SEQUENCES_NONE);
	add_look(&t, s);
	add_joined(&t);
	kit_wgsl_add(&t.w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(&t.w, KERNEL_EXTREME_KEY);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHT);
	bind(&t, "scores", "read", "u32", s->scores);
	bind(&t, "rows", "read_write", "vec2<u32>", s->rows);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_ROWS);
	if (s->quick) {
		tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
		kit_wgsl_add(&t.w, KERNEL_ATTENTION_QUICK);
	} else {
		kit_wgsl_add(&t.w, "const MARK: u32 = 0xffffffffu;\n"
				   "fn quick(lane: u32, shared_by: u32, r: u32, see: vec2<u32>, "
				   "greatest: u32) {\n"
				   "\tif (lane == 0u) {\n\t\tsaid = MARK;\n\t}\n}\n");
	}
	run(p, &t, "transformer/attention_rows.wgsl", s->steps, shared_of(s->a) * s->lines);
}

static void values_exact(kit_plan *p, const pass *s, uint32_t v[][4])
{
	text t;
	tensor_kernel k =
		elements(p, s, "transformer/attention_weights.wgsl", score_words(s), 4, 0, &t);

	bind(&t, "scores", "read", "u32", s->scores);
	bind(&t, "rows", "read", "vec2<u32>", s->rows);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHT);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHTS);
	elements_run(&k, &t, v, s->weights);
	t = begin(p, s, 0);
	add_place(p, &t, s, SEQUENCES_NONE);
	add_joined(&t);
	add_reads(p, &t, "v", ATTENTION_V);
	bind(&t, "weights", "read", "u32", s->weights);
	bind(&t, "rows", "read", "vec2<u32>", s->rows);
	bind(&t, "out", "read_write", "u32", s->out);
	add_number(&t.w, "ELEMENTS", s->per);
	kit_wgsl_add(
		&t.w,
		"override steps: u32;\nfn weight_at(shared_by: u32, r: u32, key: u32) -> u32 {\n"
		"\treturn weights[score_place(shared_by, r, key)];\n}\n");
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_DIVIDED);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_SETTLE);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_OUT_EXACT);
	run(p, &t, "transformer/attention_out_exact.wgsl", s->steps,
	    shared_of(s->a) * s->lines * (s->words / s->per));
}

/* Weights in the places of scores, then tiles of them by values. */
static void parts_tile(kit_plan *p, const pass *s)
{
	const tensor_tile *tile = &s->tile;
	text t = begin(p, s, 0);

	add_place(p, &t, s, SEQUENCES_NONE);
	bind(&t, "scores", "read_write", "u32", s->scores);
	bind(&t, "rows", "read", "vec2<u32>", s->rows);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHT);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGH);
	run_local(p, &t, (kit_kernel){"transformer/attention_weigh.wgsl", NULL, 256, NULL, 0},
		  shared_of(s->a) * s->blocks * s->tiles);
	t = begin(p, s, 1);
	add_place(p, &t, s, SEQUENCES_NONE);
	add_reads(p, &t, "v", ATTENTION_V);
	bind(&t, "scores", "read", "u32", s->scores);
	bind(&t, "parts", "read_write", "vec2<f64>", s->parts);
	add_number(&t.w, "CHUNKS", s->chunks);
	tensor_tile_head(p, tile, &t.w, 0);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_PARTS_TILE);
	tensor_tile_sums(tile, &t.w);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_PARTS_TILE_LOOP);
	tensor_tile_multiply(tile, &t.w);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_PARTS_TILE_END);
	tensor_tile_stages(tile, &t.w);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_PARTS_TILE_GIVE);
	run_local(p, &t,
		  (kit_kernel){"transformer/attention_parts.wgsl", NULL, TENSOR_TILE_LOCAL, "steps",
			       power_from(s->split_tiles)},
		  shared_of(s->a) * s->blocks * s->splits * s->chunks);
}

static void parts(kit_plan *p, const pass *s)
{
	text t = begin(p, s, 0);

	add_place(p, &t, s, SEQUENCES_NONE);
	add_reads(p, &t, "v", ATTENTION_V);
	bind(&t, "scores", "read", "u32", s->scores);
	bind(&t, "rows", "read", "vec2<u32>", s->rows);
	bind(&t, "parts", "read_write", "vec2<f64>", s->parts);
	add_number(&t.w, "CHUNKS", s->chunks);
	add_more(p, &t);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHT);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_PARTS);
	run(p, &t, "transformer/attention_parts.wgsl", power_from(s->split_tiles),
	    shared_of(s->a) * s->blocks * s->splits);
}

static void values_quick(kit_plan *p, const pass *s)
{
	text t;

	if (s->tiled)
		parts_tile(p, s);
	else
		parts(p, s);
	t = begin(p, s, 0);
	add_place(p, &t, s, SEQUENCES_NONE);
	add_joined(&t);
	tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
	add_reads(p, &t, "v", ATTENTION_V);
	bind(&t, "scores", "read", "u32", s->scores);
	bind(&t, "rows", "read", "vec2<u32>", s->rows);
	bind(&t, "parts", "read", "vec2<f64>", s->parts);
	bind(&t, "out", "read_write", "u32", s->out);
	add_number(&t.w, "CHUNKS", s->chunks);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHT);
	kit_wgsl_add(&t.w, s->tiled ? "fn weight_at(shared_by: u32, r: u32, key: u32) -> u32 {\n"
				      "\treturn scores[score_place(shared_by, r, key)];\n}\n"
				    : "fn weight_at(shared_by: u32, r: u32, key: u32) -> u32 {\n"
				      "\treturn weight_of(scores[score_place(shared_by, r, key)], "
				      "rows[shared_by * params.v[3].y + r].x);\n}\n");
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_DIVIDED);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_SETTLE);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_JOIN);
	run(p, &t, "transformer/attention_join.wgsl", s->steps,
	    shared_of(s->a) * s->lines * s->chunks);
}

/* All that follows the scores, a few elements of a line a workgroup. */
static void lines_whole(kit_plan *p, const pass *s)
{
	text t = begin(p, s, 0);

	add_place(p, &t, s, s->is_first ? s->found : SEQUENCES_NONE);
	add_look(&t, s);
	add_exact(&t);
	tensor_judge_text(&t.w, tensor_float_format_of(PCTL_SCALAR_F32));
	add_more(p, &t);
	add_reads(p, &t, "v", ATTENTION_V);
	bind(&t, "scores", "read", "u32", s->scores);
	bind(&t, "out", "read_write", "u32", s->out);
	add_number(&t.w, "PER", s->per);
	kit_wgsl_add(&t.w, KERNEL_EXTREME_KEY);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_WEIGHT);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_DIVIDED);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_LINE_SUMS);
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_LINE);
	run_local(p, &t,
		  (kit_kernel){"transformer/attention_line.wgsl", NULL, LINE_LANES, "steps",
			       s->steps},
		  shared_of(s->a) * s->lines * (s->words / s->per));
}

static void give(kit_plan *p, const pass *s, uint32_t v[][4], uint32_t to)
{
	const uint32_t dtype = p->use->q->in[ATTENTION_Q].dtype;
	const attention *a = s->a;
	text t;
	tensor_kernel k =
		elements(p, s, "transformer/attention_give.wgsl", a->s.n * a->s.t * a->h * a->dv,
			 s->is_last ? kit_dtype_bytes(dtype) : 4, 0, &t);

	bind(&t, "out", "read", "u32", s->out);
	kit_wgsl_add(&t.w, KERNEL_NARROW_FLOATS);
	kit_wgsl_named(&t.w, "fn narrow(x: f32) -> u32 {\n\treturn to_$(x);\n}\n",
		       s->is_last ? kit_dtype_name(dtype) : "f32");
	if (!s->is_first)
		bind(&t, "earlier", "read", "u32", s->before);
	kit_wgsl_add(&t.w, s->is_first ? "fn before(i: u32) -> u32 {\n\treturn 0u;\n}\n"
				       : "fn before(i: u32) -> u32 {\n\treturn "
					 "narrow(bitcast<f32>(earlier[i]));\n}\n");
	kit_wgsl_add(&t.w, KERNEL_ATTENTION_GIVE);
	elements_run(&k, &t, v, to);
}

/* ---- the plan ------------------------------------------------------------------------------- */

static uint32_t ceiling(uint64_t a, uint64_t b)
{
	return (uint32_t)((a + b - 1) / b);
}

/* What all passes have in common, for `tokens` of them. */
static void cut(const kit_plan *p, const attention *a, uint32_t tokens, pass *s)
{
	const uint32_t asked = kit_tunable(p, PCTL_TUNABLE_ATTENTION_GROUPS);
	uint64_t groups, turns = 0;

	if (PCTL_HAS(p->caps, pctl_plan_caps, max_turns))
		turns = p->caps->max_turns;
	s->a = a;
	s->tokens = tokens;
	s->lines = (uint32_t)(tokens * a->group);
	s->tiles = ceiling(a->k.capacity, ATTENTION_TILE);
	s->chunks = ceiling(a->dv, 64);
	s->steps = power_from(s->tiles > a->s.n ? s->tiles : a->s.n);
	s->quick = tensor_has_f64(p) &&
		   (turns == 0 || 64u * (s->steps + SETTLE_TURNS) + s->steps < turns);
	/* Processors gain nothing by it: what tiles read again lies in their caches. */
	s->tiled = s->quick && s->lines >= TILE_LINES_LEAST &&
		   p->caps->device_kind != PCTL_DEVICE_CPU &&
		   tensor_tile_fits(p, TENSOR_TILE_SIDE, TILE_BYTES);
	s->tile = tensor_tile_of(p, TENSOR_TILE_SIDE, TILE_BYTES);
	s->block = s->tiled ? TENSOR_TILE_SIDE : s->lines >= 8 ? 8 : s->lines > 2 ? 4 : s->lines;
	s->blocks = ceiling(s->lines, s->block);
	groups = shared_of(a) * s->blocks * (s->tiled ? s->chunks : 1);
	s->splits = ceiling(asked == 0 ? GROUPS_WANTED : asked, groups);
	if (s->splits < ceiling(s->tiles, turns == 0 ? TILES_MOST : TILES_FEW))
		s->splits = ceiling(s->tiles, turns == 0 ? TILES_MOST : TILES_FEW);
	if (s->splits > s->tiles)
		s->splits = s->tiles;
	s->split_tiles = ceiling(s->tiles, s->splits);
	s->splits = ceiling(s->tiles, s->split_tiles);
	s->per = s->quick ? 64 : ELEMENTS;
	while (!s->quick && turns != 0 && s->per > 1 && s->per * (s->steps + SETTLE_TURNS) >= turns)
		s->per /= 2;
	s->whole = s->quick && !s->tiled && turns == 0 && p->caps->device_kind != PCTL_DEVICE_CPU &&
		   p->caps->max_invocations >= LINE_LANES &&
		   p->caps->max_workgroup_bytes >= LINE_BYTES;
	while (s->whole && s->per > LINE_ELEMENTS &&
	       shared_of(a) * s->lines * ceiling(a->dv, s->per) <
		       (asked == 0 ? LINE_GROUPS : asked))
		s->per /= 2;
	s->few = s->whole && a->d <= FEW_D;
	if (s->few) {
		s->block = s->lines < FEW_LINES ? s->lines : FEW_LINES;
		s->blocks = ceiling(s->lines, s->block);
	}
	s->words = ceiling(a->dv, s->per) * s->per;
}

/* The most additions on the way of a term of an element (SEMANTICS.md 4.4). */
static uint32_t additions(const pass *s)
{
	const uint32_t shares = LINE_LANES / s->per;

	return s->whole ? ceiling(s->a->k.capacity, shares) + 2 * shares
			: s->split_tiles * ATTENTION_TILE + s->splits;
}

static void numbers(const pass *s, uint32_t v[TENSOR_NUMBERS][4])
{
	const attention *a = s->a;
	const uint32_t values[6][4] = {
		{(uint32_t)a->s.t, (uint32_t)a->h, (uint32_t)a->d, (uint32_t)a->group},
		{(uint32_t)a->s.n, (uint32_t)a->k.heads, (uint32_t)a->dv, 0},
		{0},
		{s->first, s->lines, s->blocks, (uint32_t)a->window},
		{0, 0, s->tiles, s->splits},
		{s->split_tiles, additions(s), s->words / s->per, s->words}};

	memcpy(v, values, sizeof(values));
	kv_params(&a->k, v[2]);
	memcpy(&v[4][0], &a->scale, 4);
	memcpy(&v[4][1], &a->cap, 4);
}

static uint64_t parts_bytes(const pass *s)
{
	return s->quick && !s->whole
		       ? 16 * shared_of(s->a) * s->blocks * s->block * s->splits * s->chunks * 64
		       : 0;
}

/* As many tokens as have a place for their scores and parts, and a binding of this device. */
static void cut_tokens(const kit_plan *p, const attention *a, pass *s)
{
	const uint64_t binding = p->caps->max_binding_bytes;
	const uint64_t most = binding != 0 && binding < PASS_BYTES ? binding : PASS_BYTES;

	cut(p, a, (uint32_t)a->s.t, s);
	while (s->tokens > 1 && (4 * score_words(s) > most || parts_bytes(s) > most))
		cut(p, a, s->tokens - (s->tokens + 3) / 4, s);
}

void attention_plan(kit_plan *p)
{
	struct {
		uint32_t count[4], v[TENSOR_NUMBERS][4];
	} params = {{0}, {{0}}};
	uint32_t y[2] = {0, 0};
	attention a;
	pass s = {0};
	int direct;

	p->status = attention_of(p->use, &a);
	if (p->status != PCTL_OK || a.s.n * a.s.t * a.h == 0)
		return;
	cut_tokens(p, &a, &s);
	s.numbers = params.v;
	s.scores = kit_temp(p, 4 * score_words(&s));
	if (!s.whole)
		s.rows = kit_temp(p, 8 * shared_of(&a) * s.lines);
	/* Lines of one token lie as y does. */
	direct = a.s.t == 1 && s.words == a.dv &&
		 p->use->q->in[ATTENTION_Q].dtype == PCTL_SCALAR_F32;
	s.out = direct ? kit_out(p, 0) : kit_temp(p, 4 * shared_of(&a) * s.lines * s.words);
	if (parts_bytes(&s) != 0)
		s.parts = kit_temp(p, parts_bytes(&s));
	if (!s.quick)
		s.weights = kit_temp(p, 4 * score_words(&s));
	s.found = kit_temp(p, SEQUENCES_FOUND);
	if (a.k.paged) {
		s.bad = kit_temp(p, 4);
		kit_fill(p, s.bad, 0, 4, UINT32_MAX);
	}
	for (uint32_t i = 0; i < 2 && s.tokens < a.s.t; i++)
		y[i] = kit_temp(p, 4 * a.s.n * a.s.t * a.h * a.dv);
	for (uint32_t number = 0; s.first < a.s.t && p->status == PCTL_OK; number++) {
		s.is_first = number == 0;
		s.is_last = s.first + s.tokens >= a.s.t;
		s.before = y[(number + 1) % 2];
		numbers(&s, s.numbers);
		s.params = s.whole ? 0 : kit_params(p, &params, sizeof(params));
		scores(p, &s, s.numbers);
		(s.whole ? lines_whole : rows)(p, &s);
		if (s.quick && !s.whole)
			values_quick(p, &s);
		if (!s.quick)
			values_exact(p, &s, s.numbers);
		if (!direct)
			give(p, &s, s.numbers, s.is_last ? kit_out(p, 0) : y[number % 2]);
		s.first += s.tokens;
	}
	sequences_assert(p, &a.s, s.found);
	if (a.k.paged)
		kit_assert(p, s.bad, 4, UINT32_MAX, "pages[%v] is out of range");
}
