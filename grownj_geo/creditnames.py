"""What a project file and a book of figures call the same things: industries, premises, costs, facts."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["BUSINESS_FACTS", "COMPUTED_FACTS", "LISTED", "PROJECT_FACTS", "Industry", "Premises", "Spent"]

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

PROJECT_FACTS = {
    "choice_neighborhoods": "the project is in the area of a Choice Neighborhoods plan",
    "mixed_use_moderate_income_housing": "it has or stands near moderate-income housing for a fifth of its employees",
    "better_than_leed_silver": "it is certified better than LEED Silver",
    "vacant_million_sqft": "it fills a building of over 1,000,000 sq ft that was vacant for over a year",
    "revitalization_index_over_465": "the municipality's index of 2007 is above 465",
    "new_light_rail_half_mile": "it is within half a mile of a light rail station built after the act",
    "marine_terminal_project": "it is a marine terminal project",
    "redevelopment_near_highways": "it is in a redevelopment area a quarter mile from one US and two State highways",
    "auto_headquarters_keeps_400": "it keeps 400 jobs of an automobile maker's headquarters in the municipality",
    "solar_half_of_electricity": "half of its electricity comes from the sun on site",
    "near_college": "it is near a college or university as the statute asks",
}
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
