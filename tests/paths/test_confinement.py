"""A confined process changes nothing outside its folder, and says what it was stopped at.

Each act is swallowed by a bare `except`, so that an exception would not have ended it.
"""

import os
import signal
import socket
import sys

import pytest
from paths.confined import (
    SWALLOWED,
    looks_of,
    needs_landlock,
    needs_seccomp,
    needs_signal_rules,
    needs_tcp_rules,
    run_confined,
)

from dpassay.verifiers.paths import call_filter, landlock
from dpassay.verifiers.paths.audit_hook import STOPPED
from dpassay.verifiers.paths.confinement import HOOK

WRITES = {
    "open": "open(OUTSIDE + '/new', 'w').write('x')",
    "open to append": "open(OUTSIDE + '/kept', 'a').write('x')",
    "open to update": "open(OUTSIDE + '/kept', 'r+').write('x')",
    "open by flags": "os.open(OUTSIDE + '/kept', os.O_RDONLY | os.O_TRUNC)",
    "open of a link": "os.symlink(OUTSIDE + '/kept', 'link'); open('link', 'w')",
    "open after chdir": "os.chdir(OUTSIDE); open('new', 'w')",
    "open upwards": "open('../outside/new', 'w')",
    "open by pathlib": "Path(OUTSIDE, 'new').write_text('x')",
    "open by os": "os.open(OUTSIDE + '/kept', os.O_WRONLY)",
    "os.rename": "os.rename(OUTSIDE + '/kept', OUTSIDE + '/new')",
    "os.rename out": "open('a', 'w').close(); os.replace('a', OUTSIDE + '/kept')",
    "os.remove": "os.remove(OUTSIDE + '/kept')",
    "os.remove by folder": "os.unlink('kept', dir_fd=os.open(OUTSIDE, os.O_RDONLY))",
    "os.mkdir": "os.makedirs(OUTSIDE + '/new/newer')",
    "os.rmdir": "os.rmdir(OUTSIDE + '/folder')",
    "os.chmod": "os.chmod(OUTSIDE + '/kept', 0o777)",
    "os.chmod of a descriptor": "os.fchmod(os.open(OUTSIDE + '/kept', os.O_RDONLY), 0o777)",
    "os.chown": "os.chown(OUTSIDE + '/kept', 1, 1)",
    "os.utime": "os.utime(OUTSIDE + '/kept', (1, 1))",
    "os.truncate": "os.truncate(OUTSIDE + '/kept', 0)",
    "os.link": "os.link(OUTSIDE + '/kept', 'linked')",
    "os.symlink": "os.symlink('kept', OUTSIDE + '/new')",
    "fcntl.flock": "import fcntl; fcntl.flock(open(OUTSIDE + '/kept'), fcntl.LOCK_EX)",
    "shutil.rmtree": "import shutil; shutil.rmtree(OUTSIDE)",
    "shutil.copyfile": "import shutil; shutil.copy(__import__('os').__file__, OUTSIDE)",
    "shutil.move": "import shutil; shutil.move(OUTSIDE + '/kept', 'kept')",
    "tempfile.mkstemp": "import tempfile; tempfile.mkstemp(dir=OUTSIDE)",
    "sqlite3.connect": (
        "import sqlite3; sqlite3.connect(OUTSIDE + '/new').execute('create table t(a)')"
    ),
    "sqlite3.connect by address": (
        "import sqlite3; sqlite3.connect(f'file:{OUTSIDE}/new?mode=rwc', uri=True)"
    ),
}
"""By the event that tells of each, before a space or a word more."""

