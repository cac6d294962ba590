/* What the ways of tensor.matmul share: how many parts and steps there are, what fits, how a kernel's text is put together and run. */
#include <stdio.h>

#include "matmul_fast.h"

#include "kernels.h"

uint64_t matmul_parts(uint64_t n, uint64_t of)
{
	return n / of + (n % of != 0);
}

uint64_t matmul_steps(uint64_t n)
{
	uint64_t power = 16;

	while (power < n)
		power *= 2;
	return power;
}

int matmul_turns_fit(const pctl_plan_caps *caps, uint64_t turns)
{
	return caps->max_turns == 0 || turns <= caps->max_turns;
}

int matmul_cut_fits(const matmul_fast_plan *f, const matmul_cut *c)
{
	const pctl_plan_caps *caps = f->p->caps;

	return caps->max_invocations >= c->local && caps->max_workgroup_bytes >= c->memory &&
	       matmul_turns_fit(caps,
				matmul_steps(matmul_parts(f->s->k, c->block)) * c->turns + 64);
}

void matmul_add_codec(kit_wgsl *w, uint32_t dtype, const char *name)
{
	if (kit_codec_word(dtype) != NULL)
		kit_wgsl_named(w, kit_codec_word(dtype), name);
	kit_wgsl_named(w, kit_codec_bits(dtype), name);
}

void matmul_run(matmul_fast_plan *f, const char *name, kit_wgsl *w, uint32_t local, uint64_t groups,
		uint64_t steps, const kit_slot *slots, uint32_t n_slots)
{
	matmul_run_grid(f, name, w, local, (const uint64_t[]){groups, 0}, steps, slots, n_slots);
}

int matmul_has_grid(const matmul_fast_plan *f, const uint64_t groups[2])
{
	for (uint32_t i = 0; i < 2; i++)
		if (groups[i] > KIT_GROUPS_ROW || groups[i] > f->p->caps->max_groups[i])
			return 0;
	return 1;
}

void matmul_run_grid(matmul_fast_plan *f, const char *name, kit_wgsl *w, uint32_t local,
		     const uint64_t groups[2], uint64_t steps, const kit_slot *slots,
		     uint32_t n_slots)
{
	const kit_kernel kernel = {name, w->text, local, "steps", matmul_steps(steps)};
	const uint32_t writes = f->writes ? f->p->through & PCTL_PLAN_WRITE_THROUGH(0) : 0;
	const kit_through through = {writes | f->reads, 0, f->first};

	if (f->p->status == PCTL_OK)
		f->p->status = kit_wgsl_status(w);
	if (f->p->status == PCTL_OK)
		groups[1] == 0
			? kit_run_through(f->p, &kernel, groups[0] * local, slots, n_slots, through)
			: kit_run_grid(f->p, &kernel, groups, slots, n_slots, through);
	kit_wgsl_free(w);
}

void matmul_add_each(kit_wgsl *w, const char *text, uint32_t first, uint32_t n)
{
	static const char *const numbers[] = {"0", "1", "2",  "3",  "4",  "5",	"6",  "7",
					      "8", "9", "10", "11", "12", "13", "14", "15"};

	for (uint32_t i = 0; i < n; i++)
		kit_wgsl_named(w, text, numbers[first + i]);
}

int matmul_batches_share(const matmul_shape *s)
{
	uint64_t stride = s->m * s->k;

	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		if (s->batch[d].n == 1)
			continue;
		if (s->batch[d].b != 0 || s->batch[d].a != stride)
			return 0;
		stride *= s->batch[d].n;
	}
	return 1;
}

int matmul_rows_share(const matmul_shape *s, uint64_t terms)
{
	return s->a_column == 1 && s->b_row == 1 && s->k != 0 && s->k % terms == 0 &&
	       matmul_batches_share(s);
}

void matmul_add(kit_wgsl *w, const char *text, uint32_t c, uint32_t r, uint32_t j)
{
	char line[320], *out = line;

	for (; *text != '\0' && out < line + sizeof(line) - 12; text++) {
		const uint32_t n = *text == '#' ? c : *text == '@' ? r : j;

		if (*text == '#' || *text == '@' || *text == '~')
			out += snprintf(out, 11, "%u", n);
		else
			*out++ = *text;
	}
	*out = '\0';
	kit_wgsl_add(w, line);
}

void matmul_add_layout(const matmul_fast_plan *f, kit_wgsl *w)
{
	kit_wgsl_add(w, KERNEL_MATMUL_CORNER);
	kit_wgsl_add(w, f->cut->layout);
}

void matmul_number(kit_wgsl *w, const char *name, uint32_t value)
{
	char line[64];

	snprintf(line, sizeof(line), "const %s: u32 = %uu;\n", name, value);
	kit_wgsl_add(w, line);
}
