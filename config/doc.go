// Package config reads the configuration file, and the files of encryption keys that
// it names, and nothing else: it opens no port, calls no KMS, starts no goroutine and
// reads no environment but the one it is handed.
//
// What it guarantees:
//
//   - A file is accepted or rejected as a whole. The error names every problem, not
//     only the first: file, line, column, the path of the setting, and what to do.
//   - No key is passed over in silence. An unknown key is an error with the nearest
//     known one. The decoder reads each setting that LiteLLM documents, or the
//     setting has a verdict in package litellm: a Warning, or an error that says
//     what to do instead if the setting protects. The operator can accept such a
//     setting by its name; then it is a Warning.
//   - There is no start without an admin credential, and no cluster whose nodes
//     have neither a secret nor certificates to know each other by.
//   - Prices keep the digits of the file: they never pass through a float.
//   - A credential is a vault.Secret from the moment it is read. Neither an error
//     nor a warning nor Effective nor any verb of fmt shows one, and a text that
//     might be one is not quoted.
//   - The work is bounded: size of the file, nesting, keys in a mapping, and what
//     aliases may expand to.
//
// A setting has one row in the table of its section: its name, where it is kept, its
// default, its bounds and its documentation. Parse, Effective and the tables of
// docs/configuration.md and docs/cluster.md come from the rows; a test writes the tables
// with -update. The rows of router_settings are catalog.RouterFields, which the API uses
// too. A flag of serve has one row in Flags.All; the command line, its help and the tables
// come from it.
//
// The file is LiteLLM's config.yaml with sections of our own
// (listen, data_dir, envoy, intent_sync, shutdown_delay, log, limits, cluster, keys). `${NAME}` inside a
// string and `os.environ/NAME` as a whole value read the environment, `$${` is a
// literal `${`. Top-level keys that start with `x-` are skipped: they are a place
// for anchors.
//
// What it leaves to others: whether a provider is known, whether fallbacks are
// sound and which routing strategies exist is for cluster/catalog to say. Locate
// gives the catalogue's complaints their line in the file.
package config