OTHERS = {
    "socket.connect": "import socket; socket.socket().connect(('127.0.0.1', PORT))",
    "socket.connect to a path": "import socket; socket.socket(socket.AF_UNIX).connect(OUTSIDE)",
    "socket.bind": "import socket; socket.socket().bind(('', 0))",
    "socket.bind to a path": "import socket; socket.socket(socket.AF_UNIX).bind(OUTSIDE + '/new')",
    "socket.__new__": (
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))"
    ),
    "socket.sendto": "import socket; socket.socket().sendto(b'x', ('127.0.0.1', PORT))",
    "socket.sendmsg": (
        "import socket; socket.socket().sendmsg([b'x'], [], 0, ('127.0.0.1', PORT))"
    ),
    "socket.getaddrinfo": "import socket; socket.create_connection(('localhost', PORT))",
    "subprocess.Popen": "import subprocess; subprocess.run(['touch', OUTSIDE + '/new'])",
    "subprocess.Popen of multiprocessing": (
        "import multiprocessing as m; m.get_context('spawn').Process().start()"
    ),
    "os.system": "os.system(f'touch {OUTSIDE}/new')",
    "os.exec": "os.execvp('touch', ['touch', OUTSIDE + '/new'])",
    "os.posix_spawn": "os.posix_spawn('/bin/sh', ['sh', '-c', f'touch {OUTSIDE}/new'], {})",
    "pty.spawn": "import pty; pty.spawn(['touch', OUTSIDE + '/new'])",
    "os.kill": "os.kill(os.getppid(), 18)",
    "os.killpg": "os.killpg(os.getpgid(os.getppid()), 18)",
    "syslog.syslog": "import syslog; syslog.syslog('x')",
}


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path):
    """A folder that must stay as it is."""
    folder = tmp_path / "outside"
    (folder / "folder").mkdir(parents=True)
    (folder / "kept").write_text("as it was")
    return folder


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def nobody_came(server):
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize("act", WRITES)
def test_a_write_outside_ends_the_process_before_it_happens(act, scratch, outside):
    before = looks_of(outside)
    ended = run_confined(SWALLOWED.format(act=WRITES[act]), scratch, outside, "hook")
    assert ended.records[0]["event"] == act.split()[0], ended
    assert str(outside) in ended.records[0]["what"]
    assert (ended.status, ended.printed, len(ended.records)) == (STOPPED, "", 1)
    assert looks_of(outside) == before


@pytest.mark.parametrize("act", OTHERS)
def test_the_network_and_programs_end_the_process(act, scratch, outside, listening):
    before = looks_of(outside)
    text = f"PORT = {listening.getsockname()[1]}" + SWALLOWED.format(act=OTHERS[act])
    ended = run_confined(text, scratch, outside, "hook")
    assert [record["event"] for record in ended.records] == [act.split()[0]], ended
    assert (ended.status, ended.printed) == (STOPPED, "")
    assert looks_of(outside) == before
    nobody_came(listening)


def test_a_fork_that_is_ended_leaves_its_record(scratch, outside):
    """The process itself goes on: whoever reads the record must not wait for its status."""
    act = "os.spawnlp(os.P_WAIT, 'touch', 'touch', OUTSIDE + '/new')"
    ended = run_confined(SWALLOWED.format(act=act), scratch, outside, "hook")
    assert ended.records == [{"event": "os.exec", "what": f"touch {outside}/new"}]
    assert ended.printed == "went on\n"
    assert not (outside / "new").exists()


ALLOWED = """
import asyncio, ctypes, multiprocessing, shutil, signal, sqlite3, tempfile, threading
open('/dev/null', 'w').write('x')
open('/dev/stderr', 'w').close()
open(OUTSIDE + '/kept').read()
os.kill(os.getpid(), 0)
os.symlink(OUTSIDE, 'link'); os.remove('link')
with tempfile.TemporaryDirectory(dir='.') as made:
    Path(made, 'a').write_text('x')
    os.chmod(Path(made, 'a'), 0o600)
    os.mkdir(Path(made, 'b'))
    os.rename(Path(made, 'a'), Path(made, 'b', 'a'))
    os.truncate(Path(made, 'b', 'a'), 0)
for name in ('ledger', ':memory:', Path('ledger')):
    sqlite3.connect(name).execute('create table if not exists t(a)')
sqlite3.connect(f'file:{OUTSIDE}/kept?mode=ro', uri=True).close()
ctypes.CDLL(None).getpid()
thread = threading.Thread(target=lambda: print('thread')); thread.start(); thread.join()
async def answer(): return 'loop'
print(asyncio.run(answer()))
here, there = multiprocessing.get_context('fork').Pipe()
process = multiprocessing.get_context('fork').Process(target=there.send, args=('process',))
process.start(); print(here.recv()); process.join()
if hasattr(os, 'waitid'):  # else a child of its own is not known as one
    child = os.fork()
    if not child:
        signal.pause()
    os.kill(child, signal.SIGTERM); os.waitpid(child, 0)
print('all done')
"""


def test_what_stays_inside_goes_on_under_all_layers(scratch, outside):
    """Catches a layer that refuses reading, threads, loops, forks or the folder itself."""
    ended = run_confined(ALLOWED, scratch, outside)
    assert (ended.status, ended.records) == (0, []), ended
    assert ended.printed.split() == ["thread", "loop", "process", "all", "done"]


