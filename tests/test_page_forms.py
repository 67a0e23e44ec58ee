"""The forms of the page in a real browser: facts, readings, the credit of a project, who prepared a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from desk import LOT, METROPARK, check, fill_project

if TYPE_CHECKING:
    from desk import Desk

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_facts_and_the_day_change_the_answer(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    row = "[data-finding=highlands_receiving_area]"
    assert page.get_attribute(row, "data-outcome") == "undetermined"
    page.click(f"{row} button:has-text('State:')")
    page.wait_for_selector("#fact-highlands_receiving_area")
    assert page.evaluate("document.activeElement.name") == "fact-highlands_receiving_area"
    page.keyboard.press("Tab")
    page.check("#fact-highlands_receiving_area input[value=yes]")
    page.fill("#facts-search", "capital investment")
    page.fill("#fact-capital_investment-value", "ten")
    page.click("text=Use these facts")
    assert "Expected a number of dollars" in page.inner_text("#facts-problem")
    page.fill("#fact-capital_investment-value", "20,000,000")
    with desk.answered():
        page.click("text=Use these facts")
    assert page.get_attribute(row, "data-outcome") == "yes"
    assert page.inner_text("#facts-count") == "(2)"
    record = desk.record()
    assert record["site"]["facts"] == {"capital_investment": 20_000_000.0, "highlands_receiving_area": True}
    assert "highlands_receiving_area=yes" in page.url.replace("%3D", "=")
    with desk.answered():
        page.fill("#as-of", "2016-01-04")
        page.press("#as-of", "Tab")
    assert desk.record()["as_of"] == "2016-01-04"
    page.fill("#as-of", "1999-01-01")
    assert page.get_attribute("#as-of", "aria-invalid") == "true"
    assert "A day from" in page.inner_text("#as-of-note")
    # No answer of another day stands beside the day that is shown, and no table is taken for it.
    assert "There is no answer: 1999-01-01" in page.inner_text("#problem")
    assert page.query_selector("#record-json") is None
    assert "No table is taken: 1999-01-01" in page.text_content("#many-day")
    with desk.answered():
        page.fill("#as-of", "2017-04-17")
    assert desk.record()["as_of"] == "2017-04-17"
    assert page.inner_text("#answer-day") == "As of 2017-04-17"
    assert page.inner_text("#problem") == ""


@pytest.mark.parametrize(
    ("opens", "form", "entry", "value"),
    [
        ("#credits-open", "credits", "#credits-building-0-gross_leasable_sqft-value", "77"),
        ("#facts-open", "facts", "#fact-capital_investment-value", "20,0"),
        ("#readings-open", "readings", "#reading-A11 input[value=strict]", None),
        ("#report-stated", "report", "#report-preparer-value", "A. Analyst"),
    ],
)
def test_a_form_that_is_closed_keeps_what_was_filled_in(
    desk: Desk, opens: str, form: str, entry: str, value: str | None
) -> None:
    page = desk.page
    desk.ask(METROPARK)
    before = desk.record()

    def opened() -> None:
        page.click(opens)
        page.wait_for_selector(entry, state="attached")
        page.eval_on_selector_all(f"#{form} details", "all => all.forEach((one) => { one.open = true; })")

    def held() -> bool:
        return page.is_checked(entry) if value is None else page.input_value(entry) == value

    opened()
    assert not held()
    if value is None:
        page.check(entry)
    else:
        page.fill(entry, value)
    for close in ("Escape", "Close", "beside"):
        if close == "Escape":
            page.keyboard.press("Escape")
        elif close == "Close":
            page.click(f"#{form} [data-close]")
        else:
            page.mouse.click(5, 5)
        page.wait_for_selector(f"#{form}", state="hidden")
        opened()
        assert held()
    # It is not used before it is said to be; of facts and readings, which the answer shows, that is told.
    page.click(f"#{form} [data-close]")
    assert desk.record() == before
    opened()
    if form in {"facts", "readings"}:
        assert "as you left it" in page.inner_text(f"#{form}-found")
    if form == "report":
        page.fill(entry, "")
    else:
        page.click(f"#{form}-clear")
    page.click(f"#{form} [data-close]")
    opened()
    assert not held()


def test_readings_of_the_law_are_chosen_and_change_the_answer(desk: Desk, page_home: Path) -> None:
    page = desk.page
    desk.ask(METROPARK)
    before = desk.record()
    page.click("#readings-open")
    page.wait_for_selector("#reading-A11")
    offered = page.evaluate("[...document.querySelectorAll('#readings-list fieldset')].map((one) => one.id)")
    with httpx.Client() as client:
        known = client.get(desk.address + "api/v1/readings").json()["readings"]
    # Every question that can be read otherwise is there, and as the service lists them.
    wanted = {f"reading-{one['id']}" for one in known if one["of"] == "areas" and one["kind"] == "option"}
    assert set(offered) == wanted
    assert page.is_checked("#reading-A11 input[value=loose]")
    page.focus("#reading-A11 input[value=loose]")
    page.keyboard.press("ArrowDown")
    assert page.is_checked("#reading-A11 input[value=strict]")
    with desk.answered():
        page.click("text=Use these readings")
    assert page.inner_text("#readings-count") == "(1)"
    assert "(A11): " in page.inner_text("#read-as")
    record = desk.record()
    assert record == check(page_home, METROPARK, "--reading", "A11=strict") != before
    assert "A11 strict" in page.text_content("#many-readings")
    link = page.evaluate("window.location.hash")
    page.goto("about:blank")
    desk.open(link + "&reading=A99%3Dodd&reading=A11%3Dnone")
    page.wait_for_selector("#record-json")
    assert "A11=none" in page.inner_text("#problem")
    assert "A99=odd" in page.inner_text("#problem")
    page.click("#readings-open")
    page.wait_for_selector("#reading-A11")
    page.click("#readings-clear")
    with desk.answered():
        page.click("text=Use these readings")
    assert desk.record() == before


def test_a_project_has_its_credit_beside_the_findings(desk: Desk, page_home: Path, tmp_path: Path) -> None:
    page = desk.page
    desk.ask(LOT)
    page.click("#credits-open")
    page.wait_for_selector("#credits-list details")
    page.click("text=Compute the credit")
    assert "An answer is needed" in page.inner_text("#credits-problem")
    assert page.evaluate("document.activeElement.id") == "credits-business-0-industry-value"
    fill_project(page)
    page.fill("#credits-jobs-0-count-value", "many")
    page.click("text=Compute the credit")
    assert "Expected a plain number" in page.inner_text("#credits-problem")
    page.fill("#credits-jobs-0-count-value", "30")
    page.click("text=Compute the credit")
    page.wait_for_selector("#credit-award", timeout=120_000)
    project = {
        "business": {"industry": "manufacturing"},
        "buildings": [{"gross_leasable_sqft": 50_000, "premises": "industrial", "construction": "rehabilitation"}],
        "jobs": [{"kind": "new", "count": 30, "health_benefits": True}],
    }
    file = tmp_path / "project.json"
    file.write_text(json.dumps(project), encoding="utf-8")
    command = [sys.executable, "-m", "grownj_geo", "credits", "project", str(file), "--site", LOT, "--json"]
    environment = {**os.environ, "GROWNJ_HOME": str(page_home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    award = json.loads(done.stdout)["award"]
    assert f"${float(award['low']):,.0f} to ${float(award['high']):,.0f} in all" in page.inner_text("#credit-award")
    assert "state " not in page.inner_text("#credit-card ul")
    # It follows the site, is in no link, and can be changed.
    assert "manufacturing" not in page.evaluate("window.location.href")
    desk.ask(METROPARK)
    page.wait_for_selector("#credit-award", timeout=120_000)
    there = page.inner_text("#credit-award")
    page.click("#credit-change")
    page.wait_for_selector("#credits-jobs-0-count-value")
    assert page.input_value("#credits-jobs-0-count-value") == "30"
    page.click("text=Take this entry out")
    assert page.evaluate("document.activeElement.id") == "credits-jobs-add"
    # Without any entry of jobs it would not be known that there are none.
    page.click("text=Compute the credit")
    assert "an entry is needed" in page.inner_text("#credits-problem")
    page.click("#credits-jobs-add")
    page.select_option("#credits-jobs-0-kind-value", "new")
    page.fill("#credits-jobs-0-count-value", "0")
    with desk.answered():
        page.click("text=Compute the credit")
    page.wait_for_selector("#credit-card:has-text('eligible: no')", timeout=120_000)
    assert page.inner_text("#credit-award") != there


def test_the_preparer_and_the_day_stand_on_reports(desk: Desk) -> None:
    page = desk.page
    desk.ask(METROPARK)
    page.click("#report-stated")
    page.fill("#report-preparer-value", "A. <b>Analyst")
    page.fill("#report-date-value", "2 May 2017")
    assert page.is_checked("#report-map-value")
    page.uncheck("#report-map-value")
    page.click("text=Keep it")
    assert page.inner_text("#on-report") == "On the report: A. <b>Analyst; 2 May 2017."
    with page.expect_download(timeout=90_000) as found:
        page.click("#report-html")
    content = Path(found.value.path()).read_text(encoding="utf-8")
    assert "A. &lt;b&gt;Analyst" in content
    assert "2 May 2017" in content
    assert "<svg" not in content
    # It stays for the next site.
    desk.ask(LOT)
    assert "A. <b>Analyst" in page.inner_text("#on-report")
