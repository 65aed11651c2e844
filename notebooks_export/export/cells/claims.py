# needs one of: verify_claims(id, verdict, statement)
"""
## The ledger of claims

Each claim with its verdict, what the verdict rests on, and the true statement where the claim does
not hold as it stands.
"""
import textwrap


#@ claims


rows = table(archive, "verify_claims")
fields = [texts(rows, column)
          for column in ("id", "verdict", "basis", "statement", "true_statement", "note")]
for (verdict,), part in split(rows, "verdict"):
    print(f"{size(part):4d} {show(verdict)}")
for name, verdict, basis, statement, truth, note in some(list(zip(*fields)), "claims", 200):
    print(f"\n{show(name):8s} {show(verdict).upper()}  ({show(basis)})")
    for mark, text in (("  ", statement), ("->", truth), ("  note:", note)):
        if text:
            print(textwrap.fill(show(text, most=2000).replace(r"\$", "$").replace("`", ""), 100,
                                initial_indent=f"  {mark} ", subsequent_indent="     "))
claims(archive)
plt.show()
