"""A cross-encoder of a few hundred weights for tests: a BERT with one layer whose weights are
random and fixed.
"""

from __future__ import annotations

import importlib
import string
from pathlib import Path


def save_tiny_cross_encoder(folder: Path, labels: int = 1, seed: int = 0) -> Path:
    """Save the model and its tokeniser of letters, with a window of 64, into a folder, and
    return the folder.  It needs torch and transformers.
    """
    torch, library = importlib.import_module("torch"), importlib.import_module("transformers")
    letters = [*string.ascii_lowercase, *string.digits, *".,?!"]
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{letter}" for letter in letters),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = library.BertForSequenceClassification(
            library.BertConfig(
                vocab_size=len(vocabulary),
                hidden_size=8,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=16,
                max_position_embeddings=64,
                num_labels=labels,
                initializer_range=0.5,
            )
        )
    model.save_pretrained(folder)
    library.BertTokenizerFast(
        vocab={piece: number for number, piece in enumerate(vocabulary)}, model_max_length=64
    ).save_pretrained(folder)
    return folder
