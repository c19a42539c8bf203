/**
 * Whether an `Accept` header names a media type. With a weight of 0, it refuses the type (RFC 9110,
 * section 12.4.2).
 */
export function accepts(accept: string | null | undefined, type: string): boolean {
  return (accept ?? "").toLowerCase().split(",").some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    return name === type && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}

/** Whether a client asks for server-sent events, given its `Accept` header. */
export function wantsEventStream(accept: string | null | undefined): boolean {
  return /\btext\/event-stream\b/i.test(accept ?? "");
}

/** Whether a client asks for lines of JSON, given its `Accept` header. */
export function wantsLines(accept: string | null | undefined): boolean {
  return /\bapplication\/x-ndjson\b/i.test(accept ?? "");
}
