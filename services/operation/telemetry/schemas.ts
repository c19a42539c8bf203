import { z } from "zod";

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

function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && url.search === "" && url.hash === "";
}
