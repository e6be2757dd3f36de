"""What an emulated machine is made of: packages, kernels, archives, and the names of tracers."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.needs import needs
from probe_effect.guests import debian
from probe_effect.guests.assembly import Wanted, from_elsewhere, offered, wanted
from probe_effect.guests.debian import ARCHITECTURES, DebianRelease, Unpacked, check_programs, find_kernel
from probe_effect.guests.qemu import archive, join, wrapper
from probe_effect.host.compilers import Sysroot
from probe_effect.model import HostNotReady, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

APT_CACHE = """#!/bin/sh
case "$*" in
*" pkgnames "*)
    echo linux-image-6.12.94+deb12-amd64; echo linux-image-6.12.94+deb12-rt-amd64
    echo linux-image-6.1.0-47-amd64; echo linux-image-6.1.0-47-amd64-dbg; echo linux-image-amd64
    echo linux-image-6.12-amd64 ;;
*" madison "*)
    case "$*" in *linux-image-6.12-amd64*)
        echo 'linux-image-6.12-amd64 | 6.12.94-1~deb12u1 | http://mirror bookworm/main amd64 Packages' ;; esac
    echo 'linux-image-6.1.0-47-amd64 | 6.1.170-3 | http://mirror bookworm/main amd64 Packages'
    echo 'linux-image-6.12.94+deb12-amd64 | 6.12.94-1~bpo12+1 | http://mirror bookworm/main amd64 Packages'
    echo 'linux | 6.1.170-3 | http://mirror bookworm/main Sources' ;;
