// Tries each mechanism of tracing on the kernel that runs, and prints one line for each: id, outcome, errno, words.
//
// The outcome is `works`, or where it ended: `load` (a program or map), `attach`, or `event` (attached, and nothing was
// seen). Each trial is a process of its own. BPF programs are byte code: no library, and the same on every kernel.
// Constants: include/uapi/linux/bpf.h, perf_event.h and user_events.h of Linux 6.18; older kernels do not know them all.
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#ifdef __x86_64__
#define CALLED "__x64_sys_close"
#define BPF_CALL 321
#else
#define CALLED "__arm64_sys_close"
#define BPF_CALL 280
#endif
#define EVENT "syscalls/sys_enter_getppid"
#define TRACING "/sys/kernel/tracing/"
#define TRIAL_S 20

enum { MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, PROG_LOAD = 5, PROG_ATTACH = 8, TEST_RUN = 10, RAW_TP = 17, BTF_LOAD = 18,
       LINK_CREATE = 28, ITER_CREATE = 33 };
enum { SOCKET_FILTER = 1, KPROBE, SCHED_CLS, TRACEPOINT = 5, CGROUP_SOCK = 9, RAW_TRACEPOINT = 17, WRITABLE = 24,
       TRACING_PROG = 26, STRUCT_OPS = 27, LSM = 29 };
enum { HASH = 1, ARRAY, PERF_ARRAY = 4, STACKS = 7, OPS_MAP = 26, RINGBUF = 27, TASK_STORAGE = 29, BLOOM, USER_RINGBUF,
       ARENA = 33 };
enum { RAW_TP_BTF = 23, FENTRY, FEXIT, FMOD_RET, LSM_MAC, ITER, PERF = 41, K_MULTI, U_MULTI = 48, K_SESSION = 56,
       U_SESSION };
enum { SLEEPABLE = 1 << 4, MMAPABLE = 1 << 10, LINK = 1 << 13, NO_PREALLOC = 1 };

// How a trial ends.

static char words[1 << 16];

static void ends(const char *outcome, int code, const char *said)
{
	char line[200] = "";
	snprintf(line, sizeof line, "%s", said);
	for (char *c = line; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = ' ';
	printf("\t%s\t%d\t%s\n", outcome, code, line);
	fflush(stdout);
	_exit(0);
}

static long must(const char *where, long result)  // of a call: what it gave, or the end of the trial
{
	if (result < 0) {
		int code = errno;
		char *last = words;  // the line of the verifier that says why: the one before its statistics
		for (char *line = strtok(words, "\n"); line; line = strtok(NULL, "\n"))
			if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17) && strncmp(line, "stack depth", 11))
				last = line;
		ends(where, code, last);
	}
	return result;
}

static void seen(int is)
{
	if (is)
		ends("works", 0, "");
	ends("event", 0, "");
}

// Byte code.

struct insn { u8 code, regs; short offset; int value; };
#define I(code, to, from, offset, value) {code, (to) | (from) << 4, offset, value}
#define SET(to, v) I(0xb7, to, 0, 0, v)
#define COPY(to, from) I(0xbf, to, from, 0, 0)
#define PLACE(to, offset) COPY(to, 10), I(0x07, to, 0, 0, offset)
#define STORE(offset, v) I(0x7a, 10, 0, offset, v)
#define MAP(to, fd) I(0x18, to, 1, 0, fd), I(0, 0, 0, 0, 0)
#define CALL(helper) I(0x85, 0, 0, 0, helper)
#define KFUNC(id) I(0x85, 0, 2, 0, id)
#define FUNCTION(to, ahead) I(0x18, to, 4, 0, ahead), I(0, 0, 0, 0, 0)
#define COUNT I(0x18, 1, 2, 0, hits), I(0, 0, 0, 0, 0), SET(2, 1), I(0xdb, 1, 2, 0, 0)
#define UNLESS_NEGATIVE I(0xc5, 0, 0, 4, 0)  // else over COUNT
#define RETURN(v) SET(0, v), I(0x95, 0, 0, 0, 0)
#define N(list) ((int)(sizeof(list) / sizeof(*(list))))

static int hits;
static volatile u64 *count;

