/* Native floats, tables and 16-bit memory on the driver's device; the checks are native.h's. */
#include "sketch.h"
#include "native.h"

#define NATIVE_TEST(name)                             \
	static void test_opencl__##name(void **state) \
	{                                             \
		native_##name(*state);                \
	}

NATIVE_TEST(f32)
NATIVE_TEST(f64)
NATIVE_TEST(f16)
NATIVE_TEST(vendor)
NATIVE_TEST(known)
NATIVE_TEST(contraction)
NATIVE_TEST(refusals)
NATIVE_TEST(constants)
NATIVE_TEST(values)
NATIVE_TEST(tables)
NATIVE_TEST(mul_high)
NATIVE_TEST(store16)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__f32),	 cmocka_unit_test(test_opencl__f64),
		cmocka_unit_test(test_opencl__f16),	 cmocka_unit_test(test_opencl__vendor),
		cmocka_unit_test(test_opencl__known),	 cmocka_unit_test(test_opencl__contraction),
		cmocka_unit_test(test_opencl__refusals), cmocka_unit_test(test_opencl__constants),
		cmocka_unit_test(test_opencl__values),	 cmocka_unit_test(test_opencl__tables),
		cmocka_unit_test(test_opencl__mul_high), cmocka_unit_test(test_opencl__store16),
	};

	return cmocka_run_group_tests(tests, sketch_setup, sketch_teardown) != 0;
}
