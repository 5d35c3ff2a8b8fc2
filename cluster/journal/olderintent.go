package journal

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// olderIntent decodes an intent of version 1 to 3 into m. Such an intent has the fields of an
// event, some with other numbers.
func olderIntent(m *clusterv1.UsageEvent, value []byte) error {
	var event []byte
	for len(value) > 0 {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, value[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		event = append(protowire.AppendTag(event, eventField(number), kind), value[n:n+size]...)
		value = value[n+size:]
	}
	return proto.Unmarshal(event, m)
}

// eventField maps the field number of an older UsageIntent to that of UsageEvent.
func eventField(number protowire.Number) protowire.Number {
	switch n := int(number); n {
	case 13:
		return fieldStart
	case 14: // estimate
		return 21
	case 15: // estimated_cost_pico
		return fieldCost
	case 16, 17, 18, 19: // team, user, organization, charges
		return number + 9
	case 20, 21: // actor, origin_hash
		return number + 12
	case 22, 23: // session, parent_hashes
		return number + 13
	}
	return number
}
