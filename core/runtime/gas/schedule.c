/* Reading a gas schedule: the weights by schema, the cost table opcode by opcode. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/conf/schema.h"
#include "runtime/gas/schedule.h"

/* In the order of PCTL_LOOPS_*. */
static const char *const loop_rules[] = {"multiply-all", "structured", "folded", NULL};

/* In the order of pctl_cost_table.all_sides. */
static const char *const branch_rules[] = {"dearer", "all", NULL};

_Static_assert(PCTL_GAS_ROWS == PCTL_GAS_WEIGHTS + PCTL_COST_OPS, "a row for each opcode");

enum { ALWAYS, FLOATS, WHOLE };

static const struct {
	const char *key;
	size_t at; /* in pctl_gas_schedule */
	int since;
} rows[PCTL_GAS_WEIGHTS] = {
#define GAS_ROW(id, key, field, since, doc) {key, offsetof(pctl_gas_schedule, field), since},
#include "runtime/gas/rows.def"
#undef GAS_ROW
};

static const pctl_conf_field weight_fields[] = {
#define GAS_ROW(id, name, field, since, text)                 \
	{.key = name,                                         \
	 .kind = PCTL_FIELD_U64,                              \
	 .flags = since == ALWAYS ? PCTL_FIELD_REQUIRED : 0u, \
	 .doc = text},
#include "runtime/gas/rows.def"
#undef GAS_ROW
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
	{.key = "branches",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = branch_rules,
	 .doc = "what a branch costs; released schedules do not say it: its dearer side"},
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

static uint64_t *row_at(pctl_gas_schedule *s, uint32_t row)
{
	return (uint64_t *)(void *)((char *)s + rows[row].at);
}

/* Of those that came together: all are there, or none is. */
static pctl_status read_together(pctl_gas_schedule *s, const pctl_conf_value *w, int since,
				 const pctl_call *call, int *out)
{
	const char *missing = NULL, *given = NULL;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < PCTL_GAS_WEIGHTS; i++) {
		const pctl_conf_value *v = pctl_conf_get(w, rows[i].key);

		if (rows[i].since != since)
			continue;
		if (v == NULL) {
			missing = missing == NULL ? rows[i].key : missing;
			continue;
		}
		given = given == NULL ? rows[i].key : given;
		keep(&status, pctl_conf_as_u64(v, 0, UINT64_MAX, call, row_at(s, i)));
	}
	*out = given != NULL;
	if (given != NULL && missing != NULL)
		return pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &w->pos, NULL,
				      "%s is given and %s is not: they are given together", given,
				      missing);
	return status;
}

static pctl_status read_weights(pctl_gas_schedule *s, const pctl_conf_value *w,
				const pctl_call *call)
{
	const pctl_cost_table *t = &s->costs;
	const pctl_conf_value *unit = pctl_conf_get(w, "memory_unit_bytes");
	int is_there;
	pctl_status status = read_together(s, w, ALWAYS, call, &is_there);

	keep(&status, read_together(s, w, FLOATS, call, &s->has_floats));
	keep(&status, read_together(s, w, WHOLE, call, &s->is_whole));
	if (status == PCTL_OK && !s->memory_unit_bytes)
		status = pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &unit->pos, NULL,
					"memory_unit_bytes is 0");
	if (status == PCTL_OK && s->is_whole && !s->parts)
		status = pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &w->pos, NULL, "parts is 0");
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

/* A schedule that prices all that a job is says what a branch costs, and no other one does. */
static pctl_status read_branches(pctl_gas_schedule *s, const pctl_conf_value *group,
				 const pctl_call *call)
{
	const pctl_conf_value *v = pctl_conf_get(group, "branches");
	uint32_t rule = 0;
	pctl_status status;

	if ((v != NULL) != s->is_whole)
		return pctl_refuse_at(call, PC2603_GAS_SCHEDULE, &group->pos, NULL,
				      "`branches` is given with the weights from consensus-2 on, "
				      "such as `job`, and with them alone");
	if (v == NULL)
		return PCTL_OK;
	status = pctl_conf_as_choice(v, branch_rules, 2, call, &rule);
	s->costs.all_sides = (int)rule;
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
	if (status == PCTL_OK)
		status = read_branches(s, group, call);
	if (status != PCTL_OK)
		return status;
	s->structured = (int)rule;
	s->name = strdup(name);
	return s->name ? PCTL_OK : pctl_no_memory(call, "a gas schedule");
}

static pctl_status take(pctl_conf *c, const pctl_call *call, pctl_gas_schedule **out)
{
	pctl_gas_schedule *s = calloc(1, sizeof(*s));
	pctl_status status = s ? read_schedule(c, call, s) : pctl_no_memory(call, "a gas schedule");

	pctl_conf_destroy(c);
	if (status == PCTL_OK)
		*out = s;
	else
		pctl_gas_schedule_destroy(s);
	return status;
}

pctl_status pctl_gas_schedule_read(const char *path, const pctl_call *call, pctl_gas_schedule **out)
{
	pctl_conf *c = NULL;
	pctl_status status = pctl_conf_read_file(path, call, &c);

	*out = NULL;
	return status == PCTL_OK ? take(c, call, out) : status;
}

pctl_status pctl_gas_schedule_text(const char *name, const char *text, const pctl_call *call,
				   pctl_gas_schedule **out)
{
	pctl_conf *c = NULL;
	pctl_status status = pctl_conf_read_text(name, text, strlen(text), call, &c);

	*out = NULL;
	return status == PCTL_OK ? take(c, call, out) : status;
}

/* ---- rows ---- */

const char *pctl_gas_row_name(const pctl_gas_schedule *s, uint32_t row)
{
	if (row < PCTL_GAS_WEIGHTS)
		return rows[row].since == WHOLE && !s->is_whole	     ? NULL
		       : rows[row].since == FLOATS && !s->has_floats ? NULL
								     : rows[row].key;
	row -= PCTL_GAS_WEIGHTS;
	return is_priced(s, (uint16_t)row) && !fixed_word((uint16_t)row)
		       ? pctl_op_get((uint16_t)row)->name
		       : NULL;
}

uint64_t pctl_gas_row(const pctl_gas_schedule *s, uint32_t row)
{
	return row < PCTL_GAS_WEIGHTS
		       ? *(const uint64_t *)(const void *)((const char *)s + rows[row].at)
		       : s->costs.count[row - PCTL_GAS_WEIGHTS];
}

int pctl_gas_row_set(pctl_gas_schedule *s, uint32_t row, uint64_t value)
{
	const uint32_t op = row - PCTL_GAS_WEIGHTS;

	if (row < PCTL_GAS_WEIGHTS) {
		*row_at(s, row) = value;
		return 1;
	}
	/* What was free costs integer operations. */
	if (value > UINT8_MAX || fixed_word((uint16_t)op))
		return 0;
	if (s->costs.kind[op] == PCTL_COST_NONE)
		s->costs.kind[op] = PCTL_COST_INTEGER;
	s->costs.count[op] = (uint8_t)value;
	return 1;
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
