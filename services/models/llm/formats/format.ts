import type { Provider } from "../catalog.ts";
import type { Endpoint } from "../credentials.ts";
import type { JsonObject } from "../json.ts";
import type { Report } from "../report.ts";
import type { ModelRequest } from "../schemas.ts";

/** A request to one model of one backend. */
export interface ModelCall {
  /** With the model's own name. */
  readonly request: JsonObject;
  /** The client's headers that are for the provider, by their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly endpoint: Endpoint;
  /** Sends requests to the provider within the bounds of the exchange. */
  readonly fetch: typeof globalThis.fetch;
}

/** A server-sent event. */
export interface ServerEvent {
  /** Null if it has none. */
  readonly name: string | null;
  readonly data: string;
}

/** A part of a streamed answer: what it tells, and what the client gets of it. */
export interface AnswerPart {
  readonly report: Report;
  readonly events: readonly ServerEvent[];
  /** Whether the client may have it before the next part; a failure before that is an error. */
  readonly begins: boolean;
}

/** A whole answer, as JSON. */
export interface WholeAnswer {
  readonly report: Report;
  readonly text: string;
}

/**
 * Calls models of one kind of provider. Both methods fail with `Invalid` if the provider cannot take
 * the request, and with any other error if the answer cannot be read.
 */
export interface ModelApi {
  complete(call: ModelCall): Promise<WholeAnswer>;
  stream(call: ModelCall): AsyncIterable<AnswerPart>;
}

/** A format in which clients send requests and read answers. */
export interface Format {
  /** Whether requests and answers pass to this provider as they are, and so do its errors. */
  isOf(provider: Provider): boolean;
  /** What a request may take, about, in tokens. */
  forecast(request: ModelRequest): { readonly input: number; readonly output: number };
  /** Loads what calls a provider in this format. */
  open(provider: Provider): Promise<ModelApi>;
}
