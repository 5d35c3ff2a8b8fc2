package vertex

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// InsteadOfModel returns the version of Anthropic's API for requests to Claude, whose addresses name the model. Counts of
// tokens have one address for all models. A model at an endpoint of the project's has no name.
func (Driver) InsteadOfModel(t driver.Target, e driver.Endpoint, asked *driver.Asked) driver.Instead {
	switch of, _ := familyOf(t.Model); {
	case of == own:
		return driver.Instead{Members: `"model":""`}
	case of == claude && e != driver.CountTokens:
		return driver.Instead{Members: `"anthropic_version":"` + anthropic.CloudVersion(claudeVersion, asked.Version) + `"`}
	}
	return driver.Instead{}
}

// VendorHeader passes the beta features of Anthropic that Claude has at Vertex; others end requests with an error. Counts of
// tokens have none. The version is in the body.
func (Driver) VendorHeader(name, value string, e driver.Endpoint) string {
	if name != "anthropic-beta" || e == driver.CountTokens {
		return ""
	}
	var kept []string
	for flag := range strings.SplitSeq(value, ",") {
		flag = strings.TrimSpace(flag)
		if flag == "advanced-tool-use-2025-11-20" { // its name at Vertex
			flag = "tool-search-tool-2025-10-19"
		}
		if slices.Contains(betas(), flag) && !slices.Contains(kept, flag) {
			kept = append(kept, flag)
		}
	}
	return strings.Join(kept, ",")
}

// betas lists the beta features of Claude at Vertex.
func betas() []string {
	return []string{
		"compact-2026-01-12", "compact-2026-09-04", "computer-use-2025-01-24", "computer-use-2025-11-24", "context-1m-2025-08-07",
		"context-management-2025-06-27", "dangerous-tool-use-2026-09-03", "interleaved-thinking-2025-05-14", "per-turn-control-2026-07-01",
		"thinking-binding-controls-2026-08-01", "thinking-display-updates-2026-08-18", "tool-search-tool-2025-10-19", "web-search-2025-03-05",
	}
}
