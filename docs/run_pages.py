"""Run pages: the columns of records, and the files of a run directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from docs.markdown import code, table
from tf_opdiff.harness.spec.kinds import KIND
from tf_opdiff.harness.spec.settings.trait import ABOUT as TRAITS_ABOUT
from tf_opdiff.harness.spec.settings.trait import TRAITS
from tf_opdiff.harness.store.records import columns
from tf_opdiff.harness.store.records.record import COLUMNS, Record
from tf_opdiff.reports.data.figures.error_frames import BINS, PROFILE, STEPS
from tf_opdiff.reports.data.figures.tables import NAMED
from tf_opdiff.reports.data.run_data.frame import OBSERVATIONS
from tf_opdiff.reports.pages.run_pages.extra_pages import run_files
from tf_opdiff.reports.text.verdicts import VERDICTS

OBSERVATION_COLUMNS: Mapping[str, str] = {
    "case": "The id of the case.",
    "device": "The device of the plan.",
    "mode": "The mode of the plan.",
    "quantity": "`output[i]`, `grad[i]`, `jvp[i]` or `hvp[i]`.",
    "status": "A value, an error, a crash, a hang, or an unconnected gradient.",
    "dtype": "The dtype of the array, or of the values of a sparse gradient.",
    "shape": "The shape of that array.",
    "bytes": "The elements: little-endian, in C order.",
    "indices": "The indices of a sparse gradient.",
    "dense_shape": "The dense shape of a sparse gradient.",
    "code": "The code of an error, or the signal of a crash.",
    "message": "The message of an error, or the end of a crashed process's output.",
}
ERRORS_ABOUT = (
    "How far floating-point and complex results are from the reference, for each item under each plan: a row for each "
    "sign and binary exponent of the argument. A complex number is as far off as the worse of its parts. Only elements "
    "that this run compared with NumPy count, in recipes and in sweeps of 16-bit dtypes. A plan that gave no value has "
    "no row. A recording holds no profiles: a run that uses one compares its arrays again, and has no row for sweeps "
    "and for arrays that were too large to record. `reports.load_errors` and `reports.load_error_histogram` read the "
    "two files."
)


def record() -> Iterator[str]:
    """The columns of a record, the verdicts and the kinds."""
    kinds = {"str": "text", "int": "integer", "float": "float"}
    yield from ("# Record", "", "One record is one verdict. Matches are records as well.", "")
    yield "The order of the columns never changes; new columns are added at the end."
    yield ""
    types = {name: kinds[str(field.type)] for name, field in Record.__dataclass_fields__.items()}
    yield from table(["column", "type", "meaning"], ([code(n), types[n], columns.COLUMNS.get(n, "")] for n in COLUMNS))
    yield from ("## Verdicts", "", "From the worst to the best:", "")
    heads = ["verdict", "symbol", "letter", "meaning", "fails the run"]
    rows = ([code(v.name), v.symbol, code(v.letter), v.meaning, "yes" if v.fails else ""] for v in VERDICTS.values())
    yield from table(heads, rows)
    yield from ("## Kinds", "", "The kind says how a result differs.", "")
    yield from table(["kind", "meaning"], ([code(name), kind.meaning] for name, kind in KIND.items()))


def run_directory() -> Iterator[str]:
    """The files of a run directory, and the columns of its tables."""
    yield from ("# Run directory", "", "A run leaves these files. `runs/latest` points to the newest run.", "")
    yield from table(["file", "holds"], ([code(n), text] for n, text in run_files().items()))
    yield from ("## observations.parquet", "")
    yield from table(["column", "meaning"], ([code(n), OBSERVATION_COLUMNS[n]] for n in OBSERVATIONS.names))
    yield from ("## errors.parquet", "", ERRORS_ABOUT, "")
    yield from table(["column", "meaning"], ([code(n), text] for n, text in {**PROFILE, **BINS}.items()))
    yield from ("## error_histogram.parquet", "", "The same elements by the size of their errors.", "")
    yield from table(["column", "meaning"], ([code(n), text] for n, text in {**PROFILE, **STEPS}.items()))
    yield from ("## Traits", "", TRAITS_ABOUT, "")
    yield from table(["trait", "says"], ([code(name), text] for name, text in TRAITS.items()))
    yield from ("## Tables", "", "`python -m harness table NAME RUN` makes these tables of `records.parquet`.", "")
    yield from table(["table", "holds"], ([code(n), (f.__doc__ or "").partition("\n")[0]] for n, f in NAMED.items()))
