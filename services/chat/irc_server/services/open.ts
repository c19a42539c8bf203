import type { IrcServer } from "../../../engines/irc/mod.ts";
import { chanServ, type ChanServOptions } from "./chan_serv.ts";
import { nickServ, type NickServOptions } from "./nick_serv.ts";

export interface IrcServicesOptions extends NickServOptions, Omit<ChanServOptions, "control"> {
  readonly server: Pick<IrcServer, "addService" | "channels">;
}

/** Adds NickServ and ChanServ to an IRC server. */
export function addIrcServices({ server, ...options }: IrcServicesOptions): void {
  server.addService(nickServ(options));
  server.addService(chanServ({ ...options, control: server.channels }));
}
