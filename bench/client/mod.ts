/** Clients for load, which cost less than the server that they measure. */
export { type Address, Connection } from "./connection.ts";
export { type EventStream, EventStreamClient } from "./event_stream.ts";
export { type HttpAnswer, HttpClient, type HttpRequest } from "./http.ts";
export { IrcClient, type Login } from "./irc.ts";
export { Ledger } from "./ledger.ts";
export { Load, type LoadRequest } from "./load.ts";
export { LOGIN_LIMIT, type LoginAnswer, LoginCrowd, loopbackAddresses } from "./login_crowd.ts";
export { ReaderCrowd } from "./reader_crowd.ts";
export { Strangers } from "./strangers.ts";
