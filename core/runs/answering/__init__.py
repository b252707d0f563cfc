"""A person's own question, answered by a model that stays warm.

A page must not load torch, and a model should not be loaded for every question. So there is one desk a host, started
on demand and detached: a small process that listens on this machine alone, keeps the queue and the clock, and ends
after ten minutes without a question. It keeps one answerer, the process that loads models. Where that dies, hangs or
runs out of memory, the desk says so in words and starts another for the next question.

``own`` what is asked · ``answers`` what was answered, on disk · ``state`` how far it is · ``scoring`` the question
put as a run puts its own · ``shelf`` models kept warm · ``download`` the bytes of a model of the hub · ``answerer``
and ``desk`` the two processes · ``client`` what pages call
"""
