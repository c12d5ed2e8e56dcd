"""What a mechanism declares of its signals, its columns and its rest, against what it does, and
whether it leaves archived and made rows alone.

Each function `wrong_...` yields what is not as declared, in words.  The lives are those of `life`.
"""
