/** What the client of the API sends. */
import assert from "node:assert/strict";
import { ApiClient } from "../../cli/client.ts";

/** Runs a test with a client, and the methods and targets of the requests that reach its server. */
async function withClient(
  run: (client: ApiClient, requests: readonly string[]) => Promise<void>,
): Promise<void> {
  const requests: string[] = [];
  const answer = (request: Request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return Response.json(null);
  };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const url = `http://127.0.0.1:${server.addr.port}`;
  await run(await ApiClient.connect({ url }, { token: "secret" }), requests);
}

Deno.test("a name that would make a path another one is not sent", async () => {
  await withClient(async (client, requests) => {
    // `fetch` resolves these: the removal of a member was that of the project.
    for (const name of ["", ".", "..", "%2e", ".%2E"]) {
      const path = `/v1/projects/demo/members/${name}`;
      for (const target of [path, `${path}?wait=1`, `/v1/agents/${name}/pause`]) {
        const refusal = { name: "CommandFailed", exitCode: 2, message: /may be empty, "\." or "/ };
        await assert.rejects(client.ask("DELETE", target), refusal, target);
        await assert.rejects(client.download(target), refusal, target);
        await assert.rejects(client.openStream(target), refusal, target);
      }
    }
    assert.deepEqual(requests, []);
    for (const name of ["...", "..a", ".%2F..", "%20"]) {
      await client.ask("DELETE", `/v1/projects/demo/members/${name}?next=/../`);
      assert.equal(requests.pop(), `DELETE /v1/projects/demo/members/${name}`);
    }
  });
});

Deno.test("a token that no header can hold is told, and not shown", async () => {
  for (const token of ["secret\nline", "secret word", "s€cret"]) {
    const url = "http://127.0.0.1:1";
    await assert.rejects(
      ApiClient.connect({ url }, { token }),
      (error: Error) => error.name === "CommandFailed" && !error.message.includes(token),
      token,
    );
  }
});