static long bpf(int command, void *attributes, int size)
{
	return syscall(BPF_CALL, command, attributes, size);
}

struct map { u32 kind, key, value, entries, flags, inner, node; char name[16]; u32 index, btf, key_type, value_type, vmlinux_type;
	u64 extra; };

static long create(struct map map)
{
	return bpf(MAP_CREATE, &map, sizeof map);
}

static long update(int fd, void *key, void *value)
{
	struct { u32 fd, pad; u64 key, value, flags; } a = {fd, 0, (u64)key, (u64)value, 0};
	return bpf(MAP_UPDATE, &a, sizeof a);
}

struct prog { u32 kind, n; u64 code, licence; u32 level, size; u64 log; u32 version, flags; char name[16]; u32 index, expected, btf,
	info_size; u64 info; u32 infos, line_size; u64 lines; u32 nlines, target; };

static int load(int kind, int expected, int target, struct insn *code, int n, int flags, int btf, void *info, int infos)
{
	struct prog a = {.kind = kind, .n = n, .code = (u64)code, .licence = (u64)"GPL", .level = 1, .size = sizeof words,
		.log = (u64)words, .flags = flags, .expected = expected, .target = target, .btf = btf,
		.info_size = infos ? 8 : 0, .info = (u64)info, .infos = infos};
	words[0] = 0;
	int fd = must("load", bpf(PROG_LOAD, &a, sizeof a));
	words[0] = 0;
	return fd;
}

static int counting(int kind, int expected, int target, int flags, int result)
{
	struct insn code[] = {COUNT, RETURN(result)};
	return load(kind, expected, target, code, N(code), flags, 0, 0, 0);
}

static int open_raw(int fd, const char *name)
{
	struct { u64 name; u32 fd, pad; } a = {(u64)name, fd, 0};
	return must("attach", bpf(RAW_TP, &a, sizeof a));
}

static void test_run(int fd)
{
	static char packet[64];
	struct { u32 fd, result, in, out; u64 data, to; u32 repeat, ns; u64 rest[6]; } a = {fd, 0, 64, 0, (u64)packet, 0, 1};
	must("attach", bpf(TEST_RUN, &a, sizeof a));
}

static void wait_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, 0);
}

static void fire(void)
{
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid), syscall(SYS_close, -1);
}

static void counted(void) { seen(*count > 0); }

// The kernel's types (BTF, Documentation/bpf/btf.rst).

struct type { u32 name, info, size; };
static char *btf_data, *strings;
static struct type *types[1 << 19];
static int ntypes;

static int kind_of(struct type *t) { return t->info >> 24 & 31; }

