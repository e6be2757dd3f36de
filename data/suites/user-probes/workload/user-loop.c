/*
 * user-loop: calls a few functions in turn, many times, and times the loop. Each begins with another instruction,
 *            because what a probe on a user function costs depends on the instruction that it replaces.
 *
 * Use:   user-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        user-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   One operation calls each function once, so that a probe on any of them fires once an operation, and one
 *        baseline serves all. Each architecture has its own, and ret_only and prologue are on both. They are written in
 *        assembly: a compiler would choose the first instruction itself. Each begins at a multiple of 64 bytes, a cache
 *        line of its own.
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

extern void ret_only(void);
extern void prologue(const char *word);

#if defined(__x86_64__)
FUNCTION(nop1, ".byte 0x90\n\tret");
FUNCTION(nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\tret"); /* as compilers leave room for a call */
/* The one nop of ten bytes that Linux 7.3 replaces under a uprobe: `cs nopw 0(%rax,%rax)`. */
FUNCTION(nop10, ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n\tret");
FUNCTION(push, "push %rbp\n\tpop %rbp\n\tret");
FUNCTION(rip_mov, "mov sink(%rip), %rax\n\tret");
FUNCTION(ret_only, "ret");
/* As gcc -O0 begins a function: a frame, room for locals, the arguments kept there. */
FUNCTION(prologue, "push %rbp\n\tmov %rsp, %rbp\n\tsub $16, %rsp\n\tmov %rdi, -8(%rbp)\n\tleave\n\tret");
extern void nop1(void);
extern void nop5(void);
extern void nop10(void);
extern void push(void);
extern void rip_mov(void);
#define CALL_OWN() (nop1(), nop5(), nop10(), push(), rip_mov())
#elif defined(__aarch64__)
FUNCTION(nop, "nop\n\tret");
/* By their numbers, for an assembler that knows no newer processor; an older one takes them for nops. */
FUNCTION(bti_c, "hint #34\n\tret");
FUNCTION(paciasp, "hint #25\n\thint #29\n\tret"); /* the return address is signed, and proved by autiasp */
FUNCTION(adrp, "adrp x0, sink\n\tret");
FUNCTION(branch, "b 1f\n1:\tret");
FUNCTION(cbz, "cbz x0, 1f\n1:\tret");
FUNCTION(mov, "mov x0, #1\n\tret");
FUNCTION(ret_only, "ret");
/* As compilers begin a function that calls others: a frame, with room for locals; the argument is kept there. */
FUNCTION(prologue, "stp x29, x30, [sp, #-32]!\n\tmov x29, sp\n\tstr x0, [sp, #24]\n\tldp x29, x30, [sp], #32\n\tret");
extern void nop(void);
extern void bti_c(void);
extern void paciasp(void);
extern void adrp(void);
extern void branch(void);
extern void cbz(void);
extern void mov(void);
#define CALL_OWN() (nop(), bti_c(), paciasp(), adrp(), branch(), cbz(), mov())
#else
#error "user-loop: the functions are written for x86-64 and arm64; add their equivalents for this processor"
#endif

uint64_t sink = 1; /* what rip_mov reads, and adrp finds, by its distance from the instruction */

/* What prologue is handed, for scripts that copy a string: 15 characters and the end. */
static const char WORD[] = "fifteen letters";

/* A caller with a frame of its own, so that a stack walked by frame pointers is the same each time. */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static __attribute__((noinline)) uint64_t time_operations(long operations)
{
	uint64_t start_ns = now_ns();

	KEEP_FRAME();
	for (long done = 0; done < operations; done++) {
		CALL_OWN();
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
