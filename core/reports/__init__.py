"""Reports: the figures and tables of stored runs, as pages and the command line show them."""
