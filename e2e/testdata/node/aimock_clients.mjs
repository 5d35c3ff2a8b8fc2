// OpenAI's and Anthropic's SDK against aimock, in each language of callers and of providers.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { key, languages, rejects, run, schema, url } from "./cases.mjs";

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
const greeting = "Hello, I am aimock, and no part of the gateway.";
const used = [11, 7]; // tokens of input and of output, as aimock reports them
const cities = ["Oslo", "Bern"];
const sunny = "It is sunny in Oslo and in Bern.";
const user = (content) => [{ role: "user", content }];
const max_tokens = 2000;

// textOf is the text of a message, which reasoning that nobody can read may precede.
const textOf = (message) => message.content.find((b) => b.type === "text").text;

// Each caller: a request for a text, whole and streamed, a round of two tools at once, and reasoning.
const callers = {
  chat: {
    failed: OpenAI.InternalServerError,
    async text(model, prompt) {
      const r = await openai.chat.completions.create({ model, messages: user(prompt) });
      assert.deepEqual([r.usage.prompt_tokens, r.usage.completion_tokens], used);
      return r.choices[0].message.content;
    },
    async streamed(model, prompt) {
      const r = await openai.chat.completions.stream({ model, messages: user(prompt) }).finalChatCompletion();
      assert.equal(r.choices[0].finish_reason, "stop");
      return r.choices[0].message.content;
    },
    async tools(model, prompt, stream) {
      const tools = [{ type: "function", function: { name: "weather", parameters: schema } }];
      const messages = user(prompt);
      const ask = async () =>
        stream ? openai.chat.completions.stream({ model, messages, tools }).finalChatCompletion() : openai.chat.completions.create({ model, messages, tools });
      const first = (await ask()).choices[0].message;
      const called = first.tool_calls.map((c) => JSON.parse(c.function.arguments).city);
      messages.push(first, ...first.tool_calls.map((c) => ({ role: "tool", tool_call_id: c.id, content: "sunny" })));
      return [called, (await ask()).choices[0].message.content];
    },
    async thought(model, prompt) {
      const m = (await openai.chat.completions.create({ model, messages: user(prompt), reasoning_effort: "low" })).choices[0].message;
      return [m.reasoning_content, m.content];
    },
    async structured(model, prompt) {
      const response_format = { type: "json_schema", json_schema: { name: "city", schema, strict: true } };
      return (await openai.chat.completions.create({ model, messages: user(prompt), response_format })).choices[0].message.content;
    },
  },

  messages: {
    failed: Anthropic.InternalServerError,
    async text(model, prompt) {
      const r = await anthropic.messages.create({ model, max_tokens, messages: user(prompt) });
      assert.deepEqual([r.usage.input_tokens, r.usage.output_tokens], used);
      return textOf(r);
    },
    async streamed(model, prompt) {
      const r = await anthropic.messages.stream({ model, max_tokens, messages: user(prompt) }).finalMessage();
      assert.equal(r.stop_reason, "end_turn");
      assert.deepEqual([r.usage.input_tokens, r.usage.output_tokens], used);
      return textOf(r);
    },
    async tools(model, prompt, stream) {
      const tools = [{ name: "weather", input_schema: schema }];
      const messages = user(prompt);
      const ask = async () =>
        stream ? anthropic.messages.stream({ model, max_tokens, messages, tools }).finalMessage() : anthropic.messages.create({ model, max_tokens, messages, tools });
      const first = await ask();
      const uses = first.content.filter((b) => b.type === "tool_use");
      messages.push({ role: "assistant", content: first.content });
      messages.push({ role: "user", content: uses.map((b) => ({ type: "tool_result", tool_use_id: b.id, content: "sunny" })) });
      return [uses.map((b) => b.input.city), textOf(await ask())];
    },
    async thought(model, prompt) {
      const thinking = { type: "enabled", budget_tokens: 1024 };
      const r = await anthropic.messages.create({ model, max_tokens, messages: user(prompt), thinking });
      return [r.content.find((b) => b.type === "thinking").thinking, textOf(r)];
    },
    async structured(model, prompt) {
      const output_config = { format: { type: "json_schema", schema } };
      return textOf(await anthropic.messages.create({ model, max_tokens, messages: user(prompt), output_config }));
    },
  },

  responses: {
    failed: OpenAI.InternalServerError,
    async text(model, prompt) {
      const r = await openai.responses.create({ model, input: prompt });
      assert.deepEqual([r.usage.input_tokens, r.usage.output_tokens], used);
      return r.output_text;
    },
    async streamed(model, prompt) {
      const r = await openai.responses.stream({ model, input: prompt }).finalResponse();
      assert.equal(r.status, "completed");
      assert.deepEqual([r.usage.input_tokens, r.usage.output_tokens], used);
      return r.output_text;
    },
    async tools(model, prompt, stream) {
      const tools = [{ type: "function", name: "weather", parameters: schema, strict: true }];
      const input = user(prompt);
      const ask = async () => (stream ? openai.responses.stream({ model, input, tools }).finalResponse() : openai.responses.create({ model, input, tools }));
      const first = await ask();
      const uses = first.output.filter((i) => i.type === "function_call");
      input.push(...first.output, ...uses.map((i) => ({ type: "function_call_output", call_id: i.call_id, output: "sunny" })));
      return [uses.map((i) => JSON.parse(i.arguments).city), (await ask()).output_text];
    },
    async thought(model, prompt) {
      const r = await openai.responses.create({ model, input: prompt, reasoning: { effort: "low", summary: "auto" } });
      return [r.output.find((i) => i.type === "reasoning").summary[0].text, r.output_text];
    },
    async structured(model, prompt) {
      const format = { type: "json_schema", name: "city", schema, strict: true };
      return (await openai.responses.create({ model, input: prompt, text: { format } })).output_text;
    },
  },
};

