import {
  type BridgeNodes,
  NodeBridges,
  readChannelName,
  SharedChannels,
  StoredLines,
  StoredVisits,
} from "../../chat/bridge/mod.ts";
import { bridgeNickOf, type Config } from "../config/mod.ts";
import type { Stores } from "./stores.ts";

/** How long lines of channels are gathered for one transaction while many come, in milliseconds. */
const GATHER_MILLISECONDS = 5;

/** Opens what this node's bridge shares with those of other nodes; null without nodes. */
export async function openBridgeNodes(stores: Stores): Promise<BridgeNodes | null> {
  const { config, database, nodes, leadership } = stores;
  const { self } = nodes;
  if (self === null || !config.bridge.enabled) return null;
  const lines = new StoredLines(database);
  const peers = await NodeBridges.open({
    database,
    self: { node: self, nick: bridgeNickOf(config), account: bridgeAccountOf(config) },
  });
  return {
    peers,
    channels: await SharedChannels.open(database, config.bridge.channels.map(readChannelName)),
    lines,
    seen: await lines.newest(),
    visits: new StoredVisits(database),
    isLeading: () => leadership.isLeading,
    gatherMilliseconds: GATHER_MILLISECONDS,
    onWrote(listener) {
      const ends = [database.onPeerWrote(listener), database.onPeersLooked(() => listener(null))];
      return () => ends.forEach((end) => end());
    },
  };
}

/** The account of the bridge on its network; null if it logs in to none. */
function bridgeAccountOf(config: Config): string | null {
  const { bridge: { account }, irc: { ergo } } = config;
  if (account !== "") return account;
  return ergo.api_addr === "" ? null : bridgeNickOf(config);
}
