"""Mutants made by machine: functions, hooks and registered numbers of a mechanism are changed in
small ways; its evidence must reject each change.

`sites` lists the changes of the source, `building` makes a module with one change, `numbers`
changes the registry, `trial` judges a mutant in a forked process, `generated` does all of it for
one mechanism or for the collection.
"""
