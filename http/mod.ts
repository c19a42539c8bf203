/**
 * Shared by `routes/` and `mcp/`: the credentials and address of a request, waiting requests, the
 * access log and metrics, and the server itself.
 */
export { accepts, wantsEventStream, wantsLines } from "./accept.ts";
export { CREDENTIALS_MISSING, readAuthorization } from "./authorization.ts";
export { type BodyLimits, bodyLimitsOf, BodyReader, hasBody } from "./body.ts";
export { Callers, type CallersOptions, SESSION_COOKIE } from "./callers.ts";
export { type ConnectionLimits, HttpConnections } from "./connections.ts";
export { allowOrigins } from "./cors.ts";
export { type Client, TrustedProxies } from "./forwarded.ts";
export {
  type Arrival,
  type ArrivalHandler,
  type Forwarded,
  Forwarding,
  type ForwardingOptions,
  type Placement,
} from "./forwarding.ts";
export { type Answered, recordAnswer, type Records } from "./observation.ts";
export { ANY_HOST, hostNameOf, Hosts, isMachineName } from "./hosts.ts";
export {
  type Certificate,
  type HttpHandler,
  HttpServer,
  type HttpServerOptions,
  type RequestConnection,
} from "./server.ts";
export { MAX_URL_LENGTH } from "./request_targets.ts";
export { Waits } from "./waits.ts";
