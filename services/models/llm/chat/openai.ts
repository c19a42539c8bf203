import { EventSourceParserStream } from "eventsource-parser/stream";
import { isObject, type JsonObject, parseJson, parseObject } from "../json.ts";
import { requireNoError, ToldError } from "../told.ts";
import { chunksOf, opened } from "./answer.ts";
import { bearerHeaders, type ChatApi, type ChatCall, cutShort } from "./chat.ts";

/** The longest event of a stream, in characters. */
const MAX_EVENT_LENGTH = 1_048_576;

/** Providers whose API is the common format: requests and answers pass unchanged. */
export const openai: ChatApi = Object.freeze({
  async complete(call: ChatCall): Promise<JsonObject> {
    const response = await post(call, call.request);
    return completionIn(await response.text());
  },

  async *stream(call: ChatCall): AsyncGenerator<JsonObject> {
    const answer = await opened(await post(call, askingForUsage(call)));
    if (answer.kind === "whole") return yield* chunksOf(completionIn(answer.text));
    const { body } = answer.response;
    if (body === null) throw cutShort();
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_LENGTH }));
    let [answered, finished] = [false, false];
    for await (const { event, data } of events) {
      if (data === "[DONE]") {
        finished = answered;
        break;
      }
      if (event === "error") throw new ToldError(parseJson(data));
      const chunk = parseObject(data);
      requireNoError(chunk);
      if (isWhole(chunk)) return yield* chunksOf(chunk);
      answered ||= hasChoices(chunk);
      finished ||= tellsEnd(chunk);
      yield chunk;
    }
    if (!finished) throw cutShort();
  },
});

/**
 * Reads a completion.
 *
 * @throws ToldError, or another error if it is none
 */
function completionIn(text: string): JsonObject {
  const answer = parseObject(text);
  requireNoError(answer);
  if (isWhole(answer)) return answer;
  throw new Error("The answer has no choices");
}

/** Whether an object has choices with messages, which a stream has as deltas. */
function isWhole({ choices }: JsonObject): boolean {
  return Array.isArray(choices) &&
    choices.some((choice) => isObject(choice) && isObject(choice["message"]));
}

function hasChoices({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.some(isObject);
}

function post({ endpoint, fetch }: ChatCall, request: JsonObject): Promise<Response> {
  return fetch(`${endpoint.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearerHeaders(endpoint) },
    body: JSON.stringify(request),
  });
}

/** Not every provider ends its streams with `[DONE]`, but every one says why it ended. */
function tellsEnd({ choices }: JsonObject): boolean {
  return Array.isArray(choices) &&
    choices.some((choice) => typeof choice?.finish_reason === "string");
}

/**
 * Requests the tokens at the end of a stream, if the provider is known to support it, whatever the
 * caller says: they count in the ledger.
 */
function askingForUsage({ request, endpoint }: ChatCall): JsonObject {
  const options = request["stream_options"] ?? {};
  if (!endpoint.provider.countsStreams || !isObject(options)) return request;
  return { ...request, stream_options: { ...options, include_usage: true } };
}
