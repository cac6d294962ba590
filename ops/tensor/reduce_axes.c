/* Axes, layouts and rounds of reductions; see reduce_axes.h. */
#include "reduce_axes.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

#define STEPS_MAX 1024u	     /* terms of a lane in one round */
#define LANES_ENOUGH 131072u /* of a dispatch, to fill a device */

/* ---- axes ----------------------------------------------------------------------------------- */

pctl_status tensor_axes_mask(const kit_use *u, uint32_t attr, uint32_t *out)
{
	const uint32_t rank = u->q->in[0].rank;
	const char *text = u->q->attr[attr].text;

	*out = *text == '\0' ? (1u << rank) - 1 : 0;
	while (*text != '\0') {
		char *end;
		long axis = strtol(text, &end, 10);

		if (end == text || (*end != '\0' && (*end != ',' || end[1] == '\0')))
			return kit_refuse_attr(u, "axes", "is not numbers between commas");
		axis += axis < 0 ? (long)rank : 0;
		if (axis < 0 || axis >= (long)rank)
			return kit_refuse_attr(u, "axes", "names an axis that x has not");
		if (*out >> axis & 1)
			return kit_refuse_attr(u, "axes", "names an axis twice");
		*out |= 1u << axis;
		text = end + (*end == ',');
	}
	return PCTL_OK;
}

pctl_status tensor_axis_mask(const kit_use *u, uint32_t attr, uint32_t *out)
{
	const int64_t rank = u->q->in[0].rank;
	const int64_t axis = (int64_t)kit_attr(u, attr);

	*out = 0;
	if (axis < -rank || axis >= rank)
		return kit_refuse_attr(u, "axis", "names an axis that x has not");
	*out = 1u << (axis < 0 ? axis + rank : axis);
	return PCTL_OK;
}

pctl_status tensor_axes_given(const kit_use *u, tensor_axes *out)
{
	uint32_t mask;
	const pctl_status status = tensor_axes_mask(u, TENSOR_ATTR_AXES, &mask);

	return status != PCTL_OK ? status
				 : tensor_axes_of(u, mask, kit_attr(u, TENSOR_ATTR_KEEP) != 0, out);
}

pctl_status tensor_axes_infer(const kit_use *u,
			      pctl_status (*axes_of)(const kit_use *u, tensor_axes *out),
			      pctl_op_result *out)
{
	tensor_axes a;
	const pctl_status status = axes_of(u, &a);

	if (status != PCTL_OK)
		return status;
	out->out[0] = a.out;
	tensor_axes_cut(u, &a, out);
	return PCTL_OK;
}

void tensor_axes_cut(const kit_use *u, const tensor_axes *a, pctl_op_result *out)
{
	const uint32_t rank = u->q->in[0].rank;

	while (out->n_cut < rank && !(a->mask >> out->n_cut & 1))
		out->cut[0] |= 1u << out->n_cut++;
}

