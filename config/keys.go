package config

import (
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// keys reads the section keys.
func (d *decoder) keys(items []*node, c *Config) {
	aliases := map[string]int{}
	hashes := map[id.KeyHash]int{id.HashKey(c.MasterKey.Reveal()): -1}
	c.Keys = make([]Key, 0, len(items))
	for _, item := range items {
		k := d.virtualKey(item)
		c.Keys = append(c.Keys, k)
		first := len(c.Keys) - 1
		if at, twice := aliases[k.Alias]; twice && k.Alias != "" {
			d.fail(item.value("key_alias"), "keys[%d] has the same alias: give each key its own", at)
		} else {
			aliases[k.Alias] = first
		}
		if k.Key.IsEmpty() {
			continue
		}
		hash := id.HashKey(k.Key.Reveal())
		switch at, twice := hashes[hash]; {
		case twice && at < 0:
			d.fail(item.value("key"), "is the master key: give callers keys of their own")
		case twice:
			d.fail(item.value("key"), "is also the key of keys[%d]: a key has one entry", at)
		default:
			hashes[hash] = first
		}
	}
}

func (k *Key) settings() []setting {
	return []setting{
		{"key_alias", word{to: &k.Alias}, "a name for the key, at most 256 bytes"},
		{"key", custom{k.read, func(w *writer, name string) { w.secret(name, k.Key) }, unset}, "what the caller presents, best as `os.environ/NAME`; required. At least 16 characters that begin with `sk-`"},
		{"models", names{to: &k.Models}, "names, or patterns such as `openai/*`; empty means all"},
		{"expires", custom{
			func(o *object, name string) { single(o, name, &k.Expires, parseTime) },
			func(w *writer, name string) {
				if !k.Expires.IsZero() {
					w.str(name, k.Expires.Format(time.RFC3339Nano))
				}
			}, "never",
		}, "a date, which it expires at the start of (UTC), or a time"},
		{"blocked", toggle{&k.Blocked}, "whether requests with the key are rejected"},
	}
}

// read reads the key itself.
func (k *Key) read(o *object, name string) {
	if n, ok := o.take(name); ok {
		k.Key = o.d.key(n)
	} else if !o.lost {
		o.d.fail(o.n, "has no key: add key: os.environ/NAME")
	}
}

// virtualKey reads one entry of keys.
func (d *decoder) virtualKey(item *node) Key {
	var k Key
	d.notEmpty(item)
	o := d.open(item)
	o.settings(k.settings())
	o.close()
	for _, m := range k.Models {
		if strings.Count(m, "*") > 1 {
			d.fail(item.value("models"), "%s has more than one star: a pattern such as openai/* has one", quote(m))
		}
	}
	if len(k.Alias) > 256 || strings.ContainsFunc(k.Alias, isControl) {
		d.fail(item.value("key_alias"), "is longer than 256 bytes or holds a control character: choose a plain name")
	}
	return k
}

// isControl reports whether a character would break a line of a log.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// parseTime reads a point in time. A date is its first moment in UTC.
func parseTime(s string) (t time.Time, problem string) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), ""
		}
	}
	return t, `is not a time: write a date such as 2027-01-31 (it expires as that day begins, UTC), or a time such as "2027-01-31T18:00:00Z"`
}
