/* What subgroup operations must give: rows of an expression and of what it is in each lane, in plain C. Shares nothing with
 * what it judges. */
#ifndef PIPECTL_TESTS_LEGAL_SUBGROUP_H
#define PIPECTL_TESTS_LEGAL_SUBGROUP_H

#include <stdint.h>
#include <string.h>

#include "pipectl/program.h"

/* What a lane sees: the x and k of its subgroup, of which n lanes are there. */
typedef struct lanes {
	const uint32_t *x, *k;
	uint32_t n, size, own, number, count;
} lanes;

static uint32_t at(const lanes *g, const uint32_t *from, uint64_t lane)
{
	return lane < g->n ? from[lane] : 0;
}

/* ---- the oracle: a function a row ---- */

#define ROW(name) static uint32_t name(const lanes *g)
#define OVER(start, end, step)                    \
	uint32_t r = (start), i;                  \
	for (i = 0; i < g->n && i < (end); i++) { \
		const uint32_t v = g->x[i];       \
		step;                             \
	}                                         \
	return r

ROW(add)
{
	OVER(0, g->n, r += v);
}
ROW(mul)
{
	OVER(1, g->n, r *= v);
}
ROW(min_u)
{
	OVER(UINT32_MAX, g->n, r = v < r ? v : r);
}
ROW(max_u)
{
	OVER(0, g->n, r = v > r ? v : r);
}
ROW(min_i)
{
	OVER(INT32_MAX, g->n, r = (int32_t)v < (int32_t)r ? v : r);
}
ROW(max_i)
{
	OVER(0x80000000u, g->n, r = (int32_t)v > (int32_t)r ? v : r);
}
ROW(all_bits)
{
	OVER(UINT32_MAX, g->n, r &= v);
}
ROW(any_bits)
{
	OVER(0, g->n, r |= v);
}
ROW(odd_bits)
{
	OVER(0, g->n, r ^= v);
}
ROW(inclusive_add)
{
	OVER(0, g->own + 1, r += v);
}
ROW(inclusive_mul)
{
	OVER(1, g->own + 1, r *= v);
}
ROW(exclusive_add)
{
	OVER(0, g->own, r += v);
}
ROW(exclusive_mul)
{
	OVER(1, g->own, r *= v);
}
ROW(all)
{
	OVER(1, g->n, r = r && v % 16 != 5);
}
ROW(any)
{
	OVER(0, g->n, r = r || v % 32 == 9);
}
ROW(ballot_x)
{
	OVER(0, g->n, r |= i < 32 && v % 3 == 0 ? 1u << i : 0);
}
ROW(ballot_y)
{
	OVER(0, g->n, r |= i / 32 == 1 && v % 3 == 0 ? 1u << i % 32 : 0);
}
ROW(ballot_z)
{
	OVER(0, g->n, r |= i / 32 == 2 && v % 3 == 0 ? 1u << i % 32 : 0);
}
ROW(ballot_w)
{
	OVER(0, g->n, r |= i / 32 == 3 && v % 3 == 0 ? 1u << i % 32 : 0);
}
ROW(elect)
{
	return g->own == 0;
}
ROW(broadcast_3)
{
	return at(g, g->x, 3);
}
ROW(broadcast_77)
{
	return at(g, g->x, 77);
}
ROW(first)
{
	return g->x[0];
}
ROW(shuffle)
{
	return at(g, g->x, g->k[g->own]);
}
ROW(shuffle_xor)
{
	return at(g, g->x, g->own ^ g->k[g->own]);
}
ROW(shuffle_up)
{
	return g->k[g->own] > g->own ? 0 : at(g, g->x, g->own - g->k[g->own]);
}
ROW(shuffle_down)
{
	return at(g, g->x, (uint64_t)g->own + g->k[g->own]);
}
ROW(quad_2)
{
	return at(g, g->x, (g->own & ~3u) + 2);
}
ROW(swap_x)
{
	return at(g, g->x, g->own ^ 1u);
}
ROW(swap_y)
{
	return at(g, g->x, g->own ^ 2u);
}
ROW(swap_diagonal)
{
	return at(g, g->x, g->own ^ 3u);
}
ROW(vector_add)
{
	OVER(0, g->n, r += v ^ g->k[i]);
}
ROW(vector_min)
{
	OVER(INT32_MAX, g->n, r = (int32_t)~v < (int32_t)r ? ~v : r);
}
ROW(size)
{
	return g->size;
}
ROW(own)
{
	return g->own;
}
ROW(number)
{
	return g->number;
}
ROW(count)
{
	return g->count;
}

