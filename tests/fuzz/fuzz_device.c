/* Any bytes, sealed, as a device's profile, a record of its limits or of its own operations, and bare as a policy: refused, or whole. The first
 * byte chooses. */
#include "runtime/device/limits_record.h"
#include "runtime/device/optional.h"
#include "runtime/policy/policy.h"
#include "runtime/device/profile.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void count(void *ctx, const pctl_diag *d)
{
	if (d->message == NULL || *d->message == '\0' || d->code == PC1_INTERNAL)
		abort();
	++*(uint32_t *)ctx;
}

static void policy(const uint8_t *data, size_t n, const pctl_call *call)
{
	pctl_policy *p = NULL;

	/* Nothing outside is read. */
	if (memchr(data, '@', n) != NULL || memmem(data, n, "inherits", 8) != NULL)
		return;
	if ((pctl_policy_read(fuzz_file(data, n), NULL, NULL, call, &p) == PCTL_OK) != (p != NULL))
		abort();
	for (uint32_t i = 0; p != NULL && i < pctl_policy_setting_count(p); i++)
		if (pctl_policy_setting_at(p, i) == NULL)
			abort();
	pctl_policy_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static pctl_profile_record profile;
	static pctl_limits_record limits;
	static pctl_optional_record optional;
	uint32_t errors = 0;
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .ctx = &errors, .diag = count};
	pctl_status status = PCTL_OK;
	size_t n_sealed;
	char *sealed;

	if (n == 0)
		return 0;
	if (data[0] % 3 == 0 && data[0] != 'o') {
		policy(data + 1, n - 1, &call);
		return 0;
	}
	sealed = fuzz_seal(data + 1, n - 1, &n_sealed);
	if (data[0] % 3 == 1)
		status = pctl_profile_read(fuzz_file(sealed, n_sealed), &call, &profile);
	else if (data[0] == 'o') /* 'o' % 3 is 0 */
		status = pctl_optional_read(fuzz_file(sealed, n_sealed), &call, &optional);
	else
		status = pctl_limits_read(fuzz_file(sealed, n_sealed), &call, &limits);
	if ((status == PCTL_OK) != (errors == 0))
		abort();
	free(sealed);
	return 0;
}
