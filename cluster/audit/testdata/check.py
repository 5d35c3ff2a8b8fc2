"""Checks chain.jsonl and external.jsonl with nothing of the gateway's: SHA-256 and JSON alone."""

import base64
import hashlib
import json
import pathlib
import sys


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, as it is written there."""
    if not leaves:
        return sha()
    if len(leaves) == 1:
        return sha(b"\0", leaves[0])
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha(b"\1", root(leaves[:k]), root(leaves[k:]))


def part(line: bytes, start: bytes, end: bytes) -> bytes:
    at = line.index(start) + len(start)
    return line[at : line.rindex(end)]


def canonical(raw: bytes) -> None:
    """Members are sorted and nothing is escaped that need not be. Numbers are left as they are."""
    class Number(str):
        pass

    def write(v) -> str:
        if isinstance(v, Number):
            return str(v)
        if isinstance(v, dict):
            names = sorted(v, key=lambda n: n.encode("utf-16-be"))
            return "{" + ",".join(write(n) + ":" + write(v[n]) for n in names) + "}"
        if isinstance(v, list):
            return "[" + ",".join(map(write, v)) + "]"
        return json.dumps(v, ensure_ascii=False)

    value = json.loads(raw, parse_float=Number, parse_int=Number)
    assert write(value).encode() == raw, raw


def check(path: pathlib.Path) -> None:
    lines = path.read_bytes().splitlines()
    header = json.loads(lines[0])
    previous, number, hashes = bytes.fromhex(header["previous_hash"]), header["first"] - 1, []
    if number == 0:
        assert previous == sha(b"gwaudit1", header["workspace"].encode())
    for line in lines[1:-1]:
        row = json.loads(line)
        if "checkpoint" in row:
            text = row["checkpoint"]["note"].split("\n")
            assert text[0] == "modelgateway/" + header["workspace"] and int(text[1]) == number
            assert text[3] == "head sha256:" + previous.hex()
            if header["first"] == 1:
                assert base64.b64decode(text[2]) == root(hashes)
            continue
        if "internal" in row:
            external, internal = part(line, b'{"external":', b',"internal":'), part(line, b',"internal":', b',"hash":')
            canonical(internal)
            inner = sha(internal)
        else:
            external, inner = part(line, b'{"external":', b',"internal_hash":'), bytes.fromhex(row["internal_hash"])
        canonical(external)
        number += 1
        assert row["external"]["event_id"] == f"evt_{number:016x}"
        assert row["external"]["previous_event_hash"] == "sha256:" + previous.hex()
        previous = sha(b"gwaudit1", previous, sha(external), inner)
        assert row["hash"] == previous.hex()
        hashes.append(previous)
    end = json.loads(lines[-1])
    assert (end["last"], end["head"]) == (number, previous.hex())
    if header["first"] == 1:
        assert end["root"] == root(hashes).hex()
    print(path.name, len(hashes), "records")


for name in sys.argv[1:] or ["chain.jsonl", "external.jsonl"]:
    check(pathlib.Path(__file__).parent / name)
