import type { Source } from "./render.ts";

/** What the main thread asks of the worker. */
export interface RenderRequest {
  readonly id: number;
  readonly source: Source;
}

/** What the worker says: that it is ready, or the HTML of a request, null where that failed. */
export type RenderAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "html"; readonly id: number; readonly html: string | null };
