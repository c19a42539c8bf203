import type { Roster, Sessions } from "../../people/agents/mod.ts";
import { BridgeVoices } from "../../chat/bots/mod.ts";
import {
  type Bridge,
  type BridgeNodes,
  type BridgeOptions,
  type Connect,
  NodeBridges,
  readChannelName,
  SharedChannels,
  StoredLines,
  StoredVisits,
} from "../../chat/bridge/mod.ts";
import {
  bridgeNickOf,
  type Config,
  consoleNickOf,
  formatAddress,
  parseAddress,
} from "../config/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { openKeyFile, readSecretFile } from "../../people/identity/mod.ts";
import {
  type AccountSync,
  ANOPE,
  ATHEME,
  connectTcp,
  ErgoAccounts,
  ErgoApi,
  instanceIn,
  IrcConsole,
  type IrcNetwork,
  type NetworkAccounts,
  type NetworkNodes,
  openNetwork,
  ServicesNetwork,
} from "../../chat/irc_network/mod.ts";
import { type ChannelStanding, foldCase, type UserIdentity } from "../../engines/irc/mod.ts";
import { ReadMarkers } from "../../chat/irc_server/mod.ts";
import type { IrcHost } from "./irc_host.ts";
import { NetworkCommands } from "./network_commands.ts";
import { StartError } from "./options.ts";
import {
  accountRate,
  networkSpeakers,
  openAgentDirectory,
  openPeople,
  type People,
} from "./people.ts";
import type { Stores } from "./stores.ts";
import type { UserDirectory } from "../../chat/irc_server/virtual_users/mod.ts";

/** The salt of the passphrase of the bridge's own account. */
const BRIDGE_SALT = "bridge ";

/**
 * Opens the connection to an IRC network, and the services about its accounts. The network is not
 * contacted before everything is ready.
 *
 * @throws StartError, SecretFileError if a file with a secret or a certificate cannot be used
 */
export async function openExternal(
  stores: Stores,
  started: AsyncDisposableStack,
): Promise<IrcHost> {
  const { config, database, log, identity } = stores;
  const secrets = await readSecrets(config);
  const connect = await connectionTo(config);
  const accounts = await makeAccounts(stores, secrets, connect);
  const network = await openIrcNetwork(stores, accounts);
  started.defer(() => network.close());
  const markers = await ReadMarkers.open({ database, accounts: identity.accounts, log });
  const view = new NetworkView();
  const directory = await openAgentDirectory(stores);
  const { roster, sendLimits } = directory;
  const people = await openPeople(stores, {
    ...directory,
    sessions: view,
    users: view,
    provisioning: network.provisioning,
    speakers: networkSpeakers(identity.accounts, config.irc.admins),
    address: () => networkUrl(config),
  }, started);
  const nodes = await openBridgeNodes(stores);
  const commands = networkCommands(stores, people, nodes);
  return {
    people,
    server: null,
    listeners: null,
    bans: null,
    mutes: null,
    positions: positionsIn(markers),
    network: network.sync,
    projectChannels: null,
    claimReports: null,
    bridgeOptions: {
      connect,
      serverPassword: config.irc.password || null,
      login: bridgeLogin({ config, secrets, accounts, network }),
      pace: paceOf(config),
      onUp: () => network.sync.returned(),
      nodes,
      ...bridgeEars(people, commands),
    },
    botVoices: (bridge) => bridgeVoices(bridge, people, roster),
    describeAgents() {},
    attach(bridge) {
      view.attach(bridge);
      commands.attach(bridge);
      startAccountSync(network.sync, stores);
    },
    reconfigure: (changed) => sendLimits.reconfigure(accountRate(changed)),
    keepChannels: () => {},
    close: () => network.close(),
  };
}

/** Keeps the accounts on the network equal to those here. */
async function openIrcNetwork(stores: Stores, network: NetworkAccounts): Promise<IrcNetwork> {
  const { config, database, scheduler, log, identity: { accounts }, folder } = stores;
  const { key } = await openKeyFile(folder.file("network_key"));
  return await openNetwork({
    database,
    accounts,
    network,
    key,
    scheduler,
    log,
    address: config.irc.addr,
    random: Math.random,
    nodes: networkNodes(stores),
  });
}

