/* Eulerian trails over values: degrees and connectedness. */
#include "evidence/suite/trail.h"

#include <stdlib.h>

#include "foundation/base/order.h"

struct place {
	uint32_t value;
	int64_t balance; /* moves that leave less moves that arrive */
	uint32_t root, used;
};

static uint32_t find(const uint32_t *values, uint32_t n, uint32_t value)
{
	uint32_t lo = 0, hi = n;

	while (hi - lo > 1) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (values[mid] <= value)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static uint32_t root_of(struct place *p, uint32_t i)
{
	while (p[i].root != i)
		i = p[i].root = p[p[i].root].root;
	return i;
}

static int judge(struct place *places, const uint32_t *values, uint32_t n_values,
		 const suite_move *moves, uint32_t n, uint32_t start, uint32_t end,
		 uint32_t *culprit)
{
	const uint32_t first = find(values, n_values, start);

	for (uint32_t i = 0; i < n_values; i++)
		places[i] = (struct place){values[i], 0, i, 0};
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t a = find(values, n_values, moves[i].from),
			       b = find(values, n_values, moves[i].to);

		places[a].balance++;
		places[b].balance--;
		places[a].used = places[b].used = 1;
		places[root_of(places, a)].root = root_of(places, b);
	}
	places[first].balance--;
	places[find(values, n_values, end)].balance++;
	for (uint32_t i = 0; i < n_values; i++) {
		*culprit = places[i].value;
		if (places[i].balance != 0)
			return 0;
		if (places[i].used && root_of(places, i) != root_of(places, first))
			return 0;
	}
	return 1;
}

int suite_trail(const suite_move *moves, uint32_t n, uint32_t start, uint32_t end,
		uint32_t *culprit)
{
	uint32_t *values = calloc(2ull * n + 2, sizeof(*values)), n_values = 0;
	struct place *places = calloc(2ull * n + 2, sizeof(*places));
	int answer = -1;

	*culprit = start;
	if (values == NULL || places == NULL)
		goto out;
	for (uint32_t i = 0; i < n; i++) {
		values[2 * i] = moves[i].from;
		values[2 * i + 1] = moves[i].to;
	}
	values[2 * n] = start;
	values[2 * n + 1] = end;
	qsort(values, 2ull * n + 2, sizeof(*values), pctl_order_u32);
	for (uint32_t i = 0; i < 2 * n + 2; i++)
		if (n_values == 0 || values[n_values - 1] != values[i])
			values[n_values++] = values[i];
	answer = judge(places, values, n_values, moves, n, start, end, culprit);
out:
	free(values);
	free(places);
	return answer;
}
