import { ChannelAccess } from "./access.ts";
import { ChannelEntry } from "./channel_entry.ts";
import { ChannelReading } from "./channel_reading.ts";
import { Channels, type ChannelsOptions } from "./channels.ts";
import { Hearing } from "./hearing.ts";
import { Intake, type IntakeOptions } from "./intake.ts";
import { Link } from "./link.ts";
import type { LinkEvent } from "./link_events.ts";
import { readChannelName } from "./names.ts";
import { NodeSharing } from "./node_sharing.ts";
import type { BridgeEars, BridgeOptions } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { ChannelAuthorization } from "./authorization.ts";
import { Playback } from "./playback.ts";
import { Posting } from "./posting.ts";
import { Readiness } from "./readiness.ts";
import { Searching } from "./searching.ts";
import { type Scheduler, systemScheduler } from "../scheduler.ts";

/** The parts of a bridge. */
export interface BridgeParts {
  readonly scheduler: Scheduler;
  readonly readiness: Readiness;
  readonly link: Link;
  readonly outbox: Outbox;
  readonly playback: Playback;
  readonly access: ChannelAccess;
  readonly channels: Channels;
  readonly entry: ChannelEntry;
  readonly intake: Intake;
  readonly reading: ChannelReading;
  readonly posting: Posting;
  readonly authorization: ChannelAuthorization;
  /** Null without nodes. */
  readonly sharing: NodeSharing | null;
}

/**
 * Makes the parts of a bridge, each with those that it needs. Nothing happens before the link starts.
 *
 * @param ears those who hear what the bridge hears, as of the moment
 * @param onEvent called with what happens on IRC
 */
export function connectParts(
  options: BridgeOptions,
  ears: ReadonlySet<BridgeEars>,
  onEvent: (event: LinkEvent) => void,
): BridgeParts {
  const { nick, bufferSize, log, speakers, hasChannel } = options;
  const scheduler = options.scheduler ?? systemScheduler;
  const readiness = new Readiness(scheduler);
  const outbox = new Outbox(scheduler, () => hearing.doubt());
  const link = makeLink(options, scheduler, onEvent);
  const hearing = new Hearing({ outbox, link, log });
  const playback = new Playback(link, scheduler, options.archive ?? null);
  const access = new ChannelAccess(speakers ?? null);
  const channels = makeChannels(options, {
    link,
    scheduler,
    recall: (channel) => intake.recall(channel),
    onActivity: (activity) => {
      for (const ear of ears) ear.activity(activity);
    },
  });
  const { nodes = null, webUserTtlMilliseconds } = options;
  const sharing = nodes === null ? null : new NodeSharing({
    nodes,
    find: (folded) => channels.find(folded),
    onLine: (channel, line) => intake.deliver(channel, line),
    onPast: (channel, line) => intake.deliverPast(channel, line),
    bufferSize,
    webUserTtlMilliseconds,
    scheduler,
    log,
  });
  const shared = sharing?.lines ?? null;
  const below = { scheduler, readiness, link, outbox, playback, access, channels, sharing };
  const parts = { ...below, shared, bufferSize, log };
  const { onHeard, onPosted, onRedacted } = options;
  const onLogged: IntakeOptions["onLogged"] = (channel, message, as) => {
    for (const ear of ears) ear.message(channel, message, as);
  };
  const entry = new ChannelEntry({ ...parts, speakers, hasChannel });
  const intake = new Intake({ ...parts, onHeard, onPosted, onRedacted, onLogged });
  const searching = new Searching({ ...parts, archive: options.archive ?? null });
  const reading = new ChannelReading({ ...parts, entry, searching, webUserTtlMilliseconds });
  const authorization = new ChannelAuthorization(options.credentials ?? null);
  const room = () => options.archive?.room() ?? null;
  const { mentions } = options;
  const posting = new Posting({ ...parts, nick, entry, speakers, authorization, room, mentions });
  return { ...below, entry, intake, reading, posting, authorization };
}

function makeLink(
  options: BridgeOptions,
  scheduler: Scheduler,
  onEvent: (event: LinkEvent) => void,
): Link {
  const { nick, connect, log } = options;
  return new Link({
    nick,
    peers: options.nodes?.peers ?? null,
    connect,
    log,
    scheduler,
    login: options.login ?? (() => Promise.resolve(null)),
    serverPassword: options.serverPassword ?? null,
    pace: options.pace ?? null,
    random: options.random ?? Math.random,
    onEvent,
  });
}

function makeChannels(
  options: BridgeOptions,
  parts: Pick<ChannelsOptions, "link" | "scheduler" | "recall" | "onActivity">,
): Channels {
  const { bufferSize, log, speakers, nodes = null } = options;
  return new Channels({
    ...parts,
    bufferSize,
    log,
    kept: options.channels.map(readChannelName),
    max: options.maxChannels,
    maxPerAgent: options.maxChannelsPerAgent,
    keepsAlone: (agent, name) => speakers?.keepsAlone(agent, name) ?? false,
    store: nodes?.channels ?? options.store ?? null,
    nodes,
    restored: options.restored ?? [],
  });
}
