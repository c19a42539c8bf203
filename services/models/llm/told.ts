import { isObject, type JsonObject } from "./json.ts";
import type { CompletionRequest } from "./schemas.ts";

/** How many characters of a text make a token, about. */
const CHARACTERS_OF_TOKEN = 4;

/** Tokens that an image or a file takes, about. */
const TOKENS_OF_FILE = 1000;

/** Tokens of an answer whose length the request does not limit, about. */
const USUAL_ANSWER = 1000;

/** The content of an image or a file in a request. */
const DATA_URL = /"(?:data:|[A-Za-z0-9+/]{1000})[^"]*"/g;

/** What a provider tells of a call beside its tokens, as far as it has answered. */
export class Told {
  /** The model that answered. */
  model: string | null = null;
  /** Whether it is billed at the usual rate. */
  isUsualTier = true;
  #characters = 0;

  /** Takes a `chat.completion` object, or a chunk of one. */
  take({ model, service_tier: tier, choices }: JsonObject): void {
    if (typeof model === "string" && model !== "") this.model = model;
    if (typeof tier === "string") this.isUsualTier = tier === "default" || tier === "auto";
    if (!Array.isArray(choices)) return;
    for (const choice of choices) {
      if (isObject(choice)) this.#characters += lengthOf(choice["message"] ?? choice["delta"]);
    }
  }

  /** Tokens of the answer so far, about. */
  get tokens(): number {
    return Math.ceil(this.#characters / CHARACTERS_OF_TOKEN);
  }
}

/** Tokens of a request's messages and tools, about. */
export function tokensOfRequest({ messages, ["tools"]: tools }: CompletionRequest): number {
  let files = 0;
  const text = JSON.stringify([messages, tools ?? null]).replace(DATA_URL, () => {
    files++;
    return "";
  });
  return Math.ceil(text.length / CHARACTERS_OF_TOKEN) + files * TOKENS_OF_FILE;
}

/** The most tokens that a request lets the answer have, or a usual number. */
export function tokensOfAnswer(request: CompletionRequest): number {
  const limit = request["max_completion_tokens"] ?? request["max_tokens"];
  return typeof limit === "number" && limit >= 0 ? limit : USUAL_ANSWER;
}

function lengthOf(said: unknown): number {
  if (!isObject(said)) return 0;
  const { content, reasoning_content: reasoning, tool_calls: calls } = said;
  const texts = [content, reasoning].map((text) => typeof text === "string" ? text.length : 0);
  const tools = Array.isArray(calls) && calls.length > 0 ? JSON.stringify(calls).length : 0;
  return texts.reduce((sum, length) => sum + length, tools);
}

/** Errors that a provider tells in the body of an answer, whatever the status says. */

/** What the words of providers mean, as statuses of HTTP. */
const MEANINGS: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too.?many.?requests|throttl|quota|exhausted/i, 429],
  [/not.?found|no.?such/i, 404],
  [/too.?large|too.?long/i, 413],
  [/invalid.?(request|argument)|validation|bad.?request|context.?length/i, 400],
];

/** Fields in which providers tell an error without an object for it; no answer has such a text. */
const SENTENCES = ["message", "detail", "msg", "error_msg"];

/** The longest word that is looked up, in characters. */
const MAX_WORD = 100;

/** An answer that tells of an error. */
export class ToldError extends Error {
  /** The error in it: an object, or a sentence. */
  readonly told: unknown;
  /** The status of HTTP that fits; null if it tells none. */
  readonly status: number | null;

  /** @param status where the answer itself tells none */
  constructor(answer: unknown, status: number | null = null) {
    super("The answer tells of an error");
    this.told = errorIn(answer) ?? answer;
    this.status = statusIn(this.told) ?? statusIn(answer) ?? status;
  }
}

/** @throws ToldError if an answer, or a part of a stream, tells of an error */
export function requireNoError(answer: unknown): void {
  if (errorIn(answer) !== null) throw new ToldError(answer);
}

/** The error in an answer, in the form of any provider; null if it has none. */
function errorIn(answer: unknown): unknown {
  if (Array.isArray(answer)) return errorIn(answer[0]);
  if (!isObject(answer)) return null;
  const { error, choices, type, object } = answer;
  if (isTold(error)) return error;
  if (type === "error" || object === "error" || typeof answer["__type"] === "string") return answer;
  const exception = Object.entries(answer).find(([key, value]) =>
    key.endsWith("Exception") && isObject(value)
  );
  if (exception !== undefined) return { type: exception[0], ...exception[1] as JsonObject };
  if (!Array.isArray(choices)) {
    const sentence = SENTENCES.map((name) => answer[name]).find((text) => typeof text === "string");
    return sentence === undefined ? null : { ...answer, message: sentence };
  }
  const failed = choices.find((choice) =>
    isObject(choice) && (isTold(choice["error"]) || choice["finish_reason"] === "error")
  );
  return failed === undefined ? null : failed.error ?? failed;
}

function isTold(error: unknown): boolean {
  if (isObject(error)) return Object.keys(error).length > 0;
  return typeof error === "string" ? error !== "" : error === true;
}

function statusIn(error: unknown): number | null {
  if (!isObject(error)) return null;
  const { code, status, type } = error;
  const numbers = [error["statusCode"], error["status_code"], error["error_code"]];
  const words = [code, status, ...numbers, type, error["__type"]];
  for (const word of words) {
    const number = Number(word);
    if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  }
  for (const word of words) {
    if (typeof word !== "string") continue;
    const meaning = MEANINGS.find(([pattern]) => pattern.test(word.slice(0, MAX_WORD)));
    if (meaning !== undefined) return meaning[1];
  }
  return null;
}
