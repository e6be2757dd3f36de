/*
 * user-loop: calls six functions in turn, many times, and times the loop. Each begins with another instruction, because
 *            what a probe on a user function costs depends on the instruction that it replaces.
 *
 * Use:   user-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        user-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   One operation calls nop1, nop5, push, rip_mov, ret_only and prologue once each, so that a probe on any of them
 *        fires once an operation, and one baseline serves all. They are written in assembly: a compiler would choose
 *        the first instruction itself. Each begins at a multiple of 64 bytes, a cache line of its own.
 */

#define PROGRAM "user-loop"
#include "../../loop.h"

#if !defined(__ELF__)
#error "user-loop: expected a compiler that makes ELF files (Linux, the BSDs, illumos): the functions are declared so"
#endif

/* A function in assembly, with the type and size that tools look for in the symbol table. */
#define FUNCTION(name, instructions)                                                                   \
	__asm__(".pushsection .text\n\t.p2align 6\n\t.globl " #name "\n\t.type " #name ", %function\n" \
		#name ":\n\t" instructions "\n\t.size " #name ", . - " #name "\n\t.popsection")

#if defined(__x86_64__)
FUNCTION(nop1, ".byte 0x90\n\tret");
FUNCTION(nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\tret"); /* as compilers leave room for a call */
FUNCTION(push, "push %rbp\n\tpop %rbp\n\tret");
FUNCTION(rip_mov, "mov sink(%rip), %rax\n\tret");
FUNCTION(ret_only, "ret");
/* As gcc -O0 begins a function: a frame, room for locals, the arguments kept there. */
FUNCTION(prologue, "push %rbp\n\tmov %rsp, %rbp\n\tsub $16, %rsp\n\tmov %rdi, -8(%rbp)\n\tleave\n\tret");
#elif defined(__aarch64__)
FUNCTION(nop1, "nop\n\tret");
FUNCTION(nop5, "nop\n\tret"); /* every instruction has 4 bytes: the same as nop1 */
FUNCTION(push, "stp x29, x30, [sp, #-16]!\n\tldp x29, x30, [sp], #16\n\tret");
FUNCTION(rip_mov, "adrp x0, sink\n\tldr x0, [x0, :lo12:sink]\n\tret");
FUNCTION(ret_only, "ret");
FUNCTION(prologue, "stp x29, x30, [sp, #-32]!\n\tmov x29, sp\n\tstr x0, [sp, #24]\n\tldp x29, x30, [sp], #32\n\tret");
#else
#error "user-loop: the functions are written for x86-64 and AArch64; add their equivalents for this processor"
#endif

uint64_t sink = 1; /* what rip_mov reads, by its distance from the instruction */

extern void nop1(void);
extern void nop5(void);
extern void push(void);
extern void rip_mov(void);
extern void ret_only(void);
extern void prologue(const char *word);

/* What prologue is handed, for scripts that copy a string: 15 characters and the end. */
static const char WORD[] = "fifteen letters";

/* A caller with a frame of its own, so that a stack walked by frame pointers is the same each time. */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static __attribute__((noinline)) uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	KEEP_FRAME();
	for (long done = 0; done < operations; done++) {
		nop1();
		nop5();
		push();
		rip_mov();
		ret_only();
		prologue(WORD);
	}
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, "");

	KEEP_FRAME();
	(void)*(volatile const char *)WORD; /* no probe can copy from a page that was never read */
	wait_for_go();
	print_run(operations, time_operations(operations));
	return 0;
}
