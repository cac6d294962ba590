/* The table of parameters: names, kinds, ranges, what must hold between values, and the file that gives the values of
 * height 0. Nothing here knows the state. */
#include "chain/ledger/params.h"

#include <inttypes.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain/state/amount.h"
#include "foundation/conf/schema.h"

static const pctl_param table[PCTL_PARAM_COUNT] = {
#define CHAIN_PARAM(id, name, kind, fallback, least, most, doc) \
	{name, PCTL_PARAM_KIND_##kind, 0, fallback, least, most, doc},
#include "chain/ledger/params.def"
#undef CHAIN_PARAM
};

static const struct {
	const char *word;
	uint64_t value;
} classes[] = {{"integer", PCTL_CLASS_INTEGER}, {"strict", PCTL_CLASS_STRICT}};
#define N_CLASSES (sizeof(classes) / sizeof(classes[0]))

const pctl_param *pctl_param_at(uint32_t i)
{
	return &table[i];
}

pctl_status pctl_param_find(const char *name, const pctl_call *call, uint32_t *out)
{
	const char *names[PCTL_PARAM_COUNT];
	pctl_status status;
	char *hint;

	for (*out = 0; *out < PCTL_PARAM_COUNT; ++*out) {
		names[*out] = table[*out].name;
		if (strcmp(names[*out], name) == 0)
			return PCTL_OK;
	}
	*out = 0;
	hint = pctl_conf_hint_names(name, names, PCTL_PARAM_COUNT);
	status =
		pctl_refuse_at(call, PC5720_PARAM_UNKNOWN, NULL, hint, "no parameter \"%s\"", name);
	free(hint);
	return status;
}

static pctl_status check_range(uint32_t i, uint64_t value, const pctl_call *call)
{
	const pctl_param *p = &table[i];

	if (value >= p->least && value <= p->most)
		return PCTL_OK;
	return pctl_refuse(call, PC5721_PARAM_VALUE,
			   "%s = %" PRIu64 ", allowed are %" PRIu64 " to %" PRIu64, p->name, value,
			   p->least, p->most);
}

pctl_status pctl_param_parse(uint32_t i, const char *text, const pctl_call *call, uint64_t *out)
{
	*out = 0;
	if (table[i].kind == PCTL_PARAM_KIND_CLASS) {
		for (size_t k = 0; k < N_CLASSES; k++) {
			if (strcmp(classes[k].word, text) == 0) {
				*out = classes[k].value;
				return PCTL_OK;
			}
		}
		return pctl_refuse(call, PC5721_PARAM_VALUE,
				   "%s = \"%s\", allowed are integer and strict", table[i].name,
				   text);
	}
	if (!pctl_amount_parse(text, out))
		return pctl_refuse(call, PC5721_PARAM_VALUE,
				   "%s = \"%s\" is no whole number of 64 bits in decimal digits",
				   table[i].name, text);
	return check_range(i, *out, call);
}

char *pctl_param_format(uint32_t i, uint64_t value, char buf[PCTL_PARAM_TEXT_SIZE])
{
	if (table[i].kind == PCTL_PARAM_KIND_CLASS)
		snprintf(buf, PCTL_PARAM_TEXT_SIZE, "%s",
			 value == PCTL_CLASS_INTEGER ? "integer" : "strict");
	else
		snprintf(buf, PCTL_PARAM_TEXT_SIZE, "%" PRIu64, value);
	return buf;
}

void pctl_params_default(pctl_params *out)
{
	for (uint32_t i = 0; i < PCTL_PARAM_COUNT; i++)
		out->values[i] = table[i].fallback;
}

int pctl_params_has_stakes(const pctl_params *p)
{
	return p->values[PCTL_PARAM_RULES] >= 2;
}

pctl_status pctl_rules_are_known(uint64_t rules, const pctl_call *call)
{
	return rules <= PCTL_RULES_KNOWN
		       ? PCTL_OK
		       : pctl_refuse(call, PC5721_PARAM_VALUE,
				     "rules = %" PRIu64 ", known here are 1 to %u", rules,
				     PCTL_RULES_KNOWN);
}

int pctl_param_is_said(uint32_t i, uint64_t value)
{
	return i < PCTL_PARAM_LATER || value != table[i].fallback;
}

pctl_status pctl_params_block_budget(const pctl_params *p, const pctl_call *call, uint64_t *out)
{
	uint64_t whole;

	*out = 0;
	if (!pctl_num_mul(p->values[PCTL_PARAM_THROUGHPUT], p->values[PCTL_PARAM_BLOCK_TIME_MS],
			  &whole))
		return pctl_refuse(call, PC5712_LEDGER_OVERFLOW,
				   "throughput times block_time_ms is 2^64 or more");
	*out = pctl_amount_part(whole, p->values[PCTL_PARAM_UTILISATION]);
	return PCTL_OK;
}

pctl_status pctl_params_check(const pctl_params *p, const pctl_call *call)
{
	const uint64_t *v = p->values;
	pctl_status status = PCTL_OK;
	uint64_t sum, whole;

	for (uint32_t i = 0; i < PCTL_PARAM_COUNT; i++) {
		pctl_status one = check_range(i, v[i], call);

		status = status == PCTL_OK ? one : status;
	}
	if (status != PCTL_OK)
		return status;
	sum = v[PCTL_PARAM_SPLIT_EXECUTOR] + v[PCTL_PARAM_SPLIT_TREASURY] +
	      v[PCTL_PARAM_SPLIT_BURN];
	if (sum != PCTL_PPM)
		return pctl_refuse(call, PC5722_PARAM_SET,
				   "the shares of executor (%" PRIu64 "), treasury (%" PRIu64
				   ") and burn (%" PRIu64 ") add to %" PRIu64 ", not to 1000000",
				   v[PCTL_PARAM_SPLIT_EXECUTOR], v[PCTL_PARAM_SPLIT_TREASURY],
				   v[PCTL_PARAM_SPLIT_BURN], sum);
	if (!pctl_num_mul(v[PCTL_PARAM_THROUGHPUT], v[PCTL_PARAM_BLOCK_TIME_MS], &whole))
		return pctl_refuse(call, PC5722_PARAM_SET,
				   "throughput %" PRIu64 " times block_time_ms %" PRIu64
				   " is 2^64 or more",
				   v[PCTL_PARAM_THROUGHPUT], v[PCTL_PARAM_BLOCK_TIME_MS]);
	return PCTL_OK;
}

/* ---- the file ------------------------------------------------------------------------------ */

static const pctl_conf_field value_fields[] = {
#define CHAIN_PARAM(id, name, what, fallback, least, most, text)                          \
	{.key = name,                                                                     \
	 .kind = PCTL_FIELD_STRING,                                                       \
	 .flags = (uint32_t)PCTL_PARAM_##id < PCTL_PARAM_LATER ? PCTL_FIELD_REQUIRED : 0, \
	 .doc = text},
#include "chain/ledger/params.def"
#undef CHAIN_PARAM
};
static const pctl_conf_schema value_schema = PCTL_CONF_SCHEMA("the values", value_fields);

static const pctl_conf_field params_fields[] = {
	{.key = "version",
	 .kind = PCTL_FIELD_U64,
	 .flags = PCTL_FIELD_REQUIRED,
	 .min = PCTL_PARAMS_FILE_VERSION,
	 .max = PCTL_PARAMS_FILE_VERSION,
	 .doc = "version of the table of parameters"},
	{.key = "values",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &value_schema,
	 .doc = "every parameter"},
};
static const pctl_conf_schema params_schema = PCTL_CONF_SCHEMA("the parameters", params_fields);

static const pctl_conf_field root_fields[] = {
	{.key = "params",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &params_schema,
	 .doc = "the parameters"},
};
static const pctl_conf_schema root_schema = PCTL_CONF_SCHEMA("a file of parameters", root_fields);

static pctl_status read_values(const pctl_conf *c, const pctl_call *call, pctl_params *out)
{
	const pctl_conf_value *values;
	pctl_status status = pctl_conf_check(pctl_conf_root(c), &root_schema, call);

	if (status != PCTL_OK)
		return status;
	values = pctl_conf_find(pctl_conf_root(c), "params.values");
	for (uint32_t i = 0; i < PCTL_PARAM_COUNT; i++) {
		const char *text = pctl_conf_string_or(values, table[i].name, NULL);
		pctl_status one = PCTL_OK;

		out->values[i] = table[i].fallback;
		if (text != NULL)
			one = pctl_param_parse(i, text, call, &out->values[i]);

		status = status == PCTL_OK ? one : status;
	}
	if (status == PCTL_OK)
		status = pctl_params_check(out, call);
	return status == PCTL_OK ? pctl_rules_are_known(out->values[PCTL_PARAM_RULES], call)
				 : status;
}

pctl_status pctl_params_read(const char *path, const pctl_call *call, pctl_params *out)
{
	pctl_conf *c = NULL;
	pctl_status status = pctl_conf_read_file(path, call, &c);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	status = read_values(c, call, out);
	pctl_conf_destroy(c);
	return status;
}