const cases = {};
for (const [name, caller] of Object.entries(callers)) {
  cases[`whole ${name}`] = async (model) => assert.equal(await caller.text(model, "hello"), greeting);
  cases[`streamed ${name}`] = async (model) => assert.equal(await caller.streamed(model, "hello"), greeting);
  for (const stream of [false, true]) {
    cases[`tools ${stream ? "streamed" : "whole"} ${name}`] = async (model) =>
      assert.deepEqual(await caller.tools(model, "the weather?", stream), [cities, sunny]);
  }
  cases[`reasoning ${name}`] = async (model) =>
    assert.deepEqual(await caller.thought(model, "think!"), ["Six times seven is what they ask.", "It is 42."]);
  cases[`structured ${name}`] = async (model) => assert.deepEqual(JSON.parse(await caller.structured(model, "a city")), { city: "Oslo" });
  cases[`faults ${name}`] = async (model) => {
    for (const kind of ["garbled", "gone"]) {
      const e = await rejects(() => caller.text(`${kind}-${model}`, "hello"), caller.failed);
      assert.ok(e.status === 502 || e.status === 503, `${kind}: ${e.status}`);
    }
    await assert.rejects(() => caller.streamed(`cut-${model}`, "hello"));
  };
  cases[`errors ${name}`] = async (model) => {
    for (const kind of ["broken", "limited"]) {
      const e = await rejects(() => caller.text(`${kind}-${model}`, "hello"), caller.failed);
      assert.equal(e.status, 503);
    }
  };
}

// aimock writes the reasoning of Cohere's models as text, so nothing can tell it from the response.
const cohere = Object.entries(cases).filter(([name]) => !name.startsWith("reasoning"));
const once = Object.fromEntries(cohere.map(([name, f]) => [`${name} cohere`, () => f("cohere")]));
for (const provider of ["cohere", "azure"]) {
  once[`embeddings ${provider}`] = async () => {
    const r = await openai.embeddings.create({ model: `embed-${provider}`, input: ["Oslo", "Bern"] });
    assert.deepEqual(r.data.map((d) => d.index), [0, 1]);
    for (const d of r.data) assert.deepEqual(d.embedding, [0.5, -0.25, 1]);
  };
}
once["speech elevenlabs"] = async () => {
  const r = await openai.audio.speech.create({ model: "elevenlabs", voice: "JBFqnCBsd6RMkjVDRZzb", input: "hello" });
  assert.deepEqual(Buffer.from(await r.arrayBuffer()), Buffer.from("the sound of aimock"));
};
await run("aimock", cases, once, [...languages, "gemini", "vertex", "bedrock", "azure", "openrouter"]);
