/* See jobs.h. */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/wgsl/wgsl.h"

#define LOCAL 64u
#define BINS 16u

static const char *const texts[JOBS_KERNELS] = {
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * 2654435761u + id.x; }\n"
	"}\n",
	"@group(0) @binding(0) var<storage, read> x: array<u64>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u64>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&y)) {\n"
	"		var z = x[id.x];\n"
	"		for (var i = 0u; i < 8u; i++) { z = (z ^ (z >> 29u)) * "
	"13787848793156543929lu; }\n"
	"		y[id.x] = z;\n"
	"	}\n"
	"}\n",
	"struct Params { @size(4) @align(4) times: u32, @size(4) @align(4) more: u32 }\n"
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(1) var<uniform> params: Params;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * params.times + params.more; }\n"
	"}\n",
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"var<workgroup> part: array<u32, 64>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>,\n"
	"	@builtin(local_invocation_index) l: u32) {\n"
	"	part[l] = x[id.x];\n"
	"	workgroupBarrier();\n"
	"	var sum = 0u;\n"
	"	for (var i = 0u; i <= 63u; i++) { sum += part[i ^ l] * (i + 1u); }\n"
	"	if (id.x < arrayLength(&y)) { y[id.x] = sum; }\n"
	"}\n",
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(2) var<storage, read> z: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] / (z[id.x] | 1u) + z[id.x] % "
	"1000u; }\n"
	"}\n",
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<atomic<u32>, 16>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&x)) { atomicAdd(&y[x[id.x] & 15u], 1u); }\n"
	"}\n",
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x % 3u == 0u && id.x < arrayLength(&y)) { y[id.x] = id.x + 7u; }\n"
	"}\n",
};

static uint64_t mix(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* ---- what each kernel gives, over n words that are there and zeros behind them ---------------- */

static uint32_t word(const uint32_t *x, uint32_t n, uint32_t i)
{
	return i < n ? x[i] : 0;
}

static uint64_t wide(const uint32_t *x, uint32_t n, uint32_t i)
{
	uint64_t z = 0;

	/* Half an element is none. */
	if (2 * i + 1 < n)
		z = x[2 * i] | (uint64_t)x[2 * i + 1] << 32;
	for (uint32_t k = 0; k < 8; k++)
		z = (z ^ (z >> 29)) * 13787848793156543929ull;
	return z;
}

static uint32_t sums(const uint32_t *x, uint32_t n, uint32_t i)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < LOCAL; k++)
		sum += word(x, n, i / LOCAL * LOCAL + (k ^ i % LOCAL)) * (k + 1);
	return sum;
}

static void expect(uint32_t kernel, const pctl_task *t, uint32_t *y)
{
	const uint32_t *x = t->bindings[0].data, *more = t->bindings[t->n_bindings - 1].data;
	const uint32_t n = (uint32_t)(t->bindings[0].n_bytes / 4),
		       n_y = (uint32_t)(t->n_output / 4);
	const uint32_t n_more = (uint32_t)(t->bindings[t->n_bindings - 1].n_bytes / 4);
	const uint32_t reached =
		t->groups[0] * t->groups[1] * t->groups[2] == 0 ? 0 : t->groups[0] * LOCAL;

	for (uint32_t i = 0; i < reached && (i < n_y || kernel == 5); i++) {
		const uint32_t z = word(more, n_more, i);

		if (kernel == 0)
			y[i] = word(x, n, i) * 2654435761u + i;
		else if (kernel == 1 && 2 * i + 1 < n_y)
			memcpy(&y[2 * i], &(uint64_t){wide(x, n, i)}, 8);
		else if (kernel == 2)
			y[i] = word(x, n, i) * more[0] + more[1];
		else if (kernel == 3)
			y[i] = sums(x, n, i);
		else if (kernel == 4)
			y[i] = word(x, n, i) / (z | 1) + z % 1000;
		else if (kernel == 5 && i < n)
			y[x[i] & (BINS - 1)]++;
		else if (kernel == 6 && i % 3 == 0)
			y[i] = i + 7;
	}
}

/* ---- making them ------------------------------------------------------------------------------ */

static int unit_of(jobs *j, uint32_t kernel, const uint32_t groups[3], const pctl_call *call,
		   const pctl_kernel_module **out)
{
	const pctl_kernel_source source = {.name = "job.wgsl",
					   .text = texts[kernel],
					   .n_text = strlen(texts[kernel]),
					   .flags = PCTL_WGSL_CONSENSUS,
					   .groups = groups};

	return pctl_kernels_get(j->kernels, &source, call, out) == PCTL_OK;
}

