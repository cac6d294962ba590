/* Two executions of a machine on a device in a worker, the second between two getppid calls: a trace of system calls shows all that this
 * process does from its submit to the end (vm_trace.py). With a model the machine is a language model's, and an execution a token.
 * usage: vm_trace HOME DEVICE [MODEL] */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipectl/llm.h"

static const char text[] =
	"@group(0) @binding(0) var<storage, read_write> registers: array<f32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(local_invocation_index) i: u32) {\n"
	"  registers[30u * 64u + i] = registers[i] + registers[31u * 64u + i] + 1.0;\n"
	"}\n";

static int two(pipectl_vm_program *program)
{
	int failed = pipectl_vm_execute(program, 1) != PCTL_OK;

	(void)getppid();
	failed = failed || pipectl_vm_execute(program, 1) != PCTL_OK;
	(void)getppid();
	return failed;
}

/* The embedding of the second token is there before it is looked at. */
static int tokens(pipectl *p, const char *device, const char *model)
{
	const pipectl_llm_options options = {
		.head = PCTL_HEAD(pipectl_llm_options), .device = device, .context = 16};
	pipectl_llm_layout layout = {.head = PCTL_HEAD(pipectl_llm_layout)};
	pipectl_vm_program *program = NULL;
	pipectl_llm *llm = NULL;
	float *embedding = NULL;
	int failed = pipectl_llm_boot(p, model, &options, &llm) != PCTL_OK ||
		     pipectl_llm_look(llm, &layout) != PCTL_OK ||
		     (embedding = malloc(layout.n_embd * sizeof(float))) == NULL ||
		     pipectl_llm_embed(llm, 7, embedding) != PCTL_OK ||
		     pipectl_llm_program(llm, NULL, &program) != PCTL_OK ||
		     pipectl_llm_forward(llm, program, embedding, NULL) != PCTL_OK ||
		     pipectl_vm_write_register(pipectl_llm_vm(llm), 0, 0, embedding,
					       layout.n_embd) != PCTL_OK ||
		     two(program);

	free(embedding);
	pipectl_vm_program_release(program);
	pipectl_llm_shutdown(llm);
	return failed;
}

static int steps(pipectl *p, const char *device)
{
	const pipectl_vm_step step = {
		.head = PCTL_HEAD(pipectl_vm_step), .name = "k.wgsl", .wgsl = text};
	const pipectl_vm_step *const all = &step;
	const pipectl_vm_program_options program_options = {
		.head = PCTL_HEAD(pipectl_vm_program_options), .steps = &all, .n_steps = 1};
	const pipectl_vm_options options = {.head = PCTL_HEAD(pipectl_vm_options),
					    .device = device,
					    .instances = 28,
					    .width = 64};
	pipectl_vm_program *program = NULL;
	pipectl_vm *vm = NULL;
	const int failed = pipectl_vm_boot(p, &options, &vm) != PCTL_OK ||
			   pipectl_vm_program_make(vm, &program_options, &program) != PCTL_OK ||
			   two(program);

	pipectl_vm_program_release(program);
	pipectl_vm_shutdown(vm);
	return failed;
}

int main(int argc, char **argv)
{
	pipectl_options options = {.head = PCTL_HEAD(pipectl_options)};
	pipectl *p = NULL;
	int failed;

	if (argc != 3 && argc != 4)
		return 2;
	options.home = argv[1];
	failed = pipectl_open(&options, &p) != PCTL_OK ||
		 (argc == 4 ? tokens(p, argv[2], argv[3]) : steps(p, argv[2]));
	printf("%s\n", failed ? "failed" : "executed");
	pipectl_close(p);
	return failed;
}