function startAccountSync(sync: AccountSync, { nodes, leadership }: Stores): void {
  sync.start();
  // A server that is alone has begun with a comparison.
  if (nodes.self === null) return;
  leadership.add({ start: () => sync.takeOver(), stop: () => sync.resign() });
}

/** How far people have read, by muster's own markers. */
function positionsIn(markers: ReadMarkers): IrcHost["positions"] {
  return {
    readUpTo: (account, target) => markers.read(foldCase(account), foldCase(target)),
    markRead: (account, target, time) => markers.advance(foldCase(account), foldCase(target), time),
  };
}

/** Bots speak through the bridge, and to an agent that is not connected through its inbox. */
function bridgeVoices(bridge: Bridge, people: People, roster: Roster): BridgeVoices {
  return new BridgeVoices(bridge, (nick) => {
    const agent = roster.find(nick);
    return agent === null ? null : {
      isOnline: people.isOnline(agent.nick),
      keep: (bot, text) => people.inboxes.deliver(agent, { from: bot, account: bot, text }),
    };
  });
}

/** The secrets of the program. */
interface Secrets {
  readonly apiToken: string;
  readonly services: string;
  readonly operator: string;
  readonly bridge: string;
}

async function readSecrets({ irc: { ergo, services }, bridge }: Config): Promise<Secrets> {
  return {
    apiToken: await secretOf(ergo.api_token, ergo.api_token_file),
    services: await secretOf(services.password, services.password_file),
    operator: await secretOf(services.oper_password, services.oper_password_file),
    bridge: await secretOf(bridge.password, bridge.password_file),
  };
}

async function secretOf(text: string, file: string): Promise<string> {
  if (file === "") return text;
  const held = await readSecretFile(file);
  if (held === null || held === "") throw new StartError(`The file "${file}" holds no secret`);
  return held;
}

async function connectionTo({ irc: { addr, tls } }: Config): Promise<Connect> {
  const address = parseAddress(addr);
  if (address === null) throw new StartError(`"${addr}" is no address of an IRC network`);
  if (!tls.enabled) return connectTcp({ ...address, tls: null });
  const authority = tls.ca === "" ? null : await readAuthority(tls.ca);
  return connectTcp({
    ...address,
    tls: {
      ...(authority === null ? {} : { caCerts: [authority] }),
      ...(tls.server_name === "" ? {} : { serverName: tls.server_name }),
    },
  });
}

async function readAuthority(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`The certificate "${path}" cannot be read: ${reason}`);
  }
}

async function makeAccounts(
  { config, database, scheduler, log }: Stores,
  secrets: Secrets,
  connect: Connect,
): Promise<NetworkAccounts> {
  const { ergo, services, password } = config.irc;
  const shared = {
    connect,
    scheduler,
    log,
    nick: consoleNickOf(config),
    serverPassword: password || null,
    operator: { name: services.oper, password: secrets.operator },
    nickServ: services.nickserv,
  };
  const login = { name: services.account, password: secrets.services };
  const instance = await instanceIn(database);
  if (ergo.api_addr !== "") {
    const api = new ErgoApi({ address: ergo.api_addr, token: secrets.apiToken, scheduler });
    const console = new IrcConsole({ ...shared, login: login.name === "" ? null : login });
    return new ErgoAccounts({ api, console, instance });
  }
  const dialect = services.kind === "anope" ? ANOPE : ATHEME;
  return new ServicesNetwork({ ...shared, instance, dialect, login, chanServ: services.chanserv });
}

function networkNodes({ nodes, database, leadership }: Stores): NetworkNodes | null {
  if (nodes.self === null) return null;
  return {
    self: nodes.self,
    running: () => database.peers?.running ?? new Set(),
    runningSince: () =>
      nodes.all().filter(({ name }) => nodes.isRunning(name))
        .reduce((earliest, { startedAt }) => Math.min(earliest, startedAt), Infinity),
    isLeading: () => leadership.isLeading,
  };
}

