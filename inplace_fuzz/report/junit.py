"""JUnit XML for dashboards: one test case per backend and lane, as `pytest --fuzz` would report them.

A new root cause is a failure, with its minimal program as text. Known ones are counted in the properties, so that a
dashboard stays green until something is new. A backend that cannot run is skipped, with the reason.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from inplace_fuzz.core import lane_key
from inplace_fuzz.report.causes import RootCause
from inplace_fuzz.report.tables import Content, LaneRow, percent
from inplace_fuzz.report.words import joined

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(content: Content) -> str:
    cases = [_case(row, content) for row in content.lanes]
    cases += [_skipped(backend, reason) for backend, reason in content.unavailable]
    failures = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    seconds = f"{sum(row.seconds for row in content.lanes):.3f}"
    numbers = {"tests": str(len(cases)), "failures": str(failures), "skipped": str(skipped), "errors": "0"}
    root = ET.Element("testsuites", {"name": "inplace-fuzz", **numbers, "time": seconds})
    suite = ET.SubElement(root, "testsuite", {"name": "inplace-fuzz", **numbers, "time": seconds})
    _properties(suite, content.ran)
    suite.extend(cases)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(row: LaneRow, content: Content) -> ET.Element:
    case = _element(
        "testcase", classname="inplace-fuzz", name=lane_key(row.backend, row.lane), time=f"{row.seconds:.3f}"
    )
    here = [c for c in content.causes if c.backend == row.backend and row.lane in c.lanes]
    _properties(
        case,
        [
            ("version", row.version),
            *((kind, str(n)) for kind, n in row.counts.items()),
            ("agreement", percent(row.agreement)),
            *((f"known {c.entry or c.verdict}", str(c.met)) for c in here if not c.new),
        ],
    )
    new = [c for c in here if c.new]
    if new:
        message = ", ".join(dict.fromkeys(str(c.verdict) for c in new))
        failure = ET.SubElement(case, "failure", {"message": f"{len(new)} new: {message}", "type": "finding"})
        failure.text = _clean("\n\n".join(joined(_lines(c, content)) for c in new))
    return case


def _lines(cause: RootCause, content: Content) -> list[str]:
    return cause.lines(path=str(content.corpus / cause.entry) if cause.entry else "")


def _skipped(backend: str, reason: str) -> ET.Element:
    case = _element("testcase", classname="inplace-fuzz", name=backend, time="0")
    ET.SubElement(case, "skipped", {"message": _clean(reason)})
    return case


def _properties(parent: ET.Element, rows: Iterable[tuple[str, str]]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in rows:
        ET.SubElement(properties, "property", {"name": _clean(name), "value": _clean(value)})


def _element(tag: str, **attributes: str) -> ET.Element:
    return ET.Element(tag, {name: _clean(value) for name, value in attributes.items()})


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold, which a compiler's message may."""
    return _NOT_XML.sub("\ufffd", text)
