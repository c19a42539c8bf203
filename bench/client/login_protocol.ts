/**
 * The first message to a crowd: its people's credentials. It answers `null` when they are ready.
 */
export interface CrowdRequest {
  /** The URL of the login. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The local address of each. */
  readonly addresses: readonly string[];
}

/** The next message to the crowd; it answers with one {@link LoginAnswer} for each address. */
export const LOG_IN = "log in";

/** Time limit of a login, after which all of them fail, in seconds. */
export const LOGIN_LIMIT = 60;

/** The answer to a login. */
export interface LoginAnswer {
  readonly status: number;
  /** From the start of the request, before the connection, to the end of the answer. */
  readonly milliseconds: number;
}
