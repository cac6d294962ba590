/* Reading a gas schedule: the weights by schema, the cost table opcode by opcode. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/conf/schema.h"
#include "runtime/gas/schedule.h"

/* In the order of PCTL_LOOPS_*. */
static const char *const loop_rules[] = {"multiply-all", "structured", "folded", NULL};

#define WEIGHT(name, text)                                                                     \
	{                                                                                      \
		.key = name, .kind = PCTL_FIELD_U64, .flags = PCTL_FIELD_REQUIRED, .doc = text \
	}

#define LATER_WEIGHT(name, text)                                 \
	{                                                        \
		.key = name, .kind = PCTL_FIELD_U64, .doc = text \
	}

static const pctl_conf_field weight_fields[] = {
	WEIGHT("integer", "an integer operation"),
	WEIGHT("division", "an integer division or remainder"),
	WEIGHT("atomic", "an atomic operation"),
	WEIGHT("storage_read", "4 bytes read from storage or uniform memory"),
	WEIGHT("storage_write", "4 bytes written to storage memory"),
	WEIGHT("workgroup_barrier", "a workgroupBarrier, once a workgroup"),
	WEIGHT("storage_barrier", "a storageBarrier, once a workgroup"),
	WEIGHT("memory", "a started unit of bound memory"),
	WEIGHT("memory_unit_bytes", "bytes of that unit"),
	WEIGHT("dependency_hop", "a parent edge"),
	WEIGHT("validation", "a byte of source, charged also when it is refused"),
	WEIGHT("local_memory_ops",
	       "integer operations for 4 bytes of workgroup, private and function memory"),
	WEIGHT("index_check", "integer operations for an index that the proof rule does not cover"),
	/* All of these or none: a schedule without them is older than floats. */
	LATER_WEIGHT("float", "a strict float operation"),
	LATER_WEIGHT("float_division", "a strict float division or root"),
	LATER_WEIGHT("elementary", "a correctly rounded elementary function"),
};
static const pctl_conf_schema weight_schema = PCTL_CONF_SCHEMA("the weights", weight_fields);

static const pctl_conf_field schedule_fields[] = {
	{.key = "name",
	 .kind = PCTL_FIELD_NAME,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "name of the schedule"},
	{.key = "loops",
	 .kind = PCTL_FIELD_CHOICE,
	 .flags = PCTL_FIELD_REQUIRED,
	 .words = loop_rules,
	 .doc = "what loop bounds multiply"},
	{.key = "weights",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &weight_schema,
	 .doc = "gas of each kind of cost"},
	{.key = "costs",
	 .kind = PCTL_FIELD_ANY,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "cost of each opcode"},
};
static const pctl_conf_schema schedule_schema = PCTL_CONF_SCHEMA("a gas schedule", schedule_fields);

static const pctl_conf_field root_fields[] = {
	{.key = "schedule",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &schedule_schema,
	 .doc = "the schedule"},
};
static const pctl_conf_schema root_schema = PCTL_CONF_SCHEMA("a schedule file", root_fields);

static void keep(pctl_status *first, pctl_status status)
{
	if (*first == PCTL_OK)
		*first = status;
}

static uint64_t weight(const pctl_conf_value *group, const char *key, const pctl_call *call,
		       pctl_status *status)
{
	uint64_t out;

	keep(status, pctl_conf_as_u64(pctl_conf_get(group, key), 0, UINT64_MAX, call, &out));
	return out;
}

/* The weights of floats, where the schedule has them; the first released schedules do not. */
static pctl_status read_float_weights(pctl_gas_schedule *s, const pctl_conf_value *w,
				      const pctl_call *call)
{
	static const char *const keys[] = {"float", "float_division", "elementary"};
	uint64_t *const to[] = {&s->costs.float_op, &s->costs.float_division, &s->costs.elementary};
	pctl_status status = PCTL_OK;
	uint32_t present = 0, i;

	for (i = 0; i < 3; i++)
		present += pctl_conf_get(w, keys[i]) != NULL;
	if (present != 0 && present != 3)
		return pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &w->pos, NULL,
				      "float, float_division and elementary are given together");
	s->has_floats = present != 0;
	for (i = 0; i < 3 && s->has_floats; i++)
		*to[i] = weight(w, keys[i], call, &status);
	return status;
}