@needs_landlock
def test_a_semaphore_of_multiprocessing_fails_in_a_line(scratch, outside):
    text = "import multiprocessing\ntry:\n multiprocessing.Pool(2)\nexcept OSError as e:\n print(e)"
    ended = run_confined(text, scratch, outside)
    assert ended.records == []
    assert len(ended.printed.splitlines()) <= 1


def test_the_layers_that_hold_are_named(scratch, outside):
    expected = [HOOK]
    expected += [landlock.FILES] * (landlock.version() > 0)
    expected += [landlock.TCP] * (landlock.version() >= 4)
    expected += [landlock.SIGNALS] * (landlock.version() >= 6)
    expected += [call_filter.CALLS] * call_filter.is_known()
    ended = run_confined("print(*layers, sep=';')", scratch, outside)
    assert ended.printed.strip().split(";") == expected, ended
    assert list(scratch.iterdir()) == []


NOT_HOLDING = """
from dpassay.verifiers.paths import audit_hook, call_filter, landlock
audit_hook.AuditHook.install = lambda hook: None
landlock._restrict = lambda scratch, held: None
call_filter.system_call = lambda *given: 0
print(confinement.confine(SCRATCH, RECORD))
"""


def test_a_layer_that_does_not_hold_is_not_named(scratch, outside):
    """Catches layers that are told because a call succeeded."""
    assert run_confined(NOT_HOLDING, scratch, outside, "none").printed == "()\n"


def test_it_is_called_once_and_before_threads(scratch, outside):
    text = "try:\n confinement.confine(SCRATCH, RECORD)\nexcept RuntimeError as e:\n print(e)"
    assert "twice" in run_confined(text, scratch, outside).printed


CREATE = "ctypes.CDLL(None).open(os.fsencode(OUTSIDE + '/new'), os.O_WRONLY | os.O_CREAT, 0o600)"
COMPILED = {
    "libc": f"import ctypes; {CREATE}",
    "libc's truncate": (
        "import ctypes; ctypes.CDLL(None).truncate(os.fsencode(OUTSIDE + '/kept'), 0)"
    ),
    "libc's unlink": "import ctypes; ctypes.CDLL(None).unlink(os.fsencode(OUTSIDE + '/kept'))",
    "libc's mkdir": "import ctypes; ctypes.CDLL(None).mkdir(os.fsencode(OUTSIDE + '/new'), 0o700)",
    "ATTACH": (
        "import sqlite3; db = sqlite3.connect(':memory:'); "
        "db.execute('attach ? as o', (OUTSIDE + '/new',)); db.execute('create table o.t(a)')"
    ),
    "mkfifo": "os.mkfifo(OUTSIDE + '/new')",
    "folder's descriptor": (
        "os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=os.open(OUTSIDE, os.O_RDONLY))"
    ),
    "polars": "import polars; polars.DataFrame({'a': [1]}).write_csv(OUTSIDE + '/new')",
}


@needs_landlock
@pytest.mark.parametrize("layers", ["landlock", "all"])
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(act, marks=pytest.mark.slow("imports polars") if act == "polars" else ())
        for act in COMPILED
    ],
)
def test_landlock_refuses_files_that_the_hook_does_not_see(act, layers, scratch, outside):
    before = looks_of(outside)
    ended = run_confined(SWALLOWED.format(act=COMPILED[act]), scratch, outside, layers)
    assert (ended.printed, ended.records) == ("went on\n", []), ended
    assert looks_of(outside) == before


def test_the_hook_alone_does_not_see_compiled_code(scratch, outside):
    """What the docstrings admit; catches a test above that passes without Landlock."""
    run_confined(SWALLOWED.format(act=COMPILED["libc"]), scratch, outside, "hook")
    assert (outside / "new").exists()


@needs_tcp_rules
def test_landlock_alone_refuses_tcp(scratch, outside, listening):
    port = listening.getsockname()[1]
    for act in (f"connect(('127.0.0.1', {port}))", "bind(('127.0.0.1', 0))"):
        text = f"import socket\ntry:\n socket.socket().{act}\nexcept OSError as e:\n print(e.errno)"
        assert run_confined(text, scratch, outside, "landlock").printed == "13\n"
    nobody_came(listening)


@needs_signal_rules
def test_landlock_alone_refuses_signals_to_others(scratch, outside):
    text = "try:\n os.kill(os.getppid(), 0)\nexcept PermissionError:\n print('refused')"
    assert run_confined(text, scratch, outside, "landlock").printed == "refused\n"