/* Halves of words: high of lane 1, low of the lane below. */
ROW(halves)
{
	return (at(g, g->x, 1) >> 16) | (g->own ? (at(g, g->x, g->own - 1) & 0xffffu) << 16 : 0);
}

ROW(three_halves)
{
	return at(g, g->x, g->own ^ 1u) & 0xffffu;
}

/* A branch that parts the lanes stands before it. */
ROW(after_branch)
{
	OVER(0, g->n, r += v & 1 ? v * 3 : v + 7);
}

/* Three turns of a function that adds up and reads the lane below: t of all lanes at once. */
ROW(in_loop)
{
	uint32_t t[PCTL_SUBGROUP_SIZE_MAX] = {0}, next[PCTL_SUBGROUP_SIZE_MAX], sum;

	for (uint32_t turn = 0; turn < 3; turn++) {
		sum = 0;
		for (uint32_t i = 0; i < g->n; i++)
			sum += g->x[i] + t[i];
		for (uint32_t i = 0; i < g->n; i++)
			next[i] = t[i] * 3 + (sum ^ (i ? g->x[i - 1] + t[i - 1] : 0));
		memcpy(t, next, sizeof(t));
	}
	return t[g->own];
}

static const struct row {
	const char *text;
	uint32_t (*want)(const lanes *g);
} rows[] = {
	{"subgroupAdd(x)", add},
	{"subgroupMul(x)", mul},
	{"subgroupMin(x)", min_u},
	{"subgroupMax(x)", max_u},
	{"bitcast<u32>(subgroupAdd(s))", add},
	{"bitcast<u32>(subgroupMul(s))", mul},
	{"bitcast<u32>(subgroupMin(s))", min_i},
	{"bitcast<u32>(subgroupMax(s))", max_i},
	{"subgroupAnd(x)", all_bits},
	{"subgroupOr(x)", any_bits},
	{"subgroupXor(x)", odd_bits},
	{"subgroupInclusiveAdd(x)", inclusive_add},
	{"subgroupInclusiveMul(x)", inclusive_mul},
	{"subgroupExclusiveAdd(x)", exclusive_add},
	{"subgroupExclusiveMul(x)", exclusive_mul},
	{"u32(subgroupAll(x % 16u != 5u))", all},
	{"u32(subgroupAny(x % 32u == 9u))", any},
	{"subgroupBallot(x % 3u == 0u).x", ballot_x},
	{"subgroupBallot(x % 3u == 0u).y", ballot_y},
	{"subgroupBallot(x % 3u == 0u).z", ballot_z},
	{"subgroupBallot(x % 3u == 0u).w", ballot_w},
	{"u32(subgroupElect())", elect},
	{"subgroupBroadcast(x, 3)", broadcast_3},
	{"subgroupBroadcast(x, 77u)", broadcast_77},
	{"subgroupBroadcastFirst(x)", first},
	{"subgroupShuffle(x, k)", shuffle},
	{"bitcast<u32>(subgroupShuffle(s, i32(k)))", shuffle},
	{"subgroupShuffleXor(x, k)", shuffle_xor},
	{"subgroupShuffleUp(x, k)", shuffle_up},
	{"subgroupShuffleDown(x, k)", shuffle_down},
	{"quadBroadcast(x, 2)", quad_2},
	{"quadSwapX(x)", swap_x},
	{"quadSwapY(x)", swap_y},
	{"quadSwapDiagonal(x)", swap_diagonal},
	{"subgroupAdd(vec3(k, x ^ k, x)).y", vector_add},
	{"bitcast<u32>(subgroupMin(vec2(s, ~s)).y)", vector_min},
	{"bitcast<u32>(subgroupShuffle(bitcast<f32>(x), k))", shuffle},
	{"bitcast<u32>(subgroupShuffleXor(vec3(1.0, bitcast<f32>(x), 2.0), k).y)", shuffle_xor},
	{"bitcast<u32>(vec2(subgroupBroadcast(h, 1).y, subgroupShuffleUp(h, 1).x))", halves},
	{"bitcast<u32>(vec2(subgroupShuffleXor(h.x, 1), 0h))", three_halves},
	{"bitcast<u32>(vec2(subgroupShuffleXor(vec3(1h, 2h, h.x), 1).z, 0h))", three_halves},
	{"size", size},
	{"lane", own},
	{"number", number},
	{"count", count},
	{"after_branch(x)", after_branch},
	{"in_loop(x)", in_loop},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

#endif
