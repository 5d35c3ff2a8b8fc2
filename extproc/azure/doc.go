// Package azure is the drivers of Azure: of Azure OpenAI, and of the models of Foundry.
//
// The bodies are OpenAI's, so those of callers pass as they are. What is Azure's own is the address,
// which has two forms: that of the API v1 ({root}/openai/v1/chat/completions), and the classic one with a version
// ({root}/openai/deployments/{deployment}/chat/completions?api-version=2024-10-21). The setting api_version
// chooses, and an api_base that already has one of the forms.
package azure
