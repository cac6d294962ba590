/* Which code points may stand in an identifier. The ranges are Unicode's own, made by xid_gen.py.
 */
#include "compiler/wgsl/lex.h"

static const uint32_t starts[][2] = {
#define XID_START(first, last) {first, last},
#include "compiler/wgsl/xid.def"
#undef XID_START
};

static const uint32_t continues[][2] = {
#define XID_CONTINUE(first, last) {first, last},
#include "compiler/wgsl/xid.def"
#undef XID_CONTINUE
};

static int inside(const uint32_t (*ranges)[2], uint32_t n, uint32_t cp)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (cp < ranges[mid][0])
			high = mid;
		else if (cp > ranges[mid][1])
			low = mid + 1;
		else
			return 1;
	}
	return 0;
}

int pctl_wgsl_is_xid_start(uint32_t cp)
{
	return inside(starts, (uint32_t)(sizeof(starts) / sizeof(starts[0])), cp);
}

int pctl_wgsl_is_xid_continue(uint32_t cp)
{
	return inside(continues, (uint32_t)(sizeof(continues) / sizeof(continues[0])), cp);
}
