/* Implementation of shape.h. */
#include "runtime/exec/shape.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "runtime/cas/cid.h"
#include "foundation/base/hash.h"

#define SIDES 8u	  /* lengths of a zone before a span */
#define BEHIND_MIN 256u	  /* bytes of one behind it */
#define BEHIND_WORDS 256u /* and words more, at most */

static uint64_t mix(uint64_t key, uint64_t n)
{
	uint64_t z = key + n * PCTL_SPLITMIX_STEP;

	return pctl_mix64(z);
}

pctl_status pctl_shapes_draw(const pctl_call *call, uint64_t *seed)
{
	if (getrandom(seed, sizeof(*seed), 0) == (ssize_t)sizeof(*seed))
		return PCTL_OK;
	return pctl_refuse(call, PC3_IO, "no random numbers: %s", strerror(errno));
}

/* A plugin sees the patterns of zones, from which their key follows: what it must not find is the seed. */
static pctl_status key_of(uint64_t seed, uint64_t what, uint64_t n, const pctl_call *call,
			  uint64_t *out)
{
	const uint64_t text[3] = {seed, what, n};
	pctl_cid cid;
	const pctl_status status = pctl_cid_of(text, sizeof(text), call, &cid);

	memcpy(out, cid.digest, sizeof(*out));
	return status;
}

pctl_status pctl_shapes_block(pctl_shapes *s, uint64_t block, const pctl_call *call)
{
	s->block = block;
	s->n = 0;
	return key_of(s->seed, 1, block, call, &s->key);
}

/* Without a call: only memory could be short, and then either answer is as good. */
static uint32_t first_of(const pctl_shapes *s)
{
	uint64_t key = s->key;

	(void)key_of(s->seed, 2, s->block / 2, NULL, &key);
	return (uint32_t)((key ^ s->block) & 1u);
}

static pctl_zones zones_of(uint64_t bits, uint64_t key, const pctl_device_caps *caps)
{
	return (pctl_zones){pctl_guard_side(caps) * (1 + bits % SIDES),
			    BEHIND_MIN + (bits >> 8) % BEHIND_WORDS * 4, key};
}

pctl_zones pctl_shape_input(const pctl_shape *s, uint32_t i, const pctl_device_caps *caps)
{
	const uint64_t key = mix(s->key, 64u + i), bits = mix(~key, i);

	if ((bits >> 40) % 4 == 0 ? s->before != 0 : s->before == 0)
		return (pctl_zones){0, 0, 0};
	return zones_of(bits, key, caps);
}

pctl_zones pctl_shape_zones(pctl_shapes *s, const pctl_device_caps *caps)
{
	const uint64_t n = s->n++, bits = mix(s->key, n);

	return zones_of(bits, mix(s->key ^ bits, n), caps);
}

pctl_shape pctl_shape_next(pctl_shapes *s, const pctl_device_caps *caps)
{
	const uint64_t n = s->n++, bits = mix(s->key, n), pair = mix(~s->key, n / 2);
	const uint32_t plain = (n < 2 ? first_of(s) : (uint32_t)(pair & 1u)) ^ (uint32_t)(n & 1u);
	const pctl_zones zones = zones_of(bits, mix(s->key ^ bits, n), caps);

	return (pctl_shape){plain ? 0 : zones.before, plain ? 0 : zones.behind, zones.key,
			    n < 2 || (bits >> 32) % 4 == 0, 0};
}
