/** `name=value` pairs with commas between them, as in OTEL_EXPORTER_OTLP_HEADERS. */
const PAIR = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=(.*)$/;

/** The address for spans: that of the endpoint, with `/v1/traces` at its end. */
export function addressOfSpans(endpoint: string): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  url.pathname = path.endsWith("/v1/traces") ? path : `${path}/v1/traces`;
  return url;
}

/**
 * Reads headers as the value of OTEL_EXPORTER_OTLP_HEADERS names them.
 *
 * @returns null if the text has another form
 */
export function headersFrom(text: string): Headers | null {
  const headers = new Headers();
  try {
    for (const part of text.split(",")) {
      if (part.trim() === "") continue;
      const [, name, value] = PAIR.exec(part.trim()) ?? [];
      if (name === undefined || value === undefined) return null;
      headers.set(name, decodeURIComponent(value.trim()));
    }
  } catch {
    return null;
  }
  return headers;
}
