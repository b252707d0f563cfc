"""Making juries: what is asked for, the stages that make one, and the juries on disk.

The intermediate results of a pipeline are in ``HEDGE_HOME/jury-paths/<id>/``, so that it continues from the stage where
it was stopped:

=======================  ================================================================================
``path.json``            what was asked (:class:`~core.jury.pipeline.jury_spec.JurySpec`)
``served.json``          the weights of models on servers, as they were when the models were first asked
``answers.jsonl``        a line an answer as soon as it is there
``jurors/<name>/``       the adapters that were tuned, as safetensors
``losses.json``          the loss curve of the juror that is or was tuned last
``judged-<name>.jsonl``  a line for each of a juror's verdicts
=======================  ================================================================================
"""