/** What takes the commands that the bridge hears. */
function networkCommands(
  stores: Stores,
  { haltCommands, questionCommands }: People,
  shared: BridgeNodes | null,
): NetworkCommands {
  const { scheduler, log } = stores;
  const nodes = networkNodes(stores);
  const sharing = nodes === null || shared === null ? null : { nodes, lines: shared.lines };
  return new NetworkCommands({ haltCommands, questionCommands, sharing, scheduler, log });
}

/** The bridge's login. On Ergo, muster creates an account for it if none is configured. */
function bridgeLogin(
  { config, secrets, accounts, network }: {
    readonly config: Config;
    readonly secrets: Secrets;
    readonly accounts: NetworkAccounts;
    readonly network: IrcNetwork;
  },
): NonNullable<BridgeOptions["login"]> {
  const { bridge: { account }, irc } = config;
  const nick = bridgeNickOf(config);
  const nickServ = irc.services.nickserv;
  if (account !== "") return () => Promise.resolve({ account, password: secrets.bridge, nickServ });
  if (irc.ergo.api_addr === "") return () => Promise.resolve(null);
  const password = network.passphrases.derive(BRIDGE_SALT + nick);
  return async () => {
    const made = await accounts.register(nick, password) === "created";
    if (made || await accounts.verify(nick, password)) return { account: nick, password };
    throw new Unavailable(
      `The IRC network has an account "${nick}" that is not muster's: set bridge.account`,
    );
  };
}

function paceOf({ bridge }: Config): Exclude<BridgeOptions["pace"], undefined> {
  const { lines_per_second: perSecond, line_burst: burst } = bridge;
  return perSecond === 0 ? null : { perSecond, burst };
}

/** Passes the bridge's messages, received and sent, to the inboxes and presence. */
function bridgeEars(
  { agents, inboxes }: People,
  commands: NetworkCommands,
): Required<Pick<BridgeOptions, "onPosted" | "onHeard" | "onRedacted">> {
  return {
    onPosted(channel, message) {
      agents.sendLimits.sent(message.nick);
      inboxes.takePosted(channel, message);
    },
    onHeard(message) {
      const speaker = message.account ?? message.nick;
      agents.sendLimits.sent(speaker);
      agents.sessionSeen(speaker);
      inboxes.takeHeard(message);
      commands.take(message);
    },
    onRedacted: (id) => inboxes.forgetMessage(id),
  };
}

/** The address of the network, for agents. */
function networkUrl({ irc: { addr, tls, public_address } }: Config): string {
  const address = parseAddress(public_address === "" ? addr : public_address);
  return address === null ? "" : `${tls.enabled ? "ircs" : "irc"}://${formatAddress(address)}`;
}

/** How long lines of channels are gathered for one transaction while many come, in milliseconds. */
const GATHER_MILLISECONDS = 5;

/** Opens what this node's bridge shares with those of other nodes; null without nodes. */
async function openBridgeNodes(stores: Stores): Promise<BridgeNodes | null> {
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

/** Everybody's relation to channels while there is no bridge. */
const UNKNOWN_STANDING: ChannelStanding = {
  exists: false,
  member: false,
  visible: true,
  refusal: null,
};

/**
 * The users of an external IRC network, as far as the bridge sees them; nobody before a bridge is
 * attached. It is read-only.
 */
class NetworkView implements Sessions, UserDirectory {
  #bridge: Bridge | null = null;

  /** Uses this bridge from now on. */
  attach(bridge: Bridge | null): void {
    this.#bridge = bridge;
  }

  isOnline(account: string): boolean {
    return this.#bridge?.sees(account) ?? false;
  }

  isMember(account: string, channel: string): boolean {
    return this.#bridge?.sees(account, channel) ?? false;
  }

  standing({ nick }: UserIdentity, channel: string): ChannelStanding {
    return this.#bridge?.standing(nick, channel) ?? UNKNOWN_STANDING;
  }

  isAlone(account: string, channel: string): boolean {
    return this.#bridge?.isAlone(account, channel) ?? false;
  }

  findUser(): null {
    return null;
  }

  addUser(): null {
    return null;
  }

  disconnectAccount(): number {
    return 0;
  }

  freeNick(): void {}

  forgetAccount(): void {}

  claimChannels(): void {}
}
