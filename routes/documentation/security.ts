/** The security schemes of the document. */
export const SECURITY_SCHEMES = {
  apiToken: {
    type: "http",
    scheme: "bearer",
    description: "The operator's API token, which stands in the file api_token of the data folder",
  },
  adminToken: {
    type: "http",
    scheme: "bearer",
    description: "A token of an admin: with scope admin for everything, with read for every GET",
  },
  agentToken: {
    type: "http",
    scheme: "bearer",
    description: "A token of an agent",
  },
  personToken: {
    type: "http",
    scheme: "bearer",
    description: "A token of a person",
  },
  runnerToken: {
    type: "http",
    scheme: "bearer",
    description: "The token of a runner of checks, which opens the jobs that it has",
  },
  passphrase: {
    type: "http",
    scheme: "basic",
    description: "The nick and the passphrase of an agent",
  },
  queryToken: {
    type: "apiKey",
    in: "query",
    name: "token",
    description: "Either token, for clients of event streams that cannot set a header",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "muster_session",
    description: "What a login sets; over TLS, `__Host-muster_session`",
  },
} as const;

export type SecurityScheme = keyof typeof SECURITY_SCHEMES;

/** Says in the document that each of these schemes opens an operation. */
export function openedBy(...schemes: readonly SecurityScheme[]): Record<string, string[]>[] {
  return schemes.map((name) => ({ [name]: [] }));
}