static int fill(pctl_task_binding *b, uint32_t group, uint32_t binding, uint32_t n_words,
		uint64_t seed, int named, const pctl_call *call)
{
	uint32_t *data = malloc(n_words * 4u + 4u);
	pctl_cid *cid = named ? malloc(sizeof(*cid)) : NULL;

	if (data == NULL || (named && cid == NULL))
		return 0;
	for (uint32_t i = 0; i < n_words; i++)
		data[i] = (uint32_t)mix(seed, i);
	if (named && pctl_cid_of(data, n_words * 4u, call, cid) != PCTL_OK)
		return 0;
	*b = (pctl_task_binding){group, binding, cid, data, n_words * 4u};
	return 1;
}

static int make_one(jobs *j, uint32_t i, uint64_t seed, uint32_t only, uint32_t words,
		    const pctl_call *call)
{
	const uint64_t r = mix(seed, i);
	const uint32_t kernel = only < JOBS_KERNELS ? only : i % JOBS_KERNELS;
	/* Some share their bytes, some have none, few are large. */
	const uint64_t data = r % 4 == 0 ? seed : r;
	const uint32_t n = words != 0	  ? words
			   : data == seed ? 500u
			   : r % 23 == 0  ? 0
			   : r % 29 == 0  ? 300000u
					  : (uint32_t)(r >> 8) % 2000u + 1;
	pctl_task *t = &j->tasks[i];
	pctl_task_binding *b = calloc(2, sizeof(*b));
	char name[32];

	snprintf(name, sizeof(name), "job%u", i);
	t->name = strdup(name);
	t->bindings = b;
	t->groups[0] = words == 0 && r % 31 == 0 ? 0 : (n + LOCAL - 1) / LOCAL + (kernel == 6);
	t->groups[1] = t->groups[2] = 1;
	t->n_output =
		kernel == 5 ? BINS * 4u : n * 4u + (words == 0 && n != 0 && r % 5 == 0 ? 2 : 0);
	t->output = malloc(t->n_output + 1);
	j->want[i] = calloc(1, t->n_output + 1);
	if (b == NULL || t->name == NULL || t->output == NULL || j->want[i] == NULL ||
	    !unit_of(j, kernel, t->groups, call, &t->unit) ||
	    !fill(&b[t->n_bindings++], 0, 0, n, data, r % 3 != 0, call))
		return 0;
	if (kernel == 2 && !fill(&b[t->n_bindings++], 0, 1, 2, data + 1, 1, call))
		return 0;
	if (kernel == 4 && !fill(&b[t->n_bindings++], 0, 2, n / 2, data + 2, 1, call))
		return 0;
	expect(kernel, t, (uint32_t *)(void *)j->want[i]);
	return 1;
}

int jobs_make(jobs *j, uint32_t n, uint64_t seed, uint32_t only, uint32_t words,
	      const pctl_call *call)
{
	int ok;

	*j = (jobs){.kernels = pctl_kernels_create(NULL),
		    .tasks = calloc(n + 1u, sizeof(*j->tasks)),
		    .want = calloc(n + 1u, sizeof(*j->want))};
	ok = j->kernels != NULL && j->tasks != NULL && j->want != NULL;
	for (; ok && j->n < n; j->n++)
		ok = make_one(j, j->n, seed, only, words, call);
	return ok;
}

void jobs_drop(jobs *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		for (uint32_t k = 0; k < j->tasks[i].n_bindings; k++) {
			free((void *)(uintptr_t)j->tasks[i].bindings[k].data);
			free((void *)(uintptr_t)j->tasks[i].bindings[k].cid);
		}
		free((void *)(uintptr_t)j->tasks[i].bindings);
		free((void *)(uintptr_t)j->tasks[i].name);
		free(j->tasks[i].output);
		free(j->want[i]);
	}
	free(j->tasks);
	free(j->want);
	pctl_kernels_destroy(j->kernels);
	*j = (jobs){0};
}

void jobs_corrupt(jobs *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		memset(j->tasks[i].output, 0xa5, j->tasks[i].n_output + 1);
}

uint32_t jobs_wrong(const jobs *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const pctl_task *t = &j->tasks[i];

		if (memcmp(t->output, j->want[i], t->n_output) != 0)
			return i;
		/* Nothing is written behind an output. */
		if (((const uint8_t *)t->output)[t->n_output] != 0xa5)
			return i;
	}
	return j->n;
}
