package cloud

import "strings"

// CutVersion cuts off the query of an address that is nothing but the version of Azure's API: Azure's portal
// shows addresses with it. The version is empty if there is no such query.
func CutVersion(apiBase string) (base, version string) {
	base, query, _ := strings.Cut(apiBase, "?")
	version, ok := strings.CutPrefix(query, "api-version=")
	if !ok || version == "" || strings.Trim(version, "0123456789abcdefghijklmnopqrstuvwxyz.-") != "" {
		return apiBase, ""
	}
	return base, version
}
