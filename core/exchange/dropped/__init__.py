"""Files that are dropped together: folders and archives are opened, each file is recognised by its content, files that
belong together are read together, and a file that can't be read is refused with one sentence.
"""
