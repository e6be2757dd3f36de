/*
 * libbpf-loader: loads one BPF object file, attaches all its programs, and counts: about the least a tracer can be.
 *
 * Use:   libbpf-loader OBJECT.bpf.o [PID]  attaches each program where its section's name says (libbpf's automatic
 *                                           attachment: uprobe/PATH:FUNCTION, tp/GROUP/NAME, raw_tp/NAME, ..); one of
 *                                           section perf_event to an event of each CPU, as its name says: a timer
 *                                           (sample_99_hz), or a breakpoint of the hardware (execute_vfs_read).
 *                                           kprobe/FUNCTION*: that function, with the ending that the kernel's compiler
 *                                           gave its name, if it did (finish_task_switch.isra.0).
 *                                           One link attaches a program to many functions, if its section is
 *                                           kprobe.multi or kprobe.session alone: to as many of the kernel as its name
 *                                           says (first_1000_functions), in the order in which ftrace lists them, or to
 *                                           one of any place and to others of the network (vfs_read_and_9_of_net);
 *                                           kprobe.session/FUNCTION: to that one;
 *                                           uprobe.multi/PATH:STEM: to those of PATH whose names begin so.
 *                                           Programs of section fentry alone are attached to a system call each
 *        libbpf-loader --version            the version of libbpf
 *        What else is done depends on the object. In the section `.data.target` the number PID is written. A ring buffer
 *        `records` is read, each record whole, until it is empty, and again 1 ms later. As long as it has a section
 *        `.data.statistics`, the kernel keeps its statistics of BPF programs. With a section `.data.repeated` all is
 *        detached and attached again and again while the process PID runs, and counted as one event each time.
 * Read:  "ready N" when all programs are attached at N places: one each, one for each CPU, or one for each function.
 *        At the end, asked for by SIGTERM or SIGINT, one line of JSON: {"seen": S, "lost": L}. S is the sum of the
 *        per-CPU array `counts` (null without one); L is how often the kernel left a program out because another one
 *        was at work on that CPU, and the sum of the per-CPU array `dropped`.
 * Exit:  0, or 1 with the reason on standard error, in libbpf's words and ours.
 * Source: libbpf.h of libbpf 1.1 and later; of what that is too old for, include/uapi/linux/bpf.h of Linux 6.12
 *         (BPF_TRACE_KPROBE_SESSION, link_create.kprobe_multi). Symbols: elf(5).
 */

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define MAX_LINKS 4096
#define MAX_FUNCTIONS 100000
#define FUNCTIONS "/sys/kernel/tracing/available_filter_functions_addrs" /* since Linux 6.5 */
#define SYMBOLS "/proc/kallsyms"
#define NETWORK "devm_alloc_etherdev_mqs"
#define KPROBE_MULTI 42
#define UPROBE_MULTI 48
#define KPROBE_SESSION 56
#define LOOK_EVERY_NS 1000000

static void die(const char *what, int error)
{
	fprintf(stderr, "libbpf-loader: %s: %s\n", what, strerror(error));
	exit(1);
}

static int only_warnings(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

/* Until it is waited for, the signal that ends us is kept: one that comes early ends us all the same. */
static sigset_t keep_signals(void)
{
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	if (sigprocmask(SIG_BLOCK, &end, NULL) != 0)
		die("sigprocmask", errno);
	return end;
}

/* What link it takes that libbpf 1.1 has no section for, or no way to name its functions: one of KPROBE_..; 0 for none. */
static uint32_t many(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);

	if (strcmp(section, "kprobe.multi") == 0)
		return KPROBE_MULTI;
	if (strncmp(section, "uprobe.multi/", strlen("uprobe.multi/")) == 0)
		return UPROBE_MULTI;
	return strncmp(section, "kprobe.session", strlen("kprobe.session")) == 0 ? KPROBE_SESSION : 0;
}

/* Names the target of each program of section fentry alone: system calls, which all have arguments of one form. */
static void name_system_calls(struct bpf_object *object)
{
	FILE *symbols = fopen(SYMBOLS, "r");
	struct bpf_program *program;
	char line[512], name[256];

	if (symbols == NULL)
		die(SYMBOLS, errno);
	bpf_object__for_each_program(program, object) {
		if (strcmp(bpf_program__section_name(program), "fentry") != 0)
			continue;
		do {
			if (fgets(line, sizeof(line), symbols) == NULL)
				die("the kernel has fewer system calls", ENOENT);
		} while (sscanf(line, "%*s T %255s", name) != 1
			 || (strncmp(name, "__x64_sys_", strlen("__x64_sys_")) != 0
			     && strncmp(name, "__arm64_sys_", strlen("__arm64_sys_")) != 0)
			 || bpf_program__set_attach_target(program, 0, name) != 0);
	}
	fclose(symbols);
}

