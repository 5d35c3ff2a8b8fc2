package launch

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The release of Envoy with which the module is tested. A module runs in Envoy's process, so it
// is not loaded into other releases.
const (
	moduleMajor = 1
	moduleMinor = 40
)

// FindModule returns the directory of the dynamic module in file (a name such as libx.so),
// which is the directory of the gateway's executable. It returns an error if the module is
// missing, or if this Envoy cannot load it: Envoy would not start.
func (b Binary) FindModule(file string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", broken("module_not_found", err, "the directory of the executable is not known, so %s cannot be found", file)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	dir := filepath.Dir(exe)
	return dir, b.CheckModule(filepath.Join(dir, file))
}

// CheckModule rejects a dynamic module that this Envoy cannot load.
func (b Binary) CheckModule(module string) error {
	m, err := elf.Open(module)
	if err != nil {
		return broken("module_not_found", err, "%s is not there or is no module; make builds it if a C compiler is there", module)
	}
	defer func() { _ = m.Close() }()
	if b.major != moduleMajor || b.minor != moduleMinor {
		return broken("module_unsuitable", nil, "%s is for Envoy %d.%d, and this is Envoy %d.%d", module, moduleMajor, moduleMinor, b.major, b.minor)
	}
	e, err := elf.Open(b.Path)
	if err != nil {
		return broken("module_unsuitable", err, "the symbols of %s cannot be read", b.Path)
	}
	defer func() { _ = e.Close() }()
	if m.Machine != e.Machine {
		return broken("module_unsuitable", nil, "%s is for the machine %s, and Envoy for %s", module, m.Machine, e.Machine)
	}
	needed, err := m.ImportedSymbols()
	if err != nil {
		return broken("module_unsuitable", err, "the symbols of %s cannot be read", module)
	}
	offered, err := e.DynamicSymbols()
	if err != nil {
		return broken("module_unsuitable", err, "%s offers no symbols to modules", b.Path)
	}
	for _, s := range needed {
		if strings.HasPrefix(s.Name, "envoy_") && !slices.ContainsFunc(offered, func(o elf.Symbol) bool { return o.Name == s.Name && o.Section != elf.SHN_UNDEF }) {
			return broken("module_unsuitable", nil, "%s was built without what %s needs: %s", b.Path, module, s.Name)
		}
	}
	return nil
}
