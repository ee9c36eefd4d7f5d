"""`from_json` of pydantic's core, without the package around it.

`import pydantic_core` also builds its schema types: 16 of the 100 ms that a quick command takes. The parser is in the
compiled module, which loads in 1 ms. It is loaded under its own name, so that a later `import pydantic` finds it; where
that way is closed, the package is imported as ever.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING

_NAME = "pydantic_core._pydantic_core"


def compiled(package: str = "pydantic_core", name: str = _NAME) -> ModuleType:
    """The compiled module alone. Raises ImportError where it isn't found as a module of that package."""
    if name in sys.modules:
        return sys.modules[name]
    around = find_spec(package)
    spec = PathFinder.find_spec(name, around.submodule_search_locations) if around is not None else None
    if spec is None or spec.loader is None:
        raise ImportError(f"no module {name}", name=name)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


if TYPE_CHECKING:
    from pydantic_core import from_json
else:
    try:
        from_json = compiled().from_json
    except (ImportError, AttributeError):
        from pydantic_core import from_json

__all__ = ["from_json"]
