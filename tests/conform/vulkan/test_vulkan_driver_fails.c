/* A loader and a driver that refuse: this program's own vk functions come before the loader's, pass every call on, and fail
 * the one that a case plants. Each failure has its code, harms nothing else, and a lost device stays lost. */
#include "main.h"
#include "planted/planted.h"
#include "step.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

/* The call that fails, the result it gives, and how often it may pass before. */
static struct {
	const char *call;
	VkResult result;
	uint32_t passes;
} plant;

static int strikes(const char *call)
{
	if (!plant.call || strcmp(plant.call, call))
		return 0;
	if (plant.passes) {
		plant.passes--;
		return 0;
	}
	return 1;
}

static void real(const char *name, void *function)
{
	static void *loader;

	if (!loader)
		loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
	*(void **)function = loader ? dlsym(loader, name) : NULL;
	assert_non_null(*(void **)function);
}

#define REAL(name)     \
	PFN_##name go; \
	real(#name, &go)
#define PASS_OR_FAIL(name, ...)              \
	do {                                 \
		REAL(name);                  \
		if (strikes(#name))          \
			return plant.result; \
		return go(__VA_ARGS__);      \
	} while (0)

VkResult vkEnumerateInstanceVersion(uint32_t *out)
{
	REAL(vkEnumerateInstanceVersion);
	if (!strikes("vkEnumerateInstanceVersion"))
		return go(out);
	*out = VK_API_VERSION_1_0;
	return VK_SUCCESS;
}

VkResult vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a,
			  VkInstance *out)
{
	PASS_OR_FAIL(vkCreateInstance, info, a, out);
}

VkResult vkEnumeratePhysicalDevices(VkInstance i, uint32_t *n, VkPhysicalDevice *out)
{
	PASS_OR_FAIL(vkEnumeratePhysicalDevices, i, n, out);
}

VkResult vkCreateDevice(VkPhysicalDevice p, const VkDeviceCreateInfo *info,
			const VkAllocationCallbacks *a, VkDevice *out)
{
	PASS_OR_FAIL(vkCreateDevice, p, info, a, out);
}

void vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice p, uint32_t *n,
					      VkQueueFamilyProperties *out)
{
	REAL(vkGetPhysicalDeviceQueueFamilyProperties);
	if (strikes("vkGetPhysicalDeviceQueueFamilyProperties"))
		*n = 0;
	else
		go(p, n, out);
}

void vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice p, VkPhysicalDeviceMemoryProperties *out)
{
	REAL(vkGetPhysicalDeviceMemoryProperties);
	go(p, out);
	if (strikes("vkGetPhysicalDeviceMemoryProperties"))
		out->memoryTypeCount = 0;
}

VkResult vkAllocateMemory(VkDevice d, const VkMemoryAllocateInfo *info,
			  const VkAllocationCallbacks *a, VkDeviceMemory *out)
{
	PASS_OR_FAIL(vkAllocateMemory, d, info, a, out);
}

/* Planted, it makes a buffer of no use besides: a call that breaks a rule of Vulkan. */
VkResult vkCreateBuffer(VkDevice d, const VkBufferCreateInfo *info, const VkAllocationCallbacks *a,
			VkBuffer *out)
{
	REAL(vkCreateBuffer);
	if (strikes("vkCreateBuffer")) {
		VkBufferCreateInfo wrong = *info;
		VkBuffer b = VK_NULL_HANDLE;
		PFN_vkDestroyBuffer destroy;

		wrong.usage = 0;
		real("vkDestroyBuffer", &destroy);
		if (go(d, &wrong, a, &b) == VK_SUCCESS)
			destroy(d, b, a);
	}
	return go(d, info, a, out);
}

VkResult vkCreateDescriptorSetLayout(VkDevice d, const VkDescriptorSetLayoutCreateInfo *info,
				     const VkAllocationCallbacks *a, VkDescriptorSetLayout *out)
{
	PASS_OR_FAIL(vkCreateDescriptorSetLayout, d, info, a, out);
}