static void read_btf(void)
{
	int fd = must("load", open("/sys/kernel/btf/vmlinux", O_RDONLY));
	long size = 0, got, room = 64 << 20;
	btf_data = malloc(room);
	while ((got = read(fd, btf_data + size, room - size)) > 0)
		size += got;
	u32 *h = (u32 *)btf_data;  // magic and flags, length of the header, types from, length, strings from, length
	char *at = btf_data + h[1] + h[2], *end = at + h[3];
	strings = btf_data + h[1] + h[4];
	static const u8 each[20] = {[1] = 4, [14] = 4, [17] = 4}, many[20] = {[4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12};
	for (ntypes = 1; at < end && ntypes < N(types); ntypes++) {
		struct type *t = types[ntypes] = (struct type *)at;
		int kind = kind_of(t);
		at += sizeof *t + each[kind] + many[kind] * (t->info & 0xffff) + (kind == 3 ? 12 : 0);
	}
}

static int id_of(const char *name, int kind)
{
	if (!ntypes)
		read_btf();
	for (int i = 1; i < ntypes; i++)
		if (kind_of(types[i]) == kind && !strcmp(strings + types[i]->name, name))
			return i;
	errno = ENOENT;
	snprintf(words, sizeof words, "the kernel's types have no %s", name);
	return must("load", -1);
}

static int member(int of, const char *name, int *offset)  // its place in the list
{
	u32 *m = (u32 *)(types[of] + 1);
	for (int i = 0; i < (int)(types[of]->info & 0xffff); i++, m += 3)
		if (!strcmp(strings + m[0], name)) {
			*offset = (m[2] & 0xffffff) / 8;
			return i;
		}
	errno = ENOENT;
	return must("load", -1);
}

// Types of our own, for callbacks and for maps that need them.

static int own_types(void)
{
	static const char names[] = "\0int\0f\0u64\0bpf_timer\0a\0b\0v\0t";
	static const u32 list[] = {
		1, 1 << 24, 4, 1 << 24 | 32,   // 1: int
		0, 13 << 24, 1,                // 2: int (void)
		5, 12 << 24, 2,                // 3: f, static
		7, 1 << 24, 8, 64,             // 4: u64
		11, 4 << 24 | 2, 16, 21, 4, 0, 23, 4, 64,  // 5: struct bpf_timer
		25, 4 << 24 | 1, 16, 27, 5, 0, // 6: struct v
	};
	static char blob[sizeof(u32) * 6 + sizeof list + sizeof names];
	u32 head[6] = {0xeb9f | 1 << 16, 24, 0, sizeof list, sizeof list, sizeof names};
	memcpy(blob, head, 24), memcpy(blob + 24, list, sizeof list), memcpy(blob + 24 + sizeof list, names, sizeof names);
	struct { u64 btf, log; u32 size, log_size, level, pad; } a = {(u64)blob, 0, sizeof blob};
	return must("load", bpf(BTF_LOAD, &a, sizeof a));
}

static int with_callback(int kind, struct insn *code, int n, int callback)
{
	u32 info[] = {0, 3, callback, 3};
	return load(kind, 0, 0, code, n, 0, own_types(), info, 2);
}

// Files of tracefs.

static long put(const char *name, const char *text)
{
	char path[300];
	snprintf(path, sizeof path, TRACING "%s", name);
	int fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0)
		return -1;
	long got = write(fd, text, strlen(text));
	int code = errno;
	close(fd);
	errno = code;
	return got;
}

static char data[1 << 18];

static int has(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY);
	long size = 0, got;
	while (fd >= 0 && (got = read(fd, data + size, sizeof data - 1 - size)) > 0)
		size += got;
	data[size] = 0;
	close(fd);
	return strstr(data, text) != 0;
}

static void refused(void)  // with what the log of tracefs says of it
{
	int code = errno;
	if (has(TRACING "error_log", "error: ")) {
		char *at = strstr(data, "error: ");
		snprintf(words, sizeof words, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
	}
	errno = code;
	must("attach", -1);
}

static long number_in(const char *path)
{
	char text[32] = "";
	int fd = must("attach", open(path, O_RDONLY));
	read(fd, text, sizeof text - 1);
	close(fd);
	return atol(text);
}

static void by_tracefs(const char *file, const char *definition, const char *name)
{
	char enable[100];
	if (put(file, definition) < 0)
		refused();
	snprintf(enable, sizeof enable, "events/%s/enable", name);
	must("attach", put(enable, "1"));
	fire();
	int is = has(TRACING "trace", strrchr(name, '/') + 1);
	put(enable, "0");
	char gone[100];
	snprintf(gone, sizeof gone, "-:%s", name);
	put(file, gone);
	seen(is);
}

static void by_tracer(const char *name, const char *line)
{
	must("attach", put("set_ftrace_filter", CALLED));
	must("attach", put("current_tracer", name));
	fire();
	int is = has(TRACING "trace", line);
	put("current_tracer", "nop");
	seen(is);
}

// Perf events.

static int perf(u32 type, u64 config, u64 one, u64 two, int pid, int cpu)
{
	struct perf_event_attr a = {.type = type, .size = sizeof a, .config = config, .config1 = one, .config2 = two};
	if (type == PERF_TYPE_BREAKPOINT)
		a.bp_type = 2;
	if (type == PERF_TYPE_TRACEPOINT || type > PERF_TYPE_BREAKPOINT)
		a.sample_period = 1;
	if (type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_BPF_OUTPUT)
		a.sample_type = PERF_SAMPLE_RAW, a.sample_period = 1;
	return must("attach", syscall(SYS_perf_event_open, &a, pid, cpu, -1, 0));
}

static u64 read_perf(int fd)
{
	u64 value = 0;
	must("event", read(fd, &value, sizeof value));
	return value;
}

static int tracepoint(void) { return perf(PERF_TYPE_TRACEPOINT, number_in(TRACING "events/" EVENT "/id"), 0, 0, 0, -1); }

static int kernel_probe(int is_return, int offset)
{
	return perf(number_in("/sys/bus/event_source/devices/kprobe/type"), is_return, (u64)CALLED, offset, 0, -1);
}

static void with_bpf(int event, int kind)
{
	int fd = counting(kind, 0, 0, 0, 0);
	must("attach", ioctl(event, PERF_EVENT_IOC_SET_BPF, fd));
	must("attach", ioctl(event, PERF_EVENT_IOC_ENABLE, 0));
}

// Functions of ours to probe.

static volatile int sink;
__attribute__((noinline, noclone)) static int probed(int value) { sink = value; return value + 1; }

#ifdef __x86_64__
#define ALIGNED(name, bytes) \
	__asm__(".pushsection .text\n.balign 64\n" name ": .byte " bytes "\nret\n.popsection");
ALIGNED("nop5", "0x0f, 0x1f, 0x44, 0, 0")
ALIGNED("nop10", "0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0")
extern void nop5(void), nop10(void);
#endif

__attribute__((section(".probes"))) static volatile u16 semaphore = 0;

static u64 in_file(volatile void *place)  // the offset that is mapped there
{
	char line[400];
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps)) {
		u64 from, to, offset;
		sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset);
		if ((u64)place >= from && (u64)place < to)
			return (u64)place - from + offset;
	}
	return 0;
}

