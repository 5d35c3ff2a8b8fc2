// Lets scripts anywhere import the pinned packages in NODE_PACKAGES, as PYTHONPATH does for
// Python: node --import packages.mjs script.mjs. NODE_PATH is read for require alone.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const parentURL = pathToFileURL(process.env.NODE_PACKAGES + "/").href;

registerHooks({
  resolve(specifier, context, next) {
    const bare = !/^([./]|[a-z]+:)/.test(specifier);
    const ours = context.parentURL?.startsWith("file:") && !context.parentURL.includes("/node_modules/");
    return next(specifier, bare && ours ? { ...context, parentURL } : context);
  },
});
