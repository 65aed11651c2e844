"""The ledger of the paper's claims in this process: verdicts, certificates, and their recheck."""
import ctypes
from ctypes import byref as _ref
from dataclasses import dataclass
from typing import Dict, Optional

from . import layout, native
from .arguments import integer, keywords, path as as_path
from .choices import Path
from .display import Shown, plain
from .errors import ArgumentError
from .native_tables import results
from .tabled import Tabled
from .tables import Results, Table

_TABLES = ("claims", "certificates", "lemma", "samples", "evidence")


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Tabled, Shown):
    """Computed verdicts on claims of the paper (arXiv 2505.13027v1).

    verdicts: by claim, in the ledger's order: "holds" (a proof is on record and no trial refuted it), "fails" (a
        certified counterexample), "vacuous" (nothing satisfies the hypotheses), "conditional" (instances on
        both sides), "measured" (probabilities under a stated measure), "none" (no verdict was established).
    differing: how many verdicts are not the ledger's; the notes of the claims say which.
    tables: those of `szego verify`, by name: verify_claims, verify_certificates, verify_lemma, verify_samples,
        verify_evidence; found["verify_claims"] is tables["verify_claims"]. A table without rows is left out.
        tables.docs has what each column means.
    """
    differing: int
    tables: Results[Table]
    _numbers = "`verdicts` and `tables`"
    _main = "verify_claims"

    @property
    def verdicts(self) -> Dict[str, str]:
        """Claim and verdict."""
        claims = self.tables["verify_claims"]
        return dict(zip(claims["id"].tolist(), claims["verdict"].tolist()))

    def __repr__(self) -> str:
        verdicts = list(self.verdicts.values())
        shown = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts))
        certificates = len(self.tables.get("verify_certificates", {"id": ()})["id"])
        return (f"<szego.Verification of {len(verdicts)} claims: {shown}; {certificates} certificates, "
                f"{self.differing} verdicts differ from the ledger>")


@dataclass(frozen=True, eq=False, repr=False)
class Recheck(Tabled, Shown):
    """What the second path says of the certificates of a file.

    refused: how many it does not confirm; tables: verify_checks, with columns id, kind, verdict ("confirmed",
    "refused") and note (why).
    """
    source: str
    refused: int
    tables: Results[Table]
    _main = "verify_checks"

    def __repr__(self) -> str:
        count = len(self.tables["verify_checks"]["id"])
        return f"<szego.Recheck of {plain(self.source)}: {count - self.refused} of {count} certificates confirmed>"


@keywords
def verify(*ids: str, terms: Optional[int] = None, trials: Optional[int] = None, seed: int = 0,
           threads: Optional[int] = None) -> Verification:
    """Computes verdicts on claims of the paper, with certificates for those that fail.

        szego.verify("L3", "B1").verdicts
        szego.verify()["verify_certificates"]["id"]

    ids: claims of the ledger ("L3"); none: all of them. terms: weights of Lemma B.1's polynomials, 2 to 4096
    (None: 16). trials: random trials per claim, at most 10^6 (None: 64). seed: of the trials, 0 to 2^64 - 1.

    A verdict that differs from the ledger's is no error: see `differing`. ArgumentError: an unknown claim, with
    the list of them; a number out of range. Ctrl-C ends the call. Source: szg_claims_verify in <szego/claims.h>;
    docs/explanation/theory.md has the proofs.
    """
    for one in ids:
        if not isinstance(one, str) or "\0" in one:
            raise ArgumentError(f"{one!r}: a claim is a text such as \"L3\"; pass several as several arguments",
                                "SZG_EINVAL")
    names = (ctypes.c_char_p * len(ids))(*(one.encode("utf-8", "replace") for one in ids))
    options = layout.ClaimsOptions(terms=0 if terms is None else integer(terms, "terms", 2),
                                   trials=0 if trials is None else integer(trials, "trials", 1), seed=integer(seed, "seed", 0, bits=64))

    def work(context):
        with native.filled(context, "szg_claims_verify", "szg_claims_report_close", layout.ClaimsReport(),
                           _ref(options), len(ids), names) as report:
            library = native.library()
            filled = {name: getattr(report, name) for name in _TABLES}
            return Verification(report.differing, results("verify", {
                name: table for name, table in filled.items() if table and library.szg_table_rows(table)}))
    return native.run(work, threads)


@keywords
def recheck(path: Path, *, threads: Optional[int] = None) -> Recheck:
    """Recomputes the certificates of a file by separate code at twice the precision: certificates.csv of a folder
    that `szego verify -o DIR/` wrote, or its JSON.

    A certificate that is malformed is refused, not an error. ArgumentError: the file holds none, LibraryError: it
    cannot be read. Source: szg_certificates_check in <szego/claims.h>.
    """
    name = as_path(path, "path")

    def work(context):
        table, refused = ctypes.c_void_p(), ctypes.c_int64()
        context.call("szg_certificates_check", name, _ref(table), _ref(refused))
        try:
            return Recheck(name.decode("utf-8", "replace"), refused.value,
                           results("verify", {"checks": table.value}))
        finally:
            native.library().szg_table_close(_ref(table))
    return native.run(work, threads)
