package audit

// DefaultWorkspace is the workspace there is.
const DefaultWorkspace = "default"

// maxWorkspace is how long a workspace's name may be.
const maxWorkspace = 64

// validWorkspace reports whether a name can be part of keys and of checkpoints.
func validWorkspace(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxWorkspace
}
