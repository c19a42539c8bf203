import type { Endpoint } from "./credentials.ts";

/** The origins that a list of models and a chat use. */
export function originsOf(endpoint: Endpoint): string[] {
  const origin = new URL(endpoint.baseUrl).origin;
  return endpoint.provider.api === "bedrock" ? [origin, controlPlane(endpoint)] : [origin];
}

/** Bedrock's models are listed by another host than the one that runs them. */
export function controlPlane({ baseUrl }: Endpoint): string {
  return new URL(baseUrl).origin.replace(/^(https?:\/\/)bedrock-runtime/, "$1bedrock");
}
