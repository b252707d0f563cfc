"""The figures of prompting experiments: methods, letter answers, option order."""
