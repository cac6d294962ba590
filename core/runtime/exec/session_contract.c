/* Range contracts on a device: the second program of a unit, which is right where its buffers fulfil them, the kernel that
 * finds out whether they do, and what is remembered of that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/wgsl/wgsl.h"
#include "runtime/exec/session_private.h"

#define LANES 64u
#define WORDS_A_LANE 16u
#define WIDEST_GRID 32768u /* workgroups along x; more lie along y */

/* ---- the second program --------------------------------------------------------------------- */

/* What keeps it from being one here is a reason to do without, as a refusal of the first is not. */
static pctl_status ask(pctl_session *s, const pctl_kernel_module *unit, const pctl_call *call,
		       struct pctl_session_built *built)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	struct pctl_session_built *made = calloc(1, sizeof(*made));
	pctl_status status = made == NULL ? PCTL_E_NOMEM : PCTL_OK;

	if (status == PCTL_OK)
		status = pctl_session_contract_wire(s, unit, call, &built->proof, &made->wire,
						    &made->n_wire);
	if (status == PCTL_OK && made->wire != NULL)
		status = s->o.table->supports(s->dev, call, made->wire, made->n_wire, &support);
	if (status == PCTL_OK && made->wire != NULL && support.supported) {
		built->contract = made;
		return PCTL_OK;
	}
	if (made != NULL)
		free(made->wire);
	free(made);
	if (status == PCTL_E_NOMEM)
		return pctl_no_memory(call, "a kernel");
	if (built->proof.verdict == PCTL_CONTRACT_PROVEN) {
		built->proof.verdict = PCTL_CONTRACT_UNPROVEN;
		snprintf(built->proof.why, sizeof(built->proof.why),
			 "the device does not take the program");
	}
	return status == PCTL_E_CANCELLED || status == PCTL_E_DEVICE_LOST ? status : PCTL_OK;
}

static pctl_status find(pctl_session *s, const pctl_kernel_module *unit, const pctl_call *call,
			struct pctl_session_built **out)
{
	pctl_status status = pctl_session_entry(s, unit, call, out);

	if (status != PCTL_OK || (*out)->contract_asked || s->o.without_contracts ||
	    s->o.device_kind == PCTL_DEVICE_REFERENCE)
		return status;
	status = ask(s, unit, call, *out);
	(*out)->contract_asked = status == PCTL_OK;
	return status;
}

pctl_status pctl_session_contract(pctl_session *s, const pctl_kernel_module *unit,
				  const pctl_call *call, const pctl_contract_proof **proof)
{
	struct pctl_session_built *built;
	const pctl_status status = find(s, unit, call, &built);

	*proof = status == PCTL_OK ? &built->proof : NULL;
	return status;
}

pctl_status pctl_session_contract_kernel(pctl_session *s, const pctl_kernel_module *unit,
					 const pctl_call *call, pctl_kernel **out)
{
	struct pctl_session_built *built;
	const pctl_status status = find(s, unit, call, &built);

	*out = NULL;
	return status != PCTL_OK || built->contract == NULL
		       ? status
		       : pctl_session_build_entry(s, built->contract, call, out);
}

pctl_status pctl_session_contract_cid(pctl_session *s, const pctl_kernel_module *unit,
				      const pctl_call *call, pctl_cid *cid, int *is)
{
	struct pctl_session_built *built;
	const pctl_status status = find(s, unit, call, &built);

	*is = status == PCTL_OK && built->contract != NULL;
	return *is ? pctl_cid_of(built->contract->wire, built->contract->n_wire, call, cid)
		   : status;
}

/* ---- the check ------------------------------------------------------------------------------ */

/* A word is outside where it is neither zero nor, without its sign, between the bounds. Lanes beside each other read words
 * beside each other, and nobody writes anything where all is well. */
