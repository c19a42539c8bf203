import assert from "node:assert/strict";
import { ProjectApi } from "../../../routes/projects/project_api.ts";
import { OPERATION_ROUTES as ON_SERVER } from "../../../routes/operation_table.ts";
import { OPERATION_ROUTES as IN_PROJECTS } from "../../../routes/projects/operation_table.ts";
import { PROJECT_ROUTES } from "../../../routes/projects/table.ts";
import { ROUTES } from "../../../routes/table.ts";
import { projectTable, serverTable } from "../../../scripts/operation_table.ts";
import { operationTools, toolNames } from "../../../scripts/tool_table.ts";
import { Forbidden, Invalid, NotFound, Unavailable } from "../../../services/kernel/errors.ts";
import type { Caller, Scope } from "../../../services/people/identity/mod.ts";
import { createTicket, getTicket, listTickets } from "../../../services/work/tickets/operations.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { withProject } from "../../support/projects.ts";

/** Routes that are no operations: streams, files, sessions, batches, the documents of the API. */
const SPECIAL = 72;

Deno.test("a route is an operation, unless it is special", () => {
  const all = Object.keys(PROJECT_ROUTES).length + Object.keys(ROUTES).length;
  const operations = [ON_SERVER, IN_PROJECTS].flatMap((table) => Object.keys(table));
  assert.equal(all - operations.length, SPECIAL);
});

Deno.test("the tables of operations are what `deno task reference` writes", async () => {
  const plain = (text: string) => text.replace(/\s+/g, "").replace(/,([\]}])/g, "$1");
  const texts = {
    "routes/projects/operation_table.ts": projectTable(),
    "routes/operation_table.ts": await serverTable(),
    "mcp/operation_tools.ts": await operationTools(),
    "cli/clients/tool_names.ts": await toolNames(),
  };
  for (const [path, text] of Object.entries(texts)) {
    const place = new URL(`../../../${path}`, import.meta.url);
    assert.equal(plain(await Deno.readTextFile(place)), plain(text), path);
  }
});

Deno.test("an operation that is called in this process checks what its route checks", async () => {
  await withProject(async ({ api, project, caller, outsider }) => {
    let isFull = false;
    const space = {
      require() {
        if (isFull) throw new Unavailable("The disk is nearly full");
      },
    };
    const calls = new ProjectApi({ ...api.services, space } as typeof api.services);
    const by = async (authorization: string): Promise<Caller> => ({
      principal: await api.services.identity.authenticate(
        { kind: "bearer", token: authorization.slice("Bearer ".length) },
        "192.0.2.1",
      ),
      address: "192.0.2.1",
      requestId: "test",
    });
    const [writer, stranger] = [await by(caller), await by(outsider)];
    const scopes = new Set<Scope>(["read"]);
    const reader: Caller = { ...writer, principal: { ...writer.principal, scopes } };
    const { uuid } = await calls.invoke("demo", createTicket, { title: "A fault" }, writer);
    assert.equal((await calls.invoke("demo", getTicket, { uuid }, reader)).title, "A fault");
    // A read that is kept gives every caller a value of its own.
    const first = await calls.invoke("demo", listTickets, { per_page: 1 }, reader);
    assert.notEqual(first, await calls.invoke("demo", listTickets, { per_page: 1 }, reader));

    const file = (who: Caller, title: string) => calls.invoke("demo", createTicket, { title }, who);
    await assert.rejects(file(reader, "No"), Forbidden);
    await assert.rejects(file(stranger, "No"), NotFound);
    await assert.rejects(file(writer, " "), { name: "Invalid", message: /^"title"/ });
    const unknown = { title: "A", colour: "red" };
    await assert.rejects(calls.invoke("demo", createTicket, unknown, writer), Invalid);
    // A caller who loses the right while the call waits for its turn changes nothing.
    const { projects, repositories } = api.services.hosting;
    const late = await repositories.exclusively(project, null, async () => {
      const filing = file(writer, "Late");
      filing.catch(() => {});
      await projects.setMember("demo", "caller", "read", BY_OPERATOR);
      return { filing };
    });
    await assert.rejects(late.filing, Forbidden);
    assert.equal((await calls.invoke("demo", listTickets, {}, reader)).total, 1);
    await projects.setMember("demo", "caller", "write", BY_OPERATOR);
    isFull = true;
    await assert.rejects(file(writer, "No"), Unavailable);
    await calls.invoke("demo", getTicket, { uuid }, reader);
  });
});