CALLS = {
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "UDP of IPv6": "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "another protocol": "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)",
    "datagrams of this machine": "socket.socketpair(type=socket.SOCK_DGRAM)",
    "connect": "socket.socket().connect(('127.0.0.1', PORT))",
    "connect to a path": "socket.socket(socket.AF_UNIX).connect(OUTSIDE)",
    "connect by sending": "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', PORT))",
    "connect by a message": (
        "socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', PORT))"
    ),
    "bind": "socket.socket().bind(('127.0.0.1', 0))",
    "listen": "socket.socket().listen()",
    "exec": "os.execv('/bin/true', ['true'])",
    "subprocess": "__import__('subprocess').run(['true'])",
}


@needs_seccomp
@pytest.mark.parametrize("act", CALLS)
def test_the_filter_alone_refuses_sockets_and_programs(act, scratch, outside, listening):
    text = f"""
import socket
PORT = {listening.getsockname()[1]}
try:
    {CALLS[act]}
except OSError as error:
    print(error.errno)
"""
    assert run_confined(text, scratch, outside, "seccomp").printed == "13\n"
    nobody_came(listening)


@needs_seccomp
def test_the_filter_lets_pairs_of_sockets_talk(scratch, outside):
    text = "import socket; a, b = socket.socketpair(); a.sendall(b'x'); print(b.recv(1))"
    assert run_confined(text, scratch, outside, "seccomp").printed == "b'x'\n"


def test_modules_outside_are_imported_and_not_compiled_there(scratch, outside):
    (outside / "helper.py").write_text("print('imported')")
    before = looks_of(outside)
    env = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}
    ended = run_confined("sys.path.append(OUTSIDE); import helper", scratch, outside, env=env)
    assert (ended.printed, ended.records) == ("imported\n", []), ended
    assert looks_of(outside) == before


def test_a_port_that_is_tried_at_import_does_not_end_the_process(scratch, outside):
    """As urllib3 does, to see whether there is IPv6."""
    act = "import socket; socket.socket(socket.AF_INET6).bind(('::1', 0))"
    ended = run_confined(SWALLOWED.format(act=act), scratch, outside)
    assert (ended.printed, ended.records) == ("went on\n", []), ended


def test_a_program_that_looks_at_the_machine_is_said_to_be_missing(scratch, outside):
    """As `platform` and `ctypes.util` ask for some, and go on without them."""
    text = """
import ctypes.util, platform, subprocess
platform.processor(); ctypes.util.find_library('nothing')
try:
    subprocess.run(['git', 'init', OUTSIDE + '/new'])
except FileNotFoundError:
    print('went on')
"""
    ended = run_confined(text, scratch, outside, env=os.environ | {"TMPDIR": str(scratch)})
    assert (ended.printed, ended.records) == ("went on\n", []), ended
    assert not (outside / "new").exists()


@pytest.mark.slow("imports of some seconds")
@pytest.mark.parametrize("package", ["numpy", "scipy.stats", "sklearn", "opendp"])
def test_packages_are_imported_after_all_layers_are_set(package, scratch, outside):
    """Lazy imports pass, also of libraries that are loaded by ctypes or that try a port."""
    pytest.importorskip(package)
    ended = run_confined(f"import {package}; print('imported')", scratch, outside)
    assert (ended.printed, ended.records) == ("imported\n", []), ended


LARGE = """
confinement.limit(60, 50_000_000)
try:
    held = bytearray(200_000_000)
except MemoryError:
    print("too much")
print(len(bytearray(20_000_000)))
"""


@pytest.mark.slow("uses a second of CPU")
def test_time_is_limited_from_the_call_on(scratch, outside):
    ended = run_confined("confinement.limit(0, 1 << 30)\nwhile True: pass", scratch, outside)
    assert ended.status == -signal.SIGXCPU


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_memory_is_limited_beyond_what_is_there(scratch, outside):
    text = f"kept = bytearray(100_000_000)\n{LARGE}"
    assert run_confined(text, scratch, outside).printed == "too much\n20000000\n"


def test_forks_have_a_budget_together_from_the_limit_on(scratch, outside):
    text = """
os.fork() or os._exit(0)  # counts for nothing
confinement.limit(5, 1 << 30)
for n in range(30):
    child = os.fork()
    if child == 0:
        os.fork()
        os._exit(0)
    os.waitpid(child, 0)
for n in range(10):
    print(n, flush=True)
    if os.fork() == 0:
        os._exit(0)
"""
    ended = run_confined(text, scratch, outside)
    assert [record["event"] for record in ended.records] == ["os.fork"], ended
    assert ended.printed.split() == ["0", "1", "2", "3", "4"]  # 64 forks, and the one too many
