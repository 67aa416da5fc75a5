package match

// presets returns the options of the presets of the paper and of our own, for
// which all laws hold.
func presets() []Options { return optionsOf(everyPreset()[:3]) }

// foreignPresets returns the options of the presets of other benchmarks.
func foreignPresets() []Options { return optionsOf(everyPreset()[3:]) }

func optionsOf(list []preset) []Options {
	var out []Options
	for _, p := range list {
		out = append(out, p.options)
	}
	return out
}
