package xds

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// item is one resource and the hash of its content.
type item struct {
	resource types.Resource
	version  string
}

// snapshot is an immutable configuration for the library's cache. The library's own Snapshot
// hashes again whenever it is set, and cannot resend a resource that Envoy rejected.
type snapshot struct {
	version   string // of all resources
	resources map[string]map[string]types.Resource
	versions  map[string]map[string]string
}

// itemsOf hashes the resources of r, by type and name.
func itemsOf(r *Resources) (map[string]map[string]item, error) {
	out := map[string]map[string]item{resource.ClusterType: {}, resource.RouteType: {}}
	for _, c := range r.Clusters {
		if err := addItem(out[resource.ClusterType], c.GetName(), c); err != nil {
			return nil, err
		}
	}
	for _, c := range r.Routes {
		if err := addItem(out[resource.RouteType], c.GetName(), c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func addItem(to map[string]item, name string, m types.Resource) error {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return &fault.Error{Op: "xds", Kind: fault.Internal, Err: err}
	}
	sum := sha256.Sum256(b)
	to[name] = item{resource: m, version: hex.EncodeToString(sum[:8])}
	return nil
}

// newSnapshot returns a snapshot of items. The mark of a resource becomes part of its version.
func newSnapshot(items map[string]map[string]item, marks map[string]string) *snapshot {
	s := &snapshot{
		resources: make(map[string]map[string]types.Resource, len(items)),
		versions:  make(map[string]map[string]string, len(items)),
	}
	all := sha256.New()
	for _, typ := range slices.Sorted(maps.Keys(items)) {
		s.resources[typ] = make(map[string]types.Resource, len(items[typ]))
		s.versions[typ] = make(map[string]string, len(items[typ]))
		for _, name := range slices.Sorted(maps.Keys(items[typ])) {
			it := items[typ][name]
			version := it.version + marks[typ+" "+name]
			s.resources[typ][name] = it.resource
			s.versions[typ][name] = version
			_, _ = all.Write([]byte(typ + "\x00" + name + "\x00" + version + "\x00")) // a hash never fails
		}
	}
	s.version = hex.EncodeToString(all.Sum(nil)[:8])
	return s
}

// GetVersion returns the version of all resources.
func (s *snapshot) GetVersion(string) string { return s.version }

// GetResourcesAndTTL returns the resources of a type, without TTLs.
func (s *snapshot) GetResourcesAndTTL(typeURL string) map[string]types.ResourceWithTTL {
	out := make(map[string]types.ResourceWithTTL, len(s.resources[typeURL]))
	for name, r := range s.resources[typeURL] {
		out[name] = types.ResourceWithTTL{Resource: r}
	}
	return out
}

// GetResources returns the resources of a type, by name.
func (s *snapshot) GetResources(typeURL string) map[string]types.Resource {
	return s.resources[typeURL]
}

// ConstructVersionMap does nothing: the versions already exist.
func (s *snapshot) ConstructVersionMap() error { return nil }

// GetVersionMap returns the versions of the resources of a type, by name.
func (s *snapshot) GetVersionMap(typeURL string) map[string]string { return s.versions[typeURL] }