VkResult vkCreateComputePipelines(VkDevice d, VkPipelineCache c, uint32_t n,
				  const VkComputePipelineCreateInfo *info,
				  const VkAllocationCallbacks *a, VkPipeline *out)
{
	PASS_OR_FAIL(vkCreateComputePipelines, d, c, n, info, a, out);
}

VkResult vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *info, VkFence f)
{
	PASS_OR_FAIL(vkQueueSubmit, q, n, info, f);
}

static void begin(const char *call, VkResult result, uint32_t passes)
{
	plant.call = call;
	plant.result = result;
	plant.passes = passes;
}

/* The code that came is the one wanted, and a row of the table says so. */
static void caught(const rig *r, pctl_status s, uint32_t code, const char *fault, const char *words)
{
	char by[16];

	plant.call = NULL;
	assert_int_equal(s, pctl_code_status(code));
	assert_int_equal(r->last_code, code);
	if (!strstr(r->last_text, words))
		fail_msg("\"%s\" lacks \"%s\"", r->last_text, words);
	snprintf(by, sizeof(by), "PC%04u", code);
	planted(fault, "vulkan", by, r->last_text);
}

/* Refused while devices are listed; the plugin answers when asked again. */
static void listing(const char *call, VkResult result, uint32_t passes, const char *fault,
		    const char *words)
{
	const char *path = getenv("PIPECTL_TEST_PLUGIN");
	pctl_device_info infos[8];
	uint32_t n = 0;
	pctl_status s;
	rig r;

	rig_load(&r, path ? path : PIPECTL_VULKAN_PLUGIN, &rig_host);
	begin(call, result, passes);
	s = r.api->devices(r.inst, &r.call, 8, infos, &n);
	caught(&r, s, PC3240_VULKAN_LOADER, fault, words);
	assert_int_equal(r.api->devices(r.inst, &r.call, 8, infos, &n), PCTL_OK);
	assert_true(n > 0);
	rig_close(&r);
}

static void test_vulkan__a_loader_that_refuses(void **state)
{
	(void)state;
	listing("vkEnumerateInstanceVersion", VK_SUCCESS, 0, "a loader of Vulkan 1.0", "1.0");
	listing("vkCreateInstance", VK_ERROR_INITIALIZATION_FAILED, 0, "no instance is made", "-3");
	listing("vkEnumeratePhysicalDevices", VK_ERROR_OUT_OF_HOST_MEMORY, 1,
		"devices are counted and not listed", "-1");
}

static void opening(const char *call, VkResult result, uint32_t passes, const char *fault,
		    const char *words)
{
	const char *path = getenv("PIPECTL_TEST_PLUGIN");
	pctl_device_info infos[8];
	pctl_status s;
	rig r;

	rig_load(&r, path ? path : PIPECTL_VULKAN_PLUGIN, &rig_host);
	assert_int_equal(r.api->devices(r.inst, &r.call, 8, infos, &r.n_devices), PCTL_OK);
	begin(call, result, passes);
	s = r.api->device_open(r.inst, &r.call, 0, &r.dev);
	assert_null(r.dev);
	caught(&r, s, PC3243_VULKAN_DEVICE, fault, words);
	assert_int_equal(r.api->device_open(r.inst, &r.call, 0, &r.dev), PCTL_OK);
	rig_close(&r);
}

static void test_vulkan__a_device_that_does_not_open(void **state)
{
	(void)state;
	opening("vkCreateDevice", VK_ERROR_INITIALIZATION_FAILED, 0, "a device is not opened",
		"vkCreateDevice gave -3");
	opening("vkGetPhysicalDeviceQueueFamilyProperties", VK_SUCCESS, 0,
		"a device without a queue for compute", "no compute queue");
	opening("vkGetPhysicalDeviceMemoryProperties", VK_SUCCESS, 0, "a device without memory",
		"no memory of the needed kind");
}

/* The device serves on when a call of it has failed. */
static void still_works(rig *r)
{
	pctl_buffer *b = step_buffer(r, 256), *in = step_buffer(r, 256);
	pctl_kernel *k = step_kernel(r, 0);
	const pctl_binding at[2] = {{0, 0, in, 0, 256}, {0, 1, b, 0, 256}};
	const uint32_t groups[3] = {1, 1, 1}, seven = 7, two = 2;

	OK(r->api->buffer_write(r->dev, &r->call, b, 0, &seven, 4));
	OK(r->api->buffer_write(r->dev, &r->call, in, 0, &two, 4));
	rig_dispatch(r, k, at, 2, groups);
	assert_int_equal(step_word(r, b, 0), 23);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, b);
	r->api->buffer_destroy(r->dev, in);
}

