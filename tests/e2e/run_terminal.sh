#!/bin/bash
# Prompts on a terminal: echo off for passwords, asked in the first run only,
# typed time is human time, the terminal is left as it was.
set -u
BUILD=$(realpath "${BUILD:-build}")
if ! command -v python3 > /dev/null; then
	echo "run_terminal: skipped: needs python3 for a pseudo terminal"
	exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir d
printf '%s required pam_deny.so\n' auth account session password > d/other
stub=$BUILD/tests/fake/pam_stub.so
echo "auth required $stub auth.echo=Host: auth.expect=rhost" > d/asks
echo "auth required $stub auth.prompt=Password: auth.sleep=5" >> d/asks
echo "auth required pam_exec.so /bin/true" > d/exec
exec python3 - "$BUILD/pamprof" << 'END'
import fcntl, json, os, pty, select, signal, struct, sys, termios, time

program = sys.argv[1]
failed = False


def fail(*words):
    global failed
    print("run_terminal:", *words)
    failed = True


def wait_for(fd, text, seen):
    """Reads the terminal until text has come, at most 20 s."""
    end = time.time() + 20
    while text not in seen and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                data = os.read(fd, 4096)
            except OSError:
                break
            if not data:
                break
            seen += data
    if text not in seen:
        fail("no", text, "but", seen)
    return seen


def start(*words, columns=80):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ,
                    struct.pack("4H", 24, columns, 0, 0))
        os.execv(program, [program, "run", "--confdir", "d",
                           "--phases", "auth", *words])
    return pid, fd


def echo(fd):
    return bool(termios.tcgetattr(fd)[3] & termios.ECHO)


def finish(pid, fd, seen):
    end = time.time() + 20
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 4096)
            except OSError:
                break
    status = os.waitpid(pid, 0)[1]
    os.close(fd)
    return status, seen


# Two runs, one answer each; the password is not echoed.
pid, fd = start("asks", "--rhost", "here", "-n", "2", "--format", "json",
                "-o", "report", "--save", "saved")
seen = wait_for(fd, b"Host:", b"")
if not echo(fd):
    fail("no echo at a prompt with echo")
os.write(fd, b"here\n")
seen = wait_for(fd, b"Password:", seen)
time.sleep(0.3)
if echo(fd):
    fail("echo at a prompt without")
os.write(fd, b"Wk8.typed-secret\n")
status, seen = finish(pid, fd, seen)
if status != 0:
    fail("exit", status, seen)
if seen.count(b"Password:") != 1 or b"Wk8" in seen:
    fail("terminal shows", seen)
for name in "report", "saved":
    if b"Wk8" in open(name, "rb").read():
        fail("password in", name)
report = json.load(open("report"))
rule = [r for r in report["rules"] if r["line"] == 2][0]
# The first run waited 0.3 s for the person, the second not at all; a hasty
# reader of the terminal makes it no shorter than 0.25 s.
if rule["wall"]["max"] < 250000000 or rule["wall"]["min"] > 200000000:
    fail("wall", rule["wall"])

# The limit is for modules, not for people.
pid, fd = start("asks", "--rhost", "here", "--timeout", "700ms")
seen = wait_for(fd, b"Host:", b"")
time.sleep(1.2)
os.write(fd, b"here\n")
seen = wait_for(fd, b"Password:", seen)
os.write(fd, b"Wk8.typed-secret\n")
status, seen = finish(pid, fd, seen)
if status != 0 or b"given up" in seen:
    fail("a slow person:", status, seen)

# Long warnings are broken at the terminal's width.
pid, fd = start("exec", "--yes", columns=44)
status, seen = finish(pid, fd, b"")
warning = b"pamprof: warning: pam_exec.so (d/exec:1)\r\n  runs a program\r\n"
if warning not in seen:
    fail("the warning is", seen)

# The question before consequences: no, then yes.
for answer, expected in (b"n\n", 2), (b"y\n", 0):
    pid, fd = start("exec")
    seen = wait_for(fd, b"[y/N]", b"")
    os.write(fd, answer)
    status, seen = finish(pid, fd, seen)
    if os.waitstatus_to_exitcode(status) != expected:
        fail("answer", answer, "status", status, seen)

# Interrupted at the prompt: the terminal gets its echo back.
for key, number in (b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT):
    pid, fd = start("asks", "--rhost", "here")
    seen = wait_for(fd, b"Host:", b"")
    os.write(fd, b"here\n")
    seen = wait_for(fd, b"Password:", seen)
    time.sleep(0.3)
    os.write(fd, key)
    end = time.time() + 10
    while not echo(fd) and time.time() < end:
        time.sleep(0.05)
    if not echo(fd):
        fail("no echo after", number)
    status, seen = finish(pid, fd, seen)
    if os.waitstatus_to_exitcode(status) != -number:
        fail("interrupted: status", status, seen)

# A module whose process dies at the prompt: nobody has to press Enter. It
# is the only child of pamprof while the prompt is open.
pid, fd = start("asks", "--rhost", "here")
seen = wait_for(fd, b"Host:", b"")
os.write(fd, b"here\n")
seen = wait_for(fd, b"Password:", seen)
time.sleep(0.3)
children = open("/proc/%d/task/%d/children" % (pid, pid)).read().split()
if len(children) != 1:
    fail("children at the prompt:", children)
os.kill(int(children[0]), signal.SIGKILL)
end = time.time() + 10
while not echo(fd) and time.time() < end:
    time.sleep(0.05)
if not echo(fd):
    fail("no echo after the death of the module's process")
    os.kill(pid, signal.SIGTERM)
status, seen = finish(pid, fd, seen)
if os.waitstatus_to_exitcode(status) != 1 or b"SIGKILL" not in seen:
    fail("a death at the prompt:", status, seen)
sys.exit(failed)
END
