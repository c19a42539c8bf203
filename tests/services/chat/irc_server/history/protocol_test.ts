import assert from "node:assert/strict";
import { HistoryKind } from "../../../../../services/engines/irc/mod.ts";
import {
  type Operation,
  packOperations,
  unpackOperations,
} from "../../../../../services/chat/irc_server/history/changes.ts";

Deno.test("operations pass through the worker's port unchanged", () => {
  const append = (sequence: number, account: string | null): Operation => ({
    kind: "append",
    sequence,
    record: {
      target: { account, name: "#room" },
      title: "#Room",
      time: 1_800_000_000_000,
      id: `id-${sequence}`,
      kind: HistoryKind.MESSAGE,
      confined: sequence % 2 === 0,
      content: '{"head":":bob!b@h PRIVMSG #room"}',
    },
  });
  const target = { account: null, name: "#room" };
  const operations: Operation[] = [
    append(1, null),
    { kind: "redact", sequence: 2, id: "id-1" },
    append(3, "alice"),
    append(4, ""),
    { kind: "forgetConfined", sequence: 5, target },
    { kind: "forgetAccount", sequence: 6, account: "alice", before: null },
    {
      kind: "rename",
      sequence: 7,
      from: target,
      to: { account: null, name: "#other" },
      title: "#other",
    },
    append(8, null),
  ];
  assert.deepEqual(unpackOperations(packOperations(operations)), operations);
  assert.deepEqual(unpackOperations([]), []);
});
