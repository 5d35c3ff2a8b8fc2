// Writes the lists of names, places and other words in the packages compromise and @faker-js/faker as JSON.
// Usage: node lists.mjs FOLDER, where FOLDER has node_modules.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/").href);
const { allLocales } = require("@faker-js/faker");
const nlp = require("compromise");

// strings returns all strings of a value, in order.
function strings(value) {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((v) => (v && v.weight ? strings(v.value) : strings(v)));
  if (value && typeof value === "object") return Object.keys(value).sort().flatMap((k) => strings(value[k]));
  return [];
}

const faker = {};
for (const [name, locale] of Object.entries(allLocales).sort(([a], [b]) => (a < b ? -1 : 1))) {
  const out = {};
  const { person = {}, location = {}, word = {} } = locale;
  out.given = strings([person.first_name]);
  out.family = strings([person.last_name]);
  out.city = strings([location.city_name]);
  out.country = strings([location.country]);
  out.state = strings([location.state]);
  out.words = strings([word]);
  for (const key of Object.keys(out)) out[key] = [...new Set(out[key])].filter((s) => !/[{}#]/.test(s));
  faker[name] = out;
}

const compromise = {};
for (const [word, tags] of Object.entries(nlp.model().one.lexicon)) {
  for (const tag of [tags].flat()) (compromise[tag] ??= []).push(word);
}
for (const tag of Object.keys(compromise)) compromise[tag].sort();
process.stdout.write(JSON.stringify({ faker, compromise }));
