/** A message on its way to a server, and why it did not arrive. */
import { RPC_ERROR, type RpcErrorCode } from "../json_rpc.ts";

/** A message with the headers of HTTP. */
export interface OutgoingMessage {
  readonly headers: Headers;
  readonly body: string;
  /** Aborts when the client cancels the request, or is gone. */
  readonly signal: AbortSignal;
  /** Whether to look for a while for a server that just starts. */
  readonly waits: boolean;
  /** Whether a server that has not answered after a few seconds counts as away. */
  readonly isBrief: boolean;
}

/** What {@link NotDelivered} says beside its text. */
interface Failure {
  /** What a person can do about it. */
  readonly remedy: string;
  /** The code of the JSON-RPC error; that of any failure if absent. */
  readonly code?: RpcErrorCode;
}

/** The message could not be delivered. The text is for an agent: what is wrong, what it can do. */
export class NotDelivered extends Error {
  override readonly name: string = "NotDelivered";
  readonly code: RpcErrorCode;
  readonly remedy: string;

  constructor(message: string, failure: Failure) {
    super(message);
    this.code = failure.code ?? RPC_ERROR.server;
    this.remedy = failure.remedy;
  }
}

/** No server answers, which may change without this client. */
export class ServerAway extends NotDelivered {
  override readonly name = "ServerAway";
}
