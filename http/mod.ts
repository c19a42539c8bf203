/**
 * Shared by `routes/` and `mcp/`: the credentials and address of a request, waiting requests, the
 * access log and metrics, and the server itself.
 */
export {
  accepts,
  Callers,
  type CallersOptions,
  CREDENTIALS_MISSING,
  readApiKey,
  readAuthorization,
  SESSION_COOKIE,
  Waits,
  wantsEventStream,
  wantsLines,
} from "./callers.ts";
export { type BodyLimits, bodyLimitsOf, BodyReader, hasBody, modelBodyLimitsOf } from "./body.ts";
export { type ConnectionLimits, HttpConnections } from "./connections.ts";
export { isLong } from "./connection.ts";
export {
  allowOrigins,
  ANY_HOST,
  hostNameOf,
  Hosts,
  isMachineName,
  MAX_URL_LENGTH,
} from "./hosts.ts";
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
export {
  type Certificate,
  type HttpHandler,
  HttpServer,
  type HttpServerOptions,
  type RequestConnection,
} from "./server.ts";
export { MCP_SESSION_HEADER, sessionKeyOf } from "./session_key.ts";
export { chooseServeConnection, type ServeConnection, WITHOUT_SERVER } from "./runtime.ts";
