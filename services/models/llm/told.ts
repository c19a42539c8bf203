import { isObject, type JsonObject } from "./json.ts";

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
