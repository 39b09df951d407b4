"""Program: a tree of ops over inputs and constants, in a form, and the text that runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from tf_opdiff.discover.programs.vocabulary import FORMS, WORDS, Form, Word

#: The names of inputs, in order.
NAMES = "xyzuvw"
_WORDS = {word.text: word for word in WORDS}


@dataclass(frozen=True)
class Node:
    """An op with its operands, an input or a constant; the latter two have no operands."""

    text: str
    operands: tuple[Node, ...] = ()

    def __str__(self) -> str:
        return self.text.format(*self.operands) if self.operands else self.text

    @property
    def word(self) -> Word:
        """The word of an op; one without a meaning for an input or a constant."""
        return _WORDS.get(self.text, Word(self.text, "", "="))

    @property
    def ops(self) -> Iterator[Node]:
        """The ops of the tree: operands first."""
        for operand in self.operands:
            yield from operand.ops
        if self.operands:
            yield self

    @property
    def inputs(self) -> set[str]:
        """The names of the inputs in the tree."""
        own = {self.text} if self.text in NAMES and not self.operands else set()
        return own.union(*(operand.inputs for operand in self.operands))

    def hooked(self, numbers: Iterator[int], conditioned: Collection[str]) -> str:
        """The text with each op inside `shake(number, …)`, and with the operands of some ops inside `shake(-1, …)`."""
        if not self.operands:
            return self.text
        parts = [operand.hooked(numbers, conditioned) for operand in self.operands]
        if self.word.sums or self.text in conditioned:
            parts = [f"shake(-1, {part})" for part in parts]
        return f"shake({next(numbers)}, {self.text.format(*parts)})"

    def replacing(self, part: Node, other: Node) -> Node:
        """The tree with another tree in each place of a part."""
        if self == part:
            return other
        return replace(self, operands=tuple(operand.replacing(part, other) for operand in self.operands))

    def variants(self) -> Iterator[Node]:
        """Smaller trees: an op replaced by one of its operands, here or deeper down."""
        yield from self.operands
        for number, operand in enumerate(self.operands):
            for smaller in operand.variants():
                yield replace(self, operands=(*self.operands[:number], smaller, *self.operands[number + 1 :]))

    def data(self) -> Any:
        """The tree as JSON-able data."""
        return [self.text, *(operand.data() for operand in self.operands)]

    @classmethod
    def of(cls, data: Any) -> Self:
        """Reads the data of `data`."""
        text, *operands = data
        return cls(text, tuple(map(cls.of, operands)))


@dataclass(frozen=True)
class Program:
    """A function of inputs, in a form.

    Attributes:
      root: the function.
      dtypes: the dtype of each input.
      form: a name in `FORMS`.
    """

    root: Node
    dtypes: tuple[str, ...]
    form: str = "plain"

    @property
    def _form(self) -> Form:
        return FORMS[self.form]

    @property
    def unknown(self) -> bool:
        """Whether the sizes of the inputs are unknown when the program is traced."""
        return self._form.unknown

    @property
    def gradient(self) -> bool:
        """Whether the program gives a gradient."""
        return self._form.gradient

    @property
    def names(self) -> str:
        """The names of the inputs."""
        return NAMES[: len(self.dtypes)]

    @cached_property
    def ops(self) -> tuple[Node, ...]:
        return tuple(self.root.ops)

    @property
    def plain(self) -> Program:
        """The function alone."""
        return replace(self, form="plain")

    @property
    def text(self) -> str:
        """The functions `f` and `program`."""
        return self._text(str(self.root), self._form.text)

    @property
    def base(self) -> str:
        """The functions of the program that says what the results should be, in eager mode."""
        return self._text(str(self.root), self._form.base or self._form.text)

    def hooked(self, conditioned: Collection[str] = ()) -> str:
        """The base with hooks `shake`; those of the texts `conditioned` have hooks around their operands as well."""
        return self._text(self.root.hooked(iter(range(99)), conditioned), self._form.base or self._form.text)

    def _text(self, function: str, body: str) -> str:
        arguments = ", ".join(self.names)
        if body == FORMS["plain"].text:
            return f"def program({arguments}):\n    return {function}\n"
        given = self.root.word.result
        result = self.dtypes[0] if given == "=" else given
        lines = body.replace("{args}", arguments).replace("{dtype}", result).splitlines()
        own = "\n".join(f"    {line}" for line in lines)
        return f"def f({arguments}):\n    return {function}\n\n\ndef program({arguments}):\n{own}\n"

    def data(self) -> Mapping[str, Any]:
        """The program as JSON-able data."""
        return {"root": self.root.data(), "dtypes": [*self.dtypes], "form": self.form}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Reads the data of `data`."""
        return cls(Node.of(data["root"]), tuple(data["dtypes"]), data["form"])
