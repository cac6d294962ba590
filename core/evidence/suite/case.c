/* Reading the header of a case, and filling its buffers. */
#include "evidence/suite/case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/hash.h"

static int read_line(diff_case *c, const char *line)
{
	uint32_t x, y, z;
	uint64_t n;
	char name[32];
	int64_t value;

	if (sscanf(line, "//! dispatch %" SCNu32 ",%" SCNu32 ",%" SCNu32 " inputs %" SCNu64, &x, &y,
		   &z, &n) == 4 &&
	    c->n_dispatches < CASE_DISPATCHES) {
		memcpy(c->dispatch[c->n_dispatches].groups, (uint32_t[3]){x, y, z},
		       3 * sizeof(uint32_t));
		c->dispatch[c->n_dispatches++].seed = n;
		return 1;
	}
	if (sscanf(line, "//! binding %" SCNu32 ":%" SCNu32 " bytes %" SCNu64, &x, &y, &n) == 3 &&
	    c->n_bindings < CASE_BINDINGS && n % 4 == 0 && n <= 1u << 24) {
		c->binding[c->n_bindings].group = x;
		c->binding[c->n_bindings].binding = y;
		c->binding[c->n_bindings++].n_bytes = n;
		return 1;
	}
	if (sscanf(line, "//! override %31s %" SCNd64, name, &value) == 2 &&
	    c->n_overrides < CASE_OVERRIDES) {
		char *kept = c->override_name[c->n_overrides];

		memcpy(kept, name, sizeof(name));
		c->override[c->n_overrides++] =
			(pctl_override_value){.name = kept, .bits = (uint64_t)value};
		return 1;
	}
	if (strncmp(line, "//! floats", 10) == 0) {
		c->floats = 1;
		return 1;
	}
	return 0;
}

int diff_case_read(diff_case *out, const char *name, const char *text)
{
	memset(out, 0, sizeof(*out));
	out->name = name;
	out->text = text;
	for (const char *at = text; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, "//!", 3) == 0 && !read_line(out, at))
			return 0;
	}
	return out->n_dispatches != 0;
}

static uint64_t mix(uint64_t *state)
{
	uint64_t z;

	*state += PCTL_SPLITMIX_STEP;
	z = *state;
	return pctl_mix64(z);
}

void diff_case_fill(const diff_case *c, uint32_t dispatch, uint32_t binding, uint8_t *out)
{
	static const uint32_t edges[] = {0,	     1,		 2,	     31,   32,
					 33,	     0x7fffffff, 0x80000000, 0xff, 0x80000001,
					 0xffffffff, 0xfffffffe, 0x8000,     7,	   64};
	uint64_t state = c->dispatch[dispatch].seed + 0x10001u * binding;

	for (uint64_t i = 0; i + 4 <= c->binding[binding].n_bytes; i += 4) {
		uint64_t r = mix(&state);
		uint32_t word = (uint32_t)(r >> 32);

		if (r % 4 == 0)
			word %= 16;
		else if (r % 4 == 1)
			word = edges[word % (sizeof(edges) / sizeof(edges[0]))];
		else if (r % 8 == 2)
			word = 0u - word % 16;
		if (c->floats && r % 8 >= 4)
			word = (word & 0x80ffffffu) |
			       (0x3f000000u + ((uint32_t)(r >> 8) % 5u << 22));
		memcpy(out + i,
		       (uint8_t[4]){(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
				    (uint8_t)(word >> 24)},
		       4);
	}
}
