package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/bucket"
	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/cluster/vault/kms"
	"github.com/modelgateway/modelgateway/config"
)

// openNode opens the data directory, as a cluster of one or as a member of a
// larger one.
func (g *gateway) openNode(ctx context.Context, s *Setup) (*cluster.Node, error) {
	c := s.Config
	ring, err := vault.NewRing(vault.RingConfig{
		Primary: c.EncryptionSource(), Previous: c.EncryptionKeysPrevious, Open: kms.Open, Logger: g.logger,
	})
	if err != nil {
		return nil, fmt.Errorf("the encryption key: %w", err)
	}
	cfg := cluster.Config{
		Dir: c.DataDir, Catalog: s.catalog, Keys: s.keys, Sealer: ring, Ring: ring, Unlock: func() error { return ring.Unlock(ctx) },
		Logger: g.logger, Fatal: fatal(g.logger), BeginRestore: g.collector.begin,
		KeyStaleness: c.Cluster.KeyStaleness, Retention: days(c.Audit.RetentionDays), Hot: days(c.Audit.HotDays), HoldFrom: c.Audit.LegalHold(), Version: g.version, Digest: c.Digest(),
	}
	if c.Audit.BucketURL != "" {
		if g.bucket, err = bucket.Open("audit.bucket_url", c.Audit.BucketURL); err != nil {
			return nil, err
		}
		cfg.Bucket = g.bucket
	}
	if !c.Cluster.Enabled() {
		return cluster.Open(cfg)
	}
	cfg.Join, cfg.Expect = c.Cluster.Join, c.Cluster.Expect
	// The certificate names the node, and the node's name is in its data directory.
	cfg.Connect = func(node id.Node) (cluster.Link, []byte, error) {
		identity, err := clusterIdentity(c.Cluster, node)
		if err != nil {
			return nil, nil, err
		}
		l, err := link.New(ctx, link.Config{
			Listen: c.Cluster.Listen, Advertise: c.Cluster.Advertise, Identity: identity, Logger: g.logger,
		})
		if err != nil {
			return nil, nil, err
		}
		return l, identity.GossipKey(), nil
	}
	return cluster.Open(cfg)
}

func days(n int64) time.Duration { return time.Duration(n) * 24 * time.Hour }

// clusterIdentity is what a node proves with that it belongs to the cluster.
func clusterIdentity(c config.Cluster, node id.Node) (*link.Identity, error) {
	switch {
	case !c.Secret.IsEmpty():
		return link.FromSecret(c.Secret, node)
	case c.TLS != config.ClusterTLS{}:
		return link.FromFiles(link.Files{CA: c.TLS.CA, Cert: c.TLS.Cert, Key: c.TLS.Key, GossipKey: c.GossipKey}, node)
	}
	return nil, errors.New("a cluster needs cluster.secret or cluster.tls")
}