*) echo '  Depends: linux-image-6.1'; echo ' |Depends: kmod' ;;
esac
"""

APT_GET = """\
#!/bin/sh
echo "$*" >> "{folder}/asked"
case "$*" in
*indextargets*) echo "Debian/Debian http://mirror.example/debian/" ;;
*nonsense*) echo "E: Unable to locate package nonsense" >&2; exit 100 ;;
*--simulate*) cat "{folder}/simulated" ;;
*--download-only*) cp "{folder}"/offered/*.deb "{archives}" ;;
*--print-uris*) echo "'http://mirror.example/l.deb' linux-image-6.1_6.1-1_amd64.deb 7 SHA256:0" ;;
esac
"""

SIMULATED = """\
Inst libc6 (2.36-9+deb12u14 Debian:12.13/oldstable [amd64]) []
Inst libbpf1 (1:1.1.2-0+deb12u1 Debian:12.13/oldstable [amd64])
Inst tzdata (2025b-0 Debian:12.13/oldstable [all])
Conf libc6 (2.36-9+deb12u14 Debian:12.13/oldstable [amd64])
"""

FILES = ["libc6_2.36-9+deb12u14_amd64.deb", "libbpf1_1%3a1.1.2-0+deb12u1_amd64.deb", "tzdata_2025b-0_all.deb"]

needs_cpio = needs("cpio")


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """A fake apt-get that offers three packages; what it was asked."""
    folder, programs = tmp_path / "apt", tmp_path / "bin"
    (folder / "offered").mkdir(parents=True)
    programs.mkdir()
    archives = tmp_path / "cache/apt/amd64/bookworm/cache/archives"
    (folder / "simulated").write_text(SIMULATED, encoding="utf-8")
    for name in FILES:
        (folder / "offered" / name).write_bytes(b"a package")
    for name, text in {
        "apt-get": APT_GET.format(folder=folder, archives=archives),
        "apt-cache": APT_CACHE,
        "dpkg-deb": '#!/bin/sh\nmkdir -p "$3/etc" && echo "$2" >> "$3/etc/unpacked"\n',
    }.items():
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    keyring = tmp_path / "keys.gpg"
    keyring.touch()
    monkeypatch.setattr(debian, "KEYRING", keyring)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return lambda: (folder / "asked").read_text(encoding="utf-8").splitlines()


def test_a_package_comes_with_all_that_it_needs(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    found = DebianRelease("bookworm", tmp_path / "cache").fetch(["bpftrace"])
    assert [file.name for file in found] == FILES
    assert all(file.is_file() for file in found)
    assert any("--no-install-recommends" in line for line in apt())


def test_what_was_fetched_is_not_fetched_again(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    for _ in range(2):
        DebianRelease("bookworm", tmp_path / "cache").fetch(["bpftrace"])
    assert sum("--download-only" in line for line in apt()) == 1
    assert sum(line.endswith(" update") for line in apt()) == 1


def test_what_apt_says_of_its_lists_is_asked_once_until_they_are_fetched_again(
    apt: Callable[[], list[str]], tmp_path: Path
) -> None:
    release = DebianRelease("bookworm", tmp_path / "cache")
    assert release.fetch(["bpftrace"]) == release.fetch(["bpftrace"])
    assert release.needs("linux-image-amd64", "linux.*") == release.needs("linux-image-amd64", "linux.*")
    assert sum("--simulate" in line for line in apt()) == 1
    os.utime(tmp_path / "cache/apt/amd64/bookworm/updated", (0, 0))
    release.fetch(["bpftrace"])
    assert sum("--simulate" in line for line in apt()) == 2


def test_lists_of_yesterday_are_fetched_again(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    release = DebianRelease("bookworm", tmp_path / "cache")
    release.fetch(["bpftrace"])
    yesterday_s = time.time() - 90_000
    os.utime(tmp_path / "cache/apt/amd64/bookworm/updated", (yesterday_s, yesterday_s))
    release.fetch(["bpftrace"])
    assert sum(line.endswith(" update") for line in apt()) == 2


def test_apt_never_touches_the_hosts_own_state(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    DebianRelease("bookworm", tmp_path / "cache").fetch(["bpftrace"])
    asked = [line for line in apt() if "indextargets" not in line]
    assert asked
    assert all(f"Dir::State={tmp_path}/cache/apt/amd64/bookworm" in line for line in asked)
    assert all(f"Dir::Cache={tmp_path}/cache/apt/amd64/bookworm/cache" in line for line in asked)


def test_packages_are_those_of_the_processor_that_is_asked_for(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    DebianRelease("bookworm", tmp_path / "cache", ARCHITECTURES["arm64"]).needs("linux-image-arm64", ".*")
    asked = [line for line in apt() if "indextargets" not in line]
    assert all("APT::Architecture=arm64" in line and "cache/apt/arm64/bookworm" in line for line in asked)


def test_packages_are_unpacked_once_and_named_with_their_versions(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    del apt
    first, second = (DebianRelease("bookworm", tmp_path / "cache").unpack(["bpftrace"]) for _ in range(2))
    assert first == second
    assert first.versions["libbpf1"] == "1:1.1.2-0+deb12u1"
    assert first.origin("libc6") == "libc6 2.36-9+deb12u14 (bookworm)"
    assert len((first.folder / "etc/unpacked").read_text(encoding="utf-8").splitlines()) == len(FILES)


def test_an_unknown_package_is_told_in_apts_words(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    del apt
    with pytest.raises(HostNotReady, match=r"Debian bookworm cannot be had: .*Unable to locate package nonsense"):
        DebianRelease("bookworm", tmp_path / "cache").fetch(["nonsense"])


def test_a_missing_program_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostNotReady, match=r"needs dpkg-deb, cpio.* apt install dpkg cpio"):
        check_programs({"dpkg-deb": "dpkg", "cpio": "cpio"})


def test_debians_keys_are_asked_for_where_they_are_missing(
    apt: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del apt
    monkeypatch.setattr(debian, "KEYRING", tmp_path / "absent")
    with pytest.raises(HostNotReady, match="apt install debian-archive-keyring"):
        DebianRelease("bookworm", tmp_path / "cache").fetch(["bpftrace"])


@pytest.mark.parametrize("words", ["Bookworm!", "../../etc", "", "6.1", "bookworm; reboot"])
def test_a_kernel_is_a_release_or_a_file(tmp_path: Path, words: str) -> None:
    with pytest.raises(UsageError, match="expected a release of Debian"):
        find_kernel(words, tmp_path)


def test_a_release_names_each_kernel_that_it_still_has_of_the_usual_build(
    apt: Callable[[], list[str]], tmp_path: Path
) -> None:
    del apt
    found = DebianRelease("bookworm", tmp_path / "cache").kernels()
    assert found == {"linux-image-6.1.0-47-amd64": "6.1.170-3", "linux-image-6.12.94+deb12-amd64": "6.12.94-1~bpo12+1"}


@pytest.mark.parametrize(
    ("words", "package"),
    [
        pytest.param("6.12.94", "linux-image-6.12.94+deb12-amd64", id="the version in its name"),
        pytest.param("6.1.170", "linux-image-6.1.0-47-amd64", id="the version that only the package has"),
        pytest.param("linux-image-6.1.0-47-amd64", "linux-image-6.1.0-47-amd64", id="the package"),
    ],
)
def test_a_kernel_is_found_by_its_own_version_or_its_package(
    apt: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, package: str
) -> None:
    del apt
    taken: list[str] = []
    monkeypatch.setattr(debian, "packaged", lambda _, name: taken.append(name))
    find_kernel(words, tmp_path)
    assert taken == [package]


def test_a_kernel_that_debian_no_longer_has_is_said_to_be_missing(apt: Callable[[], list[str]], tmp_path: Path) -> None:
    del apt
    with pytest.raises(
        HostNotReady, match=r"6\.1\.17: no such kernel for amd64 in Debian's bullseye, bullseye-security"
    ):
        find_kernel("6.1.17", tmp_path)


@pytest.mark.parametrize(("release", "archive"), [("trixie", "debian"), ("trixie-security", "debian-security")])
def test_security_updates_are_in_an_archive_of_their_own(
    apt: Callable[[], list[str]], tmp_path: Path, release: str, archive: str
) -> None:
    del apt
    DebianRelease(release, tmp_path).kernels()
    listed = (tmp_path / "apt" / "amd64" / release / "sources.list").read_text(encoding="utf-8")
    assert f" http://mirror.example/{archive} {release} main\n" in listed


def test_an_image_of_ones_own_is_told_apart_by_its_content(tmp_path: Path) -> None:
    image = tmp_path / "vmlinuz-mine"
    image.write_bytes(b"one")
    first = find_kernel(str(image), tmp_path)
    image.write_bytes(b"two")
    assert first.origin != find_kernel(str(image), tmp_path).origin
    assert str(tmp_path) not in first.origin


def test_build_options_beside_an_image_are_taken(tmp_path: Path) -> None:
    for name in ("vmlinuz-mine", "config-mine"):
        (tmp_path / name).touch()
    assert find_kernel(str(tmp_path / "vmlinuz-mine"), tmp_path).config == tmp_path / "config-mine"


def test_tracers_are_named_alone_or_with_another_releases_package() -> None:
    assert wanted(["libbpf", "bpftrace=bpftrace/trixie"]) == [
        Wanted("libbpf"),
        Wanted("bpftrace", "bpftrace", "trixie"),
    ]
    assert wanted(["bpftrace=bpftrace/trixie"])[0].word == "bpftrace=/opt/bpftrace-trixie/run-bpftrace"


def test_a_tracer_that_is_named_twice_comes_once() -> None:
    assert wanted(["libbpf", "libbpf"]) == [Wanted("libbpf")]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with scripts for three tracers and for the dormant one."""
    folder = tmp_path / "suite"
    folder.mkdir()
    for name in ("01-one.bt", "01-one.ftrace", "01-one.bpf.c", "02-two.dormant", "suite.toml"):
        (folder / name).touch()
    return folder


def test_without_a_name_the_tracers_come_that_the_suite_has_scripts_for(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/clang")
    assert [one.tracer for one in offered([suite], quick=False)] == ["bpftrace", "ftrace", "libbpf", "dormant"]


def test_for_a_first_look_one_comes_and_what_needs_no_tool(suite: Path) -> None:
    assert [one.tracer for one in offered([suite], quick=True)] == ["bpftrace", "dormant"]


def test_without_a_compiler_for_bpf_its_lower_bound_stays_away(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "libbpf" not in [one.tracer for one in offered([suite], quick=False)]


def test_a_suite_without_scripts_brings_none(tmp_path: Path) -> None:
    assert offered([tmp_path], quick=True) == []


@pytest.mark.parametrize("word", ["nonsense", "bpftrace=", "bpftrace=/usr/bin/bpftrace", "bpftrace=a/b/c", "x=y/$(id)"])
def test_another_form_of_a_tracer_is_refused_with_the_forms_there_are(word: str) -> None:
    with pytest.raises(UsageError, match=r"bpftrace=bpftrace/trixie"):
        wanted([word])


def listed(path: Path) -> list[str]:
    """The names in an archive, as cpio lists them."""
    command = ["cpio", "--list", "--quiet"]
    with path.open("rb") as file:
        run = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder as packages are unpacked into."""
    folder = tmp_path / "tree"
    for name in ("usr/bin/tool", "usr/share/doc/tool/README", "usr/lib/x/libtool.a", "usr/lib/x/libtool.so"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, encoding="utf-8")
    return folder


@needs_cpio
def test_an_archive_holds_what_tools_need_and_no_documentation(tree: Path, tmp_path: Path) -> None:
    names = listed(archive(tree, tmp_path / "made/one.cpio"))
    assert {"usr/bin/tool", "usr/lib/x/libtool.so"} <= set(names)
    assert not [name for name in names if name.endswith(".a") or "/doc" in name]


@needs_cpio
def test_another_releases_tracer_lies_in_a_place_of_its_own_with_what_runs_it(tree: Path, tmp_path: Path) -> None:
    for name in ("usr/lib64/ld-linux-x86-64.so.2", "usr/share/tool/library.d"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    made = from_elsewhere(
        Wanted("tool", "tool", "sid"), Unpacked(Sysroot(tree, "x86_64"), "1f", {}), tmp_path / "cache"
    )
    names = set(listed(made))
    assert {"opt/tool-sid/usr/bin/tool", "opt/tool-sid/run-tool", "usr/share/tool"} <= names
    assert "usr/share/tool/library.d" not in names  # a link leads there


@needs_cpio
def test_what_was_archived_is_not_archived_again(tree: Path, tmp_path: Path) -> None:
    first = archive(tree, tmp_path / "one.cpio").stat().st_mtime_ns
    assert archive(tree, tmp_path / "one.cpio").stat().st_mtime_ns == first


def test_archives_lie_behind_each_other_where_the_kernel_looks_for_them(tmp_path: Path) -> None:
    parts = []
    for number, content in enumerate((b"abcde", b"fg")):
        parts.append(tmp_path / str(number))
        parts[-1].write_bytes(content)
    assert join(parts, tmp_path / "whole").read_bytes() == b"abcde\0\0\0fg\0\0"


def test_a_program_of_another_release_runs_with_its_own_loader_and_libraries(tree: Path) -> None:
    loader = tree / "usr/lib64/ld-linux-x86-64.so.2"
    loader.parent.mkdir()
    loader.touch()
    text = wrapper(Sysroot(tree, "x86_64"), Path("/opt/tool-sid"), "tool")
    assert text.startswith("#!/bin/sh\n")
    assert 'exec /opt/tool-sid/usr/lib64/ld-linux-x86-64.so.2 --library-path "' not in text
    assert text.endswith('/opt/tool-sid/usr/bin/tool "$@"\n')
