package launch

import (
	"os"
	"path/filepath"
)

// fetched is where make puts the Envoy that it downloads, relative to the repository.
const fetched = ".tmp/envoy-1.40.0/envoy/_bin/envoy"

// Locate returns the absolute path of the Envoy to run: flag (--envoy-path) if given, else env
// (the value of $ENVOY_PATH), else the copy that make downloads, else lookPath("envoy"). It
// looks for that copy in the folder of the executable, in its parent folder and in the working
// directory. A path from flag or env must exist: otherwise Locate returns an error and tries
// nothing else.
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

// copies returns the folders in which make may have put its copy.
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
