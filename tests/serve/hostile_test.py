#!/usr/bin/env python3
"""What nobody should send to `flyball report --serve`, thousands of times: hostile_test.py PROGRAM [CONNECTIONS].

Connections that send nothing, half a request, garbage, too much, or leave at once; many more at a time than it has places for. Afterwards it
must still answer, have taken little memory, have opened nothing else, and end with Ctrl-C. SIGTERM and a taken port are tried as well.
"""
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000  # connections
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILS:", what, flush=True)


def start(*arguments):
    process = subprocess.Popen([PROGRAM, "report", *arguments, "--serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = process.stdout.readline()
    return process, int(re.match(r"http://127\.0\.0\.1:(\d+)/ ", said).group(1))


def memory(process):
    """Megabytes that it has now, and has had at most."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+)", text).group(1)) / 1024 for name in ("VmRSS", "VmHWM")]


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def ask(port, path="/document.json", patience=30):
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as visitor:
        visitor.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := visitor.recv(65536):
            answer += piece
    return answer


def nasty(port, dice):
    host = f"Host: 127.0.0.1:{port}\r\n"
    return dice.choice([
        b"", b"GET", b"GET / HTTP/1.1\r\n", f"GET / HTTP/1.1\r\n{host}".encode(), dice.randbytes(dice.randrange(1, 3000)),
        b"GET /" + b"a" * 30000 + b" HTTP/1.1\r\n", f"GET / HTTP/1.1\r\n{host}".encode() + b"X: " + b"y" * 30000 + b"\r\n\r\n",
        f"POST / HTTP/1.1\r\n{host}Content-Length: 999999999999\r\n\r\n".encode() + b"z" * 5000, b"\r\n" * 2000,
        f"GET /document.json HTTP/1.1\r\n{host}\r\n".encode() * 40, b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        f"GET /../../etc/passwd HTTP/1.1\r\n{host}\r\n".encode(), b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + dice.randbytes(160),
        f"GET / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".encode()])


def assault(port, dice):
    """Forty connections at a time, more than it has places for; none waits for an answer."""
    for _ in range(ROUNDS // 40):
        wave = []
        for _ in range(40):
            visitor = socket.create_connection(("127.0.0.1", port), timeout=20)
            visitor.setblocking(False)
            try:
                visitor.send(nasty(port, dice))
            except OSError:
                pass  # it was ended already
            wave.append(visitor)
        time.sleep(0.01)
        for visitor in wave:
            if dice.random() < 0.3:
                visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # leaves with a reset
            visitor.close()


def main():
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        done = subprocess.run([PROGRAM, "simulate", "--tokens", "32", "--dim", "3", "--out", str(folder)], capture_output=True, check=False)
        assert done.returncode == 0, done
        process, port = start(str(folder))
        try:
            before = ask(port)
            expect(before.startswith(b"HTTP/1.1 200 OK"), "it answers")
            page = ask(port, "/")
            expect(b"<!doctype html>" in page, "with the page")
            at_rest, _ = memory(process)
            files = descriptors(process)
            begin = time.time()
            assault(port, dice)
            took = time.time() - begin
            after = ask(port)
            expect(after.split(b"\r\n\r\n")[1] == before.split(b"\r\n\r\n")[1], "it still answers, and the same")
            now, most = memory(process)
            print(f"{ROUNDS} hostile connections in {took:.1f} s: {at_rest:.1f} MB before, {now:.1f} MB after, {most:.1f} MB at most", flush=True)
            expect(most < at_rest + 24, f"memory stays bounded: {at_rest:.1f} MB before, {most:.1f} MB at most")
            end = time.time() + 20
            while descriptors(process) > files and time.time() < end:
                time.sleep(0.1)
            expect(descriptors(process) <= files, f"no descriptor is left behind: {files} before, {descriptors(process)} after")
            # While forty hold on to half a request, others wait, and are answered once those are ended.
            holders = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
            for holder in holders:
                holder.send(b"GET / HT")
            begin = time.time()
            expect(ask(port, patience=20).startswith(b"HTTP/1.1 200 OK"), "half requests do not keep others out for ever")
            waited = time.time() - begin
            expect(waited < 8, f"but for seconds: {waited:.1f}")
            for holder in holders:
                holder.close()
            # A port in use: one sentence, exit 2.
            taken = subprocess.run([PROGRAM, "report", str(folder), "--serve", "--port", str(port)], capture_output=True, text=True, check=False, timeout=20)
            expect(taken.returncode == 2 and taken.stderr.count("\n") == 1 and f"--port {port}, which another program uses" in taken.stderr, f"a taken port: {taken}")
            ticks = sum(map(int, pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()[13:15]))
            time.sleep(3)
            spent = (sum(map(int, pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()[13:15])) - ticks) / os.sysconf("SC_CLK_TCK")
            expect(spent <= 0.05, f"nothing is computed while nobody asks: {spent:.2f} s of 3")
            process.send_signal(signal.SIGINT)
            expect(process.wait(10) == 130, "Ctrl-C ends it")
            expect(process.stderr.read() == "", "without a word")
        finally:
            process.kill()
        process, port = start(str(folder))
        process.send_signal(signal.SIGTERM)
        expect(process.wait(10) == 130, "SIGTERM ends it as it ends other commands")
    print(f"{len(failures)} failures" if failures else "it bears all of that")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
