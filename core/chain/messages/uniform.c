/* A CBOR document to the bytes of a uniform block. The struct's type leads: what it does not ask for is never read, so
 * the document cannot choose how deep this goes. */
#include "chain/messages/uniform_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/str.h"
#include "chain/messages/cbor_item.h"
#include "foundation/base/utf8.h"

typedef struct decoder {
	uniform_walk w;
	pctl_cbor_reader in;
} decoder;

static pctl_status value(decoder *d, uint32_t type, uint64_t at);

static pctl_status next_item(decoder *d, pctl_cbor_item *out)
{
	const uint32_t code = pctl_cbor_read(&d->in, out);

	return code == 0 ? PCTL_OK
			 : pctl_uniform_refuse(&d->w, code, out->at, NULL, "%s",
					       pctl_code_summary(code));
}

static pctl_status wrong_kind(const decoder *d, const pctl_cbor_item *item, const char *wanted)
{
	return pctl_uniform_refuse(&d->w, PC5765_UNIFORM_KIND, item->at, NULL,
				   "%s stands here, the struct asks for %s",
				   pctl_cbor_kind_name(item->kind), wanted);
}

static void store(decoder *d, uint64_t at, uint64_t bits, uint32_t n)
{
	pctl_le_put(d->w.block + at, bits, n);
}

/* ---- scalars ------------------------------------------------------------------------------ */

static pctl_status integer(decoder *d, const pctl_type *t, const pctl_cbor_item *item, uint64_t at)
{
	const uint32_t bits = pctl_scalar_bits(t->scalar);
	const int is_signed = pctl_scalar_is_signed(t->scalar);
	const uint64_t most = UINT64_MAX >> (64 - bits + (is_signed != 0));

	if (item->kind != PCTL_CBOR_UNSIGNED && item->kind != PCTL_CBOR_NEGATIVE)
		return wrong_kind(d, item, "an integer");
	if (item->value > most || (item->kind == PCTL_CBOR_NEGATIVE && !is_signed))
		return pctl_uniform_refuse(
			&d->w, PC5766_UNIFORM_RANGE, item->at, NULL, "%s%llu is outside %s",
			item->kind == PCTL_CBOR_NEGATIVE ? "-1 - " : "",
			(unsigned long long)item->value, pctl_scalar_name(t->scalar));
	store(d, at, item->kind == PCTL_CBOR_NEGATIVE ? ~item->value : item->value, bits / 8);
	return PCTL_OK;
}

static pctl_status floating(decoder *d, const pctl_type *t, const pctl_cbor_item *item, uint64_t at)
{
	const uint32_t bits = (uint32_t)item->value;
	const int is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
	uint16_t half = 0x7e00u;
	int fits = !item->is_wide;

	if (item->kind != PCTL_CBOR_FLOAT)
		return wrong_kind(d, item, "a float");
	if (fits && t->scalar == PCTL_SCALAR_F16)
		fits = is_nan || pctl_cbor_to_half(bits, &half);
	else if (fits && t->scalar == PCTL_SCALAR_BF16)
		fits = (bits & 0xffffu) == 0;
	if (!fits)
		return pctl_uniform_refuse(&d->w, PC5767_UNIFORM_INEXACT, item->at, NULL,
					   "%s does not hold this number exactly",
					   pctl_scalar_name(t->scalar));
	if (t->scalar == PCTL_SCALAR_F32)
		store(d, at, bits, 4);
	else
		store(d, at, t->scalar == PCTL_SCALAR_F16 ? half : bits >> 16, 2);
	return PCTL_OK;
}

