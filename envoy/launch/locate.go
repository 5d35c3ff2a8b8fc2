package launch

import (
	"os"
	"path/filepath"
)

// fetched is where make puts the Envoy that it fetches, below the repository.
const fetched = ".tmp/envoy-1.40.0/envoy/_bin/envoy"

// Locate finds the Envoy to run: flag (--envoy-path) if given, else env (what
// $ENVOY_PATH holds), else the copy that make fetched, beside the executable, in
// the folder above it or in the working directory, else lookPath("envoy"). What
// was asked for by name is never replaced by something else: if it is not there,
// that is the error. The path is absolute.
func Locate(flag, env string, lookPath func(string) (string, error)) (string, error) {
	for _, asked := range []struct{ param, path string }{{"--envoy-path", flag}, {"ENVOY_PATH", env}} {
		if asked.path == "" {
			continue
		}
		if err := executable(asked.path); err != nil {
			err.Param = asked.param
			return "", err
		}
		return absolute(asked.path)
	}
	for _, dir := range copies() {
		path := filepath.Join(dir, fetched)
		if executable(path) == nil {
			return absolute(path)
		}
	}
	path, err := lookPath("envoy")
	if err != nil {
		return "", broken("envoy_not_found", err,
			"no Envoy was found; run make to fetch one, or install Envoy %s or later and name it by --envoy-path or $ENVOY_PATH", oldest)
	}
	return absolute(path)
}

// copies are the folders that may hold what make fetched.
func copies() []string {
	var dirs []string
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		dirs = append(dirs, filepath.Dir(exe), filepath.Dir(filepath.Dir(exe)))
	}
	if wd, err := os.Getwd(); err == nil {
		dirs = append(dirs, wd)
	}
	return dirs
}

// absolute makes path independent of the working directory.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", broken("envoy_not_found", err, "the path of Envoy cannot be made absolute")
	}
	return abs, nil
}
