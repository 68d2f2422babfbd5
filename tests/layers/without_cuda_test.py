#!/usr/bin/env python3
"""No C++ source reaches a header of CUDA unless VERNIER_HAS_CUDA is set: machines without a toolkit have none.

A compiler that finds CUDA's headers by itself would hide it, so includes are followed here.
"""

import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[2]
rooms = {path.name: path for path in (root / "src").iterdir() if path.is_dir()}
foreign = re.compile(r"^(cuda|cublas|nvml|cudaTypedefs)\w*\.h$")


def includes(path):
    """What a file includes where VERNIER_HAS_CUDA is 0."""
    open_conditions = []  # True: not compiled
    for line in path.read_text().splitlines():
        words = line.strip()
        if re.match(r"#\s*if", words):
            open_conditions.append(bool(re.match(r"#\s*if\s+(VERNIER_HAS_CUDA|defined\(__CUDACC__\))\b|#\s*ifdef\s+__CUDACC__", words)))
        elif re.match(r"#\s*(else|elif)", words):
            open_conditions[-1] = False
        elif re.match(r"#\s*endif", words):
            open_conditions.pop()
        elif not any(open_conditions) and (match := re.match(r'#\s*include\s+[<"]([^>"]+)[>"]', words)):
            yield match[1]


def found(name, source):
    first, _, rest = name.partition("/")
    for candidate in (rooms.get(first, root / "none") / rest, root / "include" / name, root / "apps" / name,
                      root / "apps/cli" / name, root / "apps/interpose" / name, root / "tests" / name, source.parent / name):
        if rest or candidate.parent != rooms.get(first):
            if candidate.is_file():
                return candidate
    return None


def way_to_cuda(source):
    """The includes from this file to a header of CUDA, or none."""
    queue, seen = [(source,)], {source}
    while queue:
        way = queue.pop(0)
        for name in includes(way[-1]):
            if foreign.match(name):
                return [str(path.relative_to(root)) for path in way] + [name]
            path = found(name, way[-1])
            if path is not None and path not in seen:
                seen.add(path)
                queue.append(way + (path,))
    return None


def sources():
    for folder in ("src", "apps", "tests", "demo"):
        for path in sorted((root / folder).rglob("*.cpp")):
            if path.parent != root / "tests/cuda" and not {"gpu", "kernels", "campaign"} & set(path.relative_to(root).parts[1:-1]):
                yield path


ways = [way for way in map(way_to_cuda, sources()) if way]
for way in ways:
    print(" -> ".join(way))
assert way_to_cuda(root / "src/cuda/device.hpp"), "a header that includes CUDA's is not seen"
sys.exit(1 if ways else 0)
