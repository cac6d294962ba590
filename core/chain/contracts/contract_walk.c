/* Reading a module's bytes and writing those of another; see contract_walk.h. */
#include "chain/contracts/contract_walk.h"

static const char *const limit_names[] = {
#define CONTRACT_LIMIT(id, name, most) name,
#include "chain/contracts/contract_limits.def"
#undef CONTRACT_LIMIT
};

const char *walk_limit_name(int limit)
{
	return limit_names[limit];
}

int walk_fail(module_walk *w, const char *why)
{
	if (w->bad == NULL)
		w->bad = why;
	w->at = w->n;
	return 0;
}

int walk_within(module_walk *w, uint64_t found, uint64_t most, const char *what)
{
	if (found <= most)
		return w->bad == NULL;
	if (w->bad == NULL) {
		w->found = found;
		w->most = most;
	}
	return walk_fail(w, what);
}

uint8_t walk_byte(module_walk *w)
{
	if (w->at < w->n)
		return w->bytes[w->at++];
	walk_fail(w, "it ends too early");
	return 0;
}

static uint32_t too_large(module_walk *w)
{
	walk_fail(w, "a number is too large");
	return 0;
}

uint32_t walk_number(module_walk *w)
{
	uint64_t v = 0;

	for (uint32_t shift = 0; shift < 35; shift += 7) {
		const uint8_t b = walk_byte(w);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v <= UINT32_MAX ? (uint32_t)v : too_large(w);
	}
	walk_fail(w, "a number is too long");
	return 0;
}

void walk_skip_signed(module_walk *w)
{
	for (int i = 0; i < 10; i++)
		if (walk_byte(w) < 0x80)
			return;
	walk_fail(w, "a number is too long");
}

void walk_skip(module_walk *w, uint64_t n)
{
	if (n > w->n - w->at)
		walk_fail(w, "it ends too early");
	else
		w->at += (size_t)n;
}

void walk_put_number(pctl_str_buf *to, uint64_t v)
{
	char byte_of;

	for (; v >= 0x80; v >>= 7) {
		byte_of = (char)(v | 0x80);
		pctl_str_add_n(to, &byte_of, 1);
	}
	byte_of = (char)v;
	pctl_str_add_n(to, &byte_of, 1);
}

/* A signed number that is not below zero. */
void walk_put_signed(pctl_str_buf *to, uint32_t v)
{
	char byte_of;

	for (; v >= 0x40; v >>= 7) {
		byte_of = (char)(v | 0x80);
		pctl_str_add_n(to, &byte_of, 1);
	}
	byte_of = (char)v;
	pctl_str_add_n(to, &byte_of, 1);
}

void walk_put_byte(pctl_str_buf *to, uint8_t v)
{
	const char c = (char)v;

	pctl_str_add_n(to, &c, 1);
}

int walk_is_plain(uint8_t type)
{
	return type <= TYPE_I32 && type >= TYPE_F64;
}
