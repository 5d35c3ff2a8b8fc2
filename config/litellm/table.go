// Package litellm has what LiteLLM documents of its configuration file and package litellm
// does not read: a table for each section, with what the gateway does with the settings,
// and the names of prices. It reads no file and has no state.
package litellm

import (
	"slices"
	"strings"
)

// Verdict says what the gateway does with a setting that LiteLLM documents and the
// decoder does not read.
type Verdict uint8

// The verdicts.
const (
	Harmless   Verdict = iota // a warning: without it, nothing is less safe
	Protecting                // rejected: without it the gateway would allow what the file forbids, or bill what it does not say
)

// Entry is the verdict on some settings of a section, and its reason.
type Entry struct {
	Verdict Verdict
	Why     string // completes "has no effect: …" or "is not supported: …"
	Names   string // separated by spaces
}

// Section is a part of a LiteLLM file that has a table of its own. Its text is
// the prefix of names for --accept-unprotected.
type Section string

// The sections. The settings of a whole file have no prefix.
const (
	WholeFile       Section = ""
	GeneralSettings Section = "general_settings"
	Settings        Section = "litellm_settings"
	RouterSettings  Section = "router_settings"
	ModelList       Section = "model_list"
	Params          Section = "litellm_params"
	ModelInfo       Section = "model_info"
	Callbacks       Section = "callbacks"
	PreCallChecks   Section = "optional_pre_call_checks"
)

// Sections returns every section, in the order of the documentation.
func Sections() []Section {
	return []Section{WholeFile, GeneralSettings, Settings, RouterSettings, ModelList, Params, ModelInfo, Callbacks, PreCallChecks}
}

// table returns the entries of the section.
func (s Section) table() []Entry {
	switch s {
	case WholeFile:
		return sectionTable()
	case GeneralSettings:
		return slices.Concat(generalGuards(), generalRest())
	case Settings:
		return slices.Concat(settingsGuards(), settingsRest())
	case RouterSettings:
		return routerTable()
	case ModelList:
		return deploymentTable()
	case Params:
		return paramsTable()
	case ModelInfo:
		return infoTable()
	case Callbacks:
		return callbackTable()
	case PreCallChecks:
		return precheckTable()
	}
	return nil
}

// Setting returns the name of a setting for --accept-unprotected.
func (s Section) Setting(name string) string {
	if s == WholeFile {
		return name
	}
	return string(s) + "." + name
}

// Protectors returns the settings of the section that protect. A misspelled key may
// mean one of them, and then its removal would be the wrong remedy.
func (s Section) Protectors() []string {
	var names []string
	for _, e := range s.table() {
		if e.Verdict == Protecting {
			names = append(names, strings.Fields(e.Names)...)
		}
	}
	return names
}

// Index finds entries by name. Each table is indexed when it is first needed:
// 10,000 deployments may have thousands of such settings. It is for one goroutine.
type Index map[Section]map[string]Entry

// Find returns the entry that has the verdict on a setting.
func (x Index) Find(s Section, name string) (Entry, bool) {
	index, ok := x[s]
	if !ok {
		index = make(map[string]Entry)
		for _, e := range s.table() {
			for name := range strings.FieldsSeq(e.Names) {
				index[name] = e
			}
		}
		x[s] = index
	}
	e, ok := index[name]
	return e, ok
}
