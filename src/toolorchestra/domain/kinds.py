"""The kinds of domains: this project's own, and those of tau2-bench.

Both have functions, rules, tasks and environments under the same names. So whoever offers, calls,
plays or asks need not know which it is; only the verdict differs (`toolorchestra.judge`).
"""

from __future__ import annotations

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.function import TypedFunction
from toolorchestra.domain.task import DomainTask
from toolorchestra.domain.tau2.domain import Tau2Domain
from toolorchestra.domain.tau2.environment import Tau2Environment
from toolorchestra.domain.tau2.function import Tau2Function
from toolorchestra.domain.tau2.task import Tau2Task

AnyDomain = Domain | Tau2Domain
AnyEnvironment = Environment | Tau2Environment
AnyFunction = TypedFunction | Tau2Function
AnyTask = DomainTask | Tau2Task
