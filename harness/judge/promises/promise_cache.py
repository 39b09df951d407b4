"""Promise cache: inputs of cases, and results of their spec's functions, kept on disk from earlier runs.

A key is a hash of the code digest, the case, its seed and the sides of its contract. Nothing else can change the
results: see `harness.store.run_directories.code_digest`. Only cases that are slow to compute are stored.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from tf_opdiff.harness.judge.promises.remembered_results import RememberedResults
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.formats.plain_values import Unreadable
from tf_opdiff.harness.store.run_directories.code_digest import CodeDigest
from tf_opdiff.harness.system.file_cache import FileCache

#: Seconds of CPU that a case costs at least to be stored; reading it back costs a fraction of a millisecond.
WORTH = 0.002
#: Transcripts that are written together, after one look for changed files.
_TOGETHER = 32
_T = TypeVar("_T")


class PromiseCache:
    """The transcripts of cases of this process's code, in a file cache.

    Attributes:
      read, computed: the number of cases that were read back, and of those that were computed.
      off: why nothing more is stored; empty if everything is.
    """

    def __init__(self, files: FileCache, code: CodeDigest, worth: float = WORTH) -> None:
        """Stores cases that cost at least `worth` seconds of CPU."""
        self._files, self._code, self._worth = files, code, worth
        self._pending: dict[str, bytes] = {}
        self.read = self.computed = 0
        self.off = code.change()

    def key(self, module: str, case: Case, plans: Sequence[Plan]) -> str:
        """The key of a case of a suite's module under these plans."""
        sides = list(dict.fromkeys(case.spec.promise(plan) for plan in plans))
        words = (self._code.digest, module, case.id, case.seed, sides, bool(case.spec.claims))
        return hashlib.blake2b(repr(words).encode(), digest_size=20).hexdigest()

    def computed_or_read(self, key: str, compute: Callable[[], _T]) -> _T:
        """The result of `compute`, with recorded results of the calls in it, if there are any under this key.

        Raises:
          Exception: `compute` raised it; then nothing is stored.
        """
        data = None if self.off else self._files.get(key)
        if data is not None:
            try:
                transcript = RememberedResults(data)
                with transcript.used():
                    result = compute()
            except Unreadable:
                self._files.drop(key)
            else:
                self.read += 1
                return result
        transcript, began = RememberedResults(), time.thread_time()
        with transcript.used():
            result = compute()
        self.computed += 1
        if time.thread_time() - began >= self._worth:
            self._add(key, transcript.data)
        return result

    def differs(self, key: str, compute: Callable[[], object]) -> bool:
        """Whether what is stored under a key differs from what `compute` gives now; then it is deleted."""
        stored = self._files.get(key)
        if stored is None:
            return False
        transcript = RememberedResults()
        with transcript.used():
            compute()
        if transcript.data == stored:
            return False
        self._files.drop(key)
        return True

    def _add(self, key: str, data: bytes | None) -> None:
        if data is not None and not self.off:
            self._pending[key] = data
            if len(self._pending) >= _TOGETHER:
                self.flush()

    def flush(self) -> None:
        """Writes what is not written yet, unless a file of the code changed during the run."""
        self.off = self.off or (self._code.change() if self._pending else "")
        for key, data in self._pending.items():
            if not self.off:
                self._files.put(key, data)
        self._pending.clear()
