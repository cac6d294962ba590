/* What a program asks against what the device has, before any driver work. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/vk.h"

static void __attribute__((format(printf, 3, 4)))
refuse(pctl_support *out, uint32_t code, const char *fmt, ...)
{
	va_list args;

	out->supported = 0;
	out->code = code;
	va_start(args, fmt);
	vsnprintf(out->reason, sizeof(out->reason), fmt, args);
	va_end(args);
}

/* Strict operations are the legaliser's to take apart: none may come this far. */
static void refuse_strict(const pctl_program *p, pctl_support *out)
{
	uint32_t i;

	for (i = 0; i < p->n_insts && out->supported; i++)
		if (PCTL_IS_STRICT(p->insts[i].op))
			refuse(out, PC3210_KERNEL_CAPABILITY,
			       "the strict float operation %s is not legalised",
			       pctl_op_get(p->insts[i].op)->name);
}

static void refuse_float_tiles(const pctl_program *p, pctl_support *out)
{
	for (uint32_t i = 0; i < p->n_types && out->supported; i++)
		if (p->types[i].kind == PCTL_TYPE_TILE && pctl_tile_is_float(&p->types[i]))
			refuse(out, PC3210_KERNEL_CAPABILITY,
			       "cooperative matrices of f64, whose sums have an order, are not "
			       "written for here");
}

static void check_product(const pctl_device *dev, const pctl_program *p, const pctl_function *fn,
			  const pctl_inst *in, pctl_support *out)
{
	const pctl_type *r = &p->types[in->type];
	const uint32_t k = p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].columns;
	const int is_signed = r->scalar == PCTL_SCALAR_I32;

	if (!pctl_tile_is_float(r) &&
	    !(dev->has.tiles & pctl_vk_tile_bit(r->width, r->columns, k, is_signed)))
		refuse(out, PC3210_KERNEL_CAPABILITY,
		       "%s has no cooperative matrices of %u rows, %u columns and %u components of "
		       "%s",
		       dev->props.deviceName, r->width, r->columns, k, is_signed ? "i8" : "u8");
}

static void check_op(const pctl_device *dev, const pctl_program *p, const pctl_function *fn,
		     const pctl_inst *in, pctl_support *out)
{
	const char *name = pctl_op_get(in->op)->name;

	if (in->op >= PCTL_OP_NSIN && in->op <= PCTL_OP_NCBRT &&
	    p->types[in->type].scalar == PCTL_SCALAR_F64)
		refuse(out, PC3210_KERNEL_CAPABILITY, "%s has no %s of f64", dev->props.deviceName,
		       name);
	if (pctl_tile_moved(p, fn, in) && !(in->flags & PCTL_INST_WHOLE))
		refuse(out, PC3210_KERNEL_CAPABILITY, "%s of a tile that need not be whole", name);
	if (in->op == PCTL_OP_TILE_MULTIPLY_ADD)
		check_product(dev, p, fn, in, out);
	if (in->op == PCTL_OP_BITCAST &&
	    (p->types[in->type].scalar == PCTL_SCALAR_U16 ||
	     p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].scalar == PCTL_SCALAR_U16))
		refuse(out, PC3210_KERNEL_CAPABILITY,
		       "%s of u16: 16 bits are loaded, stored and converted, no more", name);
}

/* What the capabilities of a program do not tell. */
static void check_ops(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	uint32_t f, i;

	for (f = 1; f < p->n_functions; f++)
		for (i = 0; i < p->functions[f].n_insts && out->supported; i++)
			check_op(dev, p, &p->functions[f],
				 &p->insts[p->functions[f].first_inst + i], out);
	if (out->supported && !dev->has.storage16 && pctl_spv_blocks_hold_16(p))
		refuse(out, PC3210_KERNEL_CAPABILITY, "%s has no 16-bit storage",
		       dev->props.deviceName);
}