static pctl_status read_weights(pctl_gas_schedule *s, const pctl_conf_value *w,
				const pctl_call *call)
{
	pctl_cost_table *t = &s->costs;
	const pctl_conf_value *unit = pctl_conf_get(w, "memory_unit_bytes");
	pctl_status status = PCTL_OK;

	t->integer = weight(w, "integer", call, &status);
	t->division = weight(w, "division", call, &status);
	t->atomic = weight(w, "atomic", call, &status);
	t->read = weight(w, "storage_read", call, &status);
	t->write = weight(w, "storage_write", call, &status);
	t->workgroup_barrier = weight(w, "workgroup_barrier", call, &status);
	t->storage_barrier = weight(w, "storage_barrier", call, &status);
	t->memory_ops = weight(w, "local_memory_ops", call, &status);
	t->index_check = weight(w, "index_check", call, &status);
	s->memory = weight(w, "memory", call, &status);
	s->memory_unit_bytes = weight(w, "memory_unit_bytes", call, &status);
	s->dependency_hop = weight(w, "dependency_hop", call, &status);
	s->validation = weight(w, "validation", call, &status);
	keep(&status, read_float_weights(s, w, call));
	if (status == PCTL_OK && !s->memory_unit_bytes)
		status = pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &unit->pos, NULL,
					"memory_unit_bytes is 0");
	/* A barrier may be both kinds at once: the sum must fit before it is ever formed. */
	if (status == PCTL_OK && t->storage_barrier > UINT64_MAX - t->workgroup_barrier)
		status = pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &w->pos, NULL,
					"the barriers' weights do not fit together");
	return status;
}

/* The word a cost of this opcode must be where it has no choice, else NULL. */
static const char *fixed_word(uint16_t op)
{
	if (op == PCTL_OP_LOAD || op == PCTL_OP_STORE || op == PCTL_OP_LOAD_UNIFORM)
		return "bytes";
	if (op == PCTL_OP_BARRIER)
		return "barrier";
	return NULL;
}

static int parse_cost(const char *text, uint8_t *kind, uint8_t *count)
{
	static const char *const kinds[] = {"none",   "integer ",	 "division ",  "atomic ",
					    "float ", "float_division ", "elementary "};
	uint64_t n;
	uint8_t i;

	*kind = *count = 0;
	if (strcmp(text, kinds[0]) == 0)
		return 1;
	for (i = PCTL_COST_INTEGER; i <= PCTL_COST_ELEMENTARY; i++) {
		const size_t skip = strlen(kinds[i]);

		if (strncmp(text, kinds[i], skip) != 0)
			continue;
		if (!pctl_num_parse_u64(text + skip, strlen(text + skip), &n) || n < 1 ||
		    n > UINT8_MAX)
			return 0;
		*kind = i;
		*count = (uint8_t)n;
		return 1;
	}
	return 0;
}

static pctl_status read_cost(pctl_gas_schedule *s, uint16_t op, const pctl_conf_value *v,
			     const pctl_call *call)
{
	const char *fixed = fixed_word(op), *text;
	pctl_status status = pctl_conf_as_string(v, call, &text);

	if (status != PCTL_OK)
		return status;
	if (fixed ? strcmp(text, fixed) == 0
		  : parse_cost(text, &s->costs.kind[op], &s->costs.count[op]))
		return PCTL_OK;
	return pctl_refuse_at(call, PC2600_GAS_COST, &v->pos, NULL,
			      "%s costs \"%s\", expected %s%s%s", v->key, text,
			      fixed ? "\"" : "none, or a kind and a count such as ",
			      fixed ? fixed : "\"integer 1", "\"");
}

/* The operations that came with floats, which the first schedules do not know. */
static int came_with_floats(uint16_t op)
{
	return PCTL_IS_STRICT(op) || op == PCTL_OP_LOOKUP;
}

static int is_subgroup(uint16_t op)
{
	return pctl_op_get(op)->kind == PCTL_OPKIND_subgroup ||
	       pctl_op_get(op)->kind == PCTL_OPKIND_tile;
}

/* The functions that are younger than the schedules before structured-3. */
static int is_late_function(uint16_t op)
{
	return op >= PCTL_OP_FERF && op <= PCTL_OP_FEXPM1;
}

static int is_priced(const pctl_gas_schedule *s, uint16_t op)
{
	return pctl_cost_needs_price(op) && (s->has_floats || !came_with_floats(op)) &&
	       (s->has_subgroups || !is_subgroup(op)) &&
	       (s->has_late_functions || !is_late_function(op));
}

