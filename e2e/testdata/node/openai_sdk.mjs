// The OpenAI SDK: chat completions, responses, completions, embeddings, models, errors, disconnects.
import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { ask, badKey, key, limitedKey, pixel, rejects, run, schema, url } from "./cases.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const messages = [{ role: "user", content: ask }];
const chatTool = { type: "function", function: { name: "weather", description: "of a city", parameters: schema } };
const tool = { type: "function", name: "weather", description: "of a city", parameters: schema, strict: true };
const City = z.object({ city: z.string() });

const cases = {
  async chat(model) {
    const r = await client.chat.completions.create({ model, messages });
    assert.equal(r.model, model);
    assert.ok(r.choices[0].message.content);
    assert.equal(r.choices[0].finish_reason, "stop");
    assert.equal(r.usage.total_tokens, r.usage.prompt_tokens + r.usage.completion_tokens);
    assert.match(r._request_id, /^req_/);
  },

  async chatStreamed(model) {
    let text = "";
    let usage;
    for await (const chunk of await client.chat.completions.create({
      model, messages, stream: true, stream_options: { include_usage: true },
    })) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    assert.ok(text && usage.completion_tokens > 0, text);
  },

  async chatTools(model) {
    const called = [];
    const runner = client.chat.completions.runTools({
      model, messages,
      tools: [{ type: "function", function: { ...chatTool.function, parse: JSON.parse, function: (a) => (called.push(a), "sunny") } }],
    });
    assert.match(await runner.finalContent(), /sunny/);
    assert.equal(called.length, 1);
    assert.equal(typeof called[0].city, "string");
  },

  async chatToolsStreamed(model) {
    const called = [];
    const runner = client.chat.completions.runTools({
      model, messages, stream: true,
      tools: [{ type: "function", function: { ...chatTool.function, parse: JSON.parse, function: (a) => (called.push(a), "sunny") } }],
    });
    assert.match(await runner.finalContent(), /sunny/);
    assert.equal(typeof called[0].city, "string");
  },

  async chatPicture(model) {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
    ];
    const r = await client.chat.completions.create({ model, messages: [{ role: "user", content }] });
    assert.match(r.choices[0].message.content, /What is this/);
    assert.ok(r.usage.prompt_tokens > 85);
  },

  async chatStructured(model) {
    const r = await client.chat.completions.parse({ model, messages, response_format: zodResponseFormat(City, "city") });
    assert.equal(typeof r.choices[0].message.parsed.city, "string");
  },

  async chatReasoning(language) {
    const r = await client.chat.completions.create({ model: `thinking-${language}`, messages, reasoning_effort: "low" });
    assert.match(r.choices[0].message.reasoning_content, /deserves an answer/);
    let thought = "";
    for await (const chunk of await client.chat.completions.create({
      model: `thinking-${language}`, messages, reasoning_effort: "low", stream: true,
    })) {
      thought += chunk.choices[0]?.delta.reasoning_content ?? "";
    }
    assert.equal(thought, r.choices[0].message.reasoning_content);
  },

  async responses(model) {
    const r = await client.responses.create({ model, input: ask, instructions: "Be brief." });
    assert.equal(r.model, model);
    assert.equal(r.status, "completed");
    assert.ok(r.output_text);
    assert.equal(r.usage.total_tokens, r.usage.input_tokens + r.usage.output_tokens);
  },

  async responsesStreamed(model) {
    const kinds = [];
    const stream = client.responses.stream({ model, input: ask });
    let text = "";
    for await (const event of stream) {
      assert.equal(event.sequence_number, kinds.length);
      kinds.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    const final = await stream.finalResponse();
    assert.equal(final.output_text, text);
    assert.equal(kinds.at(-1), "response.completed");
    assert.ok(text && final.usage.output_tokens > 0);
  },

  async responsesTools(model) {
    const first = await client.responses.stream({ model, input: ask, tools: [tool] }).finalResponse();
    const call = first.output.find((i) => i.type === "function_call");
    assert.equal(typeof JSON.parse(call.arguments).city, "string");
    const result = { type: "function_call_output", call_id: call.call_id, output: "sunny" };
    const after = await client.responses.create({ model, tools: [tool], input: [{ role: "user", content: ask }, ...first.output, result] });
    assert.match(after.output_text, /sunny/);
  },

  async responsesPicture(model) {
    const content = [
      { type: "input_text", text: "What is this?" },
      { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${pixel}` },
    ];
    const r = await client.responses.create({ model, input: [{ role: "user", content }] });
    assert.match(r.output_text, /What is this/);
    assert.ok(r.usage.input_tokens > 85);
  },

  async responsesStructured(model) {
    const r = await client.responses.parse({ model, input: ask, text: { format: zodTextFormat(City, "city") } });
    assert.equal(typeof r.output_parsed.city, "string");
  },

  async responsesReasoning(language) {
    const model = `thinking-${language}`;
    const reasoning = { effort: "low", summary: "auto" };
    const first = await client.responses.create({ model, input: ask, reasoning, store: false, include: ["reasoning.encrypted_content"] });
    const thought = first.output.find((i) => i.type === "reasoning");
    assert.match(thought.summary[0].text, /deserves an answer/);
    const input = [{ role: "user", content: ask }, ...first.output, { role: "user", content: "And again." }];
    const after = await client.responses.create({ model, input, reasoning, store: false, include: ["reasoning.encrypted_content"] });
    assert.match(after.output_text, /again/);
  },

  async errors(language) {
    const failed = await rejects(() => client.chat.completions.create({ model: `failing-${language}`, messages }), OpenAI.InternalServerError);
    assert.equal(failed.code, "all_deployments_failed");
    const bad = await rejects(() => client.chat.completions.create({ model: language, messages: [] }), OpenAI.BadRequestError);
    assert.equal(bad.param, "messages");
    assert.ok(bad.code && bad.requestID);
  },

  async disconnect(language) {
    const abort = new AbortController();
    const model = `paced-${language}`;
    let chunks = 0;
    await rejects(async () => {
      for await (const _ of await client.chat.completions.create({ model, messages, stream: true }, { signal: abort.signal })) {
        if (++chunks === 3) abort.abort();
      }
      throw new OpenAI.APIUserAbortError(); // the SDK ends the loop without an error
    }, OpenAI.APIUserAbortError);
    assert.equal(chunks, 3);
  },
};

const once = {
  async completions() {
    for (const model of ["chat", "responses"]) {
      const r = await client.completions.create({ model, prompt: ask, max_tokens: 20 });
      assert.ok(r.choices[0].text && r.usage.total_tokens > 0);
    }
  },

  async embeddings() {
    // The SDK asks for base64 and decodes it, unless told otherwise.
    const packed = await client.embeddings.create({ model: "embedding", input: ["red fox", "blue whale"] });
    const plain = await client.embeddings.create({ model: "embedding", input: ["red fox", "blue whale"], encoding_format: "float" });
    const float32 = plain.data.map((d) => ({ ...d, embedding: d.embedding.map(Math.fround) }));
    assert.deepEqual(packed.data, float32);
    assert.equal(plain.data[1].embedding.length, 8);
    assert.equal(plain.model, "embedding");
    assert.ok(plain.usage.prompt_tokens > 0);
  },

  async models() {
    const names = [];
    for await (const m of client.models.list()) names.push(m.id);
    assert.ok(names.includes("chat") && names.includes("messages") && names.includes("responses"), names);
    assert.equal((await client.models.retrieve("chat")).id, "chat");
  },

  async counts() {
    for (const model of ["chat", "responses"]) {
      const r = await client.responses.inputTokens.count({ model, input: ask });
      assert.equal(r.object, "response.input_tokens");
      assert.ok(r.input_tokens > 0);
    }
  },

  async stored() {
    const first = await client.responses.create({ model: "responses", input: "My name is Ada." });
    const after = await client.responses.create({ model: "responses", input: "What is it?", previous_response_id: first.id });
    assert.equal(after.previous_response_id, first.id);
    const gone = await rejects(
      () => client.responses.create({ model: "responses", input: ask, previous_response_id: "resp_nobody" }), OpenAI.BadRequestError);
    assert.equal(gone.code, "previous_response_not_found");
  },

  async sound() {
    const speech = await client.audio.speech.create({ model: "sound", voice: "alloy", input: "hello", response_format: "wav" });
    const wav = Buffer.from(await speech.arrayBuffer());
    assert.equal(wav.subarray(0, 4).toString(), "RIFF");
    const heard = await client.audio.transcriptions.create({ model: "sound", file: await toFile(wav, "a.wav") });
    assert.match(heard.text, new RegExp(`${wav.length} bytes`));
  },

  async callers() {
    const none = await rejects(() => client.chat.completions.create({ model: "nobody", messages }), OpenAI.NotFoundError);
    assert.equal(none.code, "model_not_found");
    const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: badKey, maxRetries: 0 });
    const denied = await rejects(() => stranger.chat.completions.create({ model: "chat", messages }), OpenAI.AuthenticationError);
    assert.equal(denied.code, "invalid_api_key");
    const limited = new OpenAI({ baseURL: `${url}/v1`, apiKey: limitedKey, maxRetries: 0 });
    const over = await rejects(() => limited.responses.create({ model: "chat", input: ask }), OpenAI.RateLimitError);
    assert.equal(over.code, "rate_limit_exceeded");
    assert.ok(over.headers.get("retry-after"));
  },
};

await run("openai", cases, once);