static void check_caps(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	static const struct {
		uint64_t cap;
		const char *what;
	} known[] = {
		{PCTL_CAP_I64, "64-bit integers"},
		{PCTL_CAP_F64, "64-bit floats (shaderFloat64)"},
		{PCTL_CAP_F16, "16-bit floats (shaderFloat16)"},
		{PCTL_CAP_BF16, "bf16"},
		{PCTL_CAP_STORE16, "16-bit storage (storageBuffer16BitAccess and "
				   "uniformAndStorageBuffer16BitAccess)"},
		{PCTL_CAP_TILES, "cooperative matrices of 8-bit integers in subgroups of 32 "
				 "(VK_KHR_cooperative_matrix)"},
		{PCTL_CAP_SUBGROUPS, "full subgroups of one size (subgroupSizeControl and "
				     "computeFullSubgroups)"},
	};
	const uint64_t missing = p->caps & ~dev->caps.caps;
	uint32_t i;

	if (p->n_entries == 0 || (p->caps & PCTL_CAP_OVERRIDES)) {
		refuse(out, PC3212_KERNEL_UNSPECIALISED, "the program is not specialised");
		return;
	}
	if (missing & PCTL_CAP_STRICT_FLOAT) {
		refuse_strict(p, out);
		return;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]) && out->supported; i++)
		if (missing & known[i].cap)
			refuse(out, PC3210_KERNEL_CAPABILITY, "%s has no %s", dev->props.deviceName,
			       known[i].what);
	refuse_float_tiles(p, out);
	if (missing && out->supported)
		refuse(out, PC3210_KERNEL_CAPABILITY,
		       "capabilities %#" PRIx64 " are not there through Vulkan on %s", missing,
		       dev->props.deviceName);
}

static void check_group(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	const uint32_t *size = p->entries[0].workgroup_size;
	const uint32_t subgroup = pctl_spv_subgroup_size(p);
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < 3 && out->supported; i++) {
		if (size[i] > dev->caps.max_local[i])
			refuse(out, PC3211_KERNEL_LIMIT,
			       "workgroup size %u in dimension %u, %u is the most", size[i], i,
			       dev->caps.max_local[i]);
		n *= size[i];
	}
	if (out->supported && n > dev->caps.max_invocations)
		refuse(out, PC3211_KERNEL_LIMIT,
		       "%" PRIu64 " invocations a workgroup, %u is the most", n,
		       dev->caps.max_invocations);
	if (out->supported && subgroup &&
	    (dev->spirv.subgroup % subgroup || n % dev->spirv.subgroup))
		refuse(out, PC3210_KERNEL_CAPABILITY,
		       "subgroups of %u in %" PRIu64 " invocations are not whole ones of %u or "
		       "parts of such",
		       subgroup, n, dev->spirv.subgroup);
}

static void check_vars(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	const VkPhysicalDeviceLimits *l = &dev->props.limits;
	pctl_spv_interface interface;
	uint64_t bytes = 0;
	uint32_t i, n[2] = {0, 0};

	for (i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_WORKGROUP)
			bytes += (p->types[p->vars[i].type].size + 15u) / 16u * 16u;
	if (bytes > dev->caps.max_workgroup_bytes) {
		refuse(out, PC3211_KERNEL_LIMIT,
		       "%" PRIu64 " bytes of workgroup memory, %u is the most", bytes,
		       dev->caps.max_workgroup_bytes);
		return;
	}
	if (!pctl_spv_interface_get(p, &dev->spirv, &interface) ||
	    interface.n_bindings > dev->caps.max_bindings) {
		refuse(out, PC3211_KERNEL_LIMIT, "more bindings than %u", dev->caps.max_bindings);
		return;
	}
	n[0] = interface.has_tables;
	for (i = 0; i < interface.n_bindings; i++)
		n[interface.bindings[i].uniform]++;
	if (n[0] > l->maxPerStageDescriptorStorageBuffers ||
	    n[1] > l->maxPerStageDescriptorUniformBuffers)
		refuse(out, PC3211_KERNEL_LIMIT,
		       "%u storage and %u uniform bindings, %u and %u are the most", n[0], n[1],
		       l->maxPerStageDescriptorStorageBuffers,
		       l->maxPerStageDescriptorUniformBuffers);
}

void pctl_vk_support(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support), .supported = 1};
	check_caps(dev, p, out);
	if (out->supported)
		check_ops(dev, p, out);
	if (out->supported)
		check_group(dev, p, out);
	if (out->supported)
		check_vars(dev, p, out);
	if (out->supported && pctl_spv_instruction_count(p) > PCTL_SPV_MAX_INSTRUCTIONS)
		refuse(out, PC3211_KERNEL_LIMIT,
		       "a value of the program has more parts than %u instructions can move",
		       PCTL_SPV_MAX_INSTRUCTIONS);
}

pctl_status pctl_vk_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			     uint64_t n, pctl_support *out)
{
	pctl_program *p = NULL;
	pctl_status status;

	if (!out || !wire)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "supports: a pointer is NULL");
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support)};
	status = pctl_program_decode(wire, n, call, &p);
	if (status == PCTL_OK)
		pctl_vk_support(dev, p, out);
	pctl_program_destroy(p);
	return status;
}
