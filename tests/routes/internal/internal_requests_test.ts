/** What nodes answer each other in their own names. */
import assert from "node:assert/strict";
import { InternalRequests } from "../../../routes/internal/internal_requests.ts";
import { withProject } from "../../support/projects.ts";

Deno.test("a request of another node is answered, or refused in one sentence", () =>
  withProject(async ({ api }) => {
    const requests = new InternalRequests(api.services);
    const answer = async (path: string, body: string) => {
      const request = new Request(`http://far.example/internal/${path}`, { method: "POST", body });
      const response = await requests.answer(request, "far");
      return [response.status, await response.json()];
    };
    const read = (operation: string) => JSON.stringify({ operation, input: [] });
    const [status, branches] = await answer("reads/demo", read("branches"));
    assert.deepEqual([status, branches[0].name], [200, "trunk"]);
    const refusals = [
      ["reads/demo", '{"operation": ', 400, "The body is not valid JSON"],
      ["reads/demo", "", 400, "The body is not valid JSON"],
      ["reads/demo", read("write"), 400, "The nodes run different versions of muster"],
      ["copies/demo/finish", "[", 400, "The body is not valid JSON"],
      ["reads/none", read("branches"), 404, 'There is no project "none"'],
      ["elsewhere", "{}", 404, "There is no /internal/elsewhere here"],
    ] as const;
    for (const [path, body, status, error] of refusals) {
      assert.deepEqual(await answer(path, body), [status, { error }], `${path} ${body}`);
    }
    assert.deepEqual(api.services.log.lines.filter((line) => line.includes("bug")), []);
  }));
