"""Weighted splits by prefix rules: as few as possible, or as good as a number of rules allows."""

from turnout.split import function, listing, request, signed_bits, wcmp
from turnout.split.approximate import approximate, error_of, fewest
from turnout.split.box import box
from turnout.split.defaults import default_rules, over_defaults
from turnout.split.evaluate import churn, evaluate
from turnout.split.exact import count, exact
from turnout.split.group import Grouping, group, imbalance
from turnout.split.model import NORMS, RELATIVE, Norm, Rule, Split
from turnout.split.pack import Demand, Packing, pack
from turnout.split.steps import plan
from turnout.split.transactions import Transaction, from_transactions, to_transactions
from turnout.split.two import two
from turnout.split.update import Update, front, least_churn, update
from turnout.split.vectors import Vector, processed, realised, vector_set

__all__ = [
    "NORMS",
    "RELATIVE",
    "Demand",
    "Grouping",
    "Norm",
    "Packing",
    "Rule",
    "Split",
    "Transaction",
    "Update",
    "Vector",
    "approximate",
    "box",
    "churn",
    "count",
    "default_rules",
    "error_of",
    "evaluate",
    "exact",
    "fewest",
    "from_transactions",
    "front",
    "function",
    "group",
    "imbalance",
    "least_churn",
    "listing",
    "over_defaults",
    "pack",
    "plan",
    "processed",
    "realised",
    "request",
    "signed_bits",
    "to_transactions",
    "two",
    "update",
    "vector_set",
    "wcmp",
]
