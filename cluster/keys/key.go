package keys

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Key is one virtual key as it is configured or stored. The key itself is nowhere.
type Key struct {
	Alias     string     // label, for people; may be empty, else unique among the stored keys
	Hash      id.KeyHash // SHA-256 of the whole key
	Name      string     // what people tell it by: sk-... and its last four characters; see DisplayName
	Models    []string   // what it may use; empty means everything, see Principal.Allows
	Expires   time.Time  // from then on it is refused; zero means never
	Blocked   bool
	Metadata  string // text of a JSON object; empty for none
	CreatedAt time.Time
	CreatedBy string // alias of the key that asked for it, never the key
	UpdatedAt time.Time
	Revision  uint64 // index of the log entry that wrote it last
	Static    bool   // it comes from the file: none of the four before is set, and it cannot be deleted
}
