// The Anthropic SDK: messages, counts, errors, disconnects.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import { ask, badKey, key, limitedKey, pixel, rejects, run, schema, url } from "./cases.mjs";

const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
const messages = [{ role: "user", content: ask }];
const tool = { name: "weather", description: "of a city", input_schema: schema };
const max_tokens = 100;

const cases = {
  async whole(model) {
    const r = await client.messages.create({ model, max_tokens, messages, system: "Be brief." });
    assert.equal(r.model, model);
    assert.ok(r.content[0].text);
    assert.equal(r.stop_reason, "end_turn");
    assert.ok(r.usage.input_tokens > 0 && r.usage.output_tokens > 0);
    assert.match(r._request_id, /^req_/);
  },

  async streamed(model) {
    let text = "";
    const kinds = [];
    const stream = client.messages.stream({ model, max_tokens, messages }).on("text", (t) => (text += t));
    for await (const event of stream) kinds.push(event.type);
    const final = await stream.finalMessage();
    assert.equal(final.content[0].text, text);
    assert.equal(kinds[0], "message_start");
    assert.equal(kinds.at(-1), "message_stop");
    assert.ok(text && final.usage.output_tokens > 0 && final.usage.input_tokens > 0);
  },

  async tools(model) {
    const first = await client.messages.stream({ model, max_tokens, messages, tools: [tool] }).finalMessage();
    const call = first.content.find((b) => b.type === "tool_use");
    assert.equal(first.stop_reason, "tool_use");
    assert.equal(typeof call.input.city, "string");
    const result = [{ type: "tool_result", tool_use_id: call.id, content: [{ type: "text", text: "sunny" }] }];
    const after = await client.messages.create({
      model, max_tokens, tools: [tool],
      messages: [...messages, { role: "assistant", content: first.content }, { role: "user", content: result }],
    });
    assert.match(after.content[0].text, /sunny/);
  },

  async picture(model) {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
    ];
    const r = await client.messages.create({ model, max_tokens, messages: [{ role: "user", content }] });
    assert.match(r.content[0].text, /What is this/);
    assert.ok(r.usage.input_tokens > 85);
  },

  async structured(model) {
    const r = await client.messages.parse({ model, max_tokens, messages, output_config: { format: zodOutputFormat(z.object({ city: z.string() })) } });
    assert.equal(typeof r.parsed_output.city, "string");
  },

  async reasoning(language) {
    const model = `thinking-${language}`;
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const first = await client.messages.stream({ model, max_tokens: 2000, messages, thinking }).finalMessage();
    assert.equal(first.content[0].type, "thinking");
    assert.match(first.content[0].thinking, /deserves an answer/);
    const after = await client.messages.create({
      model, max_tokens: 2000, thinking,
      messages: [...messages, { role: "assistant", content: first.content }, { role: "user", content: "And again." }],
    });
    assert.match(after.content.at(-1).text, /again/);
  },

  async errors(language) {
    const failed = await rejects(() => client.messages.create({ model: `failing-${language}`, max_tokens, messages }), Anthropic.InternalServerError);
    assert.equal(failed.error.type, "error");
    assert.ok(failed.error.error.message && failed.requestID);
    const bad = await rejects(() => client.messages.create({ model: language, max_tokens, messages: [] }), Anthropic.BadRequestError);
    assert.equal(bad.error.error.type, "invalid_request_error");
  },

  async disconnect(language) {
    const stream = client.messages.stream({ model: `paced-${language}`, max_tokens: 5000, messages });
    let deltas = 0;
    await rejects(async () => {
      for await (const event of stream) {
        if (event.type === "content_block_delta" && ++deltas === 3) stream.abort();
      }
    }, Anthropic.APIUserAbortError);
    assert.ok(deltas >= 3);
  },

  async counts(model) {
    const less = await client.messages.countTokens({ model, messages });
    const more = await client.messages.countTokens({ model, messages, system: "Be brief.", tools: [tool] });
    assert.ok(less.input_tokens > 0 && more.input_tokens > less.input_tokens);
  },
};

const once = {
  async models() {
    const names = [];
    for await (const m of client.models.list()) names.push(m.id);
    assert.ok(names.includes("chat") && names.includes("messages"), names);
  },

  async callers() {
    const none = await rejects(() => client.messages.create({ model: "nobody", max_tokens, messages }), Anthropic.NotFoundError);
    assert.equal(none.error.error.type, "not_found_error");
    const stranger = new Anthropic({ baseURL: url, apiKey: badKey, maxRetries: 0 });
    const denied = await rejects(() => stranger.messages.create({ model: "chat", max_tokens, messages }), Anthropic.AuthenticationError);
    assert.equal(denied.error.error.type, "authentication_error");
    const limited = new Anthropic({ baseURL: url, apiKey: limitedKey, maxRetries: 0 });
    const over = await rejects(() => limited.messages.create({ model: "chat", max_tokens, messages }), Anthropic.RateLimitError);
    assert.equal(over.error.error.type, "rate_limit_error");
  },
};

await run("anthropic", cases, once);
