import type { Source } from "./render.ts";

/** A request of the main thread to the worker. */
export interface RenderRequest {
  readonly id: number;
  readonly source: Source;
}

/** A message of the worker: that it is ready, or the HTML of a request, null after a failure. */
export type RenderAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "html"; readonly id: number; readonly html: string | null };