static const char check_text[] =
	"@group(0) @binding(0) var<storage, read> words : array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> outside : array<atomic<u32>, 1>;\n"
	"@compute @workgroup_size(%u)\n"
	"fn main(@builtin(workgroup_id) g : vec3<u32>, @builtin(num_workgroups) n : vec3<u32>,\n"
	"        @builtin(local_invocation_index) lane : u32) {\n"
	"  let step = n.x * n.y * %uu;\n"
	"  var i = (g.y * n.x + g.x) * %uu + lane;\n"
	"  var found = false;\n"
	"  for (var k = 0u; k < %uu; k++) {\n"
	"    if (i < arrayLength(&words)) {\n"
	"      let m = words[i] & 0x7fffffffu;\n"
	"      found = found || (m != 0u && m - 0x%xu > 0x%xu);\n"
	"    }\n"
	"    i += step;\n"
	"  }\n"
	"  if (found) { atomicOr(&outside[0], 1u); }\n"
	"}\n";

static pctl_status make_check(const pctl_call *call, pctl_kernel_module *u)
{
	const pctl_wgsl_options options = {.file = "range check"};
	char text[sizeof(check_text) + 64];
	pctl_status status;

	snprintf(text, sizeof(text), check_text, LANES, LANES, LANES, WORDS_A_LANE,
		 PCTL_CONTRACT_LEAST_BITS, PCTL_CONTRACT_MOST_BITS - PCTL_CONTRACT_LEAST_BITS);
	u->name = "range check";
	status = pctl_wgsl_compile(text, strlen(text), &options, call, &u->program);
	if (status == PCTL_OK)
		status = pctl_program_encode(u->program, call, &u->wire, &u->wire_bytes);
	if (status == PCTL_OK)
		status = pctl_cid_of(u->wire, u->wire_bytes, call, &u->cid);
	if (status == PCTL_OK)
		(void)pctl_cid_format(&u->cid, u->build_key);
	return status;
}

static void drop_check(pctl_kernel_module *u)
{
	if (u == NULL)
		return;
	pctl_program_destroy(u->program);
	free(u->wire);
	free(u);
}

pctl_status pctl_session_range_check(pctl_session *s, const pctl_call *call, pctl_kernel **out)
{
	*out = NULL;
	if (s->range_check == NULL) {
		pctl_kernel_module *u = calloc(1, sizeof(*u));
		const pctl_status status =
			u == NULL ? pctl_no_memory(call, "a kernel") : make_check(call, u);

		if (status != PCTL_OK) {
			drop_check(u);
			return status;
		}
		s->range_check = u;
	}
	return pctl_session_kernel(s, s->range_check, call, out);
}

void pctl_session_range_groups(const pctl_session *s, uint64_t n_words, uint32_t groups[3])
{
	const uint64_t n = (n_words + LANES * WORDS_A_LANE - 1) / (LANES * WORDS_A_LANE);
	const uint64_t most =
		s->caps.max_groups[0] < WIDEST_GRID ? s->caps.max_groups[0] : WIDEST_GRID;
	const uint64_t x = n < most || most == 0 ? n : most;

	groups[0] = (uint32_t)(x == 0 ? 1 : x);
	groups[1] = (uint32_t)((n + groups[0] - 1) / groups[0]);
	groups[2] = 1;
	if (groups[1] == 0)
		groups[1] = 1;
}

/* ---- what is remembered --------------------------------------------------------------------- */

int pctl_session_range_known(const pctl_session *s, const pctl_cid *cid)
{
	char key[PCTL_CID_TEXT_SIZE];

	pctl_cid_format(cid, key);
	if (s->ranges == NULL || !pctl_map_has(s->ranges, key))
		return -1;
	return pctl_map_get(s->ranges, key) != NULL;
}

void pctl_session_range_note(pctl_session *s, const pctl_cid *cid, int fulfils)
{
	char key[PCTL_CID_TEXT_SIZE];

	if (s->ranges == NULL)
		s->ranges = pctl_map_create();
	if (s->ranges != NULL)
		/* Whether there is something, not what, is the answer. */
		(void)pctl_map_put(s->ranges, pctl_cid_format(cid, key), fulfils ? s : NULL);
}

void pctl_session_drop_contracts(pctl_session *s)
{
	drop_check(s->range_check);
	pctl_map_destroy(s->ranges);
}