static struct bpf_object *load(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;

	if (object == NULL)
		die(path, errno);
	bpf_object__for_each_program(program, object) {
		if (!many(program))
			continue;
		bpf_program__set_type(program, BPF_PROG_TYPE_KPROBE);
		bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)many(program));
	}
	name_system_calls(object);
	if (bpf_object__load(object) != 0)
		die("the kernel refused a program", errno);
	return object;
}

static void keep(struct bpf_link **links, int *attached, struct bpf_link *link, const char *what)
{
	if (link == NULL)
		die(what, errno);
	if (*attached == MAX_LINKS)
		die("too many links", E2BIG);
	links[(*attached)++] = link;
}

/* The address of a function of the kernel. */
static uint64_t address_of(const char *name)
{
	FILE *symbols = fopen(SYMBOLS, "r");
	char line[512], found[256];
	uint64_t address = 0;

	while (symbols != NULL && fgets(line, sizeof(line), symbols) != NULL)
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, found) == 2 && strcmp(found, name) == 0)
			break;
		else
			address = 0;
	if (address == 0)
		die(name, ENOENT);
	fclose(symbols);
	return address;
}

/* The section's function by the name that it has in the kernel, which another call overwrites. */
static const char *with_ending(const char *section)
{
	static char found[256];
	const char *stem = section + strlen("kprobe/");
	size_t length = strlen(stem) - 1;
	FILE *symbols = fopen(SYMBOLS, "r");
	char line[512];

	while (symbols != NULL && fgets(line, sizeof(line), symbols) != NULL)
		if (sscanf(line, "%*s %*c %255s", found) == 1 && strncmp(found, stem, length) == 0
		    && (found[length] == '\0' || found[length] == '.') && strstr(found, ".cold") == NULL) {
			fclose(symbols);
			return found;
		}
	die(section, ENOENT);
	return NULL;
}

/* Returns the link of a program that has a place of its own. */
static struct bpf_link *attach_to_one(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);

	if (strncmp(section, "kprobe/", strlen("kprobe/")) == 0 && section[strlen(section) - 1] == '*')
		return bpf_program__attach_kprobe(program, false, with_ending(section));
	return bpf_program__attach(program);
}

/* A timer of each CPU that is on, cpu-clock, which virtual machines have too; or a breakpoint that each of them has. */
static void attach_to_events(struct bpf_program *program, struct bpf_link **links, int *attached)
{
	const char *name = bpf_program__name(program);
	struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(event), .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1};
	unsigned int hz;
	char function[256];

	if (sscanf(name, "sample_%u_hz", &hz) == 1)
		event.sample_freq = hz;
	else if (sscanf(name, "execute_%255s", function) == 1)
		event = (struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT, .size = sizeof(event), .sample_period = 1,
			.bp_type = HW_BREAKPOINT_X, .bp_addr = address_of(function), .bp_len = sizeof(long)};
	else
		die(name, EINVAL);
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int opened = (int)syscall(SYS_perf_event_open, &event, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (opened >= 0)
			keep(links, attached, bpf_program__attach_perf_event(program, opened), name);
		else if (errno != ENODEV)
			die("perf_event_open", errno);
	}
}

/* The descriptors of links to many functions. */
static int many_links[MAX_LINKS], number_of_many;

/* What BPF_LINK_CREATE reads of union bpf_attr. */
struct many_link {
	uint32_t program, target, type, flags;
	union {
		struct {
			uint32_t flags, count;
			uint64_t names, addresses, cookies;
		} kprobe;
		struct {
			uint64_t path, offsets, references, cookies;
			uint32_t count, flags, pid;
		} uprobe;
	};
};

/* Reads past the functions before the first one of the network, which is in net/devres.c. */
static void skip_to_network(FILE *functions)
{
	char name[256] = "";

	while (strcmp(name, NETWORK) != 0)
		if (fscanf(functions, "%*s %255s%*[^\n]", name) != 1)
			die(NETWORK, ENOENT);
}

/* The functions of the kernel that the program's name asks for: fills `addresses`, and returns how many they are. */
static unsigned int named_functions(const struct bpf_program *program, uint64_t *addresses)
{
	const char *name = bpf_program__name(program), *others = strstr(name, "_and_");
	FILE *functions = fopen(FUNCTIONS, "r");
	const char *form = others == NULL ? "first_%u_functions" : "_and_%u_of_net";
	unsigned int wanted, found = 0;
	char function[256];

	if (functions == NULL)
		die(FUNCTIONS, errno);
	if (sscanf(others == NULL ? name : others, form, &wanted) != 1 || wanted >= MAX_FUNCTIONS)
		die(name, EINVAL);
	if (others != NULL) {
		snprintf(function, sizeof(function), "%.*s", (int)(others - name), name);
		addresses[found++] = address_of(function);
		wanted++;
		skip_to_network(functions);
	}
	while (found < wanted && fscanf(functions, "%" SCNx64 " %*[^\n]", &addresses[found]) == 1)
		found++;
	if (found < wanted)
		die("the kernel has fewer functions", ENOENT);
	fclose(functions);
	return found;
}

