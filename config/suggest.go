package config

// suggest returns the known name nearest to name, or "" if none is near: at
// most one edit for every three letters, and never more than four.
func suggest(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	best, limit := "", min(max(len(name)/3, 1), 4)+1
	for _, k := range known {
		if d := distance(name, k); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment). It counts bytes:
// all known names are ASCII.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
