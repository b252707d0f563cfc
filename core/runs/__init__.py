"""Runs: their specs, their files, their execution, and the processes that execute them.

From a click to a figure, in seven files: ``app/components/new_run/form.py`` (the page launches runs) →
:mod:`core.runs.engine` (what pages may do with runs) → :mod:`core.runs.queue.run_queue` (the queue, which is DBOS's) →
:mod:`core.runs.agent.worker` (the process that takes a run from it) → :mod:`core.runs.execution.execute` (one run from
its prompts to its files) → :mod:`core.runs.store` (a run's folder) → :mod:`core.reports.evaluation` (its figures).
"""
