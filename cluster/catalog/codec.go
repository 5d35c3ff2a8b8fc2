package catalog

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// keyContext and headerContext are the contexts that secrets are sealed with.
func keyContext(deployment string) string { return "deployment/" + deployment + "/api_key" }

func headerContext(deployment, header string) string {
	return "deployment/" + deployment + "/header/" + header
}

// toRecord returns the record of a deployment that replaces another, without a stamp. Its ID
// must be set. An unchanged secret is not sealed again. Sealing need not be deterministic, so
// toRecord runs once, before the command is proposed.
func toRecord(s *DeploymentSpec, before *Stored, seal vault.Seal) (*clusterv1.Deployment, error) {
	r := plainRecord(s)
	var err error
	switch {
	case s.APIKey.IsEmpty():
	case len(before.Sealed.APIKey) > 0 && before.Spec.APIKey.Equal(s.APIKey.Reveal()):
		r.SealedApiKey = before.Sealed.APIKey
	default:
		if r.SealedApiKey, err = seal(s.APIKey, keyContext(s.ID)); err != nil {
			return nil, fmt.Errorf("sealing the api_key of deployment %s: %w", quote(s.ID), err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.ExtraHeaders)) {
		v := &clusterv1.SealedValue{Name: name}
		value := s.ExtraHeaders[name]
		switch {
		case value.IsEmpty():
		case len(before.Sealed.Headers[name]) > 0 && before.Spec.ExtraHeaders[name].Equal(value.Reveal()):
			v.Sealed = before.Sealed.Headers[name]
		default:
			if v.Sealed, err = seal(value, headerContext(s.ID, name)); err != nil {
				return nil, fmt.Errorf("sealing the header %s of deployment %s: %w", quote(name), quote(s.ID), err)
			}
		}
		r.SealedHeaders = append(r.SealedHeaders, v)
	}
	settings := storedSettings{values: before.Spec.Cloud, sealed: before.Sealed.Cloud, context: func(name string) string { return settingContext(s.ID, name) }}
	sealed, err := settings.seal(s.Cloud, seal)
	if err != nil {
		return nil, fmt.Errorf("deployment %s: %w", quote(s.ID), err)
	}
	r.Settings, r.SealedSettings = settingsRecord(s.Cloud, sealed)
	return r, nil
}

// plainRecord is a record without what is secret.
func plainRecord(s *DeploymentSpec) *clusterv1.Deployment {
	return &clusterv1.Deployment{
		Id: s.ID, ModelName: s.ModelName, Model: s.Model, ApiBase: s.APIBase, BaseModel: s.BaseModel,
		Prices: record.NamedValues(s.Prices),
		Weight: s.Weight, Rpm: s.RPM, Tpm: s.TPM, Order: int64(s.Order), MaxParallelRequests: s.MaxParallel,
		TimeoutNanos: int64(s.Timeout), StreamTimeoutNanos: int64(s.StreamTimeout),
		MaxTokens: s.MaxTokens, MaxInputTokens: s.MaxInputTokens, MaxOutputTokens: s.MaxOutputTokens,
		DropParams: s.DropParams, CredentialName: s.CredentialName, Organization: s.Organization, Guardrails: s.Guardrails, Api: s.API,
	}
}

// FromRecord is the reverse of toRecord and reads the stamp as well. The error is
// open's: a key that this node cannot open, which is no reason to stop.
func FromRecord(r *clusterv1.Deployment, open vault.Open) (Stored, error) {
	s := Stored{
		Spec: DeploymentSpec{
			ID: r.GetId(), ModelName: r.GetModelName(), Model: r.GetModel(), APIBase: r.GetApiBase(), BaseModel: r.GetBaseModel(),
			Prices: record.FromNamedValues(r.GetPrices()),
			Weight: r.GetWeight(), RPM: r.GetRpm(), TPM: r.GetTpm(), Order: int(r.GetOrder()), MaxParallel: r.GetMaxParallelRequests(),
			Timeout: time.Duration(r.GetTimeoutNanos()), StreamTimeout: time.Duration(r.GetStreamTimeoutNanos()),
			MaxTokens: r.GetMaxTokens(), MaxInputTokens: r.GetMaxInputTokens(), MaxOutputTokens: r.GetMaxOutputTokens(),
			DropParams: r.GetDropParams(), CredentialName: r.GetCredentialName(), Organization: r.GetOrganization(), Guardrails: r.GetGuardrails(), API: r.GetApi(),
		},
		Sealed:    Sealed{APIKey: r.GetSealedApiKey()},
		CreatedAt: record.FromNanos(r.GetStamp().GetCreatedUnixNano()),
		CreatedBy: r.GetStamp().GetCreatedBy(),
		UpdatedAt: record.FromNanos(r.GetStamp().GetUpdatedUnixNano()),
		Revision:  r.GetStamp().GetRevision(),
	}
	var err error
	if sealed := r.GetSealedApiKey(); len(sealed) > 0 {
		if s.Spec.APIKey, err = open(sealed, keyContext(s.Spec.ID)); err != nil {
			return Stored{}, fmt.Errorf("opening the api_key of deployment %s: %w", quote(s.Spec.ID), err)
		}
	}
	settings := storedSettings{context: func(name string) string { return settingContext(s.Spec.ID, name) }}
	if s.Spec.Cloud, s.Sealed.Cloud, err = settings.open(r.GetSettings(), r.GetSealedSettings(), open); err != nil {
		return Stored{}, fmt.Errorf("deployment %s: %w", quote(s.Spec.ID), err)
	}
	for _, h := range r.GetSealedHeaders() {
		var value vault.Secret
		if len(h.GetSealed()) > 0 {
			if value, err = open(h.GetSealed(), headerContext(s.Spec.ID, h.GetName())); err != nil {
				return Stored{}, fmt.Errorf("opening the header %s of deployment %s: %w", quote(h.GetName()), quote(s.Spec.ID), err)
			}
		}
		if s.Spec.ExtraHeaders == nil {
			s.Spec.ExtraHeaders = make(map[string]vault.Secret, len(r.GetSealedHeaders()))
			s.Sealed.Headers = make(map[string][]byte, len(r.GetSealedHeaders()))
		}
		s.Spec.ExtraHeaders[h.GetName()], s.Sealed.Headers[h.GetName()] = value, h.GetSealed()
	}
	return s, nil
}
