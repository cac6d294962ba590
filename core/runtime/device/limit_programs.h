/* Programs of any size in one extent, and what they give: what the search for a device's limits runs, and the unit
 * `limits` of the engine suite. The host works the answers out on plain numbers. */
#ifndef PIPECTL_RUNTIME_DEVICE_LIMIT_PROGRAMS_H
#define PIPECTL_RUNTIME_DEVICE_LIMIT_PROGRAMS_H

#include "foundation/base/str.h"
#include "pipectl/host.h"
#include "compiler/analysis/extents.h"

/* Invocations of every program, in one workgroup. */
#define PCTL_LIMIT_LANES 64u
/* Words of the array that is read: one a lane, then the size again, so that no compiler knows it. */
#define PCTL_LIMIT_WORDS (PCTL_LIMIT_LANES + 1u)

/*
 * One shape. Sizes are multiples of `step`, from `least` on; the need of its extent grows evenly with them.
 *
 * name    "nested switches"
 * extent  PCTL_EXTENT_* that it is large in
 * lanes   how many invocations do the work: a simulator takes its time for each
 * most    the search goes no further
 * resolution   what a search may leave open, in sizes
 * known   asked of a driver that is known to have no limit
 * is_end  1: policies allow more than `most`, so that it is a limit, too
 *
 * Bindings of group 0: 0 array<u32> of PCTL_LIMIT_WORDS that is read, 1 array<u32> of PCTL_LIMIT_LANES that is written, 2
 * uniform { lanes, any, 0, 0 }. Lanes from `lanes` on write nothing.
 */
typedef struct pctl_limit_program {
	const char *name;
	uint32_t extent, lanes, step, least, most, resolution, known, is_end;
	void (*text)(pctl_str_buf *out, uint32_t n);
	void (*expect)(uint32_t n, const uint32_t *in, uint32_t *out);
} pctl_limit_program;

/* In the order of the search: what is cheap and what is likely first. */
extern const pctl_limit_program pctl_limit_programs[];
extern const uint32_t pctl_limit_n_programs;

/* The text with size n, released with free; NULL: no memory. */
char *pctl_limit_program_text(const pctl_limit_program *s, uint32_t n);
/* What is read, and what `lanes` words must be then. */
void pctl_limit_program_input(const pctl_limit_program *s, uint32_t n,
			      uint32_t in[PCTL_LIMIT_WORDS]);
/*
 * How much the text with size n needs of its extent, as extents.h counts it.
 *
 * Errors: PCTL_E_NOMEM.
 */
pctl_status pctl_limit_program_need(const pctl_limit_program *s, uint32_t n, const pctl_call *call,
				    uint64_t *out);
/* The largest size that needs no more than `limit`; 0: none does. */
pctl_status pctl_limit_program_within(const pctl_limit_program *s, uint64_t limit,
				      const pctl_call *call, uint32_t *n);

#endif
