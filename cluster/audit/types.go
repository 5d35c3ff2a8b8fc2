package audit

// DefaultWorkspace is the only workspace.
const DefaultWorkspace = "default"

// maxWorkspace is the longest name of a workspace.
const maxWorkspace = 64

// validWorkspace reports whether a name may be part of keys and checkpoints.
func validWorkspace(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxWorkspace
}
