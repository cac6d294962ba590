/* What the host makes of element types, for codes.py to judge. Each line of standard input is a question, its answer a line:
 *   read TYPE HEX I          the number that element I of these bytes is
 *   write TYPE MODE NUMBER   the bytes of one element; MODE ieee or saturate
 *   block TYPE NUMBER...     the bytes of one block
 * A number is "nan", "+inf", "-inf", or "+M*2^E" with a decimal M and E ("-0*2^0" is the negative zero); "none" is no answer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/dtype/dtype.h"

static void put_number(pctl_exact v)
{
	if (v.kind == PCTL_EXACT_NAN)
		puts("nan");
	else if (v.kind == PCTL_EXACT_INFINITE)
		puts(v.negative ? "-inf" : "+inf");
	else
		printf("%c%" PRIu64 "*2^%" PRId32 "\n", v.negative ? '-' : '+', v.magnitude,
		       v.exponent);
}

static pctl_exact number_of(const char *s)
{
	pctl_exact v = {PCTL_EXACT_FINITE, s[0] == '-', 0, 0};
	char *end;

	if (strcmp(s, "nan") == 0)
		return (pctl_exact){PCTL_EXACT_NAN, 0, 0, 0};
	if (strcmp(s + 1, "inf") == 0) {
		v.kind = PCTL_EXACT_INFINITE;
		return v;
	}
	v.magnitude = strtoull(s + 1, &end, 10);
	v.exponent = (int32_t)strtol(end + 3, NULL, 10);
	return v;
}

static void put_bytes(const uint8_t *bytes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void read_one(const pctl_dtype *t)
{
	static uint8_t bytes[1024];
	const char *hex = strtok(NULL, " "), *index = strtok(NULL, " ");
	pctl_exact v;

	for (size_t i = 0; hex[2 * i] != '\0'; i++)
		bytes[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	if (pctl_dtype_read(t, bytes, strtoull(index, NULL, 10), &v))
		put_number(v);
	else
		puts("none");
}

static void write_one(const pctl_dtype *t)
{
	const int saturate = strcmp(strtok(NULL, " "), "saturate") == 0;
	uint8_t bytes[8] = {0};

	if (pctl_dtype_write(t, number_of(strtok(NULL, " ")),
			     saturate ? PCTL_DTYPE_OVERFLOW_SATURATE : PCTL_DTYPE_OVERFLOW_IEEE,
			     bytes, 0))
		put_bytes(bytes, t->bits < 8 ? 1 : t->bits / 8);
	else
		puts("none");
}

static void write_block(const pctl_dtype *t)
{
	pctl_exact v[PCTL_DTYPE_BLOCK_MAX];
	uint8_t bytes[512];

	for (uint32_t i = 0; i < t->block; i++)
		v[i] = number_of(strtok(NULL, " "));
	if (pctl_dtype_block_write(t, v, bytes))
		put_bytes(bytes, t->bits / 8);
	else
		puts("none");
}

int main(void)
{
	static char line[32768];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *verb, *name;

		line[strcspn(line, "\n")] = '\0';
		verb = strtok(line, " ");
		name = strtok(NULL, " ");
		if (strcmp(verb, "read") == 0)
			read_one(pctl_dtype_named(name, strlen(name)));
		else if (strcmp(verb, "write") == 0)
			write_one(pctl_dtype_named(name, strlen(name)));
		else
			write_block(pctl_dtype_named(name, strlen(name)));
	}
	return 0;
}