/* Subgroup operations, tiles among them, are priced all or not at all, and so are late functions: older schedules do not
 * know them. */
static int prices_any(const pctl_conf_value *costs, int (*is_one)(uint16_t))
{
	for (uint16_t op = 0; op < PCTL_COST_OPS; op++)
		if (is_one(op) && pctl_conf_get(costs, pctl_op_get(op)->name))
			return 1;
	return 0;
}

/* An opcode that this schedule prices has that name. */
static int is_opcode(const pctl_gas_schedule *s, const char *name)
{
	uint16_t op;

	for (op = 0; op < PCTL_COST_OPS; op++) {
		if (is_priced(s, op) && strcmp(pctl_op_get(op)->name, name) == 0)
			return 1;
	}
	return 0;
}

static pctl_status read_costs(pctl_gas_schedule *s, const pctl_conf_value *costs,
			      const pctl_call *call)
{
	pctl_status status = PCTL_OK;
	uint32_t i;
	uint16_t op;

	if (costs->kind != PCTL_CONF_GROUP)
		return pctl_refuse_at(call, PC2601_GAS_COST_KEY, &costs->pos, NULL,
				      "`costs` must be a group: { opcode = \"integer 1\"; .. }");
	s->has_subgroups = prices_any(costs, is_subgroup);
	s->has_late_functions = prices_any(costs, is_late_function);
	for (op = 0; op < PCTL_COST_OPS; op++) {
		const char *name = pctl_op_get(op)->name;
		const pctl_conf_value *v;

		if (!is_priced(s, op)) {
			if (pctl_cost_needs_price(op))
				s->costs.kind[op] = PCTL_COST_UNPRICED;
			continue;
		}
		v = pctl_conf_get(costs, name);
		if (v)
			keep(&status, read_cost(s, op, v, call));
		else
			keep(&status, pctl_refuse_at(call, PC2601_GAS_COST_KEY, &costs->pos, NULL,
						     "opcode %s has no cost", name));
	}
	for (i = 0; i < costs->n_items; i++) {
		const pctl_conf_value *v = costs->items[i];

		if (!is_opcode(s, v->key))
			keep(&status,
			     pctl_refuse_at(call, PC2601_GAS_COST_KEY, &v->key_pos, NULL,
					    "%s is no opcode that this schedule prices", v->key));
	}
	return status;
}

static pctl_status read_schedule(const pctl_conf *c, const pctl_call *call, pctl_gas_schedule *s)
{
	const pctl_conf_value *root = pctl_conf_root(c), *group;
	pctl_status status = pctl_conf_check(root, &root_schema, call);
	const char *name;
	uint32_t rule;

	if (status != PCTL_OK)
		return status;
	group = pctl_conf_get(root, "schedule");
	keep(&status, pctl_conf_as_name(pctl_conf_get(group, "name"), call, &name));
	keep(&status,
	     pctl_conf_as_choice(pctl_conf_get(group, "loops"), loop_rules, 3, call, &rule));
	keep(&status, read_weights(s, pctl_conf_get(group, "weights"), call));
	keep(&status, read_costs(s, pctl_conf_get(group, "costs"), call));
	if (status != PCTL_OK)
		return status;
	s->structured = (int)rule;
	s->name = strdup(name);
	return s->name ? PCTL_OK : pctl_no_memory(call, "a gas schedule");
}

pctl_status pctl_gas_schedule_read(const char *path, const pctl_call *call, pctl_gas_schedule **out)
{
	pctl_gas_schedule *s = NULL;
	pctl_conf *c = NULL;
	pctl_status status;

	*out = NULL;
	status = pctl_conf_read_file(path, call, &c);
	if (status != PCTL_OK)
		return status;
	s = calloc(1, sizeof(*s));
	status = s ? read_schedule(c, call, s) : pctl_no_memory(call, "a gas schedule");
	pctl_conf_destroy(c);
	if (status == PCTL_OK)
		*out = s;
	else
		pctl_gas_schedule_destroy(s);
	return status;
}

void pctl_gas_schedule_destroy(pctl_gas_schedule *s)
{
	if (!s)
		return;
	free(s->name);
	free(s);
}

const char *pctl_gas_schedule_name(const pctl_gas_schedule *s)
{
	return s->name;
}
