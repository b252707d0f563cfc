"""What a page shows, for a paper: a table in LaTeX, Markdown, CSV and XLSX, with a caption that says its origin.

:class:`~core.reports.paper.results.Results` are the numbers of a page. All pages share one layout and one
writer for each format.
"""
