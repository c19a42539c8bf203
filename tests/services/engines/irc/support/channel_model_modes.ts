/** The modes of channels, in the model of them. */

/** One change of a mode, as a client asks for it. */
export interface AskedChange {
  readonly add: boolean;
  readonly letter: string;
  readonly param?: string;
}

/** A client in the model. `tell` gets what it ought to hear: source, command, parameters. */
export interface ModelClient {
  nick: string;
  readonly user: string;
  readonly account: string | null;
  tell(line: string): void;
}

/** A channel in the model. */
export interface ModelChannel {
  readonly name: string;
  readonly members: Map<ModelClient, Set<string>>;
  readonly flags: Set<string>;
  readonly lists: Record<"b" | "e" | "I", string[]>;
  readonly invited: Set<ModelClient>;
  founder: string | null;
  key: string | null;
  limit: number | null;
  topic: string;
}

/** The letters of flags, in the order of 324. */
export const FLAGS = "Cimnst";

export function changeKey(
  client: ModelClient,
  channel: ModelChannel,
  { add, param }: AskedChange,
): AskedChange | null {
  if (!add) {
    if (channel.key === null) return null;
    channel.key = null;
    return { add, letter: "k", param: "*" };
  }
  if (param === undefined || param.includes(",")) {
    client.tell(`696 ${channel.name} k *`);
    return null;
  }
  if (channel.key === param) return null;
  channel.key = param;
  return { add, letter: "k", param };
}

export function changeLimit(
  client: ModelClient,
  channel: ModelChannel,
  { add, param }: AskedChange,
): AskedChange | null {
  if (!add) {
    if (channel.limit === null) return null;
    channel.limit = null;
    return { add, letter: "l" };
  }
  if (param === undefined || !/^[1-9]\d*$/.test(param)) {
    client.tell(`696 ${channel.name} l ${param ?? "*"}`);
    return null;
  }
  if (channel.limit === Number(param)) return null;
  channel.limit = Number(param);
  return { add, letter: "l", param };
}

export function modesOf({ flags, key, limit }: ModelChannel, withKey: boolean): string {
  const letters = [...flags].sort(byTable).join("") + (key === null ? "" : "k") +
    (limit === null ? "" : "l");
  const params = [key === null ? [] : withKey ? key : "*", limit ?? []].flat();
  return [`+${letters}`, ...params].join(" ");
}

function byTable(one: string, other: string): number {
  return FLAGS.indexOf(one) - FLAGS.indexOf(other);
}

export function modeString(changes: readonly AskedChange[]): string {
  let letters = "";
  let sign = "";
  for (const { add, letter } of changes) {
    const own = add ? "+" : "-";
    letters += (own === sign ? "" : own) + letter;
    sign = own;
  }
  return [letters, ...changes.flatMap(({ param }) => param ?? [])].join(" ");
}
