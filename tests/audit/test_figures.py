"""Figures of evidence: refused when nothing is to be seen, drawn from the specimen, in the
page's own colours.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from hebbarium.audit.checks import evidence_of
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.drawing import to_svg
from hebbarium.audit.evidence import base_level_activation as evidence
from hebbarium.audit.figures import Curve, Marks, Picture, dots, figure
from hebbarium.audit.specimen import Specimen
from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.mechanisms.maintenance import base_level_activation

X = np.linspace(0.0, 1.0, 5)


@pytest.mark.parametrize("wrong", [
    lambda: Picture("x", "y", ()), lambda: Picture("x", "y", (Curve("a", X, X[:3]),)),
    lambda: Picture("x", "y", (Curve("a", X, X * np.nan),)),
    lambda: Picture("x", "y", (Curve("a", X, X),), log="z"), lambda: Picture("x", "y", (Curve("a",
    X, X),) * 9),
    lambda: figure("two words", caption="c", source="s")(lambda s: None), lambda: figure("a",
    caption=" ", source="s")(lambda s: None)])  # fmt: skip
def test_an_invalid_picture_or_figure_is_refused(wrong: Any) -> None:
    with pytest.raises(ContractError) as caught:
        wrong()
    assert caught.value.cure


@pytest.mark.slow
def test_a_picture_is_sound_xml_without_colours_or_ids_of_its_own() -> None:
    picture = Picture(
        "time, h",
        "value < 1 & more",
        (Curve("model", X, X), dots("data", X, X * X), Curve("bars", X, X / 2, Marks.BARS)),
    )
    svg = to_svg(picture, "one")
    tree = ET.fromstring(svg)
    assert "width" not in tree.attrib and "viewBox" in tree.attrib and "<style" not in svg
    colours = set(re.findall(r"(?:fill|stroke): ([^;\"]+)", svg)) - {"none"}
    assert colours and all(c.startswith("var(--") for c in colours), colours
    ids = [e.attrib["id"] for e in tree.iter() if "id" in e.attrib]
    assert ids and all(i.startswith("one-") for i in ids) and len(set(ids)) == len(ids)
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)) and all(
        (a or b) in ids for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
    )
    assert svg == to_svg(picture, "one"), "the same picture is the same bytes"


def test_a_changed_specimen_draws_another_picture() -> None:
    drawn = evidence_of(evidence).figures[0]
    specimen = Specimen("base_level_activation", base_level_activation)

    def steep(
        now: float, created: Any, uses: Any, recent: Any, decays: Any, seconds: float, out: Any
    ) -> None:
        out[...] = -decays[:, 0] * ((now - created) * seconds) ** 0.3

    true, wrong = drawn(specimen), drawn(specimen.replacing("activation", steep))
    assert not np.allclose(true.curves[0].y, wrong.curves[0].y)


def test_the_picture_goes_through_the_published_data() -> None:
    """Ebbinghaus' savings lie within four points of the curve drawn beside them."""
    picture = evidence_of(evidence).figures[0](
        Specimen("base_level_activation", base_level_activation)
    )
    curve, data = picture.curves[0], picture.curves[1]
    at = np.interp(np.log(np.asarray(data.x)), np.log(np.asarray(curve.x)), np.asarray(curve.y))
    assert np.abs(at - np.asarray(data.y)).max() < 4.0


def test_every_mechanism_has_a_figure() -> None:
    registry = Registry.read()
    for entry in registry.entries.values():
        name = evidence_module(entry, registry)
        assert name and evidence_of(import_module(name)).figures, entry.id


@pytest.mark.slow
@pytest.mark.parametrize("id", Registry.read().entries)
def test_every_figure_is_drawn(id: str) -> None:
    """`make docs` draws all of them; its fast form, that of other tests, a few."""
    registry = Registry.read()
    entry = registry.entry(id)
    specimen = Specimen(id, import_module(entry.module))
    for drawn in evidence_of(import_module(evidence_module(entry, registry) or "")).figures:
        assert to_svg(drawn(specimen), drawn.name).startswith("<svg")
