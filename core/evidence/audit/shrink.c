/* Making a case smaller while two devices still differ on it: fewer workgroups, shorter bindings, more zeros. Each
 * attempt runs both; how many there may be is bounded, so that a slow device ends too. */
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"

#include "foundation/base/clock.h"

#define MOST_RUNS 160u
#define MOST_SECONDS 30
#define LEAST_RANGE 16u

struct shrinking {
	pctl_comparison *b;
	pctl_comparison_case *c;
	uint64_t until;
	uint8_t *saved;
};

static int still_differs(struct shrinking *s)
{
	return s->b->runs < MOST_RUNS && pctl_clock_s() < s->until &&
	       pctl_comparison_differs(s->b, s->c);
}

static void fewer_groups(struct shrinking *s, uint32_t axis)
{
	uint32_t low = 0, high = s->c->groups[axis];

	while (high - low > 1) {
		/* One is the likeliest end. */
		uint32_t try = low == 0 ? 1 : low + (high - low) / 2;

		s->c->groups[axis] = try;
		if (still_differs(s))
			high = try;
		else
			low = try;
		s->c->groups[axis] = high;
	}
}

static void shorter(struct shrinking *s, pctl_comparison_binding *b)
{
	uint64_t unit = b->least < 4 ? 4 : b->least, low = 0, high = b->n_bytes / unit;

	if (b->is_fixed || high * unit != b->n_bytes)
		return;
	while (high - low > 1) {
		uint64_t try = low + (high - low) / 2;

		b->n_bytes = try * unit;
		if (still_differs(s))
			high = try;
		else
			low = try;
		b->n_bytes = high * unit;
	}
}

static int is_zero(const uint8_t *data, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (data[i] != 0)
			return 0;
	return 1;
}

/* Zero a range, or what of its halves can be. */
static void zero(struct shrinking *s, pctl_comparison_binding *b, uint64_t at, uint64_t n)
{
	uint64_t half;

	if (n == 0 || is_zero(b->data + at, n) || s->b->runs >= MOST_RUNS)
		return;
	memcpy(s->saved + at, b->data + at, n);
	memset(b->data + at, 0, n);
	if (still_differs(s))
		return;
	memcpy(b->data + at, s->saved + at, n);
	if (n <= LEAST_RANGE)
		return;
	half = (n / 2 + 3) & ~3ull;
	zero(s, b, at, half);
	zero(s, b, at + half, n - half);
}

void pctl_comparison_shrink(pctl_comparison *b, pctl_comparison_case *c)
{
	struct shrinking s = {.b = b, .c = c};

	s.until = pctl_clock_s() + MOST_SECONDS;
	for (uint32_t i = 0; i < 3; i++)
		fewer_groups(&s, i);
	for (uint32_t i = 0; i < c->n_bindings; i++)
		shorter(&s, &c->bindings[i]);
	for (uint32_t i = 0; i < c->n_bindings; i++) {
		s.saved = malloc(c->bindings[i].n_bytes + 1u);
		if (s.saved != NULL)
			zero(&s, &c->bindings[i], 0, c->bindings[i].n_bytes);
		free(s.saved);
	}
}
