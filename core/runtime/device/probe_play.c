/* Generated programs of the probe as the host plays them: a workgroup's invocations side by side, each line for all of them before
 * the next. */
#include "runtime/device/probe_program.h"

#include <string.h>

typedef struct lane {
	uint32_t x[WORDS], held[HELD], gone; /* gone: how it left */
} lane;

typedef struct group {
	lane lanes[LANES];
	uint32_t passed[LANES], flags[FLAGS], turn[2], number;
	const row *meet;
} group;

static uint32_t set_of(const row *r, const lane *v)
{
	const uint32_t b = v->x[r->b], last = v->x[(r->a + r->c) % WORDS], c = r->c;

	switch (r->how) {
	case 0:
		return b * c + last;
	case 1:
		return (b >> (c & 31)) ^ last;
	case 2:
		return b + (c << (last & 31));
	case 3:
		return b - (c < last ? c : last);
	case 4:
		return b / c + last;
	case 5:
		return (b % c) ^ ~last;
	case 6:
		return (uint32_t)__builtin_popcount(b) * c + last;
	default:
		return last >> 31 ? c : b;
	}
}

static uint32_t place_of(const row *r, const lane *v, uint32_t x)
{
	return r->how < 4 ? v->x[x] & 7 : v->x[x] % HELD;
}

static uint32_t held_at(const uint32_t *held, uint32_t i)
{
	return i < HELD ? held[i] : 0;
}

static void hold(lane *v, uint32_t i, uint32_t word)
{
	if (i < HELD)
		v->held[i] = word;
}

static uint32_t play_own(const row *r, lane *v);

static uint32_t play_own_row(const row *r, lane *v)
{
	uint32_t old[HELD], flow = NEXT;

	switch (r->kind) {
	case SET:
		v->x[r->a] = set_of(r, v);
		return NEXT;
	case TAKE:
		v->x[r->a] ^= held_at(v->held, place_of(r, v, r->b));
		return NEXT;
	case PUT:
		hold(v, place_of(r, v, r->a), v->x[r->b]);
		return NEXT;
	case COPY:
		memcpy(old, v->held, sizeof(old));
		hold(v, place_of(r, v, r->a), v->x[r->b]);
		v->x[r->b] += held_at(old, place_of(r, v, r->a));
		if ((v->x[r->b] & 1) == 0)
			memcpy(v->held, old, sizeof(old));
		return NEXT;
	case LEAVE:
		return (v->x[r->a] & r->c) == 0 ? r->how : NEXT;
	case IF:
		return play_own((v->x[r->a] & r->c) == 0 ? r->body : r->other, v);
	default:
		for (uint32_t k = 0; k < (v->x[r->a] & 3) && flow != BREAK && flow != RETURN; k++)
			flow = play_own(r->body, v);
		return flow == RETURN ? RETURN : NEXT;
	}
}

static uint32_t play_own(const row *r, lane *v)
{
	uint32_t flow = NEXT;

	for (; r != NULL && flow == NEXT; r = r->next)
		flow = play_own_row(r, v);
	return flow;
}

static uint32_t play_all(group *g, const row *r, uint32_t depth);

/* Those who left so are back. */
static void come_back(group *g, uint32_t how)
{
	for (uint32_t l = 0; l < LANES; l++)
		if (g->lanes[l].gone == how)
			g->lanes[l].gone = NEXT;
}

static uint32_t agreed_of(const group *g, const row *r, uint32_t depth)
{
	const uint32_t at = g->number + (depth > 0 ? g->turn[r->b % depth] : 0) + r->c;

	return (r->c % 3 == 0 ? at : g->flags[at & 7]) & 3;
}

static void play_meet(group *g, const row *r)
{
	for (uint32_t l = 0; l < LANES; l++)
		g->passed[l] = g->lanes[l].x[r->a];
	for (uint32_t l = 0; l < LANES; l++)
		g->lanes[l].x[r->b] =
			g->lanes[l].x[r->b] * 3 + g->passed[(l * (1 + r->how) + r->c) & 63];
}

static uint32_t play_turns(group *g, const row *r, uint32_t depth)
{
	uint32_t flow = NEXT;

	for (g->turn[r->a] = 0; g->turn[r->a] < TURNS && flow != BREAK && flow != RETURN;
	     g->turn[r->a]++) {
		flow = play_all(g, r->body, depth + 1);
		come_back(g, CONTINUE);
	}
	return flow == RETURN ? RETURN : NEXT;
}

static uint32_t play_all_row(group *g, const row *r, uint32_t depth)
{
	uint32_t agreed, turn[2];

	switch (r->kind) {
	case MEET:
		play_meet(g, r);
		return NEXT;
	case ALL_IF:
		return play_all(g, agreed_of(g, r, depth) < 2 ? r->body : r->other, depth);
	case ALL_SWITCH:
		agreed = agreed_of(g, r, depth);
		return play_all(g, agreed == 0 || agreed == 3 ? r->body : r->other, depth);
	case ALL_LOOP:
		return play_turns(g, r, depth);
	case ALL_LEAVE:
		if (agreed_of(g, r, depth) >= 2)
			return NEXT;
		(void)play_all(g, r->body, depth);
		return r->how;
	case CALL:
		memcpy(turn, g->turn, sizeof(turn));
		(void)play_all(g, g->meet, 0);
		memcpy(g->turn, turn, sizeof(turn));
		come_back(g, RETURN);
		return NEXT;
	default:
		for (uint32_t l = 0; l < LANES; l++)
			if (g->lanes[l].gone == NEXT)
				g->lanes[l].gone = play_own_row(r, &g->lanes[l]);
		return NEXT;
	}
}

static uint32_t play_all(group *g, const row *r, uint32_t depth)
{
	uint32_t flow = NEXT;

	for (; r != NULL && flow == NEXT; r = r->next)
		flow = play_all_row(g, r, depth);
	return flow;
}

void probe_play(const played *m, uint32_t number, const uint32_t *in, uint32_t *want)
{
	group all = {.number = number}, *g = &all;

	g->meet = m->meet;
	for (uint32_t l = 0; l < LANES; l++) {
		g->lanes[l] = (lane){.gone = NEXT};
		memcpy(g->lanes[l].x, in + 4 * l, sizeof(g->lanes[l].x));
	}
	for (uint32_t k = 0; k < FLAGS; k++)
		g->flags[k] = g->lanes[k].x[3];
	(void)play_all(g, m->main, 0);
	for (uint32_t l = 0; l < LANES; l++) {
		lane *v = &g->lanes[l];

		for (uint32_t i = 0; !m->barriers && i < PARTS; i++)
			(void)play_own(m->parts[i], v);
		want[4 * l] = v->x[0] ^ v->held[0];
		want[4 * l + 1] = v->x[1] ^ v->held[1] ^ v->held[4];
		want[4 * l + 2] = v->x[2] ^ v->held[2] ^ v->held[5];
		want[4 * l + 3] = v->x[3] ^ v->held[3];
	}
}
