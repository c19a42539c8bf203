import { isArtifactHash } from "../codec/mod.ts";
import type { Card } from "./cards.ts";
import { lockCheckin, unlockCheckins } from "./commit_locks.ts";
import type { Exchange } from "./exchange.ts";
import type { Repository } from "../repository.ts";
import type { Reception } from "./receiving.ts";
import type { MessageForm, SyncCodes } from "./request.ts";
import { sendPacked } from "./packed_clone.ts";
import { announceClusters, sendArtifact, sendUnpacked } from "./sending.ts";
import { isSettingsGroup, sendSettings } from "./settings.ts";
import { acceptUnversioned, sendCatalog, sendUnversioned } from "./unversioned.ts";

/** The version that the server reports: 2.21, whose clients send the login in the message. */
const SERVER_VERSION = ["22100", "20230226", "192424"];

/** Prefix of the message that makes a client pull only. */
const PULL_ONLY = "pull only - not authorized to push";
const NO_PRIVATES = "not authorized to sync private content";

/** What the answer to a card needs. */
export interface CardContext {
  readonly exchange: Exchange;
  readonly reception: Reception;
  /** Whether it is the first card of its message. */
  readonly isFirst: boolean;
}

/** An error ends the exchange; a form is that of the answer; null is neither. */
export type CardOutcome = { readonly error: string } | Extract<MessageForm, "plain"> | null;

/** Acts on one card. */
export function answerCard(context: CardContext, card: Card): CardOutcome {
  const { exchange, reception } = context;
  const { request: { rights, push }, out } = exchange;
  switch (card.kind) {
    case "login":
      return context.isFirst && exchange.request.cookie === null
        ? null
        : fail(exchange, "multiple login cards");
    case "pragma":
      return answerPragma(exchange, card);
    case "clone":
      return rights.read ? answerClone(exchange, card) : fail(exchange, "not authorized to clone");
    case "pull":
    case "push":
      return answerProject(exchange, card);
    case "file":
    case "cfile":
      if (!exchange.isPushing) return fail(exchange, "not authorized to write");
      if (push?.standstill !== undefined) return fail(exchange, push.standstill);
      reception.receive(card);
      return null;
    case "igot":
      if (exchange.isPushing) reception.noteAnnounced(card);
      return null;
    case "gimme":
      exchange.unknown.add(card.hash);
      if (exchange.isPulling) sendArtifact(exchange, card.hash);
      return null;
    case "private":
      // Otherwise what follows would be stored, and everybody could read it.
      if (!rights.privates) return fail(exchange, NO_PRIVATES);
      reception.expectPrivate();
      return null;
    case "reqconfig":
      if (rights.read && isSettingsGroup(card.name) && exchange.isFirst(`config ${card.name}`)) {
        sendSettings(exchange.repository, card.name, out);
      }
      return null;
    case "config":
      return fail(exchange, "not authorized to push configuration");
    case "uvfile":
      // One without content removes a file.
      if (push?.standstill !== undefined && card.content !== null) {
        return fail(exchange, push.standstill);
      }
      acceptUnversioned(exchange, card);
      return null;
    case "uvgimme":
      if (rights.read) sendUnversioned(exchange, card.name);
      return null;
    case "cookie":
      return null;
    default:
      return fail(exchange, `bad command: ${card.kind}`);
  }
}

function answerPragma(
  exchange: Exchange,
  { name, values }: Card & { readonly kind: "pragma" },
): CardOutcome {
  const { repository, request: { rights, now }, out } = exchange;
  const [first = "", second = ""] = values;
  switch (name) {
    case "client-version":
      if (values.length >= 3 && exchange.isFirst(name)) {
        out.add({ kind: "pragma", name: "server-version", values: SERVER_VERSION });
      }
      return null;
    case "send-private":
      if (rights.privates) exchange.sendsPrivate = true;
      else if (exchange.isFirst(name)) out.add({ kind: "error", text: NO_PRIVATES });
      return null;
    case "send-catalog":
      exchange.sendsCatalog = true;
      return null;
    case "req-clusters":
      if (rights.read && exchange.isFirst(name)) announceClusters(exchange);
      return null;
    case "uv-hash":
      if (rights.read && exchange.isFirst(name)) sendCatalog(exchange, first);
      return null;
    case "ci-lock":
      if (isArtifactHash(first) && isArtifactHash(second)) {
        if (exchange.judge !== null) {
          lock(exchange, {
            checkin: first,
            client: second,
            user: rights.user,
            now: Math.floor(now / 1000),
          });
        }
        out.add({ kind: "pragma", name: "avoid-delta-manifests", values: [] });
      }
      return null;
    case "ci-unlock":
      if (exchange.judge !== null && isArtifactHash(first)) unlockCheckins(repository, first);
      return null;
    default:
      // Pragmas are wishes: others stay unanswered.
      return null;
  }
}

function lock(
  { repository, out }: Exchange,
  wish: Parameters<typeof lockCheckin>[1],
): void {
  const holder = lockCheckin(repository, wish);
  if (holder === null) return;
  const values = [holder.user, String(holder.since)];
  out.add({ kind: "pragma", name: "ci-lock-fail", values });
}

/** The codes of a repository. */
export function readSyncCodes({ config }: Repository): SyncCodes {
  const zero = "0".repeat(40);
  return {
    serverCode: config.get("server-code") ?? zero,
    projectCode: config.get("project-code") ?? zero,
  };
}

function answerClone(
  exchange: Exchange,
  { version, sequence }: Card & { readonly kind: "clone" },
): CardOutcome {
  const { repository, out } = exchange;
  if (!exchange.isFirst("clone")) return fail(exchange, "multiple clone cards");
  const codes = { kind: "push", ...readSyncCodes(repository) } as const;
  if (version === 1) {
    exchange.isPulling = true;
    exchange.sendsCatalog = true;
    out.add(codes);
    return null;
  }
  if (sequence <= 0) return fail(exchange, "invalid clone sequence number");
  const next = version >= 3 ? sendPacked(exchange, sequence) : sendUnpacked(exchange, sequence);
  out.add({ kind: "clone_seqno", next });
  out.add(codes);
  return version >= 3 ? "plain" : null;
}

/** `pull` and `push` name the project, and say what the rest of the message is. */
function answerProject(
  exchange: Exchange,
  { kind, serverCode, projectCode }: Card & { readonly kind: "pull" | "push" },
): CardOutcome {
  const { repository: { config }, request: { rights }, out } = exchange;
  if (!rights.read) {
    return fail(exchange, `not authorized to ${kind === "pull" ? "read" : "write"}`);
  }
  if (projectCode !== config.get("project-code")) return fail(exchange, "wrong project");
  if (kind === "pull") exchange.isPulling = true;
  else if (exchange.judge !== null) exchange.beginPush(serverCode);
  else if (!exchange.isPulling) return fail(exchange, "not authorized to write");
  else if (exchange.isFirst(PULL_ONLY)) out.add({ kind: "message", text: PULL_ONLY });
  return null;
}

/** Ends the exchange: the answer has the error and nothing else. */
function fail(exchange: Exchange, error: string): CardOutcome {
  exchange.out.clear();
  exchange.out.add({ kind: "error", text: error });
  return { error };
}
