package tenancy

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Actors are written with their kind, so that no alias and no user id can pass for
// another actor: "key:" and an alias, "user:" and a user id. The two actors without a
// prefix are the master key and the gateway itself. Records of earlier versions have
// bare aliases and user ids, and stay as they are.
const (
	keyActor  = "key:"
	userActor = "user:"

	masterAlias  = "master"  // the actor of requests with the master key, and its alias
	gatewayActor = "gateway" // the actor of changes that the gateway makes by itself
)

// Actor identifies the caller in records, audit records and logs. It is master for the
// master key, Key.Actor for any other key, and empty for a principal without a key.
func (p Principal) Actor() string {
	if p.key == nil {
		return p.Alias
	}
	return p.key.Actor()
}

// Actor identifies the key as an actor: key: and its alias; without an alias user: and
// its user; without either key: and its display name, or its hash if it has no name.
func (k *Key) Actor() string {
	switch {
	case k.Alias != "":
		return keyActor + k.Alias
	case k.User != "":
		return userActor + string(k.User)
	case k.Name != "":
		return keyActor + k.Name
	}
	return keyActor + k.Hash.String()
}

// checkAlias rejects an alias that would make a key look like the master key or the
// gateway wherever an alias is shown alone. param names the field.
func checkAlias(param, alias string) error {
	for _, reserved := range [...]string{masterAlias, gatewayActor} {
		if strings.EqualFold(strings.TrimSpace(alias), reserved) {
			return fault.Field(param, "invalid_value", "The alias %s is reserved: audit records use it for the gateway's own actors. Choose another one.", reserved)
		}
	}
	return nil
}
