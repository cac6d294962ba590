/* Two executions of a machine on a device in a worker, the second between two getppid calls: a trace of system calls shows all that this
 * process does from its submit to the end (vm_trace.py). usage: vm_trace HOME DEVICE */
#include <stdio.h>
#include <unistd.h>

#include "pipectl/vm.h"

static const char text[] =
	"@group(0) @binding(0) var<storage, read_write> registers: array<f32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(local_invocation_index) i: u32) {\n"
	"  registers[30u * 64u + i] = registers[i] + registers[31u * 64u + i] + 1.0;\n"
	"}\n";

int main(int argc, char **argv)
{
	const pipectl_vm_step step = {
		.head = PCTL_HEAD(pipectl_vm_step), .name = "k.wgsl", .wgsl = text};
	const pipectl_vm_step *const steps = &step;
	const pipectl_vm_program_options program_options = {
		.head = PCTL_HEAD(pipectl_vm_program_options), .steps = &steps, .n_steps = 1};
	pipectl_options options = {.head = PCTL_HEAD(pipectl_options)};
	pipectl_vm_options vm_options = {
		.head = PCTL_HEAD(pipectl_vm_options), .instances = 28, .width = 64};
	pipectl_vm_program *program = NULL;
	pipectl_vm *vm = NULL;
	pipectl *p = NULL;
	int failed;

	if (argc != 3)
		return 2;
	options.home = argv[1];
	vm_options.device = argv[2];
	failed = pipectl_open(&options, &p) != PCTL_OK ||
		 pipectl_vm_boot(p, &vm_options, &vm) != PCTL_OK ||
		 pipectl_vm_program_make(vm, &program_options, &program) != PCTL_OK ||
		 pipectl_vm_execute(program, 1) != PCTL_OK;
	(void)getppid();
	failed = failed || pipectl_vm_execute(program, 1) != PCTL_OK;
	(void)getppid();
	printf("%s\n", failed ? "failed" : "executed");
	pipectl_vm_program_release(program);
	pipectl_vm_shutdown(vm);
	pipectl_close(p);
	return failed;
}
