/** The first message to a crowd: its people's credentials. It answers `null` when they are ready. */
export interface CrowdRequest {
  /** Where they log in. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The local address of each. */
  readonly addresses: readonly string[];
}

/** The next message to the crowd; it answers with one {@link LoginAnswer} for each address. */
export const LOG_IN = "log in";

/** How long a login may take before everybody's failed, in seconds. */
export const LOGIN_LIMIT = 60;

/** How a login was answered. */
export interface LoginAnswer {
  readonly status: number;
  /** From the start of the request, before it was connected, to the end of the answer. */
  readonly milliseconds: number;
}
