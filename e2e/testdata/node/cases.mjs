// What the scripts of clients share: each runs its cases against each provider's language and
// reports every one.
import assert from "node:assert/strict";

export const url = process.env.GATEWAY_URL;
export const key = process.env.API_KEY;
export const badKey = "sk-nobody-0123456789abcdef";
export const limitedKey = process.env.LIMITED_KEY; // which allows no requests
export const ask = "Say something short.";
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkM9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

// The languages of providers; models of these names are served by one that speaks it.
export const languages = ["chat", "messages", "responses"];

// run runs cases by name. Each gets the name of a model for each language; those of once run
// once, without one.
export async function run(client, cases, once = {}, spoken = languages) {
  const all = Object.entries(cases).flatMap(([name, f]) => spoken.map((l) => [`${name} ${l}`, () => f(l)]));
  for (const [name, f] of Object.entries(once)) all.push([name, f]);
  const reports = await Promise.all(
    all.map(async ([name, f]) => {
      try {
        await f();
        return [true, `ok ${client} ${name}`];
      } catch (e) {
        return [false, `FAILED ${client} ${name}: ${e?.stack ?? e}`];
      }
    }),
  );
  for (const [, line] of reports) console.log(line);
  process.exitCode = reports.every(([ok]) => ok) ? 0 : 1;
}

// rejects returns the error of a class with which f ends.
export async function rejects(f, kind) {
  try {
    await f();
  } catch (e) {
    assert.ok(e instanceof kind, `${e?.constructor?.name}, not ${kind.name}: ${e?.stack ?? e}`);
    return e;
  }
  throw new Error(`no ${kind.name}`);
}
