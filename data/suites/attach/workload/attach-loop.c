/*
 * attach-loop: has 1, 10, 100 and 1000 functions for probes, calls none of them, and times a loop of another one.
 *
 * Use:   attach-loop OPERATIONS CPU LEVEL  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned.
 *                                          LEVEL is how many probes there are; it changes nothing here
 *        attach-loop --clock READS CPU     times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   A wildcard matches as many functions as a level says: one_*, ten_*, hundred_*, thousand_*. Each begins with
 *        a nop, which the kernel carries out by itself, in a cache line of its own. The loop makes no system call, so
 *        that no probe on one fires in it. An operation is a thousand calls, so that the first trial run is long
 *        enough: with a thousand probes another one would take minutes.
 */

#define PROGRAM "attach-loop"
#include "../../loop.h"

#if !defined(__ELF__)
#error "attach-loop: expected a compiler that makes ELF files (Linux, the BSDs, illumos): the functions are declared so"
#endif

/* A function in assembly, with the type and size that tools look for in the symbol table. */
#define FUNCTION(name)                                                                                 \
	__asm__(".pushsection .text\n\t.p2align 6\n\t.globl " #name "\n\t.type " #name ", %function\n" \
		#name ":\n\tnop\n\tret\n\t.size " #name ", . - " #name "\n\t.popsection");

#define TEN(stem)                                                                                          \
	FUNCTION(stem##0) FUNCTION(stem##1) FUNCTION(stem##2) FUNCTION(stem##3) FUNCTION(stem##4)          \
	FUNCTION(stem##5) FUNCTION(stem##6) FUNCTION(stem##7) FUNCTION(stem##8) FUNCTION(stem##9)
#define HUNDRED(stem)                                                                                      \
	TEN(stem##0) TEN(stem##1) TEN(stem##2) TEN(stem##3) TEN(stem##4)                                   \
	TEN(stem##5) TEN(stem##6) TEN(stem##7) TEN(stem##8) TEN(stem##9)
#define THOUSAND(stem)                                                                                     \
	HUNDRED(stem##0) HUNDRED(stem##1) HUNDRED(stem##2) HUNDRED(stem##3) HUNDRED(stem##4)               \
	HUNDRED(stem##5) HUNDRED(stem##6) HUNDRED(stem##7) HUNDRED(stem##8) HUNDRED(stem##9)

FUNCTION(unprobed)
FUNCTION(one_0)
TEN(ten_)
HUNDRED(hundred_)
THOUSAND(thousand_)

#define CALLS 1000 /* of an operation */

extern void unprobed(void);

static __attribute__((noinline)) uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		for (int call = 0; call < CALLS; call++)
			unprobed();
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " LEVEL");

	wait_for_go();
	print_run(operations, time_operations(operations));
	return 0;
}