/* The functions of a program file of 64 bits whose names begin with `stem`: fills their places in the file, and counts. */
static unsigned int functions_of(const char *path, const char *stem, uint64_t *offsets)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	unsigned int found = 0;
	struct stat facts;
	const char *all;

	if (file < 0 || fstat(file, &facts) != 0)
		die(path, errno);
	all = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (all == MAP_FAILED)
		die(path, errno);
	const Elf64_Shdr *sections = (const void *)(all + ((const Elf64_Ehdr *)all)->e_shoff);
	for (unsigned int table = 0; table < ((const Elf64_Ehdr *)all)->e_shnum; table++) {
		const Elf64_Sym *symbols = (const void *)(all + sections[table].sh_offset);
		const char *names = all + sections[sections[table].sh_link].sh_offset;

		if (sections[table].sh_type != SHT_SYMTAB)
			continue;
		for (size_t at = 0; at < sections[table].sh_size / sizeof(*symbols) && found < MAX_FUNCTIONS; at++)
			if (ELF64_ST_TYPE(symbols[at].st_info) == STT_FUNC && symbols[at].st_shndx != SHN_UNDEF
			    && strncmp(names + symbols[at].st_name, stem, strlen(stem)) == 0)
				offsets[found++] = symbols[at].st_value - sections[symbols[at].st_shndx].sh_addr
					+ sections[symbols[at].st_shndx].sh_offset;
	}
	munmap((void *)all, (size_t)facts.st_size);
	close(file);
	return found;
}

/* Returns at how many functions. */
static unsigned int attach_to_many(const struct bpf_program *program)
{
	static uint64_t places[MAX_FUNCTIONS];
	const char *section = bpf_program__section_name(program), *after = strchr(section, '/');
	struct many_link link = {.program = (uint32_t)bpf_program__fd(program), .type = many(program)};
	unsigned int count = 1;
	char path[256], stem[256];

	if (link.type == UPROBE_MULTI) {
		if (sscanf(after + 1, "%255[^:]:%255s", path, stem) != 2)
			die(section, EINVAL);
		count = functions_of(path, stem, places);
		link.uprobe.path = (uint64_t)(uintptr_t)path;
		link.uprobe.offsets = (uint64_t)(uintptr_t)places;
		link.uprobe.count = count;
	} else {
		if (after != NULL)
			places[0] = address_of(after + 1);
		else
			count = named_functions(program, places);
		link.kprobe.count = count;
		link.kprobe.addresses = (uint64_t)(uintptr_t)places;
	}
	if (number_of_many == MAX_LINKS)
		die("too many links", E2BIG);
	many_links[number_of_many] = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
	if (many_links[number_of_many++] < 0)
		die(section, errno);
	return count;
}

static void detach(struct bpf_link **links, int *attached)
{
	for (int number = 0; number < *attached; number++)
		bpf_link__destroy(links[number]);
	for (int number = 0; number < number_of_many; number++)
		close(many_links[number]);
	*attached = number_of_many = 0;
}

/* Returns at how many places; `links` and `attached` are what libbpf keeps of them. */
static int attach(struct bpf_object *object, struct bpf_link **links, int *attached)
{
	struct bpf_program *program;
	unsigned int functions = 0;

	bpf_object__for_each_program(program, object) {
		if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT)
			attach_to_events(program, links, attached);
		else if (many(program))
			functions += attach_to_many(program);
		else
			keep(links, attached, attach_to_one(program), bpf_program__section_name(program));
	}
	if (*attached + (int)functions == 0)
		die("no program to attach", ENOENT);
	return *attached + (int)functions;
}

static uint64_t sum_of(const struct bpf_map *counts)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *by_cpu, sum = 0;
	uint32_t first = 0;

	if (cpus < 1)
		die("number of CPUs", -cpus);
	by_cpu = calloc((size_t)cpus, sizeof(*by_cpu));
	if (by_cpu == NULL)
		die("memory", errno);
	if (bpf_map_lookup_elem(bpf_map__fd(counts), &first, by_cpu) != 0)
		die(bpf_map__name(counts), errno);
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += by_cpu[cpu];
	free(by_cpu);
	return sum;
}

static uint64_t lost(struct bpf_object *object)
{
	const struct bpf_map *dropped = bpf_object__find_map_by_name(object, "dropped");
	struct bpf_program *program;
	uint64_t sum = dropped == NULL ? 0 : sum_of(dropped);

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0)
			die("bpf_prog_info", errno);
		sum += info.recursion_misses;
	}
	return sum;
}

