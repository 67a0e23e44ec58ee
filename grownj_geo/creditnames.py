"""What a project file and a book of figures call the same things: industries, premises, costs, facts."""

from __future__ import annotations

from importlib import resources
from typing import Literal, get_args

from grownj_geo.readings import read_entries
from grownj_geo.strict import Strict

__all__ = [
    "BUSINESS_FACTS",
    "COMPUTED_FACTS",
    "LISTED",
    "PROJECT_FACTS",
    "Industry",
    "Premises",
    "ProjectFact",
    "Spent",
    "project_facts",
]

Industry = Literal[
    "aviation", "defense", "energy", "finance", "health", "life_sciences", "logistics", "manufacturing",
    "maritime", "technology", "transportation", "other",
]  # fmt: skip
Premises = Literal["industrial", "warehousing", "logistics", "research_and_development", "other"]
Spent = Literal[
    "construction", "equipment", "infrastructure", "highlands_credits", "remediation", "soft_costs",
    "site_acquisition", "relocation", "professional_services", "vehicles",
]  # fmt: skip

LISTED: dict[str, tuple[str, ...]] = {
    "industries": get_args(Industry),
    "premises": get_args(Premises),
    "costs": get_args(Spent),
}
"""The names that a figure may list, by its unit."""


class ProjectFact(Strict):
    """A fact of a project that a bonus asks for.

    Attributes
    ----------
    name, words
        Its key in a project file; what is asked, after "whether".
    bonus
        The bonus that asks for it: its citation and status are that of the bonus.
    """

    name: str
    words: str
    bonus: str


def project_facts() -> tuple[ProjectFact, ...]:
    """Return the facts that a bonus asks for, in the order of their file."""
    path = resources.files("grownj_geo") / "rules" / "credits" / "project_facts.yaml"
    return tuple(read_entries(path.read_bytes(), ProjectFact, name=path.name))


PROJECT_FACTS = {fact.name: fact.words for fact in project_facts()}
"""Facts of a project that a bonus asks for, in words."""

BUSINESS_FACTS = (
    "final_point_of_sale_retail",
    "university_research_hospital",
    "auto_headquarters",
    "drug_device_or_clinical_lab",
    "primarily_warehouse",
    "technology_startup",
    "green_standard",
    "jobs_at_risk",
)
"""Facts that a condition of the rules asks for; a bonus may ask for them too."""

COMPUTED_FACTS = ("mega_project", "industrial_premises", "targeted_industry", "substantial_remediation")
"""Facts that follow from the rest of a project."""
