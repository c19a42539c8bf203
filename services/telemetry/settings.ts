import { z } from "zod";

/** `name=value` pairs with commas between them, as in OTEL_EXPORTER_OTLP_HEADERS. */
const PAIR = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(.*?)\s*$/;

/** Where calls of models are exported to. */
export const otlpSchema = z.strictObject({
  endpoint: z.string().refine((text) => text === "" || isEndpoint(text), {
    error: "must be a URL with http:// or https://, without a password, a query and a fragment",
  }).default(""),
  headers_env: z.string().regex(/^([A-Za-z_][A-Za-z0-9_]{0,127})?$/, {
    error: "must be the name of an environment variable",
  }).default("OTEL_EXPORTER_OTLP_HEADERS"),
});

/** What is set of it. */
export type OtlpConfig = Readonly<z.infer<typeof otlpSchema>>;

/** The address for spans: that of the endpoint, with `/v1/traces` at its end. */
export function addressOfSpans(endpoint: string): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, "");
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
      const [, name, value] = PAIR.exec(part) ?? [];
      if (name === undefined || value === undefined) return null;
      headers.set(name, decodeURIComponent(value));
    }
  } catch {
    return null;
  }
  return headers;
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && url.search === "" && url.hash === "";
}
