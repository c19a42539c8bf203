/** Whether a client asks for server-sent events, given its `Accept` header. */
export function wantsEventStream(accept: string | null | undefined): boolean {
  return /\btext\/event-stream\b/i.test(accept ?? "");
}

/** Whether a client asks for lines of JSON, given its `Accept` header. */
export function wantsLines(accept: string | null | undefined): boolean {
  return /\bapplication\/x-ndjson\b/i.test(accept ?? "");
}
