"""A class as a model: people at a lecture say how sure they are of each option, and their answers become a run.

``codes``          the code that phones join by, and how a seat's token is kept
``quiz``           the questions of a class, with the recorded answers of a model that ships with Hedge
``own_questions``  a quiz of a lecturer's own questions, and a model's run of them
``refusals``       messages to a person whose answer, name or code is refused
``class_store``    the SQLite file with classes, seats and answers
``live_class``     one class in memory: who sits in it, what is asked, and who hears of changes
``guesses``        finds a class for a phone, and counts the wrong codes of each network address
``class_figures``  probabilities, scores and calibration of the class, of one seat and of the model
``class_state``    the state for phones and the projector, as JSON
``lecture``        what a lecturer does: open, ask, show, end
``class_run``      the class's answers as a run
``class_results``  the class's answers and figures as tables

Joining and answering need no login. Anyone with a class's code can take a seat in it, and a seat's token lets its phone
change the answers of that seat and nothing else. What a lecturer does begins with :func:`core.access.needs`.
"""
