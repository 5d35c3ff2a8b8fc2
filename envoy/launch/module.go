package launch

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The releases of Envoy for which a module's behaviour is tested. A module is part of
// Envoy's process, so it is left out of all others.
const (
	moduleMajor = 1
	moduleMinor = 40
)

// FindModule finds the dynamic module in file (a name such as libx.so) for the Envoy at
// path, and returns the directory to search. The module is beside the executable of this
// process. It is an error if it is not there, or if this Envoy cannot load it: a module
// that Envoy cannot load would keep it from starting.
func FindModule(ctx context.Context, path, file string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", broken("module_not_found", err, "the directory of the executable is not known, so %s cannot be found", file)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	dir := filepath.Dir(exe)
	return dir, CheckModule(ctx, path, filepath.Join(dir, file))
}

// CheckModule rejects a dynamic module that the Envoy at path cannot load.
func CheckModule(ctx context.Context, path, module string) error {
	m, err := elf.Open(module)
	if err != nil {
		return broken("module_not_found", err, "%s is not there or is no module; make builds it if a C compiler is there", module)
	}
	defer func() { _ = m.Close() }()
	major, minor, err := release(ctx, path)
	if err != nil {
		return err
	}
	if major != moduleMajor || minor != moduleMinor {
		return broken("module_unsuitable", nil, "%s is for Envoy %d.%d, and this is Envoy %d.%d", module, moduleMajor, moduleMinor, major, minor)
	}
	e, err := elf.Open(path)
	if err != nil {
		return broken("module_unsuitable", err, "the symbols of %s cannot be read", path)
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
		return broken("module_unsuitable", err, "%s offers no symbols to modules", path)
	}
	for _, s := range needed {
		if strings.HasPrefix(s.Name, "envoy_") && !slices.ContainsFunc(offered, func(o elf.Symbol) bool { return o.Name == s.Name && o.Section != elf.SHN_UNDEF }) {
			return broken("module_unsuitable", nil, "%s was built without what %s needs: %s", path, module, s.Name)
		}
	}
	return nil
}
