package mgmt

import (
	"google.golang.org/grpc"

	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// service is what most services of the API need.
type service struct {
	state    operation.Changes
	ledger   Ledger
	defaults tenancy.Defaults // of users and teams
	rules    *rights.KeyRules // of new keys
}

// services returns all services of the API. A new service needs a line here, and an
// entry in forms for what REST clients may write beyond its messages.
func (s *Server) services() []rest.Service {
	base := service{state: s.cfg.State.Changes, ledger: s.cfg.Ledger, defaults: s.cfg.Defaults, rules: &s.cfg.KeyRules}
	return []rest.Service{
		rest.API(gatewayv1.RegisterKeyServiceServer, gatewayv1.NewKeyServiceClient, gatewayv1.RegisterKeyServiceHandlerClient)(keyService{service: base}),
		rest.API(gatewayv1.RegisterOrganizationServiceServer, gatewayv1.NewOrganizationServiceClient, gatewayv1.RegisterOrganizationServiceHandlerClient)(organizationService{service: base}),
		rest.API(gatewayv1.RegisterUserServiceServer, gatewayv1.NewUserServiceClient, gatewayv1.RegisterUserServiceHandlerClient)(userService{service: base}),
		rest.API(gatewayv1.RegisterTeamServiceServer, gatewayv1.NewTeamServiceClient, gatewayv1.RegisterTeamServiceHandlerClient)(teamService{service: base}),
		rest.API(gatewayv1.RegisterCustomerServiceServer, gatewayv1.NewCustomerServiceClient, gatewayv1.RegisterCustomerServiceHandlerClient)(customerService{service: base}),
		rest.API(gatewayv1.RegisterBudgetServiceServer, gatewayv1.NewBudgetServiceClient, gatewayv1.RegisterBudgetServiceHandlerClient)(budgetService{service: base}),
		rest.API(gatewayv1.RegisterModelServiceServer, gatewayv1.NewModelServiceClient, gatewayv1.RegisterModelServiceHandlerClient)(modelService{service: base, sealer: s.cfg.Sealer, prices: s.cfg.Prices, discover: s.cfg.Discover, reach: reach{s.cfg.PrivateEndpoints}, problem: s.cfg.CredentialProblem}),
		rest.API(gatewayv1.RegisterFallbackServiceServer, gatewayv1.NewFallbackServiceClient, gatewayv1.RegisterFallbackServiceHandlerClient)(fallbackService{service: base}),
		rest.API(gatewayv1.RegisterCredentialServiceServer, gatewayv1.NewCredentialServiceClient, gatewayv1.RegisterCredentialServiceHandlerClient)(credentialService{service: base, sealer: s.cfg.Sealer, webhook: s.cfg.Webhook, reach: reach{s.cfg.PrivateEndpoints}}),
		rest.API(gatewayv1.RegisterGuardrailServiceServer, gatewayv1.NewGuardrailServiceClient, gatewayv1.RegisterGuardrailServiceHandlerClient)(guardrailService{service: base, screen: s.cfg.Screen, sealer: s.cfg.Sealer, reach: reach{s.cfg.PrivateEndpoints}}),
		rest.API(gatewayv1.RegisterPromptServiceServer, gatewayv1.NewPromptServiceClient, gatewayv1.RegisterPromptServiceHandlerClient)(promptService{service: base, tokens: s.cfg.Tokens, reports: s.reports}),
		rest.API(gatewayv1.RegisterConfigServiceServer, gatewayv1.NewConfigServiceClient, gatewayv1.RegisterConfigServiceHandlerClient)(configService{service: base, webhook: s.cfg.Webhook, pace: s.cfg.Pace, seal: s.cfg.Sealer.Seal, guard: s.cfg.Guard}),
		rest.API(gatewayv1.RegisterClusterServiceServer, gatewayv1.NewClusterServiceClient, gatewayv1.RegisterClusterServiceHandlerClient)(clusterService{state: s.cfg.State.Members, changed: s.changed}),
		rest.API(gatewayv1.RegisterSpendServiceServer, gatewayv1.NewSpendServiceClient, gatewayv1.RegisterSpendServiceHandlerClient)(spendService{ledger: s.cfg.Ledger}),
		rest.API(gatewayv1.RegisterActivityServiceServer, gatewayv1.NewActivityServiceClient, gatewayv1.RegisterActivityServiceHandlerClient)(activityService{ledger: s.cfg.Ledger, reports: s.reports}),
		rest.API(gatewayv1.RegisterBillingServiceServer, gatewayv1.NewBillingServiceClient, gatewayv1.RegisterBillingServiceHandlerClient)(billingService{ledger: s.cfg.Ledger, reports: s.reports}),
		rest.API(gatewayv1.RegisterAuditServiceServer, gatewayv1.NewAuditServiceClient, gatewayv1.RegisterAuditServiceHandlerClient)(auditService{audit: s.cfg.Audit}),
	}
}

// register adds all services to a server.
func (s *Server) register(to grpc.ServiceRegistrar) {
	for _, one := range s.services() {
		one.Serve(to)
	}
}

// forms returns the further forms of requests that REST clients may send, by operation.
func forms() map[string]rest.Form {
	return map[string]rest.Form{
		gatewayv1.OrganizationService_AddOrganizationMembers_FullMethodName: memberForms,
		gatewayv1.UserService_CreateUser_FullMethodName:                     userForms,
		gatewayv1.TeamService_AddTeamMembers_FullMethodName:                 memberForms,
		gatewayv1.ModelService_CreateModel_FullMethodName:                   modelForms,
		gatewayv1.ModelService_UpdateModel_FullMethodName:                   modelForms,
		gatewayv1.ModelService_DiscoverModels_FullMethodName:                modelForms,
		gatewayv1.GuardrailService_CreateGuardrail_FullMethodName:           guardrailForms,
	}
}
