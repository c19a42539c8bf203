/** The actions that this server offers itself, as repositories of Git. */
import { deflateSync } from "node:zlib";
import {
  type Advertisement,
  advertiseRefs,
  formatTree,
  hexOf,
  MODE,
  nameOfObject,
  type ObjectKind,
  PackWriter,
  parseOldFetch,
  textPacket,
} from "../../services/engines/git/mod.ts";
import { VERSION } from "../../services/kernel/version.ts";
import { CHECKOUT } from "./checkout.ts";

/** The references of an offered action: whatever version a workflow names is this one. */
const REFS = [
  "refs/heads/main",
  "refs/heads/master",
  ...Array.from({ length: 9 }, (_, index) => `refs/tags/v${index + 1}`),
];
const HEAD = "refs/heads/main";

const encoder = new TextEncoder();

/** A repository of one commit, whose answers to version 0 of Git's protocol are all in memory. */
export class OfferedAction {
  readonly #advertisement: Advertisement;
  readonly #pack: Uint8Array<ArrayBuffer>;

  /** @param definition what its `action.yml` holds */
  constructor(definition: string) {
    const objects: { kind: ObjectKind; content: Uint8Array }[] = [];
    const add = (kind: ObjectKind, content: Uint8Array) => {
      objects.push({ kind, content });
      return nameOfObject(kind, content);
    };
    const file = add("blob", encoder.encode(definition));
    const tree = add("tree", formatTree([{ name: "action.yml", mode: MODE.file, object: file }]));
    const who = "muster <muster@localhost> 0 +0000";
    const commit = add(
      "commit",
      encoder.encode(
        `tree ${hexOf(tree)}\nauthor ${who}\ncommitter ${who}\n\nAs muster ${VERSION} offers it\n`,
      ),
    );
    const object = hexOf(commit);
    this.#advertisement = { head: HEAD, refs: REFS.map((ref) => ({ ref, object, peeled: null })) };
    this.#pack = packed(objects);
  }

  /** The answer to `info/refs`. */
  refs(): Uint8Array<ArrayBuffer> {
    const service = "git-upload-pack";
    const capabilities = `agent=muster/${VERSION}`;
    return joined([...advertiseRefs(this.#advertisement, { service, capabilities })]);
  }

  /**
   * The answer to a fetch: all there is.
   *
   * @throws {GitError} it is malformed
   */
  fetch(message: Uint8Array): Uint8Array<ArrayBuffer> {
    const request = parseOldFetch(message);
    const nothing = textPacket("NAK\n");
    return request?.isDone === true ? joined([nothing, this.#pack]) : joined([nothing]);
  }
}

/** The actions by the paths below which they are found. */
export function offeredActions(): ReadonlyMap<string, OfferedAction> {
  return new Map([["actions/checkout", new OfferedAction(CHECKOUT)]]);
}

function packed(
  objects: readonly { readonly kind: ObjectKind; readonly content: Uint8Array }[],
): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  const writer = new PackWriter(objects.length, (piece) => pieces.push(piece.slice()));
  for (const { kind, content } of objects) {
    writer.entry({ kind }, content.length, deflateSync(content));
  }
  writer.finish();
  return joined(pieces);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
