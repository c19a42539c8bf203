/** What the server refuses. */
export class MusterError extends Error {
  override readonly name = "MusterError";
  /** Of HTTP. */
  readonly status: number;

  /** @param sentence what the server says */
  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/**
 * The error of an answer that is none.
 *
 * @param body the parsed body, or its text
 */
export function refusal({ status, statusText }: Response, body: unknown): MusterError {
  const told = typeof body === "object" && body !== null && "error" in body ? body.error : body;
  const sentence = typeof told === "string" && told !== "" ? told : `${status} ${statusText}`;
  return new MusterError(status, sentence);
}
