/** What an operation takes grows with what it is about, and no faster. */
import assert from "node:assert/strict";
import {
  Reader,
  readTicket,
  readTree,
  writeTicketChange,
} from "../../../../services/engines/fossil/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { Fixture, put } from "./support/fixture.ts";
import { THOROUGH } from "../../../support/level.ts";

Deno.test(
  "a folder of equal files is listed about as fast as one of different files",
  THOROUGH,
  () => {
    using fixture = new Fixture();
    const fill = (folder: string, text: (index: number) => string) =>
      fixture.commit(Array.from({ length: 3000 }, (_, i) => put(`${folder}/${i}`, text(i))));
    fill("equal", () => "");
    const checkin = fill("different", (index) => `${index}`);
    const time = (path: string) =>
      cpuTimeOf(() => readTree(new Reader(fixture.repository), { checkin, path }));
    const different = time("different");
    const equal = time("equal");
    assert.ok(equal < 300 + 4 * different, `${equal} ms and ${different} ms`);
  },
);

Deno.test("a comment on a ticket takes no longer for those before it", THOROUGH, () => {
  using fixture = new Fixture();
  const { repository } = fixture;
  const title = { name: "title", value: "a ticket", append: false };
  const { ticket } = writeTicketChange(repository, { ...fixture.author(), fields: [title] });
  const comment = (append: boolean) =>
    writeTicketChange(repository, {
      ...fixture.author(),
      ticket,
      fields: [
        append
          ? { name: "comment", value: "more text ".repeat(100), append }
          : { name: "icomment", value: "more text ".repeat(100), append },
      ],
    });
  const some = (append: boolean) =>
    cpuTimeOf(() => {
      for (let i = 0; i < 50; i++) comment(append);
    });
  for (const append of [false, true]) {
    const first = some(append);
    for (let i = 0; i < 4; i++) some(append);
    const last = some(append);
    assert.ok(last < 100 + 2 * first, `${append}: ${first} ms and ${last} ms`);
  }
  const reader = new Reader(repository);
  const read = cpuTimeOf(() => {
    readTicket(reader, ticket);
  });
  assert.ok(read < 1000, `${read} ms`);
});
