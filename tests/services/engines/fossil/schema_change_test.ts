import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  Reader,
  readTicket,
  Repository,
  writeTicketChange,
} from "../../../../services/engines/fossil/mod.ts";
import { Fixture } from "./support/fixture.ts";

Deno.test("an open reader shows columns that another connection adds or drops, from its next read on", () => {
  using fixture = new Fixture();
  const { path, repository } = fixture;
  repository.db.useWriteAheadLog();
  const fields = [{ name: "title", value: "Crash", append: false }];
  const { ticket } = writeTicketChange(repository, { ...fixture.author(), fields });
  using other = Repository.open(path, { readOnly: true });
  const reader = new Reader(other);
  const shown = () => readTicket(reader, ticket).fields;
  assert.equal(shown()["due"], undefined);

  using outside = new DatabaseSync(path);
  outside.exec("ALTER TABLE ticket ADD COLUMN due TEXT DEFAULT 'soon'");
  assert.equal(shown()["due"], "soon");
  outside.exec("ALTER TABLE ticket DROP COLUMN type");
  const { type, title, due } = shown();
  assert.deepEqual({ type, title, due }, { type: undefined, title: "Crash", due: "soon" });
});