static void memory(rig *r)
{
	pctl_buffer *b = NULL;
	pctl_status s;

	begin("vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, 0);
	s = r->api->buffer_create(r->dev, &r->call, 64u << 20, ALL_USES, &b);
	assert_null(b);
	caught(r, s, PC3244_VULKAN_MEMORY, "no memory within the limits", r->info.name);
	still_works(r);
}

static void compiling(rig *r)
{
	rig_program p = step_program(3);
	pctl_kernel *k = NULL;
	pctl_status s;

	begin("vkCreateComputePipelines", VK_ERROR_UNKNOWN, 0);
	s = r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k);
	assert_null(k);
	caught(r, s, PC3247_VULKAN_PIPELINE, "valid SPIR-V is not compiled", "-13");
	begin("vkCreateDescriptorSetLayout", VK_ERROR_FRAGMENTATION, 0);
	s = r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k);
	assert_null(k);
	caught(r, s, PC3241_VULKAN_CALL, "a call fails for a reason of its own", "-1000161000");
	OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	r->api->kernel_destroy(r->dev, k);
	free(p.wire);
	still_works(r);
}

/* What the validation layer sees is told where debug mode is on. */
static void validation(rig *r)
{
	pctl_buffer *b = NULL;
	pctl_status s;

	if (getenv("PIPECTL_TEST_NO_DEBUG"))
		return;
	begin("vkCreateBuffer", VK_SUCCESS, 0);
	s = r->api->buffer_create(r->dev, &r->call, 4096, ALL_USES, &b);
	caught(r, s, PC3246_VULKAN_VALIDATION, "a call breaks a rule of Vulkan", "1 errors");
	r->api->buffer_destroy(r->dev, b);
	still_works(r);
}

/* It was under way: nothing of it is a result, and nothing more is asked of the driver. */
static void lost(rig *r)
{
	const uint32_t groups[3] = {1, 1, 1};
	pctl_buffer *b = step_buffer(r, 256), *in = step_buffer(r, 256);
	pctl_kernel *k = step_kernel(r, 0);
	const pctl_binding at[2] = {{0, 0, in, 0, 256}, {0, 1, b, 0, 256}};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_list *l = NULL;
	uint64_t ticket = 0;
	uint32_t word;
	pctl_status s;

	OK(r->api->list_begin(r->dev, &r->call, &l));
	OK(r->api->list_dispatch(l, &r->call, k, at, 2, groups));
	OK(r->api->list_end(l, &r->call));
	begin("vkQueueSubmit", VK_ERROR_DEVICE_LOST, 0);
	s = r->api->submit(r->dev, &r->call, l, 1, &ticket);
	if (!s)
		s = r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done);
	assert_int_equal(done.done, 0);
	caught(r, s, PC3242_VULKAN_DEVICE_LOST, "the driver loses the device", r->info.name);
	REFUSED(PC3242_VULKAN_DEVICE_LOST, r->api->submit(r->dev, &r->call, l, 1, &ticket));
	REFUSED(PC3242_VULKAN_DEVICE_LOST, r->api->buffer_read(r->dev, &r->call, b, 0, &word, 4));
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, b);
	r->api->buffer_destroy(r->dev, in);
}

DEVICE_TEST(no_memory, memory)
DEVICE_TEST(no_compiler, compiling)
DEVICE_TEST(a_broken_rule, validation)
DEVICE_TEST(a_lost_device, lost)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__a_loader_that_refuses),
		PCTL_TEST(test_vulkan__a_device_that_does_not_open),
		PCTL_TEST(test_vulkan__no_memory), PCTL_TEST(test_vulkan__no_compiler),
		PCTL_TEST(test_vulkan__a_broken_rule), PCTL_TEST(test_vulkan__a_lost_device))
