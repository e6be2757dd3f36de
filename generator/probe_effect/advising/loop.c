/*
 * calibration-loop: does what fires the probes of a script, as often as it is told, and says how long it took.
 *
 * Use:    one line for each block on standard input:  OPERATION CPU FRAMES TIMES
 *         OPERATION is `function_NAME_SLOT` (a call of that function), `call_NAME` (a system call that fails at once and
 *         changes nothing), `switch` (to another thread and back) or `rename` (a new name for the thread); FRAMES is how
 *         many callers are on the stack; TIMES is how often. `calibration-loop --calls` prints the names of the calls.
 * Read:   one line for each block:  CPU_NS WALL_NS, of the whole process; it ends with its standard input.
 * Why:    CPU time and not wall time: others may use the same CPU meanwhile. One loop for all, so that a block of each can
 *         follow a block of another, traced and untraced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char WORD[] = "fifteen letters"; /* what scripts find that copy an argument */

static void die(const char *what)
{
	fprintf(stderr, "calibration-loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A function whose first instruction is chosen, and that gives back its first argument. */
#define FUNCTION(name, instructions)                                                                    \
	extern long name(const char *, long, long);                                                    \
	__asm__(".pushsection .text\n\t.p2align 6\n\t.globl " #name "\n\t.type " #name ", %function\n" \
		#name ":\n\t" instructions "\n\t.size " #name ", . - " #name "\n\t.popsection")

#if defined(__x86_64__)
#define EMULATED "push %rbp\n\tpop %rbp\n\tmov %rdi, %rax\n\tret"
#define STEPPED "mov %rdi, %rax\n\tret"
#ifdef CALLS_NOP10 /* Linux 7.2 and newer: a nop of ten bytes becomes a call, and before one of five */
#define CALLED ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\tmov %rdi, %rax\n\tret"
#else
#define CALLED ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\tmov %rdi, %rax\n\tret"
#endif
#elif defined(__aarch64__)
#define EMULATED "b 1f\n1:\tret"
#define STEPPED "stp x29, x30, [sp, #-16]!\n\tldp x29, x30, [sp], #16\n\tret"
#define CALLED EMULATED
#else
#error "calibration-loop: the functions are written for x86-64 and arm64; add their equivalents for this processor"
#endif

/* One for each function that a script probes, so that each can be called by itself. */
#define SLOTS(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
#define DECLARED(slot)                    \
	FUNCTION(emulated_##slot, EMULATED); \
	FUNCTION(stepped_##slot, STEPPED);   \
	FUNCTION(called_##slot, CALLED);
SLOTS(DECLARED)

static const struct function {
	const char *name;
	long (*call)(const char *, long, long);
} FUNCTIONS[] = {
#define LISTED(slot) {"emulated_" #slot, emulated_##slot}, {"stepped_" #slot, stepped_##slot}, {"called_" #slot, called_##slot},
	SLOTS(LISTED)
};

/* System calls whose arguments are refused at once. FD: a descriptor that is not open, and nothing else. AT: the same with a
 * path behind it. PATH: a path that names nothing. NONE: no arguments. POINTER: an address that nobody has. Whatever may wait,
 * start, end or change something is not here. */
enum arguments { FD, AT, PATH, NONE, POINTER };

static const struct call {
	const char *name;
	long number;
	enum arguments arguments;
} CALLS[] = {
#define CALL(name, arguments) {#name, SYS_##name, arguments},
	CALL(getppid, NONE) CALL(read, FD) CALL(write, FD) CALL(openat, AT) CALL(close, FD) CALL(fstat, FD)
	CALL(lseek, FD) CALL(pread64, FD) CALL(pwrite64, FD) CALL(readv, FD) CALL(writev, FD) CALL(ioctl, FD)
	CALL(fcntl, FD) CALL(getdents64, FD) CALL(faccessat, AT) CALL(readlinkat, AT) CALL(statx, AT) CALL(mmap, FD)
	CALL(munmap, POINTER) CALL(mprotect, POINTER) CALL(madvise, POINTER) CALL(brk, NONE) CALL(futex, POINTER)
	CALL(epoll_ctl, FD) CALL(epoll_pwait, FD) CALL(sendto, FD) CALL(recvfrom, FD) CALL(sendmsg, FD) CALL(recvmsg, FD)
	CALL(connect, FD) CALL(accept, FD) CALL(accept4, FD) CALL(bind, FD) CALL(socket, FD) CALL(dup, FD)
	CALL(fsync, FD) CALL(fdatasync, FD) CALL(fallocate, FD) CALL(ftruncate, FD) CALL(getpid, NONE) CALL(gettid, NONE)
	CALL(getuid, NONE) CALL(execve, POINTER) CALL(nanosleep, POINTER) CALL(clock_nanosleep, FD) CALL(pipe2, POINTER)
	CALL(rt_sigprocmask, FD) CALL(rt_sigaction, FD) CALL(sched_yield, NONE) CALL(copy_file_range, FD) CALL(newfstatat, AT)
#ifdef SYS_open
	CALL(open, PATH) CALL(stat, PATH) CALL(lstat, PATH) CALL(access, PATH) CALL(readlink, PATH) CALL(epoll_wait, FD)
#endif
#ifdef SYS_faccessat2
	CALL(faccessat2, AT)
#endif
};

static const struct call *found_call;
static const struct function *found_function;
static int to_other, to_us;

static void make_call(const struct call *one)
{
	long first = one->arguments == NONE ? 0 : one->arguments == PATH ? (long)"" : -1;

	syscall(one->number, first, one->arguments == AT ? (long)WORD : 0L, 0L, 0L, 0L, 0L);
}

static void do_call(long times)
{
	while (times-- > 0)
		make_call(found_call);
}

static void do_function(long times)
{
	while (times-- > 0)
		found_function->call(WORD, (long)sizeof(WORD), times);
}

static void do_rename(long times)
{
	while (times-- > 0)
		prctl(PR_SET_NAME, "calibration");
}

static void *answer(void *unused)
{
	eventfd_t value;

	while (eventfd_read(to_other, &value) == 0 && eventfd_write(to_us, 1) == 0)
		continue;
	return unused;
}

static void do_switch(long times)
{
	eventfd_t value;

	while (times-- > 0)
		if (eventfd_write(to_other, 1) != 0 || eventfd_read(to_us, &value) != 0)
			die("eventfd");
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		die("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct block {
	void (*perform)(long);
	long times;
	uint64_t cpu_ns, wall_ns;
};

/* As many frames below the operation as were asked for: what walks a stack has as far to go as in the program. */
static __attribute__((noinline)) void descend(long frames, struct block *block)
{
	uint64_t cpu_ns, wall_ns;

	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	if (frames > 0) {
		descend(frames - 1, block);
		__asm__ volatile("" : : : "memory"); /* or the call above would be a jump, without a frame */
		return;
	}
	wall_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	block->perform(block->times);
	block->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	block->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
}

static void (*performer(const char *operation))(long)
{
	if (strncmp(operation, "call_", 5) == 0) {
		for (size_t at = 0; at < sizeof(CALLS) / sizeof(*CALLS); at++)
			if (strcmp(CALLS[at].name, operation + 5) == 0) {
				found_call = &CALLS[at];
				return do_call;
			}
	} else if (strncmp(operation, "function_", 9) == 0) {
		for (size_t at = 0; at < sizeof(FUNCTIONS) / sizeof(*FUNCTIONS); at++)
			if (strcmp(FUNCTIONS[at].name, operation + 9) == 0) {
				found_function = &FUNCTIONS[at];
				return do_function;
			}
	} else if (strcmp(operation, "switch") == 0) {
		return do_switch;
	} else if (strcmp(operation, "rename") == 0) {
		return do_rename;
	}
	fprintf(stderr, "calibration-loop: %s: no such operation\n", operation);
	exit(2);
}

static void pin(pthread_t thread, long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	errno = pthread_setaffinity_np(thread, sizeof(set), &set);
	if (errno != 0)
		die("CPU");
}

int main(int argc, char **argv)
{
	char operation[64];
	long cpu, frames;
	struct block block;
	pthread_t other;

	if (argc == 2 && strcmp(argv[1], "--calls") == 0) {
		for (size_t at = 0; at < sizeof(CALLS) / sizeof(*CALLS); at++)
			puts(CALLS[at].name);
		return 0;
	}
	to_other = eventfd(0, EFD_CLOEXEC);
	to_us = eventfd(0, EFD_CLOEXEC);
	(void)*(volatile const char *)WORD; /* no probe can copy from a page that was never read */
	errno = pthread_create(&other, NULL, answer, NULL);
	if (to_other < 0 || to_us < 0 || errno != 0)
		die("start");
	while (scanf("%63s %ld %ld %ld", operation, &cpu, &frames, &block.times) == 4) {
		block.perform = performer(operation);
		pin(pthread_self(), cpu);
		pin(other, cpu);
		descend(frames, &block);
		printf("%llu %llu\n", (unsigned long long)block.cpu_ns, (unsigned long long)block.wall_ns);
		fflush(stdout);
	}
	return 0;
}
