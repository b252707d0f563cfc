"""Files that are dropped in one go: folders and archives are opened, what each file is is found from its content, files
that belong together are read together, and what can't be read is refused in a sentence.
"""
