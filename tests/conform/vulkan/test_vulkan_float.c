/* Native floats, tables and 16-bit memory on every device; the checks are native.h's. The plugin is
 * in debug mode, so SPIRV-Tools judges every module. */
#include "main.h"
#include "devices.h"
#include "native.h"

DEVICE_TEST(f32, native_f32)
DEVICE_TEST(f64, native_f64)
DEVICE_TEST(f16, native_f16)
DEVICE_TEST(vendor, native_vendor)
DEVICE_TEST(known, native_known)
DEVICE_TEST(contraction, native_contraction)
DEVICE_TEST(refusals, native_refusals)
DEVICE_TEST(constants, native_constants)
DEVICE_TEST(values, native_values)
DEVICE_TEST(tables, native_tables)
DEVICE_TEST(mul_high, native_mul_high)
DEVICE_TEST(store16, native_store16)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__f32), PCTL_TEST(test_vulkan__f64),
		PCTL_TEST(test_vulkan__f16), PCTL_TEST(test_vulkan__vendor),
		PCTL_TEST(test_vulkan__known), PCTL_TEST(test_vulkan__contraction),
		PCTL_TEST(test_vulkan__refusals), PCTL_TEST(test_vulkan__constants),
		PCTL_TEST(test_vulkan__values), PCTL_TEST(test_vulkan__tables),
		PCTL_TEST(test_vulkan__mul_high), PCTL_TEST(test_vulkan__store16))
