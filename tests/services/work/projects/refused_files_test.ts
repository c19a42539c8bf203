/** What projects answer where the disk refuses to make, move or remove a file. */
import assert from "node:assert/strict";
import { describeError } from "../../../../services/engines/fossil/mod.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";

const REFUSED = /^The repository cannot be read or written(?:: .*)?$/;

function folderOf({ api }: TestProject): string {
  return api.services.hosting.repositories.files.folder;
}

async function assertRefused(response: Response): Promise<void> {
  const { error } = await response.json();
  assert.equal(response.status, 503, error);
  assert.match(error, REFUSED);
}

const ask = ({ api }: TestProject, request: string, body?: unknown) =>
  api.send({ who: "operator", request, ...(body === undefined ? {} : { body }) });

Deno.test("a project whose file cannot be moved aside is not removed", async () => {
  await withProject(async (test) => {
    const blocked = `${folderOf(test)}/removed`;
    Deno.writeTextFileSync(blocked, "in the way of the folder");
    await assertRefused(await ask(test, "DELETE /v1/projects/demo"));
    await test.answer("GET /api/timeline");
    Deno.removeSync(blocked);
    assert.equal((await ask(test, "DELETE /v1/projects/demo")).status, 204);
    assert.match(Array.from(Deno.readDirSync(blocked), ({ name }) => name).join(), /demo/);
  });
});

Deno.test("a project is not made where a file is in its way that cannot be moved", async () => {
  await withProject(async (test) => {
    const stray = `${folderOf(test)}/next.fossil`;
    Deno.writeTextFileSync(stray, "nobody's");
    Deno.writeTextFileSync(`${folderOf(test)}/removed`, "in the way of the folder");
    const next = { slug: "next", name: "Next" };
    await assertRefused(await ask(test, "POST /v1/projects", next));
    assert.equal(Deno.readTextFileSync(stray), "nobody's");
    Deno.removeSync(`${folderOf(test)}/removed`);
    assert.equal((await ask(test, "POST /v1/projects", next)).status, 201);
  });
});

Deno.test("an import whose draft cannot be written leaves the project as it was", async () => {
  await withProject(async (test) => {
    const draft = `${folderOf(test)}/demo.import`;
    Deno.mkdirSync(`${draft}/inside`, { recursive: true });
    const stream = "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 8\n" +
      "Imported\nM 644 inline a.txt\ndata 4\none\n\ndone\n";
    const send = () =>
      test.api.send({
        who: "operator",
        request: "PUT /v1/projects/demo/repository",
        body: new TextEncoder().encode(stream),
        headers: { "content-type": "application/octet-stream" },
      });
    await assertRefused(await send());
    assert.equal((await test.answer("GET /api/timeline")).total, 1);
    Deno.removeSync(draft, { recursive: true });
    const response = await send();
    assert(response.ok, await response.text());
  });
});

Deno.test("a full disk and a folder that permits nothing are told apart, without paths", () => {
  const told = (message: string) => describeError(new Error(message), "The repository");
  assert.equal(
    told("No space left on device (os error 28): rename '/data/a' -> '/data/b'"),
    "The repository does not fit on the disk, which is full",
  );
  for (
    const message of ["Permission denied (os error 13)", "Read-only file system (os error 30)"]
  ) {
    assert.equal(
      told(`${message}: rename '/data/a' -> '/data/b'`),
      "The repository cannot be read or written: the system does not permit it",
    );
  }
});
