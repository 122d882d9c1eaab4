"""The rows of tallies: masked, split and encrypted sums, and what is publicly known of each."""

from .rows import Row

_FLWR, _PHE, _SEAL = "flwr-1.41.0", "phe-1.5.0", "tenseal-0.3.18"
_CORRECT = "no fault known"
_LAW = ("noise-law", "noise-scale")

TALLY_ROWS = (
    Row(
        _FLWR,
        "SecAgg+, nobody leaves before keys",
        "flwr_secagg.py stay",
        "flwr_secagg",
        "#7522: masks from seeds of 32 bits, which no run of a few hundred rounds can see",
    ),
    Row(
        _FLWR,
        "SecAgg+, clients that leave before keys",
        "flwr_secagg.py",
        "flwr_secagg",
        "the round halts: the server asks for their shares, which nobody has (seen, no thread)",
    ),
    Row(
        _FLWR,
        "SecAgg+, clipping_range at its default of 8",
        "flwr_secagg.py narrow stay",
        "flwr_secagg",
        "values and noise beyond clipping_range are cut, as documented",
        (*_LAW, "wrap-around", "recovery"),
    ),
    Row("opendp-0.16.0", "make_laplace in two processes", "opendp_two.py", "opendp_two", _CORRECT),
    Row(
        "opendp-0.16.0",
        "the same, noise in one of the two",
        "opendp_two.py one",
        "opendp_two",
        "wrong as written",
        _LAW,
    ),
    Row(
        "by-hand-0",
        "Prio3's sums, two aggregators with noise",
        "prio_pair.py",
        "prio_pair",
        "janus #3325 asks for a test of this law",
    ),
    Row(
        "by-hand-0",
        "the same, noise of one aggregator",
        "prio_pair.py half",
        "prio_pair",
        "wrong as written: half the noise",
        _LAW,
    ),
    Row(_PHE, "Paillier, numbers in slots", "phe_tally.py", "tally_five", _CORRECT),
    Row(
        _PHE,
        "the same, ciphertexts kept",
        "phe_tally.py kept",
        "tally_five",
        "wrong as written: the same values have the same bytes",
        ("mask-uniformity",),
    ),
    Row(
        _PHE,
        "the same, slots of 8 bits",
        "phe_tally.py narrow",
        "tally_five",
        "wrong as written: slots overflow into the next",
        ("wrap-around", "recovery", *_LAW),
    ),
    Row(_SEAL, "BFV, vectors", "tenseal_tally.py bfv", "tally_five", _CORRECT),
    Row(
        _SEAL,
        "CKKS, rounded once decrypted",
        "tenseal_tally.py ckks",
        "tally_five",
        "the error of decryption is far below a half",
    ),
    Row(
        _SEAL,
        "CKKS, as decrypted",
        "tenseal_tally.py ckks raw",
        "tally_five",
        "decrypted numbers tell of the key (Li and Micciancio 2021)",
        ("input-contract",),
    ),
    Row(_PHE, "Paillier, noisy labels", "encrypted_label.py phe", "encrypted_label", _CORRECT),
    Row(
        _PHE,
        "the same, noise of two answers",
        "encrypted_label.py phe kept",
        "encrypted_label",
        "wrong as written: every second answer has the noise of the one before",
        ("fresh-noise", "order"),
    ),
    Row(_SEAL, "CKKS, noisy labels", "encrypted_label.py ckks", "encrypted_label", _CORRECT),
)

TALLIES_LATER = (
    ("flwr", "masks of 32 bits, #7522", "2^32 seeds are too many to repeat within a run"),
    ("phe, TenSEAL", "keys held by several", "neither has threshold decryption"),
    ("divviup/janus, libprio-rs", "", "in Rust; its pair is written here, without proofs"),
)
"""What is not in the table, and why: library, call, reason."""
