"""Juries: how they are stored, and the pipeline that makes one."""
