"""The context of a conversion, its report, and the walk over expressions.

A *rewriter* is a function `rewrite(node, context) -> node | None`, registered for some types of nodes. It returns the
replacement of `node`, or None to leave it. `Walk` visits a function's tree once, innermost nodes first.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import gast

from autograph.common.printing.unparse import unparse
from autograph.syntax import names, scope, trees
from autograph.syntax.origin import NO_COMMENTS, Comments


@dataclass(frozen=True)
class Decision:
    """The decision about one statement or call: a line of `explain`.

    `reason` is None if it was converted, else why it stays plain.
    """

    filename: str
    lineno: int
    function: str
    construct: str
    reason: str | None

    @property
    def status(self) -> str:
        return "converted" if self.reason is None else "plain"


@dataclass
class Context:
    """One conversion: the file, the known names, the decisions.

    `known` maps names of the module to the dotted names of their imports (`np` → `numpy`); `shadowed` are the names
    that the module binds otherwise, so that they are not builtins.
    """

    filename: str
    known: Mapping[str, str] = field(default_factory=dict)
    shadowed: frozenset[str] = frozenset()
    frame_depths: Mapping[str, float] = field(default_factory=dict)
    used_names: Set[str] = frozenset()  # the names that occur in it
    decisions: list[Decision] = field(default_factory=list)
    generated: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)  # the names of the functions around, outermost first
    classes: list[str] = field(default_factory=list)
    locals: list[set[str]] = field(default_factory=list)  # names bound by the functions around
    globals: list[set[str]] = field(default_factory=list)  # names they declare `global`
    none_variables: list[set[str]] = field(default_factory=list)  # variables that they set to None
    targets: set[str] = field(default_factory=set)  # variables of comprehensions
    copying: Mapping[str, str] = field(default_factory=dict)  # how traced code may copy globals; see `known.py`
    whole: bool = False  # whether values compared with None or texts may be staged
    mutated: frozenset[str] = frozenset()  # the dotted names of containers that the outermost one changes

    def __post_init__(self) -> None:
        self.namer = names.Namer(self.used_names)

    def decide(self, node: gast.AST, construct: str, reason: str | None = None) -> bool:
        """Report that `node` is converted or, for a reason, stays plain; return whether it is converted."""
        function = ".".join(self.functions) or "<module>"
        self.decisions.append(Decision(self.filename, getattr(node, "lineno", 0), function, construct, reason))
        return reason is None

    def body_name(self, root: str) -> str:
        """Return a name for a generated function."""
        name = self.namer.reusable(root)
        self.generated.add(name)
        return name

    def is_builtin(self, name: str) -> bool:
        """Whether `name` refers to the builtin of that name here."""
        return name not in self.shadowed and name not in self.known and not self.is_local(name)

    def becomes_none(self, name: str) -> bool:
        """Whether the function with the variable `name` sets it to None."""
        for bound, none_variables in zip(reversed(self.locals), reversed(self.none_variables), strict=False):
            if name in bound:
                return name in none_variables
        return False

    def is_local(self, name: str) -> bool:
        return any(name in bound for bound in self.locals)

    def dotted(self, node: gast.AST) -> str | None:
        """Return the full dotted name of an expression like `np.linalg.norm`, if the imports give it."""
        owner, parts = trees.dotted(node)
        if not isinstance(owner, gast.Name) or self.is_local(owner.id):
            return None
        root = owner.id
        if root in self.known:
            root = self.known[root]
        elif parts or root in self.shadowed or not hasattr(builtins, root):
            return None
        else:
            root = f"builtins.{root}"
        return ".".join([root, *parts])


Rewrite = Callable[[Any, Context], Any]


class Walk:
    """Rewrites the expressions and statements of one function, innermost first.

    `before` sees each node before the nodes below it. `inner` gets inner functions and classes. Annotations, type
    parameters and patterns stay: they are evaluated elsewhere, or are no expressions.
    """

    SKIPPED: Mapping[type, frozenset[str]] = {
        gast.AnnAssign: frozenset({"annotation"}),
        gast.FunctionDef: frozenset(gast.FunctionDef._fields),
        gast.AsyncFunctionDef: frozenset(gast.AsyncFunctionDef._fields),
        gast.Lambda: frozenset(gast.Lambda._fields),
        gast.ClassDef: frozenset(gast.ClassDef._fields),
        gast.match_case: frozenset({"pattern"}),
        gast.TypeAlias: frozenset(gast.TypeAlias._fields),
    }

    def __init__(
        self, rewriters: Mapping[type, list[Rewrite]], before: Callable[[Any], None], inner: Rewrite, context: Context
    ) -> None:
        self.rewriters = rewriters
        self.before = before
        self.inner = inner
        self.context = context

    def visit(self, node: Any) -> Any:
        """Return `node` with everything below it rewritten; a list if a statement became several."""
        kind = type(node)
        self.before(node)
        skipped = self.SKIPPED.get(kind, ())
        for name in trees.PARTS[kind]:
            if name not in skipped:
                value = getattr(node, name, None)
                if type(value) is list:
                    self.visit_list(value)
                elif isinstance(value, gast.AST):
                    setattr(node, name, self.visit(value))
        if kind in _INNER:
            return self.inner(node, self.context)
        for rewrite in self.rewriters.get(kind, ()):
            new = rewrite(node, self.context)
            if new is not None:
                return replace(node, new)
        return node

    def visit_list(self, nodes: list[Any]) -> None:
        """Rewrite a list of nodes in place."""
        result: list[Any] = []
        for node in nodes:
            new = self.visit(node) if isinstance(node, gast.AST) else node
            if isinstance(new, list):
                result.extend(new)
            else:
                result.append(new)
        if len(result) != len(nodes) or any(a is not b for a, b in zip(result, nodes, strict=True)):
            nodes[:] = result


_INNER = frozenset({gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef})


def replace(old: gast.AST, new: Any) -> Any:
    """Give the replacement of `old` its position and comments."""
    nodes = new if isinstance(new, list) else [new]
    for node in nodes:
        if not hasattr(node, "lineno"):
            gast.copy_location(node, old)
    if nodes and nodes[0] is not old:
        move_comments(old, nodes)
    return new


def move_comments(old: Any, nodes: list[Any]) -> None:
    """Move the comments of a statement to the statements that replace it."""
    comments: Comments | None = getattr(old, "comments", None)
    if comments is None:
        return
    before, behind = comments.before, None
    if comments.trailing:  # behind the header of a compound statement
        before += (comments.trailing,)
    elif hasattr(old, "origin"):  # behind a simple statement
        behind = old.origin.comment.strip() or None
    first, last = nodes[0], nodes[-1]
    existing: Comments = getattr(first, "comments", NO_COMMENTS)
    first.comments = existing._replace(before=before + existing.before)
    existing = getattr(last, "comments", NO_COMMENTS)
    last.comments = existing._replace(
        inside=existing.inside + comments.inside,
        trailing=existing.trailing or behind,
        after=existing.after + comments.after,
    )


def short_text(node: gast.AST) -> str:
    """Return an expression as a short text of one line, for reasons and messages."""
    text = " ".join(unparse(node).split())
    return text if len(text) <= 40 else text[:39] + "…"


def binds_here(node: gast.AST) -> bool:
    """Whether an expression binds a name of the function around it (`:=`)."""
    return any(isinstance(n, gast.NamedExpr) for n in scope.walk_own(node))
