package bedrock

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// partition is a part of AWS with accounts, regions and a domain of its own.
type partition struct {
	prefix string // of its regions
	name   string // in ARNs
	domain string
}

// partitions lists the partitions. A region is of the first one whose prefix it has.
func partitions() []partition {
	return []partition{
		{"cn-", "aws-cn", "amazonaws.com.cn"},
		{"us-gov-", "aws-us-gov", "amazonaws.com"},
		{"us-isob-", "aws-iso-b", "sc2s.sgov.gov"},
		{"us-isof-", "aws-iso-f", "csp.hci.ic.gov"},
		{"us-iso-", "aws-iso", "c2s.ic.gov"},
		{"eu-isoe-", "aws-iso-e", "cloud.adc-e.uk"},
		{"eusc-", "aws-eusc", "amazonaws.eu"},
		{"us-", "aws", "amazonaws.com"},
		{"eu-", "aws", "amazonaws.com"},
		{"ap-", "aws", "amazonaws.com"},
		{"ca-", "aws", "amazonaws.com"},
		{"sa-", "aws", "amazonaws.com"},
		{"me-", "aws", "amazonaws.com"},
		{"af-", "aws", "amazonaws.com"},
		{"il-", "aws", "amazonaws.com"},
		{"mx-", "aws", "amazonaws.com"},
	}
}

// partitionOf returns the partition of a region.
func partitionOf(region string) partition {
	for _, p := range partitions() {
		if strings.HasPrefix(region, p.prefix) {
			return p
		}
	}
	return partition{}
}

// isRegion reports whether a text has the form of a region: a known beginning, a direction and a number.
func isRegion(s string) bool {
	of := partitionOf(s)
	rest, number, ok := cutLast(strings.TrimPrefix(s, of.prefix), "-")
	if of.prefix == "" || !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	return rest != "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// cutLast cuts a text around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(separator):], true
}

// regionOf returns the region of a deployment's requests; empty if nothing says it. The model and the
// setting must not name two.
func regionOf(n *name, s cloud.Settings) (string, error) {
	set := s.Get(cloud.AWSRegion)
	switch {
	case set == "":
		return n.region, nil
	case !isRegion(set):
		return "", fault.Field(cloud.AWSRegion, codeModel, "%s is not the name of a region of AWS; write one such as us-east-1.", fault.Quote(set))
	case n.region != "" && partitionOf(n.region).name != partitionOf(set).name:
		return "", fault.Field(cloud.AWSRegion, codeModel, "The model is in the partition %s (%s), but %s is %s; an account of one partition has no models of another.",
			partitionOf(n.region).name, n.region, cloud.AWSRegion, set)
	case n.region != "" && n.region != set:
		return "", fault.Field(cloud.AWSRegion, codeModel, "The model is in the region %s, but %s is %s; change one of them.", n.region, cloud.AWSRegion, set)
	}
	return set, nil
}

// Base returns the address of a model's endpoint: that of its region, unless the settings have another.
func Base(model string, s cloud.Settings) (string, error) {
	n, err := parse(model)
	if err != nil {
		return "", inModel(err)
	}
	region, err := regionOf(&n, s)
	if err != nil {
		return "", err
	}
	if own := s.Get(cloud.AWSRuntimeEndpoint); own != "" {
		return own, nil
	}
	if region == "" {
		return "", regionMissing()
	}
	host := "bedrock-runtime"
	if n.family().ranks {
		host = "bedrock-agent-runtime"
	}
	return "https://" + host + "." + region + "." + partitionOf(region).domain, nil
}

// regionMissing is the error of a deployment without a region.
func regionMissing() error {
	return fault.Field(cloud.AWSRegion, "missing_required_parameter", "%s is missing; it is the region of AWS in which the model runs, such as us-east-1.", cloud.AWSRegion)
}

// inModel names the setting with the model as the place of an error.
func inModel(err error) error {
	e := fault.From(err)
	return fault.Field("model", e.Code, "%s", e.Message())
}

// regionOfHost returns the region in the name of one of AWS's hosts, such as
// bedrock-runtime.us-east-1.amazonaws.com; empty if there is none.
func regionOfHost(host string) string {
	for label := range strings.SplitSeq(host, ".") {
		if isRegion(label) {
			return label
		}
	}
	return ""
}
