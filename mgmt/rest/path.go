package rest

import "strings"

// Pattern is a path as the mux has it, and the names of the parameters in it.
func Pattern(path string) (pattern string, names []string) {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSuffix(name, "}"), "=")
		names = append(names, name)
		segments[i] = "{" + name + "}"
		if rest == "**" {
			segments[i] = "{" + name + "...}"
		}
	}
	return strings.Join(segments, "/"), names
}
