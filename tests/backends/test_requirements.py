"""What pip installs for a backend is read beside its adapter, with neither torch nor the adapter imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fuzz.backends import BUILTIN, UnknownBackend, check_name, requirements, version_or_reason
from inplace_fuzz.backends.requirements import read_requirements
from inplace_fuzz.core import Requirements, Unavailable, base_name, installed_version, split_column


@pytest.mark.parametrize("name", BUILTIN)
def test_every_backend_says_what_it_needs_and_names_the_version_of_that(name: str) -> None:
    needs = requirements(name)
    assert needs is not None
    version, reason = version_or_reason(name)
    assert version.partition(" ")[0] == needs.distribution if version else f"env create {name}" in reason


def test_reading_them_imports_neither_torch_nor_an_adapter() -> None:
    code = (
        "import sys\nfrom inplace_fuzz.backends import BUILTIN, requirements\n"
        "assert all(requirements(n) for n in BUILTIN)\n"
        "assert not {'torch', 'tvm', 'inplace_fuzz.backends.tvm'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_module_elsewhere_may_have_them_and_need_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "theirs" / "adapter.py").write_text(
        'REQUIREMENTS: object = Requirements("theirs", ("theirs-runtime=={version}",), torch=">=2.13", cuda=True)\n'
    )
    (tmp_path / "silent.py").write_text("BACKEND = None\n")
    (tmp_path / "odd.py").write_text('REQUIREMENTS = Requirements("a" + version)\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert read_requirements("theirs.adapter") == Requirements(
        "theirs", ("theirs-runtime=={version}",), torch=">=2.13", cuda=True
    )
    assert requirements("silent:BACKEND") is None
    assert requirements("nowhere.at.all:BACKEND") is None
    with pytest.raises(UnknownBackend, match=r"odd\.py line 1: write REQUIREMENTS = Requirements\(…\) with literals"):
        requirements("odd:BACKEND")


def test_a_backend_can_be_asked_for_in_a_version() -> None:
    assert split_column("tvm@0.26.0") == ("tvm", "0.26.0")
    assert base_name("tvm") == base_name("tvm@0.26.0") == "tvm"
    check_name("tvm@0.26.0")
    with pytest.raises(UnknownBackend, match="there is no backend 'tmv'"):
        check_name("tmv@0.26.0")
    with pytest.raises(UnknownBackend, match=r"'tvm@' names no version; write for example tvm@1\.2\.0"):
        check_name("tvm@")


def test_what_is_not_installed_names_the_command_that_brings_it() -> None:
    with pytest.raises(Unavailable, match=r"no-such-thing is not installed; `inplace-fuzz env create nst` brings it"):
        installed_version("no-such-thing", "nst")