static int user_probe(u64 config, void *place)
{
	return perf(number_in("/sys/bus/event_source/devices/uprobe/type"), config, (u64)"/proc/self/exe", in_file(place), getpid(), -1);
}

static void run_probed(void)
{
	for (int i = 0; i < 5; i++)
		probed(i);
}

static void multi_uprobe(int expected)
{
	u64 offset = in_file(probed);
	struct { u32 fd, target, type, flags; u64 path, offsets, counters, cookies; u32 n, more, pid, pad; } a = {
		counting(KPROBE, expected, 0, 0, 0), 0, expected, 0, (u64)"/proc/self/exe", (u64)&offset, 0, 0, 1, 0, 0, 0};
	must("attach", bpf(LINK_CREATE, &a, sizeof a));
	run_probed();
	counted();
}

static void multi_kprobe(int expected, int flags)
{
	const char *names[] = {CALLED};
	struct { u32 fd, target, type, flags, more, n; u64 names, addresses, cookies; } a = {
		counting(KPROBE, expected, 0, 0, 0), 0, expected, 0, flags, 1, (u64)names, 0, 0};
	must("attach", bpf(LINK_CREATE, &a, sizeof a));
	fire();
	counted();
}

static void traced(int kind, int expected, int target, int flags)
{
	open_raw(counting(kind, expected, target, flags, 0), 0);
	fire();
	ioctl(open("/dev/null", O_RDONLY), FIONREAD, &sink);
	counted();
}

static void raw_with(struct insn *code, int n)
{
	open_raw(load(RAW_TRACEPOINT, 0, 0, code, n, 0, 0, 0, 0), "sys_enter");
	fire();
}

// The trials.

