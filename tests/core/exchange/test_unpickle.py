import pickle
import pickletools
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy._core import multiarray

from core.errors import InputError
from core.exchange.llm_uncertainty_bench import _rows
from core.exchange.unpickle import OPERATIONS, load_arrays

pytestmark = pytest.mark.quick

HERE = Path("results.pkl")


class Runs:
    """What an attacker would send."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def test_code_is_refused_and_not_run(tmp_path):
    target = tmp_path / "run"
    for evil in (
        Runs(subprocess.getoutput, f"touch {target}"),
        Runs(eval, f"open({str(target)!r}, 'w')"),
        [np.array([Runs(subprocess.getoutput, f"touch {target}")], dtype=object)],
    ):
        with pytest.raises(InputError, match="a pickle can run code"):
            load_arrays(pickle.dumps(evil), HERE)
    assert not target.exists()


@pytest.mark.parametrize("content", [b"", b"\x80", b"hello", b"\x80\x04]", pickle.dumps(np.ones(50))[:-20]])
def test_a_damaged_file_is_said_to_be_one(content):
    with pytest.raises(InputError, match=r"results\.pkl is not a complete pickle"):
        load_arrays(content, HERE)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x80\x04\x8e" + (2**45).to_bytes(8, "little") + b"short", "expected 35184372088832 bytes in a bytes8"),
        (b"\x80\x05\x96" + (2**45).to_bytes(8, "little") + b"short", "expected 35184372088832 bytes in a bytearray8"),
        (b"\x80\x04]r\xff\xff\xff\x7f.", "it numbers an object 2147483647, after 2 others"),
        (pickle.dumps(Runs(multiarray._reconstruct, np.ndarray, (2**45,), b"b")), r"the shape \(35184372088832,\)"),
    ],
    ids=["bytes", "bytearray", "number", "shape"],
)
def test_no_damaged_length_asks_for_memory(content, said):
    """The cause is the damage. A lack of memory would be said of the whole file, and of how much there is."""
    with pytest.raises(InputError, match=said) as caught:
        load_arrays(content, HERE)
    assert not isinstance(caught.value.__cause__, MemoryError)


def test_a_long_text_where_numbers_stand_is_not_repeated_in_full(tmp_path):
    path = tmp_path / "Tiny_halu_dialogue_base_icl1.pkl"
    path.write_bytes(pickle.dumps([{"id": 0, "logits_options": "x" * 5000}]))
    with pytest.raises(InputError, match="does not have rows with an id and logits_options") as caught:
        _rows(load_arrays(path.read_bytes(), path), path)
    assert len(str(caught.value)) < 400


# ---------------------------------------------------------------- honest pickles

NUMBERS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")


def honest():
    rng = np.random.default_rng(0)
    for kind in NUMBERS:
        for order in "<>":
            block = (rng.random((2, 3, 4)) * 2).astype(np.dtype(kind).newbyteorder(order))
            yield from (block, np.asfortranarray(block), block.transpose(1, 0, 2), block[:, ::2])
            yield from (block[:0], block[0, 0, 0])
    for kind in ("U5", ">U3", "S3"):
        yield from (np.array(["a", "xyz"], dtype=kind), np.zeros((0, 2), kind), np.array("q", kind))
    yield from (np.str_("aé😀"), np.str_(""), np.bytes_(b"ab"), np.bytes_(b""), np.array(1.5), np.longdouble(2))
    yield from ("x\ny\\u00e9é\u2028😀", b"", b"a\x80", None, True, False)
    yield from (0, -1, 2**31, 2**63, -(2**63), 1.5, float("inf"))
    yield from (
        (),
        (1,),
        (1, 2),
        (1, 2, 3),
        (1, 2, 3, 4),
        [],
        {},
        {"a": [1, {"b": (None,)}]},
        {np.int64(3): 1, 2: b"x"},
    )


def same(want, value) -> bool:
    if isinstance(want, np.ndarray):
        alike = value.dtype.str == want.dtype.str and value.shape == want.shape and np.array_equal(value, want)
        return alike and value.flags.f_contiguous == want.flags.f_contiguous
    if isinstance(want, (list, tuple)):
        return type(value) is type(want) and len(value) == len(want) and all(map(same, want, value))
    if isinstance(want, dict):
        return list(value) == list(want) and same(list(want.values()), list(value.values()))
    return type(value) is type(want) and value == want


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_honest_pickles_are_read_as_pickle_reads_them(protocol):
    values = list(honest())
    for value in [*values, values]:
        content = pickle.dumps(value, protocol=protocol)
        assert same(pickle.loads(content), load_arrays(content, HERE)), (protocol, value)


@pytest.mark.parametrize("protocol", range(4))
def test_the_names_of_numpy_1_are_read(protocol):
    value = {"scores": np.arange(6.0).reshape(2, 3), "best": np.float32(0.5)}
    content = pickle.dumps(value, protocol=protocol).replace(b"numpy._core", b"numpy.core")
    assert b"numpy.core" in content
    assert same(value, load_arrays(content, HERE))


def test_what_python_2_wrote_is_read():
    content = b"(lp1\n(dp2\nS'id'\np3\nI3\nsS'logits_options'\np4\n(lp5\nF0.5\naF-1.5\nasa."
    assert load_arrays(content, HERE) == [{"id": 3, "logits_options": [0.5, -1.5]}]


# ---------------------------------------------------------------- attacks

DTYPE, BARE = b"cnumpy\ndtype\n", b"cnumpy\nndarray\n"
SCALAR = b"cnumpy.core.multiarray\nscalar\n"
EMPTY = b"cnumpy.core.multiarray\n_reconstruct\n(" + BARE + b"(K\x00tC\x01bt"


def dtype(code: str, state: bytes = b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t") -> bytes:
    """A dtype with a state, as operations."""
    return DTYPE + b"(U" + bytes([len(code)]) + code.encode() + b"I00\nI01\ntR" + state + b"b"


NO_REFERENCES = b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"
"""A state that makes numpy believe that values of the type hold no references."""


def pointer(value: object) -> bytes:
    return struct.pack("P", id(value))


@pytest.mark.filterwarnings("ignore")
def test_bytes_of_a_file_never_become_an_object():
    """The file holds an address. Where an object of Python comes of it, a file can run code."""
    victim = object()
    eight = b"C\x08" + pointer(victim)
    as_scalar = b"\x80\x03" + SCALAR + b"(" + dtype("O8", NO_REFERENCES) + eight + b"tR."
    filled = b"(K\x01(K\x01t" + dtype("O8", NO_REFERENCES) + b"I00\n" + eight + b"tb"
    as_array = b"\x80\x03" + EMPTY + b"R" + filled + b"."
    for content in (as_scalar, as_array):
        with pytest.raises(InputError, match="an array of the type 'O8'; only numbers and texts are read"):
            load_arrays(content, HERE)


FLOAT = dtype("f8")
ONE = b"C\x08" + bytes(8)
ATTACKS = {
    **{
        f"type {code}": dtype(code, NO_REFERENCES) + b"."
        for code in ["O", "O8", "O4", "V8", "M8", "m8", "c16", "V", "a8"]
    },
    **{
        f"size {code}": dtype(code) + b"."
        for code in ["f3", "i16", "u0", "b2", "f", "f-8", "f8,f8", "U99999999", "²8", "8f8"]
    },
    "a type of records": DTYPE + b"((U\x01aU\x02f8tltR.",
    "a type without a state": SCALAR + b"(" + DTYPE + b"(U\x02f8I00\nI01\ntR" + ONE + b"tR.",
    "two states": FLOAT + b"(K\x03U\x01>NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb.",
    "flags": dtype("f8", b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x3ft") + b".",
    "fields": dtype("f8", b"(K\x03U\x01<N(U\x01at}J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t") + b".",
    "metadata": dtype("f8", b"(K\x04U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00}t") + b".",
    "a subarray": dtype("f8", b"(K\x03U\x01<(" + FLOAT + b"(K\x02ttNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t") + b".",
    "a dict as state": dtype("f8", b"}U\x05dtypeU\x01xs") + b".",
    "slots as state": dtype("f8", b"(N}U\x04kindU\x01Ost") + b".",
    "a state of a function": SCALAR + b"}U\x0c__defaults__Nsb.",
    "slots of a function": SCALAR + b"(N}U\x04callNstb.",
    "a state of a list": b"]}U\x01aNsb.",
    "a state of nothing": b"Nb.",
    "an array twice": EMPTY + b"R(K\x01)" + FLOAT + b"I00\n" + ONE + b"tb(K\x01)" + FLOAT + b"I00\n" + ONE + b"tb.",
    "an array that stays empty": EMPTY + b"R.",
    "an array of another kind": b"cnumpy.core.multiarray\n_reconstruct\n(" + DTYPE + b"(K\x00tC\x01btR.",
    "a bare array": BARE + b"((K\x02ttR.",
    "too few bytes": EMPTY + b"R(K\x01(K\x02t" + FLOAT + b"I00\n" + ONE + b"tb.",
    "too many bytes": SCALAR + b"(" + FLOAT + b"C\x09" + bytes(9) + b"tR.",
    "a negative shape": EMPTY + b"R(K\x01(J\xff\xff\xff\xffJ\xff\xff\xff\xfft" + FLOAT + b"I00\n" + ONE + b"tb.",
    "a shape beyond memory": EMPTY + b"R(K\x01(K\x00" + b"\x8a\x08" + bytes(7) + b"\x10t" + FLOAT + b"I00\nC\x00tb(",
    "no bytes each": EMPTY
    + b"R(K\x01(J\xff\xff\xff\x7ft"
    + dtype("S0", b"(K\x03U\x01|NNNK\x00K\x01K\x00t")
    + b"I00\nC\x00tb.",
    "dimensions": EMPTY + b"R(K\x01(" + b"K\x01" * 33 + b"t" + FLOAT + b"I00\n" + ONE + b"tb.",
    "an order": EMPTY + b"R(K\x01)" + FLOAT + b"K\x05" + ONE + b"tb.",
    "axes": b"cnumpy.core.numeric\n_frombuffer\n(" + ONE + FLOAT + b"(K\x01tU\x01K(K\x07ttR.",
    "no character": SCALAR + b"(" + dtype("U1", b"(K\x03U\x01<NNNK\x04K\x04K\x08t") + b"C\x04\xff\xff\xff\xfftR.",
    "no truth value": SCALAR + b"(" + dtype("b1", NO_REFERENCES) + b"C\x01\x07tR.",
    "a codec": b"c_codecs\nencode\n(U\x01aU\x04zlibtR.",
    "an attribute of a name": b"\x8c\x05numpy\x8c\x0dndarray.dtype\x93.",
    "a module of a name": b"cnumpy\ncore.multiarray.scalar\n.",
    "no text as a name": b"K\x01K\x02\x93.",
    "a call of a value": b"U\x01a)R.",
    "a call without a tuple": SCALAR + b"]R.",
    "too many arguments": SCALAR + b"(NNNNNNNtR.",
    "a bare name": DTYPE + b".",
    "a bare type": FLOAT + b".",
    "a type in a list": b"]" + FLOAT + b"a.",
    "NEWOBJ": DTYPE + b")\x81.",
    "NEWOBJ_EX": DTYPE + b")}\x92.",
    "INST": b"(inumpy\ndtype\n.",
    "OBJ": b"(" + DTYPE + b"o.",
    "PERSID": b"Pa\n.",
    "BINPERSID": b"NQ.",
    "EXT1": b"\x82\x01.",
    "EXT4": b"\x84\x01\x00\x00\x00.",
    "NEXT_BUFFER": b"\x97.",
    "READONLY_BUFFER": b"C\x01a\x98.",
    "DUP": b"]2.",
    "EMPTY_SET": b"\x8f.",
    "a protocol of the future": b"\x80\x06N.",
    "an unknown byte": b"\xff.",
    "memory of nothing": b"h\x00.",
    "a number that nothing has": b"N\x94h\x05.",
    "a negative number": b"Np-1\n.",
    "no mark": b"Nt.",
    "a mark too many": b"(N.",
    "two values": b"NN.",
    "a value of nothing": b".",
    "an item for no list": b"NNa.",
    "a key for no dict": b"NNNs.",
    "half a pair": b"}(Nu.",
    "a list as a key": b"}]Ns.",
    "a deep tuple as a key": b"})" + b"\x85" * 200_000 + b"Ns.",
    "a type as a key": b"}" + FLOAT + b"Ns.",
    "an array as a key": b"}" + EMPTY + b"RNs.",
    "a list in itself": b"]\x94h\x00a.",
    "a dict in itself": b"}\x94Nh\x00s.",
    "deep lists": b"]" * 100_000 + b"a" * 99_999 + b".",
    "deep tuples": b")" + b"\x85" * 1_000_000 + b".",
    "laughs": b"(](K\x01K\x01e\x94" + b"".join(b"](h%ch%ce\x94" % (i, i) for i in range(60)) + b"t.",
    "a long number": b"L" + b"9" * 100_000 + b"L\n.",
    "a long number of bytes": b"\x8b\xff\xff\x00\x00" + b"\x01" * 0xFFFF + b".",
    "a text without its mark": b"Sabc\n.",
    "a line without end": b"I123",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_ends_in_one_sentence(name):
    """What numpy does not write is refused, however close it comes."""
    with pytest.raises(
        InputError, match=r"^results\.pkl is not a complete pickle of numpy arrays \(.+a pickle can run code$"
    ):
        load_arrays(b"\x80\x03" + ATTACKS[name], HERE)


def test_the_attacks_are_near_what_is_read():
    """The pieces that they are made of make a whole array, so each attack fails for what is odd about it."""
    whole = EMPTY + b"R(K\x01(K\x01t" + FLOAT + b"I00\n" + ONE + b"tb."
    assert load_arrays(b"\x80\x03" + whole, HERE).tolist() == [0.0]
    assert load_arrays(b"\x80\x03" + SCALAR + b"(" + FLOAT + ONE + b"tR.", HERE) == 0.0


def test_every_operation_is_one_of_pickle():
    assert set(OPERATIONS) <= {opcode.name for opcode in pickletools.opcodes}
