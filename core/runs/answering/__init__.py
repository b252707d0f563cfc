"""Custom questions and texts: what a person types, answered or read token by token by a model that stays loaded.

A page must not load torch, and a model should not be loaded again for every question. So each host has one answering
server, which a page starts when it is first needed. The server keeps the queue and the time limits, and hands one
question after another to its worker, the process that loads models. If the worker dies, hangs or runs out of memory,
the server reports it in one sentence and starts another worker for the next question. The server ends after ten minutes
without a question.

``custom_question`` the question, the progress of its answer, and the answer on disk · ``token_text`` the text and its
token view on disk · ``client`` what pages call · ``server`` and ``worker`` the two processes · ``model_cache`` the
models that stay loaded
"""
