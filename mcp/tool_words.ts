/**
 * Requests of HTTP that errors of the services name, and what a model can use in their place. A
 * request without a tool is left out.
 */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/POST \u2026\/takeover/, "take_over_workspace"],
  [/POST \/v1\/agents\/[^/\s]+\/messages/, "send_direct"],
  [/There is no \/api\/\S* here/, "There is no such name here"],
  [/Unknown API path: \/api\/\S*/, "There is no such name here"],
  [/"ticket_uuid"/, '"ticket"'],
  [
    /There are no channels: bridge\.enabled is false in the configuration/,
    "The bridge is turned off in the configuration (bridge.enabled)",
  ],
  [/; DELETE deletes the page/, ""],
  [/ with POST \/api\/tickets\/fields/, ""],
  [/; GET \/api\/tickets\/fields lists those that they have/, ""],
];

/** The message of an error, with tools in place of requests. */
export function inToolWords(message: string): string {
  return REPLACEMENTS.reduce((text, [request, tool]) => text.replace(request, tool), message);
}