static void perf_tracepoint(void) { int fd = tracepoint(); fire(); seen(read_perf(fd) > 0); }
static void bpf_tracepoint(void) { with_bpf(tracepoint(), TRACEPOINT); fire(); counted(); }
static void raw_tracepoint(void) { open_raw(counting(RAW_TRACEPOINT, 0, 0, 0, 0), "sys_enter"); fire(); counted(); }
static void raw_tracepoint_writable(void)
{
	struct insn nothing[] = {RETURN(0)};
	open_raw(counting(WRITABLE, 0, 0, 0, 0), "bpf_test_finish");
	test_run(load(SOCKET_FILTER, 0, 0, nothing, 2, 0, 0, 0, 0));
	counted();
}
static void typed_tracepoint(void) { traced(TRACING_PROG, RAW_TP_BTF, id_of("btf_trace_sys_enter", 8), 0); }
static void kprobe_tracefs(void) { by_tracefs("kprobe_events", "p:pe/pe_k " CALLED, "pe/pe_k"); }
static void kprobe_perf(void) { int fd = kernel_probe(0, 0); fire(); seen(read_perf(fd) > 0); }
static void kprobe_bpf(void) { with_bpf(kernel_probe(0, 0), KPROBE); fire(); counted(); }
static void kretprobe_bpf(void) { with_bpf(kernel_probe(1, 0), KPROBE); fire(); counted(); }
static void kprobe_ftrace(void)
{
	kernel_probe(0, 0);
	fire();
	seen(has("/sys/kernel/debug/kprobes/list", "[FTRACE]"));
}
static void kprobe_jump(void)
{
	const int from = 5, to = 40;
	for (int offset = from; offset < to; offset++) {
		struct perf_event_attr a = {.type = number_in("/sys/bus/event_source/devices/kprobe/type"), .size = sizeof a,
			.config1 = (u64)CALLED, .config2 = offset, .sample_period = 1};
		int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
		if (fd < 0)
			continue;
		wait_ms(300);  // the kernel puts the jump there a while later
		if (has("/sys/kernel/debug/kprobes/list", "[OPTIMIZED]"))
			seen(1);
		close(fd);
	}
	seen(0);
}
static void kprobe_multi(void) { multi_kprobe(K_MULTI, 0); }
static void kretprobe_multi(void) { multi_kprobe(K_MULTI, 1); }
static void kprobe_session(void) { multi_kprobe(K_SESSION, 0); }
static void fentry(void) { traced(TRACING_PROG, FENTRY, id_of(CALLED, 12), 0); }
static void fexit(void) { traced(TRACING_PROG, FEXIT, id_of(CALLED, 12), 0); }
static void fmod_ret(void) { traced(TRACING_PROG, FMOD_RET, id_of("security_file_ioctl", 12), 0); }
static void sleepable(void) { traced(LSM, LSM_MAC, id_of("bpf_lsm_file_ioctl", 12), SLEEPABLE); }
static void lsm(void) { traced(LSM, LSM_MAC, id_of("bpf_lsm_file_ioctl", 12), 0); }
static void uprobe(void) { with_bpf(user_probe(0, probed), KPROBE); run_probed(); counted(); }
static void uretprobe(void) { with_bpf(user_probe(1, probed), KPROBE); run_probed(); counted(); }
static void uprobe_multi(void) { multi_uprobe(U_MULTI); }
static void uprobe_session(void) { multi_uprobe(U_SESSION); }
#ifdef __x86_64__
static void called(void (*function)(void))
{
	with_bpf(user_probe(0, function), KPROBE);
	for (int i = 0; i < 20; i++)
		function();
	int is_call = 0;
	for (int i = 0; i < 10; i++)
		is_call |= ((volatile u8 *)function)[i] == 0xe8;
	seen(*count > 0 && is_call);
}
static void uprobe_nop5_call(void) { called(nop5); }
static void uprobe_nop10_call(void) { called(nop10); }
#else
static void uprobe_nop5_call(void) { ends("architecture", 0, ""); }
static void uprobe_nop10_call(void) { ends("architecture", 0, ""); }
#endif
static void usdt_semaphore(void)
{
	user_probe(in_file(&semaphore) << 32, probed);
	seen(semaphore == 1);
}
static void user_events(void)
{
	static u32 enabled;
	struct __attribute__((packed)) { u32 size; u8 bit, width; u16 flags; u64 address, name; u32 index; } reg = {
		28, 31, 4, 0, (u64)&enabled, (u64)"pe_u u32 value", 0};
	int fd = must("attach", open(TRACING "user_events_data", O_RDWR));
	must("attach", ioctl(fd, _IOWR('*', 0, void *), &reg));
	must("attach", put("events/user_events/pe_u/enable", "1"));
	u32 record[2] = {reg.index, 7};
	int is = (enabled >> 31) && write(fd, record, sizeof record) == sizeof record && has(TRACING "trace", "pe_u");
	put("events/user_events/pe_u/enable", "0");
	seen(is);
}
static void hardware_breakpoint(void)
{
	int fd = perf(PERF_TYPE_BREAKPOINT, 0, (u64)&sink, 4, 0, -1);
	run_probed();
	seen(read_perf(fd) > 0);
}
static void busy(int fd)
{
	for (volatile int i = 0; i < 1000000; i++) {}
	seen(read_perf(fd) > 0);
}
static void software_clock(void) { busy(perf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0, 0, -1)); }
static void hardware_cycles(void) { busy(perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, 0, -1)); }
static void ring_buffer(void)
{
	int map = must("load", create((struct map){RINGBUF, .entries = 4096}));
	struct insn code[] = {STORE(-8, 7), MAP(1, map), PLACE(2, -8), SET(3, 8), SET(4, 0), CALL(130), RETURN(0)};
	volatile u64 *page = mmap(0, 4096, PROT_READ, MAP_SHARED, map, 4096);
	must("load", page == MAP_FAILED ? -1 : 0);
	raw_with(code, N(code));
	seen(*page > 0);
}
static void user_ring_buffer(void)
{
	int map = must("load", create((struct map){USER_RINGBUF, .entries = 4096}));
	char *pages = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map, 4096);
	must("load", pages == MAP_FAILED ? -1 : 0);
	*(volatile u32 *)(pages + 4096) = 8;  // a record of 8 bytes, and that it is there
	*(volatile u64 *)pages = 16;
	struct insn code[] = {MAP(1, map), FUNCTION(2, 6), SET(3, 0), SET(4, 0), CALL(209), RETURN(0), COUNT, RETURN(0)};
	open_raw(with_callback(RAW_TRACEPOINT, code, N(code), 9), "sys_enter");
	fire();
	counted();
}
static void perf_buffer(void)
{
	cpu_set_t first;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	int map = must("load", create((struct map){PERF_ARRAY, 4, 4, 8})), event = perf(PERF_TYPE_SOFTWARE, 10, 0, 0, -1, 0), zero = 0;
	struct perf_event_mmap_page *page = mmap(0, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	must("attach", page == MAP_FAILED ? -1 : 0);
	must("attach", update(map, &zero, &event));
	struct insn code[] = {STORE(-8, 7), MAP(2, map), I(0xb4, 3, 0, 0, -1), PLACE(4, -8), SET(5, 8), CALL(25), RETURN(0)};
	raw_with(code, N(code));
	seen(page->data_head > 0);
}
static void bloom_filter(void)
{
	u64 value = 7;
	int map = must("load", create((struct map){BLOOM, .value = 8, .entries = 64}));
	struct { u32 fd, pad; u64 key, value, flags; } a = {map, 0, 0, (u64)&value, 0};
	must("attach", bpf(MAP_UPDATE, &a, sizeof a));
	seen(bpf(MAP_LOOKUP, &a, sizeof a) == 0);
}
static void task_iterator(void)
{
	char data[64];
	struct { u32 fd, target, type, flags; u64 rest[4]; } a = {counting(TRACING_PROG, ITER, id_of("bpf_iter_task", 12), 0, 0), 0, ITER, 0};
	u32 made[2] = {must("attach", bpf(LINK_CREATE, &a, sizeof a)), 0};
	int fd = must("attach", bpf(ITER_CREATE, made, sizeof made));
	while (read(fd, data, sizeof data) > 0) {}
	counted();
}
static void timer(void)
{
	int types = own_types(), map = must("load", create((struct map){ARRAY, 4, 16, 1, .btf = types, .key_type = 1, .value_type = 6}));
	struct insn code[] = {
		STORE(-8, 0), MAP(1, map), PLACE(2, -8), CALL(1), I(0x15, 0, 0, 14, 0), COPY(6, 0),
		COPY(1, 6), MAP(2, map), SET(3, 1), CALL(169),
		COPY(1, 6), FUNCTION(2, 8), CALL(170),
		COPY(1, 6), SET(2, 1000), SET(3, 0),
		CALL(171), RETURN(0),
		COUNT, RETURN(0)};
	test_run(with_callback(SCHED_CLS, code, N(code), 23));
	wait_ms(50);
	counted();
}
static void loop(void)
{
	struct insn code[] = {SET(1, 3), FUNCTION(2, 6), SET(3, 0), SET(4, 0), CALL(181), RETURN(0), COUNT, RETURN(0)};
	open_raw(with_callback(RAW_TRACEPOINT, code, N(code), 8), "sys_enter");
	fire();
	counted();
}
static void task_storage(void)
{
	int map = must("load", create((struct map){TASK_STORAGE, 4, 8, 0, NO_PREALLOC, .btf = own_types(), .key_type = 1, .value_type = 4}));
	struct insn code[] = {CALL(158), MAP(1, map), COPY(2, 0), SET(3, 0), SET(4, 1), CALL(156), I(0x15, 0, 0, 4, 0), COUNT, RETURN(0)};
	open_raw(load(TRACING_PROG, FENTRY, id_of(CALLED, 12), code, N(code), 0, 0, 0, 0), 0);
	fire();
	counted();
}
static void arena(void)
{
	int map = must("load", create((struct map){ARENA, .entries = 4, .flags = MMAPABLE}));
	volatile u64 *page = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	must("attach", page == MAP_FAILED ? -1 : 0);
	*page = 7;
	seen(*page == 7);
}
static void cgroup_hook(void)
{
	mkdir("/tmp/pe-cgroup", 0755);
	must("attach", mount("none", "/tmp/pe-cgroup", "cgroup2", 0, 0));
	struct { u32 target, fd, type, flags, replace, pad; u64 rest; } a = {open("/tmp/pe-cgroup", O_RDONLY),
		counting(CGROUP_SOCK, 2, 0, 0, 1), 2, 0};
	must("attach", bpf(PROG_ATTACH, &a, sizeof a));
	close(socket(AF_INET, SOCK_DGRAM, 0));
	counted();
}
static u64 ops[512];  // the kernel's value of the map: who refers to it and its state, then the structure
static int ops_map(const char *name, int flags, int *of, char **at)
{
	char whole[100];
	int offset;
	snprintf(whole, sizeof whole, "bpf_struct_ops_%s", name);
	int value = id_of(whole, 4);
	*of = id_of(name, 4);
	member(value, "data", &offset);
	*at = (char *)ops + offset;
	snprintf(words, sizeof words, "its map, of %u bytes", types[value]->size);
	return must("load", create((struct map){OPS_MAP, 4, types[value]->size, 1, flags, .btf = own_types(), .vmlinux_type = value}));
}
static void struct_ops(void)
{
	int of, offset, zero = 0;
	char *at;
	int map = ops_map("tcp_congestion_ops", 0, &of, &at);
	const char *names[] = {"ssthresh", "undo_cwnd", "cong_avoid"};
	for (int i = 0; i < N(names); i++) {
		int place = member(of, names[i], &offset);
		*(u64 *)(at + offset) = counting(STRUCT_OPS, place, of, 0, 2);
	}
	member(of, "name", &offset);
	strcpy(at + offset, "pe_tcp");
	must("attach", update(map, &zero, ops));
	seen(!setsockopt(socket(AF_INET, SOCK_STREAM, 0), IPPROTO_TCP, TCP_CONGESTION, "pe_tcp", 6));
}
static void sched_ext(void)
{
	int of, offset, zero = 0;
	char *at;
	int map = ops_map("sched_ext_ops", LINK, &of, &at);
	member(of, "name", &offset);
	strcpy(at + offset, "pe_sched");
	must("attach", update(map, &zero, ops));
	struct { u32 fd, target, type, flags; u64 rest[4]; } a = {map, 0, 44, 0};
	must("attach", bpf(LINK_CREATE, &a, sizeof a));
	wait_ms(50);
	seen(has("/sys/kernel/sched_ext/state", "enabled"));
}
static void function_tracer(void) { by_tracer("function", "sys_close <-"); }
static void function_graph(void) { by_tracer("function_graph", "sys_close"); }
static void fprobe_event(void) { by_tracefs("dynamic_events", "f:pe/pe_f " CALLED, "pe/pe_f"); }
static void event_probe(void) { by_tracefs("dynamic_events", "e:pe/pe_e syscalls.sys_enter_getppid nr=$__syscall_nr:u32", "pe/pe_e"); }
static void histogram_trigger(void)
{
	must("attach", put("events/" EVENT "/trigger", "hist:keys=common_pid"));
	fire();
	int is = has(TRACING "events/" EVENT "/hist", "Hits: 5");
	put("events/" EVENT "/trigger", "!hist:keys=common_pid");
	seen(is);
}
static void stack_id(void)
{
	int map = must("load", create((struct map){STACKS, 4, 8 * 32, 64}));
	struct insn code[] = {MAP(2, map), SET(3, 0), CALL(27), UNLESS_NEGATIVE, COUNT, RETURN(0)};
	raw_with(code, N(code));
	counted();
}
static void stack_copy(void)
{
	struct insn code[] = {STORE(-8, 0), STORE(-16, 0), PLACE(2, -16), SET(3, 16), SET(4, 0), CALL(67), UNLESS_NEGATIVE, COUNT, RETURN(0)};
	raw_with(code, N(code));
	counted();
}
static void kfunc(void)
{
	int lock = id_of("bpf_rcu_read_lock", 12), unlock = id_of("bpf_rcu_read_unlock", 12);
	struct insn code[] = {KFUNC(lock), KFUNC(unlock), COUNT, RETURN(0)};
	open_raw(load(TRACING_PROG, RAW_TP_BTF, id_of("btf_trace_sys_enter", 8), code, N(code), 0, 0, 0, 0), 0);
	fire();
	counted();
}
static void attach_cookie(void)
{
	struct insn code[] = {CALL(174), I(0x55, 0, 0, 4, 7), COUNT, RETURN(0)};  // over COUNT unless it is 7
	int event = kernel_probe(0, 0);
	struct { u32 fd, target, type, flags; u64 cookie; } a = {load(KPROBE, 0, 0, code, N(code), 0, 0, 0, 0), event, PERF, 0, 7};
	must("attach", bpf(LINK_CREATE, &a, sizeof a));
	fire();
	counted();
}

#define TRIAL(name) {#name, name}
static const struct { const char *name; void (*run)(void); } trials[] = {
	TRIAL(perf_tracepoint), TRIAL(bpf_tracepoint), TRIAL(raw_tracepoint), TRIAL(raw_tracepoint_writable), TRIAL(typed_tracepoint),
	TRIAL(event_probe), TRIAL(histogram_trigger), TRIAL(kprobe_tracefs), TRIAL(kprobe_perf), TRIAL(kprobe_bpf), TRIAL(kretprobe_bpf),
	TRIAL(kprobe_ftrace), TRIAL(kprobe_jump), TRIAL(attach_cookie), TRIAL(kprobe_multi), TRIAL(kretprobe_multi), TRIAL(kprobe_session),
	TRIAL(fentry), TRIAL(fexit), TRIAL(fmod_ret), TRIAL(lsm), TRIAL(sleepable), TRIAL(function_tracer), TRIAL(function_graph),
	TRIAL(fprobe_event), TRIAL(uprobe), TRIAL(uretprobe), TRIAL(uprobe_multi), TRIAL(uprobe_session), TRIAL(uprobe_nop5_call),
	TRIAL(uprobe_nop10_call), TRIAL(usdt_semaphore), TRIAL(user_events), TRIAL(hardware_breakpoint), TRIAL(software_clock),
	TRIAL(hardware_cycles), TRIAL(ring_buffer), TRIAL(user_ring_buffer), TRIAL(perf_buffer), TRIAL(bloom_filter), TRIAL(task_storage),
	TRIAL(arena), TRIAL(stack_id), TRIAL(stack_copy), TRIAL(task_iterator), TRIAL(timer), TRIAL(loop), TRIAL(kfunc), TRIAL(cgroup_hook),
	TRIAL(struct_ops), TRIAL(sched_ext),
};

int main(int argc, char **argv)
{
	for (int i = 0; i < N(trials); i++) {
		if (argc > 1 && strcmp(argv[1], trials[i].name))
			continue;
		for (const char *c = trials[i].name; *c; c++)
			putchar(*c == '_' ? '-' : *c);
		fflush(stdout);
		int status;
		pid_t child = fork();
		if (child == 0) {
			alarm(TRIAL_S);
			hits = must("load", create((struct map){ARRAY, 4, 8, 1, MMAPABLE}));
			count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, hits, 0);
			must("load", count == MAP_FAILED ? -1 : 0);
			close(open(TRACING "trace", O_WRONLY | O_TRUNC));
			trials[i].run();
			_exit(1);
		}
		waitpid(child, &status, 0);
		if (status)
			printf("\tended\t%d\t\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0), fflush(stdout);
	}
}
