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

#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#elif defined(__FreeBSD__)
#include <sys/param.h>
#include <sys/cpuset.h>
#endif

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

/* A CPU that waited for "go" has to leave its idle state first: it is kept busy, untimed, without a system call.
 * Baseline and traced runs wait for different times, and would start in different states without this. */
#define WARM_UP_NS 10000000

static void die(const char *what)
{
	fprintf(stderr, "user-loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		die("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t in_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void print_run(long operations, uint64_t wall_ns)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used) != 0)
		die("getrusage");
	printf("{\"operations\": %ld, \"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 "}\n",
	       operations, wall_ns, in_ns(used.ru_utime), in_ns(used.ru_stime));
	if (fflush(stdout) != 0)
		die("standard output");
}

static long number(const char *text, long least)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || *text == '\0' || *end != '\0' || value < least) {
		fprintf(stderr, "user-loop: %s: expected a whole number of %ld or more\n", text, least);
		exit(2);
	}
	return value;
}

static void pin(long cpu)
{
#if defined(__linux__)
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("sched_setaffinity");
#elif defined(__FreeBSD__)
	cpuset_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof(set), &set) != 0)
		die("cpuset_setaffinity");
#else
	(void)cpu; /* this system pins no process; machine.json says which system it was */
#endif
}

static void wait_for_go(void)
{
	char go;
	ssize_t got;

	do
		got = read(STDIN_FILENO, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die("standard input");
	if (got == 0) {
		fprintf(stderr, "user-loop: standard input ended before the byte that starts the run\n");
		exit(1);
	}
}

static void warm_up(void)
{
	uint64_t start_ns = now_ns();

	(void)*(volatile const char *)WORD; /* no probe can copy from a page that was never read */
	while (now_ns() - start_ns < WARM_UP_NS)
		continue;
}

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

static uint64_t time_clock(long reads)
{
	uint64_t start_ns = now_ns();

	for (long done = 1; done < reads; done++)
		(void)now_ns();
	return now_ns() - start_ns; /* this last read counts too */
}

int main(int argc, char **argv)
{
	int is_clock = argc == 4 && strcmp(argv[1], "--clock") == 0;
	long operations, cpu;
	uint64_t wall_ns;

	KEEP_FRAME();
	if (argc != 3 && !is_clock) {
		fprintf(stderr, "use: user-loop OPERATIONS CPU\n     user-loop --clock READS CPU\n");
		return 2;
	}
	operations = number(argv[argc - 2], 1);
	cpu = number(argv[argc - 1], -1);
	if (cpu >= 0)
		pin(cpu);
	if (is_clock) {
		warm_up();
		wall_ns = time_clock(operations);
	} else {
		wait_for_go();
		warm_up();
		wall_ns = time_operations(operations);
	}
	print_run(operations, wall_ns);
	return 0;
}
