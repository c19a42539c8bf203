/** Answers clients of Git from a companion. */
import {
  type Advertisement,
  bytesOfName,
  EVERYTHING,
  type FetchRequest,
} from "../../../git/mod.ts";
import type { GitCompanion } from "./companion.ts";
import { describeNegotiation, negotiate, type NegotiationAnswer } from "./negotiation.ts";
import { type PackReport, writePack } from "./packing.ts";
import { planPack } from "./plan.ts";
import { KIND } from "./schema.ts";

/** The references that Git sees, with what is new; null if that takes long to find out. */
export function readGitRefs(companion: GitCompanion): Advertisement | null {
  return companion.updateIfShort() ? companion.advertisement() : null;
}

/** Where the table of each kind has the size of an object. */
const SIZES: Readonly<Record<number, string>> = {
  [KIND.commit]: "SELECT size FROM revision WHERE id=?",
  [KIND.tree]: "SELECT size FROM tree WHERE id=?",
  [KIND.blob]: "SELECT size FROM file WHERE rid=?",
  [KIND.tag]: "SELECT size FROM tag WHERE id=?",
};

/** Bytes of objects by their names; null for one that is not here. */
export function sizesOf({ db }: GitCompanion, names: readonly string[]): (number | null)[] {
  return names.map((name) => {
    const found = db.row<{ kind: number; place: number }>(
      "SELECT kind, place FROM object WHERE name=?",
      bytesOfName(name),
    );
    return found === undefined ? null : db.value<number>(SIZES[found.kind]!, found.place) ?? null;
  });
}

/** What a client and the repository have in common. */
export function answerNegotiation(
  companion: GitCompanion,
  request: FetchRequest,
): NegotiationAnswer {
  return companion.reader.read(() => {
    companion.update();
    return describeNegotiation(companion, negotiate(companion, request));
  });
}

/**
 * Writes the pack that a client asks for.
 *
 * @param sink takes pieces; each is in use until it returns
 * @throws {FossilError} see {@linkcode negotiate}
 */
export function writeFetched(
  companion: GitCompanion,
  request: FetchRequest,
  sink: (piece: Uint8Array) => void,
): PackReport {
  return companion.reader.read(() => {
    companion.update();
    const negotiation = negotiate(companion, request);
    const plan = planPack(companion, negotiation, request);
    // Who filters lacks objects of commits that it has.
    const isWhole = request.filter.blobBytes === EVERYTHING.blobBytes &&
      request.filter.treeDepth === EVERYTHING.treeDepth;
    const options = { isThin: request.isThin && isWhole, takesOffsets: request.takesOffsets };
    return writePack(companion, plan, options, sink);
  });
}
