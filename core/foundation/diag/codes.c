/* The code table as data: lookups by binary search over codes.def, and the exit classes. */
#include "pipectl/host.h"

struct code {
	uint32_t number;
	pctl_status status;
	const char *slug, *summary, *explanation;
};

static const struct code codes[] = {
#define PCTL_CODE(number, NAME, slug, status, summary, explanation) \
	{number, status, slug, summary, explanation},
#include "pipectl/codes.def"
#undef PCTL_CODE
};

#define N_CODES ((uint32_t)(sizeof(codes) / sizeof(codes[0])))

static const struct code *find(uint32_t number)
{
	uint32_t lo = 0, hi = N_CODES;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (codes[mid].number == number)
			return &codes[mid];
		if (codes[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

pctl_status pctl_code_status(uint32_t code)
{
	const struct code *c = find(code);

	return c == NULL ? PCTL_E_INTERNAL : c->status;
}

const char *pctl_code_slug(uint32_t code)
{
	const struct code *c = find(code);

	return c == NULL ? NULL : c->slug;
}

const char *pctl_code_summary(uint32_t code)
{
	const struct code *c = find(code);

	return c == NULL ? NULL : c->summary;
}

const char *pctl_code_explanation(uint32_t code)
{
	const struct code *c = find(code);

	return c == NULL ? NULL : c->explanation;
}

uint32_t pctl_code_count(void)
{
	return N_CODES;
}

uint32_t pctl_code_at(uint32_t i)
{
	return i < N_CODES ? codes[i].number : 0;
}

int pctl_status_exit(pctl_status status)
{
	switch (status) {
	case PCTL_OK:
		return 0;
	case PCTL_E_USAGE:
		return 2;
	case PCTL_E_INVALID:
	case PCTL_E_NOT_FOUND:
		return 3;
	case PCTL_E_PLUGIN:
		return 4;
	case PCTL_E_UNSUPPORTED:
	case PCTL_E_LIMIT:
		return 5;
	case PCTL_E_MISMATCH:
		return 6;
	case PCTL_E_GAS:
		return 7;
	case PCTL_E_STORE:
		return 8;
	case PCTL_E_EXEC:
	case PCTL_E_TIMEOUT:
	case PCTL_E_DEVICE_LOST:
		return 9;
	case PCTL_E_NOTHING:
		return 10;
	case PCTL_E_INTERNAL:
		return 70;
	case PCTL_E_CANCELLED:
		return 130;
	default:
		return 1;
	}
}

const char *pctl_status_name(pctl_status status)
{
	switch (status) {
	case PCTL_OK:
		return "ok";
	case PCTL_E_IO:
		return "io";
	case PCTL_E_NOMEM:
		return "no-memory";
	case PCTL_E_TIMEOUT:
		return "timeout";
	case PCTL_E_DEVICE_LOST:
		return "device-lost";
	case PCTL_E_CANCELLED:
		return "cancelled";
	case PCTL_E_USAGE:
		return "usage";
	case PCTL_E_INVALID:
		return "invalid";
	case PCTL_E_PLUGIN:
		return "plugin";
	case PCTL_E_UNSUPPORTED:
		return "unsupported";
	case PCTL_E_MISMATCH:
		return "mismatch";
	case PCTL_E_LIMIT:
		return "limit";
	case PCTL_E_GAS:
		return "gas";
	case PCTL_E_STORE:
		return "store";
	case PCTL_E_NOT_FOUND:
		return "not-found";
	case PCTL_E_EXEC:
		return "failed-job";
	case PCTL_E_NOTHING:
		return "nothing-executed";
	case PCTL_E_INTERNAL:
		return "internal";
	default:
		return "failed";
	}
}
