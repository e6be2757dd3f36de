/*
 * paths-plugin: a plugin of QEMU that writes which instructions a guest executes, one after the other.
 *
 * Use:   qemu-system-.. -plugin paths-plugin.so,prefix=FILE,skip=S,length=L,least=M
 *        A program in the guest executes a marker, an instruction that does nothing: `xchg %bx,%bx` (66 87 db) on x86-64,
 *        `hint #127` (d5032fff) on arm64; paths-marker.h puts one behind each read of the clock.
 * Write: FILE.N for each pair of markers with at least M instructions between them: how often each was executed, and
 *        the first L behind the first S in their order. Binary, in the host's byte order: "PEPATHS2", u64 instructions
 *        between the markers, u32 R, u32 N, R records of u64 address, u64 times executed, u8 size and 15 bytes of the
 *        instruction, then N u32 that number records.
 * Why:   The emulator alone knows each instruction. What -d exec logs has 71 bytes for each and no instruction's bytes.
 *        Conditional callbacks (insn_exec_cond_cb) break the guest in 10.0.13, so that each instruction is called for.
 * Source: include/qemu/qemu-plugin.h of QEMU, API version 4; no package of Debian brings it, so what is used is declared.
 *        The number of the CPU is wrong with -icount (accel/tcg/plugin-gen.c, gen_cpu_index), and is not looked at.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST 15       /* bytes of an instruction of x86-64 */
#define NO_REGISTERS 0

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
typedef void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned int cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, executed callback, int flags, void *data);

EXPORT int qemu_plugin_version = 4;

struct record {
	uint64_t address, times; /* since the marker */
	uint8_t size, bytes[MOST];
	uint32_t number; /* in the file that is written */
	struct record *next;
};

#define BUCKETS (1u << 20)
static struct record *buckets[BUCKETS];
static struct record **sequence, **met; /* met: those executed since the marker */
static uint32_t met_count, met_room = 1u << 16;
static const char *prefix = "paths";
static uint64_t skip, length, least, since_mark;
static unsigned int written;

static void *allocated(size_t size)
{
	void *made = calloc(1, size);

	if (made == NULL) {
		fprintf(stderr, "paths-plugin: no memory for %zu bytes\n", size);
		abort();
	}
	return made;
}

/* The record of an instruction: its address and bytes, because kernels patch their own text. */
static struct record *record_of(const struct qemu_plugin_insn *insn)
{
	struct record sought = {.address = qemu_plugin_insn_vaddr(insn)}, *found;
	struct record **bucket = &buckets[(sought.address ^ (sought.address >> 20)) % BUCKETS];

	sought.size = (uint8_t)qemu_plugin_insn_size(insn);
	qemu_plugin_insn_data(insn, sought.bytes, sizeof(sought.bytes));
	for (found = *bucket; found != NULL; found = found->next)
		if (found->address == sought.address && memcmp(&found->size, &sought.size, 1 + MOST) == 0)
			return found;
	found = allocated(sizeof(*found));
	*found = sought;
	found->next = *bucket;
	*bucket = found;
	return found;
}

static bool is_marker(const struct record *one)
{
	return (one->size == 3 && memcmp(one->bytes, "\x66\x87\xdb", 3) == 0) ||
	       (one->size == 4 && memcmp(one->bytes, "\xff\x2f\x03\xd5", 4) == 0);
}

static void cannot_write(void)
{
	fprintf(stderr, "paths-plugin: %s: %s. Make room there, or name another folder by TMPDIR.\n", prefix, strerror(errno));
	abort();
}

static void write_or_die(const void *from, size_t size, FILE *to)
{
	if (fwrite(from, size, 1, to) != 1)
		cannot_write();
}

/* The records since the marker, and the sequence of the instructions recorded. */
static void write_run(uint32_t recorded)
{
	char name[4096];
	FILE *to;

	snprintf(name, sizeof(name), "%s.%u", prefix, written++);
	to = fopen(name, "wb");
	if (to == NULL)
		cannot_write();
	write_or_die("PEPATHS2", 8, to);
	write_or_die(&since_mark, sizeof(since_mark), to);
	write_or_die(&met_count, sizeof(met_count), to);
	write_or_die(&recorded, sizeof(recorded), to);
	for (uint32_t at = 0; at < met_count; at++) {
		met[at]->number = at;
		write_or_die(&met[at]->address, 8, to);
		write_or_die(&met[at]->times, 8, to);
		write_or_die(&met[at]->size, 1 + MOST, to);
	}
	for (uint32_t at = 0; at < recorded; at++)
		write_or_die(&sequence[at]->number, sizeof(sequence[at]->number), to);
	if (fclose(to) != 0)
		cannot_write();
}

static void meet(struct record *one)
{
	if (met_count == met_room) {
		met_room *= 2;
		met = realloc(met, met_room * sizeof(*met));
		if (met == NULL) {
			fprintf(stderr, "paths-plugin: no memory for %u instructions\n", met_room);
			abort();
		}
	}
	met[met_count++] = one;
}

static void executed_one(unsigned int cpu, void *data)
{
	struct record *one = data;

	(void)cpu;
	if (one->times++ == 0)
		meet(one);
	if (since_mark >= skip && since_mark - skip < length)
		sequence[since_mark - skip] = one;
	since_mark++;
}

static void executed_marker(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	if (since_mark >= least && since_mark > skip)
		write_run((uint32_t)(since_mark - skip < length ? since_mark - skip : length));
	while (met_count > 0)
		met[--met_count]->times = 0;
	since_mark = 0;
}

static void translated_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);

	(void)id;
	for (size_t at = 0; at < count; at++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, at);
		struct record *one = record_of(insn);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, is_marker(one) ? executed_marker : executed_one, NO_REGISTERS, one);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int at = 0; at < argc; at++) {
		char *value = strchr(argv[at], '=');

		if (value == NULL)
			return -1;
		*value++ = '\0';
		if (strcmp(argv[at], "prefix") == 0)
			prefix = strdup(value);
		else if (strcmp(argv[at], "skip") == 0)
			skip = strtoull(value, NULL, 10);
		else if (strcmp(argv[at], "length") == 0)
			length = strtoull(value, NULL, 10);
		else if (strcmp(argv[at], "least") == 0)
			least = strtoull(value, NULL, 10);
		else
			return -1;
	}
	sequence = allocated(length * sizeof(*sequence));
	met = allocated(met_room * sizeof(*met));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated_block);
	return 0;
}
