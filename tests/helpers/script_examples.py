"""Scripts that the Python reader and the site's must read alike: `tests/data/scripts.json`.

To make them again: `PYTHONPATH=tests .venv/bin/python -m helpers.script_examples`.
What they should be is said by `tests/scripts/test_scripts.py`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from helpers.builders import PROJECT
from helpers.shared_examples import DATA, _json
from probe_effect.scripts.script import ScriptError, read_script

FILE = DATA / "scripts.json"

PROGRAMS = r"""
tracepoint:syscalls:sys_enter_read { @ = count() }
t:syscalls:sys_exit_read { @[pid] = count(); }
t:syscalls:sys_* { @[tid]++ }
t:raw_syscalls:sys_enter { ++@[cpu] }
tracepoint:raw_syscalls:sys_exit { @[comm] = count(); }
rawtracepoint:sys_enter { 1 }
rt:vmlinux:kfree_skb { @[args.reason] += 1; }
k:vfs_read { @[comm, pid] = sum(arg2); }
kr:vfs_read { @ = hist(retval); }
kprobe:kvm:x86_emulate_insn { }
kprobe:vfs_read+4 /pid == 42/ { @[kstack] = count(); }
kprobe:vfs_*,kprobe:tcp_reset/* no path */{ @[probe] = count(); }
kfunc:vfs_read { @[ustack(5)] = count() } kretfunc:vfs_read { @ = avg(retval) }
f:vfs_read,fr:vfs_read, { @[kstack, ustack] = hist(args.count); }
fentry:bpf:123:* { @ = stats(1); }
u:/bin/bash:readline /comm == "bash"/ { printf("%s\n", str(arg0)); }
ur:libc:malloc { @[str(retval)] = count() }
uprobe:/usr/lib/libfoo.so:"foo(int, char)" { @ = max(arg0) }
uprobe:/path/to/app:cpp:"MyApp::Server::*" { print(ustack); }
uprobe:"/system/app/Foo.apk!/lib/libfoo.so":func { @ = min(arg0) }
uprobe:/bin/bash@readline.c:362 { @ = count() }
U:/root/tick:ns:loop { @[arg1] = lhist(arg0, 0, 10, 1); }
usdt:*:loop { printf("hi\n"); }
p:hz:99 /pid == 42 && cpu == 1/ { @[ustack] = count() }
i:s:1 { print(@); clear(@); }
interval:1s { time("%H:%M:%S"); exit(); }
s:faults:100 { @[comm] = count() }
hardware:cache-misses:1e6 { @[pid] = count(); }
watchpoint:0x10000000:8:rw { printf("hit!\n"); }
w:0x1:8:w { @[kstack] = count() }
it:task_file:/sys/fs/bpf/files { printf("%s\n", ctx.task.comm); }
BEGIN { @start = nsecs; } END { printf("%d\n", nsecs - @start); clear(@start) }
begin/1/{ print("a") } end { 1 }
self:signal:SIGUSR1 { print("abc"); }
k:vfs_read { @s[tid] = nsecs } kr:vfs_read /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }
k:f { $t = nsecs; @s[tid] = $t; } kr:f { $d = nsecs - @s[tid]; @[comm] = hist($d / 1000); }
k:f { @s[tid] = elapsed } kr:f { if (@s[tid]) { @m[pid] = sum(elapsed - @s[tid]); delete(@s, tid); } }
t:syscalls:sys_enter_stat { @f[tid] = args->path } k:f /@f[tid]/ { printf("%s", str(@f[tid])); delete(@f[tid]) }
k:f { if (pid == 1) { @ = count() } }
k:f { if (pid == 1) { @ = count() } else { @[comm] = count() } }
k:f { if (1) { time(); time() } else if (2) { time(); @ = count() } else { @[kstack] = count() } time(); }
k:f { @a = count(); if (pid == 1) { @ = count() } }
k:f { $n = arg2; if ($n > 4096) { printf("%d", $n); } }
k:f { if (arg2 <= 4096) { return; } printf("%d", arg2); }
k:f { $s = kstack; if (arg2) { @[$s] = count(); } }
k:f { if (arg0) { @a = count() } if (arg1) { @b = count() } else if (arg2) { @c = count() } }
k:f { if (arg0) { @a = count() } if (arg1) { @b = count() } else { @c = count() } }
k:f { while ($i < 3) { $i++; @[$i] = 1; } }
k:f { for ($i : 0..10) { @[$i] = 1; } }
k:f { unroll(5) { @ = count() } }
k:f { for ($kv : @m) { print($kv); } }
k:f { foo(1, 2); signal("KILL"); }
k:f { $s = str(arg0); @[$s] = count(); }
k:f { @n[tid] = comm; @[@n[tid]] = count(); }
k:f { @x[pid, comm, str(arg0)] = count(); }
k:f { @[str(arg0), ustack, str(arg1)] = count(); @[kstack, str(arg0), ustack] = hist(arg1); }
k:f { @x[(pid, comm)] = count(); @y = (1, "a"); @z[(pid, tid), comm] = 1 }
k:f { @[args->comm] = hist(args->bytes); }
k:f { printf("%s", kstack); cat("/proc/loadavg"); system("date"); }
k:f { $x = (struct request *)arg0; @[$x->q->disk->disk_name] = count(); }
k:f { $a = { let $b = 1; $b }; let $c : uint64 = (uint64)$a; @ = sum($c) }
k:f { @[sizeof(struct foo), bswap(arg1)] = count(); }
k:f { @ = $1 > 3 ? count() : count(); print($#); }
k:f { join(args->argv); @[ntop(arg0)] = count(); }
k:f { /* } */ @ = count(); // }
}
k:f /arg0 / 2 == 1/ { @ = arg0 / 2 / 3; }
k:f /(arg0 / 2) == 1 || @x[1]/ // a remark
{ @ = count() }
k:f { printf("\"}{\\"); @ = count() }
k:f /pid == 7/ { @ = count() } k:g /pid == 7/ { @ = count() } i:s:1 { print(@) }
k:f /pid == 7/ { @ = count() } k:g { @ = count() }
#!/usr/bin/env bpftrace
config = { stack_mode=perf; max_map_keys=2 } k:f { @ = count() }
macro add($a, @b) { @b[pid] += $a } k:f { add(1, @x); @ = count() }
fn twice($a : int64) : int64 { printf("x"); return $a * 2; } k:f { @ = sum(twice(1)); }
let @a = hash(2); import "x"; k:f { @a[1] = 2 }
struct S { int x; char c[4]; }; union U { int a; } enum E { A = 1, B } k:f { @ = count() }
struct P { int x; } __attribute__((packed)); k:f { @ = count() }
name=kprobe:f { @ = count() }
what:is:this { @ = count() }
syscall::read:entry { @[execname] = count(); }
syscall::read:return /pid == 12/ { @ = quantize(arg1); }
syscall:::entry
fbt::f:entry { self->s = timestamp } fbt::f:return /self->s/ { @ = quantize(timestamp - self->s); self->s = 0; }
fbt::vfs_read:entry { @[stack(), ustack()] = quantize(arg2) }
pid$target:libc:malloc:entry { @[ustack()] = count(); } pid12::free:return { trace(arg1) }
profile:::profile-99 /arg0/ { @[stack()] = count() } tick-1s { printa(@); exit(0) }
io:::start { @[args[1]->dev_statname] = sum(args[0]->b_bcount); }
dtrace:::BEGIN { start[pid] = timestamp; } proc:::exec-success { this->x = copyinstr(arg0); trace(this->x); }
#pragma D option quiet
python12:::function-entry { @[copyinstr(arg1)] = count() }
bpftrace -e 't:syscalls:sys_enter_read { @[comm] = count() }'
# sudo bpftrace -p 42 -e "k:vfs_read /comm == \"dd\"/ { @ = count() }"
dtrace -n 'syscall::read:entry { @ = count() }' -n 'BEGIN { trace("x") }' -p 12
perf record -e syscalls:sys_enter_read -ag -p 12 sleep 1
sudo perf record -F 99 -ag -- sleep 10
perf record -F 997 --call-graph dwarf -p 12
perf record -F 997 --call-graph dwarf,16384 -p 12
perf record -m 4096 -e '{sched:sched_switch,cycles:u}' --filter 'x == 1'
perf record -c 1000 -e page-faults,cache-misses,kmem:kmalloc -a
perf record -e probe:vfs_read,probe:vfs_read__return,probe_libc:malloc,sdt_libc:setjmp,mem:0x1000,probes:mine
perf stat -e raw_syscalls:sys_enter,cs -a sleep 1
perf trace -s -p 1
perf trace -e openat,read -e sched:sched_switch ls
perf top -g
perf probe -x /bin/bash 'line=readline%return $retval'
py-spy record -r 100 -p 123
py-spy record --rate 1000 --nonblocking -o f.svg -- python x.py -r 5
py-spy top --pid 123 --delay 2 -i
# sudo py-spy dump --pid 0x7b -ll
py-spy record -nsgF -r0 -d 60 -f speedscope -- python
strace ls
strace -fc -p 12
strace -f --seccomp-bpf -e trace=%file,read -o /dev/null ls
strace -e trace=openat -e trace=read ls
strace -e trace=openat --trace=read -e signal=none ls
perf stat ls
perf stat -e cpu/event=0x3c,umask=0x01,name=slow/,cs -a sleep 1
perf record -e 'cpu/mem-loads,ldlat=30/P' -a
perf record -e cpu/a,b ls
perf probe 'tcp_sendmsg size=%cx'
perf probe /bin/bash readline
perf probe --target-ns 4711 -x /lib/libc.so.6 malloc
perf probe /bin/bash
trace-cmd record -e all
timeout 10 perf record -a
sudo -u postgres strace -p 4711
taskset -c 3 perf stat ls
stdbuf -oL /usr/bin/nice -n 5 strace ls
timeout -k 5
ruby*:::method-entry { @[copyinstr(arg1)] = count(); }
dtrace -n 'BEGIN { trace(1); }'
fbt::vfs_read: { @[probename] = count(); } syscall::read: { @ = count(); } pid$target:a.out:main: { @ = count(); }
uprobe:/opt/app/server:cpp:"Pool::take" { @[args.this->size] = count(); }
k:f { printf("%s\n", strftime("%H:%M:%S", nsecs)); }
#pragma D option quiet
syscall::open:entry { @[dirname(copyinstr(arg0))] = count(); @a[lltostr(arg1)] = count(); }
strace --seccomp-bpf -e trace=read ls
strace -f --seccomp-bpf -p 7
strace -C -k -P /etc/passwd -e signal=none ls | less
strace -e inject=read:delay_enter=1000 --fault=write:when=2 -p 7
/usr/bin/strace --trace=open --summary-only --attach=7
trace-cmd record -e sched:sched_switch -f 'next_pid == 1' -T -P 9
trace-cmd record -p function -l vfs_read -e irq
X=1 perf record -g ls > /dev/null
perf stat -e sched:sched_switch -- top -b -n 1
perf trace -- perf record -g
perf record -F max -a
perf top -F 49
profile:ms:10 { @ = count() }
profile:2s { @ = count() } profile:99hz { @ = count() } profile:hz:$1 { @ = count() }
profile-10ms { @[ustack()] = count(); } profile-97 { @[ustack()] = count(); } profile:::profile-1min { @ = count(); }
profile:ms:0 { @ = count() }
strace -f bash -c ls
perf record -e kmem:kmalloc,page-faults python3 -c 1000000
perf stat record -x , -e cs -a sleep 1
perf top -s comm -d 2 -e cs
perf record -a -p 12
perf trace --call-graph dwarf --max-stack 9 -p 12
perf record -b -e 'cycles/freq=9000,call-graph=dwarf/' -a
trace-cmd record -k -e probe_libc:malloc -e kprobes -R stacktrace
trace-cmd record -p osnoise -e sched
strace --stack-traces -p 12
#define N 3
syscall::read:entry { stop(); @[ustackdepth] = count(); }
"""
"""One a line; a line that ends within a bracket or a remark goes on with the next."""

WRONG = r"""
foo
hello world
k:f
k:f {
k:f { @ = count( }
k:f { @[pid } = count() }
k:f { ) }
k:f /x {
k:f /x; y/ { 1 }
k:f { /* }
k:f { "x }
k:f { ¬ }
k:f, { 1 } }
struct x
macro f
import "x"
bpftrace x.bt
bpftrace -e 'k:f {
perf report
strace -c
trace-cmd list
py-spy
py-spy record -r 100
py-spy dump --core x
py-spy stats -p 1
trace-cmd record ls
perf probe
#define DO printf("x")
ls -l
sudo -u me /opt/tools/scan.py --all
"""


BEHIND_REMARKS = (
    "//trace the reads\nkprobe:vfs_read { @[pid] = count(); }",
    "//https://github.com/iovisor/bcc/opensnoop.py\nkprobe:vfs_read { @ = count(); }",
    "# reads\n# trace of reads\nkprobe:vfs_read { @ = count(); }",
    "/* gdb */ kprobe:vfs_read { @ = count(); }",
    "#!/usr/sbin/dtrace -s\nsyscall:::entry",
    "//a word\nsyscall:::entry",
    "# as root\n# bpftrace -e 'k:vfs_read { @ = count() }'\n",
    "# bpftrace -e 'k:vfs_read { @ = count() }'\n",
)
"""Programs and command lines below what nobody runs, which names tools."""


def texts() -> list[str]:
    """All of them, and the scripts of some suites."""
    joined: list[str] = [""]
    for line in PROGRAMS.strip().splitlines():
        goes_on = joined[-1].startswith(("#!", "#pragma", "#define")) or line.startswith(("}", "{"))
        if goes_on and "\n" not in joined[-1]:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    folder = PROJECT / "data/suites/programs"
    suites = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.bt"))]
    deep = "k:f " + "{ (" * 60
    return [*joined[1:], *suites, *joined[:1], *BEHIND_REMARKS, "// nothing", deep, *WRONG.strip().splitlines()]


def reading(text: str) -> dict[str, Any]:
    """What the Python reader makes of a text."""
    try:
        found = read_script(text)
    except ScriptError as error:
        place = {"line": error.line, "column": error.column}
        return {"error": place | {"found": error.found, "expected": error.expected}}
    return {"script": asdict(found)}


def file() -> str:
    """The text of the file."""
    return _json({"scripts": [{"text": text} | reading(text) for text in texts()]})


if __name__ == "__main__":
    FILE.write_text(file(), encoding="utf-8")
