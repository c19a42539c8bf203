/** What a server says of itself and of its references, in both versions of the protocol. */
import { markPacket, textPacket, textPackets } from "./pkt_line.ts";
import type { ListRequest } from "./upload_pack.ts";

/** A reference that clients see. */
export interface AdvertisedRef {
  readonly ref: string;
  /** The name of its object. */
  readonly object: string;
  /** The object that an annotated tag is of, at last; null for any other object. */
  readonly peeled: string | null;
}

/** The references of a repository. */
export interface Advertisement {
  /** The reference that HEAD stands for; it may not exist yet. */
  readonly head: string;
  readonly refs: readonly AdvertisedRef[];
}

/** The name that no object has. */
const NO_OBJECT = "0".repeat(40);

/** What version 2 can do. */
export function capabilitiesOf(agent: string): Uint8Array[] {
  return [
    "version 2",
    `agent=${agent}`,
    "ls-refs=unborn",
    "fetch=shallow wait-for-done filter",
    "server-option",
    "object-format=sha1",
    "object-info",
  ].map((line) => textPacket(`${line}\n`)).concat(markPacket("flush"));
}

/** The references, as version 2 lists them. */
export function* listRefs({ head, refs }: Advertisement, list: ListRequest): Generator<Uint8Array> {
  const { prefixes, showsSymrefs, showsUnborn, peels } = list;
  const isWanted = (ref: string) =>
    prefixes.length === 0 || prefixes.some((prefix) => ref.startsWith(prefix));
  const target = refs.find(({ ref }) => ref === head);
  const symref = showsSymrefs ? ` symref-target:${head}` : "";
  if (isWanted("HEAD")) {
    if (target !== undefined) yield textPacket(`${target.object} HEAD${symref}\n`);
    else if (showsUnborn) yield textPacket(`unborn HEAD${symref}\n`);
  }
  yield textPackets(
    refs.filter(({ ref }) => isWanted(ref)).map(({ ref, object, peeled }) =>
      `${object} ${ref}${peels && peeled !== null ? ` peeled:${peeled}` : ""}\n`
    ),
  );
  yield markPacket("flush");
}

/** The references, as version 0 begins with them. */
export function* advertiseRefs(
  { head, refs }: Advertisement,
  { service, capabilities }: { readonly service: string; readonly capabilities: string },
): Generator<Uint8Array> {
  yield textPacket(`# service=${service}\n`);
  yield markPacket("flush");
  const target = refs.find(({ ref }) => ref === head);
  const lines = target === undefined ? [] : [`${target.object} HEAD`];
  for (const { ref, object, peeled } of refs) {
    lines.push(`${object} ${ref}`);
    if (peeled !== null) lines.push(`${peeled} ${ref}^{}`);
  }
  const [first = `${NO_OBJECT} capabilities^{}`, ...rest] = lines;
  const symref = target === undefined ? "" : ` symref=HEAD:${head}`;
  yield textPackets([`${first}\0${capabilities}${symref}\n`, ...rest.map((line) => `${line}\n`)]);
  yield markPacket("flush");
}

/** What version 0 of a fetch can do. */
export function oldCapabilitiesOf(agent: string): string {
  return "multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not " +
    "deepen-relative no-progress include-tag multi_ack_detailed no-done " +
    "allow-tip-sha1-in-want allow-reachable-sha1-in-want filter object-format=sha1 " +
    `agent=${agent}`;
}
