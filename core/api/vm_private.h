/* Machines inside of the library, shared by vm.c and llm.c. */
#ifndef PIPECTL_API_VM_PRIVATE_H
#define PIPECTL_API_VM_PRIVATE_H

#include "api/private.h"
#include "host/machine.h"
#include "pipectl/vm.h"

/* host: nothing of a machine that is a model's. */
struct pipectl_vm {
	pipectl *p;
	pctl_machine *machine;
	pctl_host_machine host;
};

struct pipectl_vm_program {
	pipectl_vm *vm;
	pctl_machine_program *program;
	pctl_machine_advice advice;
};

#endif
