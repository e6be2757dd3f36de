/*
 * paths-marker.h: has each read of the clock followed by an instruction that does nothing, which paths-plugin.c knows.
 *
 * Use:   cc -include paths-marker.h ..; the source of the workload stays as it is.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* as the workloads do, which include less than this may */
#endif
#include <time.h>

static inline int marked_clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = clock_gettime(clock, now);

#if defined(__x86_64__)
	__asm__ volatile("xchg %%bx, %%bx" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("hint #127" ::: "memory");
#endif
	return result;
}

#define clock_gettime marked_clock_gettime