static int is_repeated(struct bpf_object *object)
{
	return bpf_object__find_map_by_name(object, ".data.repeated") != NULL;
}

static void print_counts(struct bpf_object *object, uint64_t repetitions)
{
	const struct bpf_map *counts = bpf_object__find_map_by_name(object, "counts");

	if (is_repeated(object))
		printf("{\"seen\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n", repetitions, lost(object));
	else if (counts == NULL)
		printf("{\"seen\": null, \"lost\": %" PRIu64 "}\n", lost(object));
	else
		printf("{\"seen\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n", sum_of(counts), lost(object));
}

static void name_target(struct bpf_object *object, const char *pid)
{
	const struct bpf_map *target = bpf_object__find_map_by_name(object, ".data.target");
	uint32_t first = 0, number = (uint32_t)strtoul(pid, NULL, 10);

	if (target != NULL && bpf_map_update_elem(bpf_map__fd(target), &first, &number, BPF_ANY) != 0)
		die("target", errno);
}

/* The kernel keeps them until we end. */
static void keep_statistics(struct bpf_object *object)
{
	if (bpf_object__find_map_by_name(object, ".data.statistics") != NULL && bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		die("the kernel's statistics of BPF programs", errno);
}

/* What was read, so that no compiler can leave reading out. */
static volatile uint64_t read_last;

/* Reads the whole record, as whoever decodes it has to. */
static int read_record(void *context, void *data, size_t bytes)
{
	uint64_t sum = 0, word;

	(void)context;
	for (size_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, (char *)data + at, sizeof(word));
		sum += word;
	}
	read_last = sum;
	return 0;
}

static struct ring_buffer *open_records(struct bpf_object *object)
{
	const struct bpf_map *records = bpf_object__find_map_by_name(object, "records");
	struct ring_buffer *ring;

	if (records == NULL)
		return NULL;
	ring = ring_buffer__new(bpf_map__fd(records), read_record, NULL, NULL);
	if (ring == NULL)
		die("records", errno);
	return ring;
}

/* Returns when we are to end; until then reads what is there, and looks again after a pause. */
static void wait_for_end(const sigset_t *end, struct ring_buffer *ring)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
	int signal;

	if (ring == NULL) {
		sigwait(end, &signal);
		return;
	}
	do {
		if (ring_buffer__consume(ring) < 0)
			die("records", errno);
	} while (sigtimedwait(end, NULL, &pause) < 0);
}

/* Whether the process runs, by its state in /proc/PID/stat (proc(5)), which comes after its name. */
static int runs(const char *pid)
{
	char path[64], line[512] = "", *name_ends;
	FILE *facts;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	facts = fopen(path, "r");
	if (facts == NULL)
		return 0;
	if (fgets(line, sizeof(line), facts) == NULL)
		line[0] = '\0';
	fclose(facts);
	name_ends = strrchr(line, ')');
	return name_ends != NULL && name_ends[1] == ' ' && name_ends[2] == 'R';
}

/* Returns, when we are to end, how often all was detached and attached. */
static uint64_t repeat(struct bpf_object *object, struct bpf_link **links, int *attached, const char *pid, const sigset_t *end)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS}, none = {0};
	uint64_t times = 0;
	int is_running;

	do {
		is_running = runs(pid);
		if (is_running) {
			detach(links, attached);
			attach(object, links, attached);
			times++;
		}
	} while (sigtimedwait(end, NULL, is_running ? &none : &pause) < 0);
	return times;
}

int main(int argc, char **argv)
{
	struct bpf_link *links[MAX_LINKS];
	struct bpf_object *object;
	struct ring_buffer *ring;
	uint64_t repetitions = 0;
	sigset_t end;
	int attached = 0;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "use: libbpf-loader OBJECT.bpf.o [PID]\n     libbpf-loader --version\n");
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("libbpf %s\n", libbpf_version_string());
		return 0;
	}
	end = keep_signals();
	libbpf_set_print(only_warnings);
	object = load(argv[1]);
	name_target(object, argc == 3 ? argv[2] : "0");
	ring = open_records(object);
	keep_statistics(object);
	printf("ready %d\n", attach(object, links, &attached));
	if (fflush(stdout) != 0)
		die("standard output", errno);
	if (is_repeated(object))
		repetitions = repeat(object, links, &attached, argc == 3 ? argv[2] : "self", &end);
	else
		wait_for_end(&end, ring);
	detach(links, &attached);
	print_counts(object, repetitions);
	ring_buffer__free(ring);
	bpf_object__close(object);
	return fflush(stdout) == 0 ? 0 : 1;
}
