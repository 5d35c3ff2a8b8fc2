package provider

import (
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/azure"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/vertex"
)

// clouds lists the providers at which deployments have an account of a cloud.
func clouds() []Provider {
	return []Provider{
		{
			Name: "azure", Cloud: cloud.Azure, NeedsBase: true, Read: azure.Read, Varies: azure.Variation,
			Driver: azure.Driver{Responses: responses.Codec{}}, Features: azure.Features, Spelled: azure.Spelled,
		},
		{Name: "bedrock", Cloud: cloud.AWS, Base: bedrock.Base, Driver: bedrock.Driver{}, Features: bedrock.Features},
		{Name: "bedrock_mantle", Cloud: cloud.AWS, Base: bedrock.MantleBase, Driver: bedrock.Mantle{}, Features: bedrock.Features},
		{
			Name: "azure_ai", Cloud: cloud.Azure, NeedsBase: true, Read: azure.ReadFoundry, Varies: azure.FoundryVariation,
			Driver: azure.Foundry{Responses: responses.Codec{}}, Features: azure.FoundryFeatures, Spelled: azure.Spelled,
		},
		{Name: "vertex_ai", Cloud: cloud.Google, Base: vertex.Base, Read: vertex.Read, Driver: vertex.Driver{}, Features: vertex.Features},
	}
}
