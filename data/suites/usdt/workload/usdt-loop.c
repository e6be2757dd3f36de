/*
 * usdt-loop: calls an empty function many times, and times the loop. The function has no probe, or a static one.
 *
 * Use:   usdt-loop OPERATIONS CPU [VARIANT]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        usdt-loop --clock READS CPU         times READS reads of the clock itself
 *        VARIANT: plain           the function has no probe (the default)
 *                 usdt            it has the probe probe_effect:work
 *                 usdt-semaphore  it has the probe probe_effect:guarded, behind a test of the probe's semaphore
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   One loop calls whichever function through a pointer, and each begins at a multiple of 64 bytes, a cache line
 *        of its own: what differs between variants is the probe alone. A probe's arguments are the operation's number
 *        and a string of 15 characters.
 * Source: sys/sdt.h of SystemTap for the probes and the semaphores.
 */

#if !defined(__linux__)
#error "usdt-loop: expected Linux: on other systems the header sys/sdt.h makes probes that only `dtrace -G` can link"
#elif !defined(__has_include)
#error "usdt-loop: expected a compiler with __has_include: GCC 5, Clang, or a later version of either"
#elif !__has_include(<sys/sdt.h>)
#error "usdt-loop: expected the header sys/sdt.h, found none; on Debian and Ubuntu: apt install systemtap-sdt-dev"
#endif

#define PROGRAM "usdt-loop"
#include "../../loop.h"

/* What a probe's second argument is, for scripts that copy a string: 15 characters and the end. */
static const char WORD[] = "fifteen letters";

typedef void work_function(long done, const char *word);

#define FUNCTION static __attribute__((noinline, aligned(64))) void

FUNCTION work_plain(long done, const char *word)
{
	__asm__ volatile("" : : "r"(done), "r"(word)); /* the arguments have to be there, as for a probe */
}

/* Arguments in registers or as constants: clang would store them in memory for a probe, enabled or not. */
#define STAP_SDT_ARG_CONSTRAINT nr
#include <sys/sdt.h>

FUNCTION work_usdt(long done, const char *word)
{
	DTRACE_PROBE2(probe_effect, work, done, word);
}

/* The header gives either all probes of a file a semaphore or none; so it is read once more. A tool that enables the
 * probe adds one to the semaphore, in the memory of each process. */
#undef _SYS_SDT_H
#undef _SDT_NOTE_SEMAPHORE_USE
#undef _SDT_SEMAPHORE
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__attribute__((section(".probes"))) volatile unsigned short probe_effect_guarded_semaphore;

FUNCTION work_semaphore(long done, const char *word)
{
	if (__builtin_expect(probe_effect_guarded_semaphore != 0, 0))
		DTRACE_PROBE2(probe_effect, guarded, done, word);
}

static const struct {
	const char *name;
	work_function *work;
} VARIANTS[] = {
	{"plain", work_plain},
	{"usdt", work_usdt},
	{"usdt-semaphore", work_semaphore},
};

static work_function *variant(const char *name)
{
	for (size_t place = 0; place < sizeof(VARIANTS) / sizeof(VARIANTS[0]); place++)
		if (strcmp(name, VARIANTS[place].name) == 0)
			return VARIANTS[place].work;
	fprintf(stderr, PROGRAM ": %s: expected plain, usdt or usdt-semaphore\n", name);
	exit(2);
}

static uint64_t time_operations(long operations, work_function *work)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		work(done, WORD);
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [VARIANT]");
	work_function *work = variant(argc > 3 ? argv[3] : "plain");

	(void)*(volatile const char *)WORD; /* no probe can copy from a page that was never read */
	wait_for_go();
	print_run(operations, time_operations(operations, work));
	return 0;
}
