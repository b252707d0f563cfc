"""Small files in the formats of LLMBar, PandaLM and AlpacaEval, by path; their texts are made up."""

import json

LLMBAR = "Dataset/LLMBar/Natural/evaluators"
PANDALM = ("data/testset-v1.json", "data/gpt-3.5-turbo-testset-v1.json", "data/pandalm-7b-testset-v1.json")


def llmbar(labels: str, in_order: str, swapped: str) -> bytes:
    """Pairs with these labels, and the winners in both orders; ``-`` is no verdict."""
    return json.dumps(
        [
            {
                "input": f"Ask {i}",
                "output_1": f"one {i}",
                "output_2": f"two {i}",
                "label": int(label),
                "results": [
                    ["notes of an earlier step", "stop"],
                    {
                        "swap = False": {"completion": ["", "stop"], "winner": None if a == "-" else a},
                        "swap = True": {"completion": ["", "stop"], "winner": None if b == "-" else b},
                    },
                ],
            }
            for i, (label, a, b) in enumerate(zip(labels, in_order, swapped, strict=True))
        ]
    ).encode()


def pandalm(votes: list[tuple[int, int, int]], gpt: list[str], panda: list[int]) -> dict[str, bytes]:
    """The three files of PandaLM."""
    pairs = [
        {
            "idx": i,
            "motivation_app": "App",
            "cmp_key": "a_b",
            "instruction": f"Do {i // 2}",
            "input": float("nan") if i % 2 else f"about {i}",
            "response1": "the same",
            "response2": "the other",
            "annotator1": a,
            "annotator2": b,
            "annotator3": c,
        }
        for i, (a, b, c) in enumerate(votes)
    ]
    judges = {
        "gpt": [{"idx": i, "gpt_result": verdict, "gpt_reason": ""} for i, verdict in enumerate(gpt)],
        "panda": [{"idx": i, "pandalm_result": verdict, "pandalm_reason": ""} for i, verdict in enumerate(panda)],
    }
    contents = (pairs, judges["gpt"], judges["panda"])
    return {path: json.dumps(content).encode() for path, content in zip(PANDALM, contents, strict=True)}


def alpaca_eval(preferences: dict[str, list[float | None]], model: str = "gpt4") -> dict[str, bytes]:
    """The annotations of each annotator of one model's answers."""
    return {
        f"results/{model}/{annotator}/annotations.json": json.dumps(
            [
                {
                    "instruction": f"Ask {i}",
                    "output_1": f"theirs {i}",
                    "generator_1": "gpt4_1106_preview",
                    "output_2": f"ours {i}",
                    "generator_2": model,
                    "annotator": annotator,
                    "preference": preference,
                }
                for i, preference in enumerate(preference)
            ]
        ).encode()
        for annotator, preference in preferences.items()
    }
