/* The order of a module: runs the writer over a program and puts its sections together. */
#include <stdlib.h>

#include "spirv/coopmat.h"
#include "spirv/spirv.h"

static int prepare(pctl_spv *e)
{
	const pctl_program *p = e->p;
	uint32_t i, most_insts = 1, most_locals = 1;

	for (i = 1; i < p->n_functions; i++) {
		if (p->functions[i].n_insts > most_insts)
			most_insts = p->functions[i].n_insts;
		if (p->functions[i].n_locals > most_locals)
			most_locals = p->functions[i].n_locals;
	}
	for (i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_BARRIER &&
		    (pctl_arg(p, &p->insts[i], 0) & PCTL_BARRIER_STORAGE))
			e->storage_barrier = 1;
	e->vulkan_model =
		(e->storage_barrier || (p->caps & PCTL_CAP_TILES)) && e->opt->memory_model;
	e->is_flat = pctl_spv_subgroup_size(p) &&
		     p->entries[0].workgroup_size[1] * p->entries[0].workgroup_size[2] > 1;
	e->float_widths = pctl_spv_float_widths(p);
	e->plain = calloc(p->n_types, sizeof(*e->plain));
	e->explicit_layout = calloc(p->n_types, sizeof(*e->explicit_layout));
	e->leaves = calloc(p->n_types, sizeof(*e->leaves));
	e->vars = calloc(p->n_vars + 1, sizeof(*e->vars));
	e->fns = calloc(p->n_functions, sizeof(*e->fns));
	e->values = calloc(most_insts, sizeof(*e->values));
	e->locals = calloc(most_locals, sizeof(*e->locals));
	if (!e->plain || !e->explicit_layout || !e->leaves || !e->vars || !e->fns || !e->values ||
	    !e->locals)
		pctl_spv_fail(e, PCTL_E_NOMEM);
	if (!pctl_spv_tables_find(p, &e->tables, &e->n_tables))
		pctl_spv_fail(e, PCTL_E_NOMEM);
	return e->status == PCTL_OK;
}

static void release(pctl_spv *e)
{
	free(e->decorations.at);
	free(e->globals.at);
	free(e->functions.at);
	free(e->variables.at);
	free(e->opening.at);
	free(e->body.at);
	free(e->inputs.at);
	free(e->map);
	free(e->plain);
	free(e->explicit_layout);
	free(e->leaves);
	free(e->vars);
	free(e->fns);
	free(e->values);
	free(e->locals);
	free(e->regions);
	free(e->tables);
}

static void named(pctl_spv *e, pctl_spv_words *out, SpvOp op, const uint32_t *before, uint32_t n,
		  const char *name, const pctl_spv_words *after)
{
	pctl_spv_words w = {0};
	uint32_t text[16], n_text;

	pctl_spv_append(e, &w, before, n);
	if (pctl_spv_string(e, name, text, 16, &n_text))
		pctl_spv_append(e, &w, text, n_text);
	if (after)
		pctl_spv_append(e, &w, after->at, after->n);
	pctl_spv_inst(e, out, op, w.at, w.n);
	free(w.at);
}

/* By the numbers of the registry (SPIRV-Headers, spirv.core.grammar.json), for headers that are older. */
#define MODE_MAXIMALLY_RECONVERGES 6023u

/* A subgroup operation stands in uniform control flow, yet without a mode that says so its lanes need not be together there: NVIDIA's
 * leave a loop that they left at different turns apart, and the operation is done by those who came. The name of the extension that
 * has the mode; NULL: none. */
static const char *meets_again(const pctl_spv *e, uint32_t *mode)
{
	*mode = MODE_MAXIMALLY_RECONVERGES;
	if (!pctl_spv_subgroup_size(e->p) && !(e->p->caps & PCTL_CAP_TILES))
		return NULL;
	if (e->opt->reconverges)
		return "SPV_KHR_maximal_reconvergence";
	*mode = SpvExecutionModeSubgroupUniformControlFlowKHR;
	return e->opt->uniform_flow ? "SPV_KHR_subgroup_uniform_control_flow" : NULL;
}