static pctl_status scalar(decoder *d, const pctl_type *t, uint64_t at)
{
	pctl_cbor_item item;
	pctl_status status = next_item(d, &item);

	if (status != PCTL_OK)
		return status;
	if (t->scalar == PCTL_SCALAR_F16 || t->scalar == PCTL_SCALAR_F32 ||
	    t->scalar == PCTL_SCALAR_BF16)
		return floating(d, t, &item, at);
	if (t->scalar != PCTL_SCALAR_BOOL)
		return integer(d, t, &item, at);
	if (item.kind != PCTL_CBOR_BOOL)
		return wrong_kind(d, &item, "a bool");
	store(d, at, item.value, 4);
	return PCTL_OK;
}

/* ---- composites --------------------------------------------------------------------------- */

static pctl_status parts(decoder *d, uint32_t type, uint64_t at)
{
	const pctl_type *t = &d->w.p->types[type];
	const uint32_t n = pctl_uniform_parts(t);
	pctl_cbor_item item;
	pctl_status status = next_item(d, &item);

	if (status != PCTL_OK)
		return status;
	if (item.kind != PCTL_CBOR_ARRAY)
		return wrong_kind(d, &item, "an array");
	if (item.value != n)
		return pctl_uniform_refuse(&d->w, PC5768_UNIFORM_LENGTH, item.at, NULL,
					   "an array of %llu items, the struct asks for %u",
					   (unsigned long long)item.value, n);
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		const size_t before = pctl_uniform_into_part(&d->w, t, i);

		status = value(d, t->elem, at + pctl_type_part_offset(d->w.p, type, i));
		pctl_uniform_back(&d->w, before);
	}
	return status;
}

static pctl_status unknown_member(const decoder *d, const pctl_type *t, const pctl_cbor_item *key)
{
	const pctl_program *p = d->w.p;
	const char **names = calloc(t->count + 1, sizeof(*names)), *near = NULL;
	const int n = key->value > 64 ? 64 : (int)key->value;
	char word[65], hint[320] = "";
	pctl_status status;

	memcpy(word, key->text, (size_t)n);
	word[n] = '\0';
	if (names != NULL) {
		for (uint32_t i = 0; i < t->count; i++)
			names[i] = pctl_str(p, p->members[t->first_member + i].name);
		near = pctl_str_nearest(word, names, t->count);
	}
	if (near != NULL)
		snprintf(hint, sizeof(hint), "did you mean \"%s\"?", near);
	status = pctl_uniform_refuse(&d->w, PC5772_UNIFORM_UNKNOWN, key->at,
				     near != NULL ? hint : NULL, "there is no member \"%s\"", word);
	free(names);
	return status;
}

/* Members found so far and the key read last, which the next must exceed. */
struct map {
	uint8_t seen[PCTL_UNIFORM_MEMBERS_MAX / 8 + 1];
	const uint8_t *last;
	uint64_t n_last;
};

static int is_ascending(const struct map *m, const pctl_cbor_item *key)
{
	if (m->last == NULL || m->n_last != key->value)
		return m->last == NULL || m->n_last < key->value;
	return memcmp(m->last, key->text, key->value) < 0;
}

static pctl_status member_of(decoder *d, const pctl_type *t, struct map *m, uint32_t *out)
{
	const pctl_program *p = d->w.p;
	pctl_cbor_item key;
	pctl_status status = next_item(d, &key);
	uint32_t i = 0;

	*out = 0;
	if (status != PCTL_OK)
		return status;
	if (key.kind != PCTL_CBOR_TEXT ||
	    pctl_utf8_bad((const char *)key.text, key.value, PCTL_UTF8_PLAIN) != key.value)
		return pctl_uniform_refuse(&d->w, PC5769_UNIFORM_KEY, key.at, NULL,
					   "a key is the name of a member, as UTF-8 text");
	while (i < t->count) {
		const char *name = pctl_str(p, p->members[t->first_member + i].name);

		if (strlen(name) == key.value && memcmp(name, key.text, key.value) == 0)
			break;
		i++;
	}
	if (i == t->count)
		return unknown_member(d, t, &key);
	if ((m->seen[i / 8] & (1u << (i % 8))) != 0)
		return pctl_uniform_refuse(&d->w, PC5771_UNIFORM_TWICE, key.at, NULL,
					   "member \"%.*s\" stands twice", (int)key.value,
					   (const char *)key.text);
	if (!is_ascending(m, &key))
		return pctl_uniform_refuse(
			&d->w, PC5770_UNIFORM_ORDER, key.at, NULL,
			"key \"%.*s\" stands behind a greater one: shorter keys come first, then "
			"bytewise",
			(int)key.value, (const char *)key.text);
	m->seen[i / 8] |= (uint8_t)(1u << (i % 8));
	m->last = key.text;
	m->n_last = key.value;
	*out = i;
	return PCTL_OK;
}

