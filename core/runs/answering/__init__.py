"""Custom questions and texts: what a person types, answered or read token by token by a model that stays loaded.

A page must not load torch, and a model should not be loaded again for every question. So the page server has a worker,
a child process that loads models, and a queue that hands it one question after another, within time limits. If the
worker dies, hangs or runs out of memory, the queue reports it in one sentence and starts another worker for the next
question. The worker ends when nothing has been asked for ``HEDGE_WARM_MINUTES``.

``custom_question`` the question, the progress of its answer, and the answer on disk · ``token_text`` the text and its
token view on disk · ``client`` what pages call · ``answer_queue`` and ``worker`` the two processes ·
``model_cache`` the models that stay loaded
"""
