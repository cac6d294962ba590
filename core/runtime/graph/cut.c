/* The parts of a use of an op: places along one of the dimensions that may be cut, for each place of those before it. */
#include "runtime/graph/cut.h"

#include <string.h>

#include "foundation/base/num.h"

#define MOST_PARTS 4096u

/* How one port lies along dimension `at`. goes: it has that dimension; unit: bytes of one place of it. */
struct port {
	const pctl_tensor_type *type;
	uint32_t cut; /* bits */
	uint64_t unit;
	int goes;
};

static uint32_t n_ports(const pctl_cut *c)
{
	return c->q->n_in + c->n_out;
}

static const pctl_tensor_type *type_of(const pctl_cut *c, uint32_t port)
{
	return port < c->q->n_in ? &c->q->in[port] : &c->result->out[port - c->q->n_in];
}

static uint32_t bits_of(const pctl_cut *c, uint32_t port)
{
	return port < c->q->n_in ? c->result->cut[port] : (1u << c->result->n_cut) - 1u;
}

int pctl_cut_check(const pctl_cut *c)
{
	const uint32_t n_cut = c->result->n_cut;

	if (n_cut > PCTL_RANK_MAX || n_ports(c) > 2 * PCTL_PORTS_MAX)
		return 0;
	for (uint32_t i = 0; n_cut != 0 && i < n_ports(c); i++) {
		const pctl_tensor_type *t = type_of(c, i);

		if (bits_of(c, i) >> n_cut != 0)
			return 0;
		for (uint32_t d = 0; d < n_cut; d++)
			if (bits_of(c, i) >> d & 1 &&
			    (d >= t->rank || t->dim[d] != c->result->out[0].dim[d]))
				return 0;
	}
	return n_cut == 0 || n_cut <= c->result->out[0].rank;
}

/* The type with one place of all dimensions before `at`, of `at` too where `with`, that go along. */
static pctl_tensor_type narrowed(const struct port *p, uint32_t at, uint64_t n)
{
	pctl_tensor_type t = *p->type;

	for (uint32_t d = 0; d < at; d++)
		if (p->cut >> d & 1)
			t.dim[d] = 1;
	if (p->cut >> at & 1)
		t.dim[at] = n;
	return t;
}

/* Bytes of one place of dimension d, 0 where places are no whole bytes or lie apart. */
static uint64_t unit_of(const struct port *p, uint32_t d)
{
	pctl_tensor_type one = *p->type, all = *p->type;
	uint64_t n, whole;

	for (uint32_t k = 0; k < d; k++) {
		if (!(p->cut >> k & 1) && one.dim[k] != 1)
			return 0;
		one.dim[k] = all.dim[k] = 1;
	}
	one.dim[d] = 1;
	if (!pctl_type_bytes(&one, &n) || !pctl_type_bytes(&all, &whole) || n == 0 ||
	    whole / n != all.dim[d] || whole % n != 0)
		return 0;
	return n;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Places of dimension `at` that a part may have: every range that goes along fits and begins where it may. 0: none. */
static uint64_t places(const pctl_cut *c, struct port *ports, uint32_t at)
{
	const uint64_t alignment = c->alignment < 4 ? 4 : c->alignment;
	const uint64_t extent = c->result->out[0].dim[at];
	uint64_t most = extent, step = 1;

	for (uint32_t i = 0; i < n_ports(c); i++) {
		struct port *p = &ports[i];

		for (uint32_t d = 0; d < at; d++) {
			const uint64_t n = p->cut >> d & 1 ? unit_of(p, d) : alignment;

			if (n == 0 || n % alignment != 0)
				return 0;
		}
		p->goes = (p->cut >> at & 1) != 0;
		if (!p->goes)
			continue;
		p->unit = unit_of(p, at);
		if (p->unit == 0)
			return 0;
		if (c->most_bytes / p->unit < most)
			most = c->most_bytes / p->unit;
		/* Powers of two: the least common multiple is the largest. */
		if (alignment / gcd(alignment, p->unit) > step)
			step = alignment / gcd(alignment, p->unit);
	}
	return most >= extent ? extent : most / step * step;
}

static pctl_status run_part(const pctl_cut *c, const struct port *ports, const uint64_t *place,
			    uint32_t at, uint64_t n)
{
	pctl_tensor_type in[2 * PCTL_PORTS_MAX];
	pctl_plan_slot slots[2 * PCTL_PORTS_MAX];
	pctl_op_query q = *c->q;

	q.in = in;
	for (uint32_t i = 0; i < n_ports(c); i++) {
		const struct port *p = &ports[i];
		const pctl_tensor_type t = narrowed(p, at, n);
		uint64_t offset = 0, n_bytes = 0;

		for (uint32_t d = 0; d <= at; d++)
			if (p->cut >> d & 1)
				offset += place[d] * unit_of(p, d);
		(void)pctl_type_buffer_bytes(&t, &n_bytes);
		slots[i] = c->slots[i];
		slots[i].offset += offset;
		if (p->cut != 0)
			slots[i].n_bytes = n_bytes;
		if (i < q.n_in)
			in[i] = t;
	}
	return c->each(c->ctx, &q, slots, n_ports(c));
}

pctl_status pctl_cut_run(const pctl_cut *c)
{
	struct port ports[2 * PCTL_PORTS_MAX];
	uint64_t place[PCTL_RANK_MAX] = {0}, n = 0, parts = 1;
	const uint64_t *dim = c->result->out[0].dim;
	pctl_status status = PCTL_OK;
	uint32_t at = 0;

	for (uint32_t i = 0; i < n_ports(c); i++)
		ports[i] = (struct port){.type = type_of(c, i), .cut = bits_of(c, i)};
	for (; at < c->result->n_cut; at++) {
		n = places(c, ports, at);
		if (n != 0)
			break;
		if (!pctl_num_mul(parts, dim[at], &parts))
			parts = UINT64_MAX;
	}
	if (n == 0 || parts > MOST_PARTS || parts * pctl_num_div_up(dim[at], n) > MOST_PARTS)
		return PCTL_E_UNSUPPORTED;
	for (uint64_t part = 0; status == PCTL_OK && part < parts; part++) {
		uint64_t rest = part;

		for (uint32_t d = at; d-- > 0;) {
			place[d] = rest % dim[d];
			rest /= dim[d];
		}
		for (place[at] = 0; status == PCTL_OK && place[at] < dim[at]; place[at] += n)
			status = run_part(c, ports, place, at,
					  dim[at] - place[at] < n ? dim[at] - place[at] : n);
	}
	return status;
}