static pctl_status missing(const decoder *d, const pctl_type *t, const struct map *m, size_t at)
{
	const pctl_program *p = d->w.p;

	for (uint32_t i = 0; i < t->count; i++)
		if ((m->seen[i / 8] & (1u << (i % 8))) == 0)
			return pctl_uniform_refuse(
				&d->w, PC5773_UNIFORM_MISSING, at, NULL,
				"member \"%s\" is missing: every member is given, once",
				pctl_str(p, p->members[t->first_member + i].name));
	return PCTL_OK;
}

static pctl_status members(decoder *d, uint32_t type, uint64_t at)
{
	const pctl_program *p = d->w.p;
	const pctl_type *t = &p->types[type];
	struct map m = {.last = NULL};
	pctl_cbor_item item;
	uint32_t i;
	pctl_status status = next_item(d, &item);

	if (status == PCTL_OK && item.kind != PCTL_CBOR_MAP)
		return wrong_kind(d, &item, "a map");
	for (uint64_t k = 0; status == PCTL_OK && k < item.value; k++) {
		const pctl_member *member;
		size_t before;

		status = member_of(d, t, &m, &i);
		if (status != PCTL_OK)
			break;
		member = &p->members[t->first_member + i];
		before = pctl_uniform_into_member(&d->w, pctl_str(p, member->name));
		status = value(d, member->type, at + member->offset);
		pctl_uniform_back(&d->w, before);
	}
	return status == PCTL_OK ? missing(d, t, &m, item.at) : status;
}

static pctl_status value(decoder *d, uint32_t type, uint64_t at)
{
	const pctl_type *t = &d->w.p->types[type];
	pctl_status status = pctl_uniform_enter(&d->w, t);

	if (status != PCTL_OK)
		return status;
	if (t->kind == PCTL_TYPE_SCALAR)
		return scalar(d, t, at);
	return t->kind == PCTL_TYPE_STRUCT ? members(d, type, at) : parts(d, type, at);
}

pctl_status pctl_uniform_decode(const pctl_program *p, const void *cbor, uint64_t n,
				const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	decoder d = {.w = {.p = p, .call = call}, .in = {cbor, n, 0}};
	uint32_t type;
	pctl_status status = pctl_uniform_type(p, call, &type);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	if (n > PCTL_UNIFORM_CBOR_MAX)
		return pctl_refuse(call, PC5775_UNIFORM_SIZE,
				   "a uniform document of %llu bytes, at most %u",
				   (unsigned long long)n, PCTL_UNIFORM_CBOR_MAX);
	d.w.block = calloc(1, (size_t)p->types[type].size + 1);
	if (d.w.block == NULL)
		return pctl_no_memory(call, "a uniform block");
	status = value(&d, type, 0);
	if (status == PCTL_OK && d.in.at != n)
		status = pctl_uniform_refuse(&d.w, PC5774_UNIFORM_TRAILING, d.in.at, NULL,
					     "the document ends here, %zu more bytes follow",
					     (size_t)n - d.in.at);
	if (status == PCTL_OK) {
		*out = d.w.block;
		*n_out = p->types[type].size;
	} else {
		free(d.w.block);
	}
	return status;
}
