/** Renders markup off the main thread: a text may be long, or crafted to take long. */
/// <reference lib="deno.worker" />
import type { RenderAnswer, RenderRequest } from "./protocol.ts";
import { loadRenderer } from "./render.ts";

// Pikchr, compiled from C, reads `__dirname`, but needs nothing from that folder.
Object.assign(globalThis, { __dirname: "" });

const answer = (message: RenderAnswer) => self.postMessage(message);

const render = await loadRenderer();

self.onmessage = ({ data: { id, source } }: MessageEvent<RenderRequest>) => {
  let html: string | null = null;
  try {
    html = render(source);
  } catch {
    // The text is shown as plain text.
  }
  answer({ kind: "html", id, html });
};

answer({ kind: "ready" });
