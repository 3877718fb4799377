"""What looks at machine code for reads before writes finds them, and no others."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(find_spec("llvmlite") is None, reason="needs llvmlite")

BRANCHES = """
define i64 @loop(i64 %n) {{
entry:
  %c0 = alloca i64
  %many = icmp sgt i64 %n, 3
  br i1 %many, label %then, label %else
then:
  store i64 %n, ptr %c0
  br label %after
else:
  {otherwise}
  br label %after
after:
  %found = load i64, ptr %c0
  ret i64 %found
}}
"""
ITERATIONS = """
define i64 @loop(i64 %n) {
entry:
  %c0 = alloca i64
  %c1 = alloca i64
  store i64 0, ptr %c0
  br label %head
head:
  %i = load i64, ptr %c0
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %after
body:
  %next = add i64 %i, 1
  store i64 %next, ptr %c0
  store i64 %i, ptr %c1
  br label %head
after:
  %last = load i64, ptr %c1
  ret i64 %last
}
"""


def early(text: str) -> list[str]:
    from tests import emitted

    return list(emitted.read_too_early(text.strip()))


def test_what_one_branch_writes_is_read_too_early() -> None:
    assert early(BRANCHES.format(otherwise="")) == ["after: %found = load i64, ptr %c0"]


def test_what_both_branches_write_is_not() -> None:
    assert early(BRANCHES.format(otherwise="store i64 0, ptr %c0")) == []


def test_what_a_loop_of_no_iterations_leaves_is_read_too_early() -> None:
    assert early(ITERATIONS) == ["after: %last = load i64, ptr %c1"]


def test_what_has_its_address_taken_may_be_written_elsewhere() -> None:
    assert early(BRANCHES.format(otherwise="call void @write(ptr %c0)")) == []


def test_llvm_refuses_what_is_not_well_formed() -> None:
    from tests import emitted

    with pytest.raises(RuntimeError):
        emitted.check(ITERATIONS.replace("add i64 %i", "add i64 %other"))
