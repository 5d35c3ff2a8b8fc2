package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// fileScheme begins the name of a file that has the key in it.
	fileScheme = "file://"
	// largestKeyFile is far above any key; what is larger is another file.
	largestKeyFile = 16 << 10
)

// encryptionVariables are where the encryption key is looked for when the file has
// none: our own, and the one that serves LiteLLM's deployments for the same.
func encryptionVariables() []string {
	return []string{"MODELGATEWAY_ENCRYPTION_KEY", "LITELLM_SALT_KEY"}
}

// encryption reads the key that seals credentials at rest. Without a key in the file
// or the environment, the master key seals them.
func (d *decoder) encryption(o *object, setting string, c *Config) {
	n, ok := o.take(setting)
	if !ok {
		for _, name := range encryptionVariables() {
			if s := d.lookup(name); !s.IsEmpty() {
				n = &node{kind: scalar, text: wholeValue + name, path: "general_settings.encryption_key", at: o.n.at}
				break
			}
		}
	}
	if n != nil && n.kind != absent {
		c.EncryptionKey = d.keySource(n, leastSecret)
	}
}

// encryptionBefore reads the keys that only open credentials.
func (d *decoder) encryptionBefore(o *object, name string, c *Config) {
	previous, ok := o.take(name)
	if !ok {
		return
	}
	for _, item := range previous.entries() {
		// What sealed once has to open however short it is: it may be a master key.
		s := d.keySource(item, 1)
		switch {
		case s.IsZero():
		case s.Equal(c.EncryptionSource()):
			d.warn(item, "has no effect: it is the encryption key itself")
		default:
			c.EncryptionKeysPrevious = append(c.EncryptionKeysPrevious, s)
		}
	}
}

// keySource reads where a key comes from: the key itself, a file that has it, or a
// KMS that holds it. A problem leaves it zero.
func (d *decoder) keySource(n *node, least int) vault.Source {
	s := d.secret(n)
	if s.IsEmpty() {
		return vault.Source{}
	}
	fail := func(why string) vault.Source {
		if name, ok := strings.CutPrefix(n.text, wholeValue); ok {
			why = name + " " + why
		}
		d.fail(n, "%s", why)
		return vault.Source{}
	}
	if scheme, _, ok := strings.Cut(s.Reveal(), "://"); ok && isScheme(scheme) {
		if !strings.HasPrefix(s.Reveal(), fileScheme) {
			source, err := vault.FromKMS(s.Reveal())
			if err != nil {
				return fail(err.Error())
			}
			return source
		}
		name, why := keyFileName(s.Reveal())
		if why == "" {
			s, why = d.keyFile(n, name)
		}
		if why != "" {
			return fail(why)
		}
	}
	if len(s.Reveal()) < least {
		return fail(tooShort(s) + "; without one at all, the master key is used")
	}
	return vault.FromSecret(s)
}

// isScheme reports whether a text is what a URI may begin with. A key that looks
// like that is rather a URI with a typing mistake, which must not become the key.
func isScheme(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("+-.", c)
	})
}

// keyFileName returns the name of the file that a URI means, or why it means none.
func keyFileName(uri string) (name, why string) {
	u, err := url.Parse(uri)
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") || u.RawQuery != "" || u.Fragment != "" {
		return "", "is no name of a file: write file:///absolute/path"
	}
	return u.Path, ""
}

// keyFile reads a key from a file, and warns of one that others may read.
func (d *decoder) keyFile(n *node, name string) (key vault.Secret, why string) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return key, "names a file that is not there: make one by `openssl rand -base64 32 > FILE`, with chmod 600"
	case err != nil:
		return key, "names a file that cannot be looked at: see that this user may enter its directory"
	case !info.Mode().IsRegular():
		return key, "names what is no plain file: name the file that has the key in it"
	case info.Size() > largestKeyFile:
		return key, fmt.Sprintf("names a file of more than %d KiB, which is no key: name the file that has the key in it", largestKeyFile>>10)
	}
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return key, "names a file that cannot be read: see that this user may read it"
	}
	text, err := io.ReadAll(io.LimitReader(f, largestKeyFile))
	if err = errors.Join(err, f.Close()); err != nil {
		return key, "names a file that cannot be read: see that it is on a disk that is there"
	}
	if info.Mode().Perm()&0o077 != 0 {
		d.warn(n, "names a file that other users of this machine may read or change: chmod 600 it")
	}
	trimmed := strings.TrimSpace(string(text))
	switch {
	case trimmed == "":
		return key, "names a file that is empty: write the key into it, such as by `openssl rand -base64 32 > FILE`"
	case !isPrintable(trimmed):
		return key, "names a file with characters that are not printable ASCII: write the key in base64, such as by `openssl rand -base64 32 > FILE`"
	}
	return vault.NewSecret(trimmed), ""
}

// source writes where a key comes from. A key in a KMS is named, for its name is no
// secret; of a file the content counts.
func (w *writer) source(name string, s vault.Source) {
	w.given(name, s.KMS())
	w.secret(name, s.Secret())
}

// sources writes a list of them on one line.
func (w *writer) sources(name string, list []vault.Source) {
	if len(list) == 0 {
		return
	}
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = s.String()
	}
	w.strings(name, shown)
}
