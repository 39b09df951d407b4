"""What is known of the CPU is read from what Linux says of it, or from what NumPy chooses between."""

from tf_opdiff.harness.system import processor

X86 = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Platinum 8480C
stepping\t: 8
flags\t\t: fpu sse4_2 fma avx f16c avx2 avx512f avx512bw avx512_vnni avx512_bf16 amx_bf16 amx_tile amx_int8

processor\t: 1
flags\t\t: fpu
"""
ARM = """\
processor\t: 0
BogoMIPS\t: 2000.00
Features\t: fp asimd evtstrm fphp asimdhp sve bf16
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd40
CPU revision\t: 1
"""


def test_name_model_and_instruction_sets_come_from_cpuinfo():
    assert processor.read(X86) == {
        "processor": "Intel(R) Xeon(R) Platinum 8480C",
        "model": "family 6, model 143, stepping 8",
        "instructions": "AVX F16C FMA AVX2 AVX512F AVX512BW AVX512_VNNI AVX512_BF16 AMX_TILE AMX_INT8 AMX_BF16",
    }
    assert processor.read(ARM) == {
        "processor": "",
        "model": "implementer 0x41, part 0xd40, variant 0x1, revision 1",
        "instructions": "NEON FPHP ASIMDHP BF16 SVE",
    }
    assert processor.read("") == {"processor": "", "model": "", "instructions": ""}


def test_without_cpuinfo_numpy_says_which_instruction_sets_there_are(monkeypatch, tmp_path):
    monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "none")
    facts = processor.processor()
    assert facts["processor"]
    assert facts["model"] == ""
    assert facts["instructions"]


def test_of_a_machine_recorded_earlier_only_the_name_is_known():
    assert processor.described({"processor": "AMD EPYC", "cores": "2"}) == "AMD EPYC"
    assert processor.described({"processor": "p", "model": "m", "instructions": "AVX FMA"}) == "p, m, AVX FMA"
