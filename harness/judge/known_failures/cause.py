"""Cause: why records fail as their spec does not allow, who has to act, and where the reason can be read."""

from __future__ import annotations

import re

import msgspec

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.spec.similar import unknown

#: Who has to act.
OWNERS = ("tensorflow", "keras", "driver", "us", "nobody")
_ID = re.compile(r"[a-z0-9]+([-.][a-z0-9]+)*")
#: The release whose source causes cite. A citation of any other version gives its year.
_VERSION = r"(v2\.21\.0|TensorFlow-2\.21\.0|[0-9a-f]{8,40} \((19|20)\d\d\))"
_SOURCE = re.compile(rf"[\w.+-]+(/[\w.+-]+)+\.\w+ at {_VERSION}: \S+ .+")
_CITED = re.compile(r"\.\w+ at (.+?): ")
_BLOB = re.compile(r"/(?:blob|tree|blame|raw)/([^/]+)")
_RELEASE = re.compile(r"([A-Za-z]+-)?v?\d+(\.\d+)+\S*")
_CHANGE = re.compile(r"https://\S+/(pull|merge_requests|commit)/\w+")
_FUNCTION = re.compile(r"(tf|keras)(\.[A-Za-z_]\w*)+")
_NAMED = re.compile(rf"`(?P<name>{_FUNCTION.pattern})")
#: Names in titles that say how TensorFlow ran, and raw ops: nobody reaches a failure by these alone.
_UNREACHING = re.compile(r"tf\.(function$|raw_ops\b)")


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One cause of known failures; entries name it by its `id`.

    `owner` is who has to act, one of `OWNERS`: TensorFlow, if the cause names nobody. `reason` is a sentence that a
    person has checked. Where the reason can be read or seen again, one of these says:

    link      a public page: an issue, a line of source code of a release, or documentation.
    source    the source file that was read, its version, and what it does: `PATH at VERSION: what it does`. The path
              begins with `tensorflow/` or `third_party/xla/` (both in tensorflow/tensorflow), `xla/` (openxla/xla),
              `Eigen/`, `unsupported/Eigen/` or `sysdeps/` (glibc). The version is `v2.21.0`, `TensorFlow-2.21.0` for
              the copy in the wheel, or a commit and its year, such as `08df8c40b437 (2024)`.
    measured  only for a cause that nobody has traced to a line of source code: how it was measured, and on what.

    `title` is the discrepancy in one plain sentence for readers who do not know the code: the function, the inputs, the
    plans if only some are wrong, and the wrong result. `severity` is one of
    `harness.judge.verdicts.severity.SEVERITIES`, by the rule that stands there, and `severity_reason` says in a
    sentence why that rule applies. A file has both in one field, `severity = "SEVERITY: REASON"`. All three are
    required of a cause in a file of known failures; the causes of an earlier run may lack them.

    Optional:

    arguments  `invalid` if the documentation does not allow the arguments that show the failure.
    function   the public function that reaches the failure, such as `tf.image.resize`; by default the first one that
               the title names, see `named`; the empty text if raw ops alone do.
    numbers    pairs (text, expression): the expression, evaluated with TensorFlow, prints the number that stands in the
               title or a reason as this text. `python -m bench.reasons` evaluates them.
    fixed      the public link of the merged change that fixes the failure in a later version.
    see        the ids of related causes, such as the same fault in another kernel; each of these names this one too.
    """

    id: str
    owner: str = "tensorflow"
    reason: str
    link: str = ""
    source: str = ""
    measured: str = ""
    title: str = ""
    severity: str = ""
    severity_reason: str = ""
    arguments: str = ""
    function: str = ""
    numbers: tuple[tuple[str, str], ...] = ()
    fixed: str = ""
    see: tuple[str, ...] = ()

    def check(self) -> None:
        """Checks the fields.

        Raises:
          LookupError: the owner or the severity does not exist.
          ValueError: a field is missing or not of its form, or neither a link, a source nor a measurement is given.
        """
        if not _ID.fullmatch(self.id):
            raise ValueError(f"id {self.id!r}: expected words of a-z and 0-9 with hyphens between them")
        if self.owner not in OWNERS:
            raise LookupError(unknown("owner", self.owner, set(OWNERS)))
        if len(self.reason.split()) < 3:
            raise ValueError(f"reason {self.reason!r}: expected the checked reason, in a sentence")
        if len(self.title.split()) < 3:
            raise ValueError(f"title {self.title!r}: expected the discrepancy, in a sentence")
        if self.severity not in SEVERITIES:
            raise LookupError(unknown("severity", self.severity, set(SEVERITIES)))
        if len(self.severity_reason.split()) < 3:
            raise ValueError(
                f"severity {self.severity!r}: expected why it applies behind it, in a sentence: "
                f"'{self.severity}: REASON'; got {self.severity_reason!r}"
            )
        if self.link and not self.link.startswith("https://"):
            raise ValueError(f"link {self.link!r}: expected https://…")
        if (blob := _BLOB.search(self.link)) and not _RELEASE.fullmatch(blob[1]):
            raise ValueError(f"link {self.link!r}: expected a release; source takes a commit and its year")
        if self.source and not _cites_versions(self.source):
            raise ValueError(
                f"source {self.source!r}: expected PATH at VERSION: and what the file does there, "
                "with a version such as v2.21.0 or 08df8c40b437 (2024)"
            )
        if self.measured and (self.link or self.source):
            raise ValueError("measured: expected only where there is neither a link nor a source")
        if self.measured and len(self.measured.split()) < 3:
            raise ValueError(f"measured {self.measured!r}: expected how, and on what, in a sentence")
        if not (self.link or self.source or self.measured):
            raise ValueError("expected a link, or the source file that was read (source), or how it was measured")
        self._check_optional()

    def _check_optional(self) -> None:
        if self.arguments not in ("", "invalid"):
            raise ValueError(f"arguments {self.arguments!r}: expected 'invalid', or no such field")
        if self.function and not _FUNCTION.fullmatch(self.function):
            raise ValueError(f"function {self.function!r}: expected a public function such as tf.image.resize")
        if self.fixed and not _CHANGE.fullmatch(self.fixed):
            raise ValueError(f"fixed {self.fixed!r}: expected the link of a pull request or a commit")
        words = f"{self.title} {self.reason} {self.severity_reason}"
        if absent := [text for text, _ in self.numbers if text not in words]:
            raise ValueError(f"numbers {absent[0]!r}: the title and the reasons do not contain this text")


def named(title: str) -> str:
    """The first public function that a title names between backticks, `tf.function` aside; empty if there is none."""
    names = (match["name"] for match in _NAMED.finditer(title))
    return next((name for name in names if not _UNREACHING.match(name)), "")


def _cites_versions(source: str) -> bool:
    """Whether a source has its form, and all the files that it names have their versions."""
    return bool(_SOURCE.fullmatch(source)) and all(re.fullmatch(_VERSION, cited) for cited in _CITED.findall(source))
