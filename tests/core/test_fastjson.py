"""The JSON parser without its package: alone, beside pydantic, and where it can't be had alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from miles_tui.core.parsing.fast_json import compiled, from_json

ALONE = "import sys\nfrom miles_tui.core.parsing.fast_json import from_json\n"


def output(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_it_is_the_parser_of_pydantic() -> None:
    import pydantic_core

    assert from_json is pydantic_core.from_json
    assert from_json(b'{"train/loss": -1e-3, "n": 5}') == {"train/loss": -0.001, "n": 5}


def test_it_comes_alone_and_models_work_after_it() -> None:
    code = f"""{ALONE}
alone = "pydantic_core" not in sys.modules
from pydantic import BaseModel, ValidationError
import pydantic_core
class Model(BaseModel):
    count: int
try:
    Model.model_validate({{"count": "many"}})
except ValidationError as error:
    print(alone, from_json is pydantic_core.from_json, error.errors()[0]["loc"])
"""
    assert output(code) == "True True ('count',)\n"


def test_where_it_is_not_found_alone_the_package_gives_it() -> None:
    code = f"""
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
def hidden(name, *rest):
    alone = name == "pydantic_core._pydantic_core" and "pydantic_core" not in sys.modules
    return None if alone else find(name, *rest)
PathFinder.find_spec = hidden
{ALONE}
print("pydantic_core" in sys.modules, from_json("[1]"))
"""
    assert output(code) == "True [1]\n"


def test_a_module_that_is_missing_leaves_nothing_behind() -> None:
    for package, name in (("no_such_package", "no_such_package.inner"), ("json", "json.inner")):
        with pytest.raises(ImportError, match=name):
            compiled(package, name)
        assert name not in sys.modules
