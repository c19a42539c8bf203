/** Renders markup off the main thread: a text may be long, or crafted to take long. */
/// <reference lib="deno.worker" />
import { serveCalls } from "../../kernel/serve_calls.ts";
import { hasFences, highlightFences } from "./fences.ts";
import { loadHighlighter } from "./fences.ts";
import { loadRenderer, type Source } from "./render.ts";

// Pikchr, compiled from C, reads `__dirname`, but needs nothing from that folder.
Object.assign(globalThis, { __dirname: "" });

const render = await loadRenderer();

const highlighter = onFirstUse(loadHighlighter);

async function htmlOf(source: Source): Promise<string> {
  if (source.language === undefined) {
    const html = render(source);
    return hasFences(html) ? highlightFences(html, await highlighter()) : html;
  }
  return (await highlighter())(source.text, source.language);
}

/** A value that is made when it is first asked for: the library for code takes a while to load. */
function onFirstUse<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  return () => value ??= make();
}

serveCalls(() => async (source: Source) => {
  try {
    return await htmlOf(source);
  } catch {
    // The text is shown as plain text.
    return null;
  }
});