static void preamble(pctl_spv *e, pctl_spv_words *out)
{
	const char *meeting;
	uint32_t mode;
	int controls;

	PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityShader);
	if ((e->p->caps & PCTL_CAP_I64) || e->uses_int64)
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityInt64);
	pctl_spv_subgroup_capabilities(e, out);
	if (e->vulkan_model) {
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityVulkanMemoryModel);
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityVulkanMemoryModelDeviceScope);
	}
	if (e->p->caps & PCTL_CAP_TILES) {
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityInt8);
		PCTL_SPV_PUT(e, out, SpvOpCapability, COOPMAT_CAPABILITY);
	}
	if (e->p->caps & PCTL_CAP_F64)
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityFloat64);
	if (e->p->caps & PCTL_CAP_F16)
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityFloat16);
	if (pctl_spv_blocks_hold_16(e->p)) {
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityStorageBuffer16BitAccess);
		PCTL_SPV_PUT(e, out, SpvOpCapability,
			     SpvCapabilityUniformAndStorageBuffer16BitAccess);
	}
	controls = pctl_spv_mode_capabilities(e, out);
	if (e->uses_dot) {
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityDotProductKHR);
		PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityDotProductInput4x8BitPackedKHR);
		named(e, out, SpvOpExtension, NULL, 0, "SPV_KHR_integer_dot_product", NULL);
	}
	if (e->vulkan_model)
		named(e, out, SpvOpExtension, NULL, 0, "SPV_KHR_vulkan_memory_model", NULL);
	if (e->p->caps & PCTL_CAP_TILES)
		named(e, out, SpvOpExtension, NULL, 0, COOPMAT_EXTENSION, NULL);
	if (controls)
		named(e, out, SpvOpExtension, NULL, 0, "SPV_KHR_float_controls", NULL);
	meeting = meets_again(e, &mode);
	if (meeting)
		named(e, out, SpvOpExtension, NULL, 0, meeting, NULL);
	named(e, out, SpvOpExtInstImport, &e->glsl, 1, "GLSL.std.450", NULL);
	PCTL_SPV_PUT(e, out, SpvOpMemoryModel, SpvAddressingModelLogical,
		     e->vulkan_model ? SpvMemoryModelVulkan : SpvMemoryModelGLSL450);
}

pctl_status pctl_spv_write(const pctl_program *p, const pctl_spv_options *opt, pctl_spv_words *out)
{
	const pctl_entry *entry = &p->entries[0];
	pctl_spv e = {.p = p, .opt = opt, .bound = 1};
	uint32_t head[5] = {SpvMagicNumber, 0x00010300, 0, 0, 0};
	uint32_t main_id[2], mode, i;
	const uint32_t *size;

	*out = (pctl_spv_words){0};
	if (p->n_entries == 0 || !pctl_spv_interface_get(p, opt, &e.interface))
		return PCTL_E_UNSUPPORTED;
	e.glsl = pctl_spv_id(&e);
	if (!prepare(&e) || !pctl_spv_types_declare(&e))
		goto out;
	pctl_spv_globals_declare(&e);
	for (i = 1; i < p->n_functions && e.status == PCTL_OK; i++)
		pctl_spv_function(&e, i, i == entry->function);
	head[3] = e.bound;
	pctl_spv_append(&e, out, head, 5);
	preamble(&e, out);
	main_id[0] = SpvExecutionModelGLCompute;
	main_id[1] = e.fns[entry->function];
	named(&e, out, SpvOpEntryPoint, main_id, 2, "main", &e.inputs);
	size = entry->workgroup_size;
	PCTL_SPV_PUT(&e, out, SpvOpExecutionMode, main_id[1], SpvExecutionModeLocalSize,
		     e.is_flat ? size[0] * size[1] * size[2] : size[0], e.is_flat ? 1 : size[1],
		     e.is_flat ? 1 : size[2]);
	if (meets_again(&e, &mode))
		PCTL_SPV_PUT(&e, out, SpvOpExecutionMode, main_id[1], mode);
	pctl_spv_mode_declare(&e, out, main_id[1]);
	pctl_spv_append(&e, out, e.decorations.at, e.decorations.n);
	pctl_spv_append(&e, out, e.globals.at, e.globals.n);
	pctl_spv_append(&e, out, e.functions.at, e.functions.n);
out:
	if (e.status != PCTL_OK) {
		free(out->at);
		*out = (pctl_spv_words){0};
	}
	release(&e);
	return e.status;
}