pctl_status tensor_axes_of(const kit_use *u, uint32_t mask, int keep, tensor_axes *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint32_t n[2] = {0, 0}, last = 2;
	uint64_t stride = 1;
	pctl_status status;

	*out = (tensor_axes){.count = 1, .terms = 1, .mask = mask, .out = {.dtype = x->dtype}};
	for (uint32_t i = 0; i < TENSOR_GROUPS_MAX; i++)
		out->kept[i].n = out->reduced[i].n = 1;
	for (uint32_t d = x->rank; d-- > 0;) {
		const uint32_t reduced = mask >> d & 1;
		tensor_group *g = reduced ? out->reduced : out->kept;

		if (reduced != last)
			g[n[reduced]++] = (tensor_group){1, stride};
		g[n[reduced] - 1].n *= x->dim[d];
		last = reduced;
		stride *= x->dim[d];
		*(reduced ? &out->terms : &out->count) *= x->dim[d];
	}
	for (uint32_t d = 0; d < x->rank; d++)
		if (!(mask >> d & 1))
			out->out.dim[out->out.rank++] = x->dim[d];
		else if (keep)
			out->out.dim[out->out.rank++] = 1;
	status = kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
	if (status == PCTL_OK)
		status = kit_limit(u, "results", kit_elements(&out->out), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK ? status
				 : kit_limit(u, "terms of a result", out->terms, TENSOR_TERMS_MAX);
}

uint64_t tensor_axes_result(const pctl_tensor_type *x, uint32_t mask, uint64_t i)
{
	uint64_t result = 0, scale = 1;

	for (uint32_t d = x->rank; d-- > 0;) {
		if (!(mask >> d & 1)) {
			result += i % x->dim[d] * scale;
			scale *= x->dim[d];
		}
		i /= x->dim[d];
	}
	return result;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Lanes share a result where its terms lie side by side, or where there are too few results to be neighbours. */
static void cut(const tensor_axes *a, tensor_round *r, int side_by_side, uint32_t least)
{
	uint64_t lanes = 1;

	r->width = 1;
	if (side_by_side || a->count < TENSOR_LANES)
		while (r->width < TENSOR_LANES && r->terms >= 2ull * r->width * least)
			r->width *= 2;
	if (a->count * r->width < LANES_ENOUGH)
		lanes = LANES_ENOUGH / (a->count + 1) + 1;
	if (lanes > r->terms / (2ull * least))
		lanes = r->terms / (2ull * least);
	if (lanes < (r->terms + STEPS_MAX - 1) / STEPS_MAX)
		lanes = (r->terms + STEPS_MAX - 1) / STEPS_MAX;
	r->runs = (lanes + r->width - 1) / r->width;
	r->runs += r->runs == 0;
	r->lanes = r->runs * r->width;
	r->last = r->runs == 1;
}

tensor_round tensor_round_first(const tensor_axes *a, uint32_t from, uint32_t least)
{
	tensor_round r = {.terms = a->terms, .from = from, .first = 1};

	cut(a, &r, a->reduced[0].stride == 1, least);
	return r;
}

tensor_round tensor_round_next(const tensor_axes *a, const tensor_round *r, uint32_t least)
{
	tensor_round next = {.terms = r->runs, .from = r->to};

	cut(a, &next, 0, least);
	return next;
}

kit_slot tensor_round_from(const tensor_round *r)
{
	return (kit_slot){.buffer = r->from, .offset = r->from_offset, .n_bytes = r->from_bytes};
}

/* ---- pieces of what is larger than a binding ------------------------------------------------ */

#define PIECE_STEP 65536u /* bytes: a multiple of what any device asks of a binding's begin */
#define PIECES_MAX 1024u

int tensor_is_larger(const kit_plan *p, const tensor_axes *a)
{
	const uint64_t most = p->caps->max_binding_bytes;

	return most >= PIECE_STEP && a->terms != 0 && a->count != 0 &&
	       kit_bytes(&p->use->q->in[0]) > most;
}

int tensor_in_pieces(const kit_plan *p, const tensor_axes *a)
{
	return a->count == 1 && tensor_is_larger(p, a);
}

/* The group whose elements lie farthest apart; NULL: all have one element. */
static const tensor_group *outermost(const tensor_group groups[TENSOR_GROUPS_MAX])
{
	const tensor_group *g = NULL;

	for (uint32_t i = 0; i < TENSOR_GROUPS_MAX; i++)
		if (groups[i].n > 1)
			g = &groups[i];
	return g;
}

/* What is cut into pieces: `unit` neighbours, `terms` of each result, stay together, and at most `each` of n of these are in a piece. */
typedef struct units {
	uint64_t unit, terms, n, each;
	uint32_t group; /* of the reduced ones: the one that is cut */
} units;

static units units_of(const kit_plan *p, const tensor_axes *a, uint64_t base)
{
	const uint64_t most = p->caps->max_binding_bytes;
	const uint64_t width = kit_dtype_bytes(p->use->q->in[0].dtype);
	const tensor_group *g = outermost(a->reduced);
	units s = {.unit = 1, .terms = 1, .n = a->terms};

	if (a->count == 1 && base == 0) {
		s.each = most / PIECE_STEP * PIECE_STEP / width;
		return s;
	}
	if (a->count != 1 && g != NULL) {
		s.group = (uint32_t)(g - a->reduced);
		s.unit = g->stride;
		s.n = g->n;
		s.terms = a->terms / g->n;
	} else if (a->count != 1) {
		return s;
	}
	/* A piece may begin anywhere behind a multiple of a step. */
	s.each = (most - PIECE_STEP) / (s.unit * width);
	return s;
}

tensor_slabs tensor_slabs_of(const kit_plan *p, const tensor_axes *a)
{
	const tensor_group *kept = outermost(a->kept), *reduced = outermost(a->reduced);
	tensor_slabs s = {.n = 1, .each = *a};

	if (!tensor_is_larger(p, a))
		return (tensor_slabs){.n = 0};
	if (kept != NULL && (reduced == NULL || kept->stride > reduced->stride)) {
		s.n = kept->n;
		s.elements = kept->stride;
		s.each.kept[kept - a->kept].n = 1;
		s.each.count /= kept->n;
	}
	/* A base that no step divides is the worst. */
	if (s.n > PIECES_MAX || units_of(p, &s.each, 1).each == 0)
		s.n = 0;
	return s;
}

/* n units: of one result terms side by side. */
static tensor_axes piece_of(const tensor_axes *a, const units *s, uint64_t n)
{
	tensor_axes piece = *a;

	piece.terms = n * s->terms;
	if (a->count == 1)
		for (uint32_t i = 0; i < TENSOR_GROUPS_MAX; i++)
			piece.kept[i] = piece.reduced[i] = (tensor_group){1, 1};
	piece.reduced[s->group].n = n;
	return piece;
}

tensor_round tensor_round_pieces(kit_plan *p, const tensor_axes *a, uint64_t base, uint32_t least,
				 uint64_t item_bytes, tensor_round_runner *run, void *ctx)
{
	const uint64_t width = kit_dtype_bytes(p->use->q->in[0].dtype);
	const units s = units_of(p, a, base);
	uint32_t left[PIECES_MAX], n = 0, all;
	uint64_t n_items[PIECES_MAX], runs = 0, items = 0;

	if ((s.n + s.each - 1) / s.each > PIECES_MAX) {
		p->status = kit_refuse_size(p->use, "pieces of a binding",
					    (s.n + s.each - 1) / s.each, PIECES_MAX);
		return (tensor_round){.last = 1};
	}
	for (uint64_t first = 0; p->status == PCTL_OK && first < s.n; first += s.each, n++) {
		const uint64_t count = s.n - first < s.each ? s.n - first : s.each;
		const uint64_t begin = (base + first * s.unit) * width;
		const tensor_axes piece = piece_of(a, &s, count);
		tensor_round r = tensor_round_first(&piece, kit_in(p, 0), least);

		r.last = 0;
		r.from_offset = begin / PIECE_STEP * PIECE_STEP;
		r.from_bytes = (begin - r.from_offset + count * s.unit * width + 3) & ~3ull;
		r.skip = (uint32_t)((begin - r.from_offset) / width);
		r.before = (uint32_t)(first * s.terms);
		n_items[n] = r.runs * a->count;
		left[n] = r.to = kit_temp(p, item_bytes * n_items[n]);
		runs += r.runs;
		run(p, &piece, &r, ctx);
	}
	all = kit_temp(p, item_bytes * runs * a->count);
	for (uint32_t i = 0; i < n; i++) {
		kit_copy(p, left[i], 0, all, item_bytes * items, item_bytes * n_items[i]);
		items += n_items[i];
	}
	return tensor_round_next(a, &(tensor_round){.runs = runs, .to = all}, least);
}

/* As reduce_place.wgsl has it. */
typedef struct places {
	uint32_t count, terms, runs, lanes;
	uint32_t kept[TENSOR_GROUPS_MAX][4], reduced[TENSOR_GROUPS_MAX][4];
} places;

uint32_t tensor_round_params(kit_plan *p, const tensor_axes *a, const tensor_round *r)
{
	places v = {(uint32_t)a->count,
		    (uint32_t)r->terms,
		    (uint32_t)r->runs,
		    (uint32_t)r->lanes,
		    {{0}},
		    {{0}}};

	for (uint32_t i = 0; i < TENSOR_GROUPS_MAX; i++) {
		/* What earlier rounds left lies run by run. */
		const tensor_group kept =
			r->first ? a->kept[i] : (tensor_group){i == 0 ? a->count : 1, 1};
		const tensor_group reduced =
			r->first ? a->reduced[i] : (tensor_group){i == 0 ? r->terms : 1, a->count};

		v.kept[i][0] = (uint32_t)kept.n;
		v.kept[i][1] = (uint32_t)kept.stride;
		v.reduced[i][0] = (uint32_t)reduced.n;
		v.reduced[i][1] = (uint32_t)reduced.stride;
		/* Of nothing no index is computed. */
		v.kept[i][0] += v.kept[i][0] == 0;
		v.reduced[i][0] += v.reduced[i][0] == 0;
	}
	v.count += v.count == 0;
	return kit_params(p, &v, sizeof(v));
}

void tensor_round_text(kit_wgsl *w, const tensor_axes *a, const tensor_round *r)
{
	int even = 1;
	char rows[80];

	for (uint32_t i = 1; i < TENSOR_GROUPS_MAX; i++)
		even = even && (!r->first || a->reduced[i].n == 1);
	snprintf(rows, sizeof(rows), "const ROWS: u32 = %uu;\nconst EVEN: bool = %s;\n",
		 TENSOR_LANES / r->width, even ? "true" : "false");
	kit_wgsl_add(w, rows);
	kit_wgsl_add(w, KERNEL_REDUCE_PLACE);
}

void tensor_round_run(kit_plan *p, const char *name, const tensor_axes *a, const tensor_round *r,
		      kit_wgsl *w, const kit_slot *slots, uint32_t n_slots)
{
	const uint64_t terms = (r->terms + r->lanes - 1) / r->lanes;
	kit_kernel kernel = {name, w->text, TENSOR_LANES, "steps", 1};
	const kit_through through = {
		(tensor_round_reads(p, r) ? PCTL_PLAN_READ_THROUGH(0) : 0) |
			(tensor_round_writes(p, r) ? PCTL_PLAN_WRITE_THROUGH(0) : 0),
		0, 0};
	kit_slot bound[8];

	while (kernel.override_value < terms)
		kernel.override_value *= 2;
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(w);
	if (through.flags != 0) {
		/* What is read through a function is bound to nothing. */
		memcpy(bound, slots, n_slots * sizeof(*slots));
		if (tensor_round_reads(p, r))
			bound[1] = bound[0];
		kit_run_through(p, &kernel, a->count * r->runs * r->width, bound, n_slots, through);
	} else if (r->is_counted)
		kit_run_counted(p, &kernel, a->count * r->runs * r->width, slots, n_slots,
				r->counts);
	else
		kit_run(p, &kernel, a->count * r->runs * r->width, slots, n_slots);
	kit_wgsl_free(w);
}

int tensor_axes_go_through(kit_plan *p, const tensor_axes *a)
{
	if (p->through == 0 || (a->terms != 0 && !tensor_in_pieces(p, a)))
		return 1;
	p->status = PCTL_E_UNSUPPORTED;
	return 0;
}

int tensor_round_reads(const kit_plan *p, const tensor_round *r)
{
	return r->first && (p->through & PCTL_PLAN_READ_THROUGH(0)) != 0;
}

int tensor_round_writes(const kit_plan *p, const tensor_round *r)
{
	return r->last && r->to == kit_out(p, 0) && (p->through & PCTL_PLAN_WRITE_THROUGH(0)) != 0;
}

void tensor_round_x(const kit_plan *p, const tensor_round *r, kit_wgsl *w, const char *declared,
		    const char *codec)
{
	if (tensor_round_reads(p, r)) {
		kit_wgsl_through(w, p->use->q->in[0].dtype, "x", 0);
		return;
	}
	kit_wgsl_add(w, declared);
	if (r->first && codec != NULL)
		kit_wgsl_named(w, codec, "x");
}

#define GIVEN "give(ping[lid])"
#define GIVEN_THROUGH "write_through_0(base + lid, give(ping[lid]))"

void tensor_round_tree(const kit_plan *p, const tensor_round *r, kit_wgsl *w)
{
	if (p->caps->device_kind == PCTL_DEVICE_OTHER) {
		kit_wgsl_named(w, KERNEL_REDUCE_TREE,
			       tensor_round_writes(p, r) ? GIVEN_THROUGH : GIVEN);
		return;
	}
	kit_wgsl_add(w, KERNEL_REDUCE_TAKE);
	tensor_round_lanes(p, r, w);
}

void tensor_round_lanes(const kit_plan *p, const tensor_round *r, kit_wgsl *w)
{
	kit_wgsl_named(w, KERNEL_REDUCE_LANES, tensor_round_writes(p, r) ? GIVEN_THROUGH : GIVEN);
}

#define PACKED "x[PER * i + k] & (0xffffffffu >> (32u - 32u / PER))"

void tensor_pack(kit_plan *p, uint32_t from, uint32_t to, uint64_t count, uint64_t bytes)
{
	const uint64_t per = 4 / bytes;
	const uint32_t n = (uint32_t)count;
	const uint32_t params = kit_params(p, &n, sizeof(n));
	const uint32_t writes = to == kit_out(p, 0) ? p->through & PCTL_PLAN_WRITE_THROUGH(0) : 0;
	kit_wgsl w = kit_wgsl_make(p->use, 2048);
	kit_kernel kernel = {"tensor/pack.wgsl", w.text, 64, NULL, 0};

	kit_wgsl_add(&w, per == 2 ? "const PER: u32 = 2u;\n" : "const PER: u32 = 4u;\n");
	kit_wgsl_named(&w, KERNEL_PACK_WORDS,
		       writes != 0 ? "write_through_0(PER * i + k, " PACKED ")" : "(" PACKED ")");
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kit_run_through(p, &kernel, (count + per - 1) / per,
			(kit_slot[]){KIT_ALL(params), KIT_ALL(from), KIT_ALL(to)}, 3,
			(kit_through){writes, 0, 0});
	kit_wgsl_free(&w);
}
