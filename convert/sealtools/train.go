package sealtools

import "assay/convert"

// TrainSource is the source "seal-tools-train".
var TrainSource = convert.Source{
	Name:    "seal-tools-train",
	Kind:    convert.Train,
	Home:    "https://github.com/fairyshine/Seal-Tools",
	Licence: "Apache-2.0",
	About:   "Seal-Tools, training split: single, parallel and nested calls without results",
	Files: []convert.File{
		{Glob: "train.jsonl", Role: convert.Records, Note: "training split"},
		{Glob: "dev.jsonl", Role: convert.Extra, Note: "development split, which the paper does not count"},
		{Glob: "dataset_in_old_format/train.jsonl", Role: convert.Extra, Note: "the training split without ids"},
		{Glob: "dataset_in_old_format/dev.jsonl", Role: convert.Extra, Note: "the development split without ids"},
		{Glob: "*.old-format.jsonl", Role: convert.Extra, Note: "records without ids"},
		{Glob: "dataset_for_finetune/train.json", Role: convert.Extra, Note: "the training split as prompts, with five tools each"},
		{Glob: "dataset_for_finetune/dev.json", Role: convert.Extra, Note: "the development split as prompts"},
		{Glob: "*.finetune.json", Role: convert.Extra, Note: "records as prompts"},
		{Glob: "tool.jsonl", Role: convert.Side, Note: "tools"},
		{Glob: "field.jsonl", Role: convert.Side, Note: "fields of tools, not read"},
		{Glob: "test_in_domain.jsonl", Role: convert.Trap, Note: "a test split, for seal-tools"},
		{Glob: "test_out_domain.jsonl", Role: convert.Trap, Note: "a test split, for seal-tools"},
	},
	Open: open,
}
